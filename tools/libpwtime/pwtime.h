/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program may ask of libpwtime, which `pwctl virtual` preloads. Do not link with the
 * library: the symbol is weak, so that the program runs without it.
 *
 *	if (pwl_charge)
 *		pwl_charge(1500);
 */
#ifndef PWTIME_H
#define PWTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The calling thread has computed for @ns nanoseconds of virtual time: what it sends next is
 * sent after that. Returns 0, or -EINTR if a signal came first. Outside of virtual time it
 * does nothing.
 */
int pwl_charge(uint64_t ns) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
