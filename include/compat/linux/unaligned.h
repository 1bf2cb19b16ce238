/* SPDX-License-Identifier: GPL-2.0 */
/* linux/unaligned.h moved out of asm/. */
#ifndef PW_COMPAT_LINUX_UNALIGNED_H
#define PW_COMPAT_LINUX_UNALIGNED_H

#ifdef PW_HAS_UNALIGNED_H
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
