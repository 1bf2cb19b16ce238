/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results of a message that is alone in the fabric.
 *
 * In an idle fabric, everything that happens to a lone message is determined by its
 * length, its ports, its path and a few registers: the path counters of the two AAL
 * units and the queue served last in some output units. A second message with the same
 * values takes the same cycles, so the stored result is applied without simulating cells.
 *
 * Only the state of controller 10 of the receiver differs each time. It acts on the message
 * after the message was read, see pw_aal_fast_passed().
 */
#ifndef PW_CORE_LONE_H
#define PW_CORE_LONE_H

#include "aal.h"
#include "bmx_fast.h"

#define PW_LONE_ENTRIES	128	/* a power of two */
/* input ports, output units of the three stages, for cells and acknowledgments */
#define PW_LONE_SOURCES	(4 * PW_BMX_KMAX + 4)
/* sources that may have cells in more than one queue */
#define PW_LONE_CHOOSERS (PW_BMX_KMAX + 4)
/* all counters of an AAL unit are u64 and are added by index */
#define PW_LONE_STATS	(sizeof(struct pw_aal_stats) / sizeof(u64))

/**
 * struct pw_lone_key - what the result depends on; no padding, compared as bytes
 * @len: data bytes
 * @src: sending port
 * @dst: receiving port
 * @path: path asked for
 * @rcount: path counters of sender and receiver
 * @rr: queue served last, of sources that may have a choice
 * @pad: zero
 */
struct pw_lone_key {
	u32 len;
	u16 src, dst;
	s16 path;
	u16 rcount[2];
	u8 rr[PW_LONE_CHOOSERS];
	u8 pad[2];
};

/**
 * struct pw_lone_times - events in cycles from the beginning
 * @start: init-send
 * @segmented: all cells ready
 * @first_out: byte 0 of the first cell fetched for sending
 * @first_in: first cell taken in
 * @reassembled: message complete
 * @delivered: last get done
 * @acked: every cell acknowledged and released
 * @quiet: last event at the sender
 */
struct pw_lone_times {
	u32 start, segmented, first_out, first_in, reassembled, delivered, acked, quiet;
};

/**
 * struct pw_lone - a message and its result
 * @key: the message
 * @t: times of its events; delivered 0: entry not used
 * @rcount: path counters afterwards
 * @rr: queue served last afterwards
 * @sent: cells that each source has sent
 * @stats: increments of the counters of the two AAL units
 */
struct pw_lone {
	struct pw_lone_key key;
	struct pw_lone_times t;
	u16 rcount[2];
	u8 rr[PW_LONE_SOURCES];
	u16 sent[PW_LONE_SOURCES];
	u32 stats[2][PW_LONE_STATS];
};

/**
 * struct pw_lone_pair - sender and receiver of a lone message
 * @net: network between them
 * @u: AAL units of sender and receiver
 */
struct pw_lone_pair {
	struct pw_bmx_fast *net;
	struct pw_aal *u[2];
};

/**
 * struct pw_lone_watch - state before a lone message whose result is to be stored
 * @key: the message
 * @sent: cells sent by each source before
 * @refused: cells refused at each source before
 * @stats: counters of the AAL units before
 */
struct pw_lone_watch {
	struct pw_lone_key key;
	u64 sent[PW_LONE_SOURCES];
	u64 refused[PW_LONE_SOURCES];
	struct pw_aal_stats stats[2];
};

void pw_lone_key(struct pw_lone_key *key, const struct pw_lone_pair *pair, u32 len, int path);
const struct pw_lone *pw_lone_find(const struct pw_lone *table, const struct pw_lone_key *key);
void pw_lone_begin(struct pw_lone_watch *w, const struct pw_lone_pair *pair,
		   const struct pw_lone_key *key);
void pw_lone_learn(struct pw_lone *table, const struct pw_lone_watch *w,
		   const struct pw_lone_pair *pair, const struct pw_lone_times *t);
void pw_lone_apply(const struct pw_lone *e, const struct pw_lone_pair *pair);

#endif /* PW_CORE_LONE_H */
