/* SPDX-License-Identifier: GPL-2.0 */
/* pwmodel fabric: waveform and event trace of a run. */
#ifndef PWMODEL_LOOK_H
#define PWMODEL_LOOK_H

#include "pw_os.h"
#include "fabric/fabric.h"

/* value change dump of the rtl engine; @signals: file with the names wanted, NULL: all */
void pwm_vcd_open(struct pw_fabric *f, const char *path, const char *signals);
/* after each cycle */
void pwm_vcd_sample(struct pw_fabric *f);
void pwm_vcd_close(void);

/* events in the JSON form that trace viewers of browsers read; a cycle is a nanosecond */
/* @fabric: switches and links as JSON, NULL: three stages */
void pwm_trace_open(const char *path, u32 ports, u32 ranks, const char *fabric);
void pwm_trace_event(void *ctx, const struct pw_fabric_trace *t);
void pwm_trace_message(size_t id, int src, int dst, u32 bytes, const struct pw_fabric_times *t);
void pwm_trace_close(void);

#endif
