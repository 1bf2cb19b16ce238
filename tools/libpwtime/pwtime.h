/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: FUNCTION_ARGUMENTS (no argument, and an attribute) */
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

/*
 * For a library that starts a parallel program in the host's time: with PW_TIME=await (`pwctl
 * virtual await`) the calling thread enters virtual time here, at the begin of the run, when
 * all have called this. Threads that it starts from then on do so as well; those that are
 * there already never do. Returns 1; 0: the program is not to wait for this; -ENODEV: no
 * station's SAN is in lockstep here.
 */
int pwl_time_begin(void) __attribute__((weak));

/* the calling thread goes on in the host's time */
void pwl_time_end(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
