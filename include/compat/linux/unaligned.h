/* SPDX-License-Identifier: GPL-2.0 */
/* linux/unaligned.h moved out of asm/ in 6.12. */
#ifndef PW_COMPAT_LINUX_UNALIGNED_H
#define PW_COMPAT_LINUX_UNALIGNED_H

#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
