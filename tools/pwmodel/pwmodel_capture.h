/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture files of models: monitor records, as a pwmon device has them. With a comment they are
 * pcapng, otherwise pcap.
 */
#ifndef PWMODEL_CAPTURE_H
#define PWMODEL_CAPTURE_H

#include "pw_os.h"
#include <linux/packetway.h>

/* @comment: of the file, less than 64 KiB; NULL: none */
void pwm_capture_open(const char *path, const char *comment);
/* @unit: PACKETWAY_MON_UNIT(); @when: virtual time, which is also that of the record */
void pwm_capture_record(u8 kind, u8 direction, u32 unit, u64 when, const u8 *bytes, u32 len);
/* bits of an operand in ring packets; 64 if it is not called */
void pwm_capture_width(u32 width);
void pwm_capture_close(void);

#endif
