/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one switch between the kernel and user space for everything in core/.
 *
 * Files in core/ include this header and each other's headers, nothing else.
 * They never allocate, lock, sleep or read a clock: memory, time and
 * randomness come in as arguments and the caller holds whatever lock is needed.
 * No floating point, no bare 64-bit division (use div_u64 and friends).
 */
#ifndef PW_CORE_OS_H
#define PW_CORE_OS_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/crc-itu-t.h>
#include <linux/crc32.h>
#include <linux/crc32c.h>
#include <linux/crc64.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/sort.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/unaligned.h>	/* include/compat/ has it where the kernel lacks it */
#else
#include "pw_os_user.h"
#endif

#endif /* PW_CORE_OS_H */
