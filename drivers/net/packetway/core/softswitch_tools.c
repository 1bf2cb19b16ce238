// SPDX-License-Identifier: GPL-2.0
/* POETS softswitch: what tools and tests use and the module does not. */
#include "poets.h"

/**
 * pw_softswitch_next_work - what comes first
 * @s: the softswitch
 * @now: time
 * @received: packets wait to be received
 * @to_send: packets wait to be sent and can be
 * @can_idle: idle handlers may have something to do
 *
 * Return: the most urgent.
 */
enum pw_softswitch_work pw_softswitch_next_work(const struct pw_softswitch *s, u64 now,
						bool received, bool to_send, bool can_idle)
{
	if (received)
		return PW_SOFTSWITCH_W_RECEIVE;
	if (pw_softswitch_report_due(s, now))
		return PW_SOFTSWITCH_W_REPORT;
	if (to_send)
		return PW_SOFTSWITCH_W_SEND;
	if (can_idle && s->state == PW_SOFTSWITCH_RUNNING)
		return PW_SOFTSWITCH_W_IDLE;
	return PW_SOFTSWITCH_W_SLEEP;
}
