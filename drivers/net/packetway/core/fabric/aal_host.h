/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process at a port: the library calls of the published machine as a state
 * machine that uses the record shared with the AAL unit, cycle by cycle. It takes no
 * time of its own except for the gaps of its job.
 */
#ifndef PW_CORE_AAL_HOST_H
#define PW_CORE_AAL_HOST_H

#include "aal.h"

/**
 * struct pw_aal_job - a message to send or to receive
 * @hdr: name (three words), instance, identifier
 * @len: data bytes
 * @piece: bytes of each put or get, NULL: words of four bytes and the rest
 * @pieces: entries in @piece
 * @dst: send: destination port, or connection with @mc
 * @all: send: to all ports
 * @mc: send: to the members of a multicast connection
 * @path: send: path, -1 for the path counter
 * @id: send: number of the message for the callbacks of the AAL unit
 * @gap_lock: idle cycles between getting the lock and init-send
 * @gap_init: idle cycles after init-send
 * @gap_get: idle cycles before the first get
 * @gap_word: idle cycles before every put and every get
 */
struct pw_aal_job {
	u32 hdr[PW_AAL_HDR_WORDS];
	u32 len;
	const u8 *piece;
	u32 pieces;
	u16 dst;
	bool all;
	bool mc;
	s8 path;
	u32 id;
	u32 gap_lock;
	u32 gap_init;
	u32 gap_get;
	u32 gap_word;
};

struct pw_aal_host;

/**
 * struct pw_aal_host_ops - the process behind the library
 * @fetch: bytes to send
 * @store: bytes received
 * @started: init-send was issued
 * @sent: the AAL unit has taken the last header word and segments the message
 * @granted: controller 8 has found a message; may change the length in the job
 * @received: the last get is done and the lock released
 * @denied: no such message; return true to ask again
 */
struct pw_aal_host_ops {
	void (*fetch)(void *ctx, struct pw_aal_host *h, u32 off, u8 *buf, u32 n);
	void (*store)(void *ctx, struct pw_aal_host *h, u32 off, const u8 *buf, u32 n);
	void (*started)(void *ctx, struct pw_aal_host *h);
	void (*sent)(void *ctx, struct pw_aal_host *h);
	void (*granted)(void *ctx, struct pw_aal_host *h);
	void (*received)(void *ctx, struct pw_aal_host *h);
	bool (*denied)(void *ctx, struct pw_aal_host *h);
};

/**
 * struct pw_aal_host - the process
 * @u: AAL unit of its port
 * @ops: callbacks
 * @ctx: first argument of the callbacks
 * @job: current job
 * @until: end of the current gap
 * @off: bytes put or got
 * @i: number of the put, get or header word
 * @n: bytes of the current get
 * @state: enum host_state
 * @armed: a gap has begun
 */
struct pw_aal_host {
	struct pw_aal *u;
	const struct pw_aal_host_ops *ops;
	void *ctx;
	struct pw_aal_job job;
	u64 until;
	u32 off;
	u32 i;
	u8 n;
	u8 state;
	bool armed;
};

void pw_aal_host_init(struct pw_aal_host *h, struct pw_aal *u, const struct pw_aal_host_ops *ops,
		      void *ctx);
void pw_aal_host_send(struct pw_aal_host *h, const struct pw_aal_job *job);
void pw_aal_host_recv(struct pw_aal_host *h, const struct pw_aal_job *job);
bool pw_aal_host_idle(const struct pw_aal_host *h);
void pw_aal_host_step(struct pw_aal_host *h);

#endif /* PW_CORE_AAL_HOST_H */
