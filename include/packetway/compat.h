/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels we support (6.1 and 6.12) and cannot be
 * hidden in a shadow header under include/compat/. The logic has no version
 * checks of its own.
 */
#ifndef PACKETWAY_COMPAT_H
#define PACKETWAY_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "packetway needs Linux 6.1 or later"
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define pw_assign_str(dst, src) __assign_str(dst, src)
#else
#define pw_assign_str(dst, src) __assign_str(dst)
#endif

#endif
