/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reductions over all rings that routers and trunks join.
 *
 * The starter knows from RRP which SANs there are, and by which half-router of its own SAN
 * each is reached. A request names the SANs that its receiver answers for: the receiver's SAN
 * divides the list among its own half-routers in the same way, runs the command on its own ring
 * if its SAN is in the list, and answers with the sum of it all. So a SAN is in one list of
 * each step, loops of routers are no loops of requests, and no SAN is counted twice, whatever
 * the routes are. Each ring has one packet, each router on the tree one request and one answer.
 *
 * Every SAN has an agent with some jobs: what its stations start, and what half-routers were
 * asked for. A request carries the job's number of the SAN that asks, see struct pw_reduce_id.
 * It is repeated until it is answered or the time is over. Who is asked remembers the last
 * result for each number (struct pw_reduce_seen), and answers a repeated request with that. An
 * answer that no job waits for is ignored.
 *
 * What is not reached in time is counted in the result as missing.
 */
#ifndef PW_CORE_REDUCE_H
#define PW_CORE_REDUCE_H

#include "ring/ring.h"

#define PW_REDUCE_JOBS		64	/* of a SAN, and requests that a half-router remembers */
#define PW_REDUCE_OWN		4	/* of these, for stations: half-routers share the others */
#define PW_REDUCE_ASKS		64	/* requests that one call sends */
#define PW_REDUCE_PORTS		256	/* of a SAN */
#define PW_REDUCE_SANS		256	/* in a request */
#define PW_REDUCE_HOPS		16	/* routers from the starter on */
#define PW_REDUCE_MS_MAX	60000
#define PW_REDUCE_AGAIN_MIN	250	/* ms until a request is repeated; doubled each time */
#define PW_REDUCE_AGAIN_MAX	1000
#define PW_REDUCE_REQUEST	40	/* bytes of a request without its list */
#define PW_REDUCE_ANSWER	64
#define PW_REDUCE_MSG_MAX	(PW_REDUCE_REQUEST + 4 * PW_REDUCE_SANS)

/* why SANs are missing in a result: the first reason */
enum pw_reduce_error {
	PW_REDUCE_OK,
	PW_REDUCE_E_ROUTE,	/* no route, or no router */
	PW_REDUCE_E_TIME,	/* no answer in time */
	PW_REDUCE_E_RING,	/* the command failed on a ring */
	PW_REDUCE_E_NUM,
};

/**
 * struct pw_reduce_cmd - the command
 * @op: one of the eight basic commands
 * @reg: operand register
 * @mods: PW_ATON_SIGNED, PW_ATON_COMPARAND; a count has a comparand
 * @comparand: of a count
 */
struct pw_reduce_cmd {
	u8 op;
	u8 reg;
	u8 mods;
	u64 comparand;
};

/**
 * struct pw_reduce_id - who asks, and for which job
 * @born: different for every agent that ever was
 * @seq: grows with each job of the agent; its remainder by PW_REDUCE_JOBS is the job's place,
 *	so jobs that run at the same time differ in it
 */
struct pw_reduce_id {
	u64 born;
	u64 seq;
};

/**
 * struct pw_reduce_result - of some SANs
 * @err: enum pw_reduce_error, if SANs are missing
 * @flags: PW_ATON_F_*
 * @sans: SANs that took part
 * @missing: SANs that did not
 * @counter: interfaces that took part
 * @v1: Variable-1
 * @v2: Variable-2
 * @san: MAX, MIN: SAN of the selected interface
 */
struct pw_reduce_result {
	u8 err;
	u8 flags;
	u16 sans;
	u16 missing;
	u64 counter;
	u64 v1;
	u64 v2;
	u32 san;
};

/**
 * struct pw_reduce_msg - a message in pieces
 * @answer: an answer, else a request
 * @id: of the job that asks
 * @cmd: request
 * @hops: request: routers that it may still pass
 * @ms: request: time for the answer
 * @starter: request: station that started the command
 * @n: request: SANs
 * @sans: request: their addresses as they are in the message, see pw_reduce_msg_san()
 * @result: answer
 */
struct pw_reduce_msg {
	bool answer;
	struct pw_reduce_id id;
	struct pw_reduce_cmd cmd;
	u8 hops;
	u32 ms;
	u32 starter;
	u32 n;
	const u8 *sans;
	struct pw_reduce_result result;
};

/**
 * struct pw_reduce_seen - a request that a half-router got
 * @id: which; all 0: none
 * @busy: a job is at work on it
 * @result: else what was answered
 */
struct pw_reduce_seen {
	struct pw_reduce_id id;
	bool busy;
	struct pw_reduce_result result;
};

/**
 * struct pw_reduce_part - SANs that one half-router is asked for
 * @port: of the half-router
 * @n: how many
 * @first: the first of them in the job's list
 * @last: the last one so far
 * @waits: there is no answer yet
 * @at: when the request is sent or repeated
 * @gap: ms from the last one to that; 0: none was sent
 */
struct pw_reduce_part {
	int port;
	u32 n;
	u32 first;
	u32 last;
	bool waits;
	u64 at;
	u32 gap;
};

/* a SAN of a job, and the next one of its part in the job's list */
struct pw_reduce_item {
	u32 san;
	u32 next;
};

/**
 * struct pw_reduce_job - one reduction at one SAN
 * @cmd: the command
 * @id: in the requests of this job
 * @asked: in the request that it answers
 * @from: port of the half-router that was asked, -1: a station started it
 * @starter: the station that started it, here or elsewhere
 * @hops: routers that requests may pass
 * @deadline: end of its time, in ms of the caller
 * @ring: the command is on the own ring
 * @waits: parts without an answer
 * @nparts: parts
 * @part: memory of the caller, as many as there are SANs
 * @nitems: SANs elsewhere that can be reached
 * @item: likewise: at first all SANs, growing; next is not looked at
 * @sum: result so far
 * @ring_err: enum pw_aton_error of the own ring
 */
struct pw_reduce_job {
	struct pw_reduce_cmd cmd;
	struct pw_reduce_id id;
	struct pw_reduce_id asked;
	int from;
	u32 starter;
	u8 hops;
	u64 deadline;
	bool ring;
	u32 waits;
	u32 nparts;
	struct pw_reduce_part *part;
	u32 nitems;
	struct pw_reduce_item *item;
	struct pw_reduce_result sum;
	u8 ring_err;
};

enum pw_reduce_kind { PW_REDUCE_ASK, PW_REDUCE_ASK_AGAIN, PW_REDUCE_TELL };

/**
 * struct pw_reduce_ops - what an agent needs
 * @route: port of the half-router that leads to a SAN, or -1
 * @send: a message to the peer half of the half-router at a port; false: there is none
 * @ring: run a job's command on the own ring; pw_reduce_ring_done() follows, not before this
 *	returns. Negative: it cannot run.
 * @ring_stop: the job's time is over; true: its command was taken back, else
 *	pw_reduce_ring_done() follows soon
 * @halves: half-routers of the SAN, at least 1
 * @seen: the requests that the half-router at a port got, PW_REDUCE_JOBS; NULL: it has gone
 * @done: a job has its result and is the caller's again
 */
struct pw_reduce_ops {
	int (*route)(void *ctx, u32 san);
	bool (*send)(void *ctx, int port, enum pw_reduce_kind kind, const u8 *data, u32 len);
	int (*ring)(void *ctx, struct pw_reduce_job *job);
	bool (*ring_stop)(void *ctx, struct pw_reduce_job *job);
	u32 (*halves)(void *ctx);
	struct pw_reduce_seen *(*seen)(void *ctx, int port);
	void (*done)(void *ctx, struct pw_reduce_job *job);
};

/**
 * struct pw_reduce_agent - the jobs of a SAN
 * @ops: see there
 * @ctx: for @ops
 * @san: address of the SAN
 * @born: see struct pw_reduce_id
 * @count: jobs so far
 * @njobs: jobs now
 * @job: by place; NULL: free
 * @list: for requests
 * @unsent: a job that began has requests that pw_reduce_tick() is to send
 * @part_of: while a job is divided, by port: the number of its part and one, 0: none
 * @buf: for messages
 */
struct pw_reduce_agent {
	const struct pw_reduce_ops *ops;
	void *ctx;
	u32 san;
	u64 born;
	u64 count;
	u32 njobs;
	struct pw_reduce_job *job[PW_REDUCE_JOBS];
	u32 list[PW_REDUCE_SANS];
	bool unsent;
	u16 part_of[PW_REDUCE_PORTS];
	u8 buf[PW_REDUCE_MSG_MAX];
};

/* what to do with a message */
enum pw_reduce_verdict {
	PW_REDUCE_START,	/* a request: give a job to pw_reduce_request() */
	PW_REDUCE_HANDLED,
	PW_REDUCE_IGNORED,	/* an old one, or one that nothing waits for */
	PW_REDUCE_FULL,		/* as many jobs as there can be, in all or of this half-router */
};

static inline u32 pw_reduce_msg_san(const struct pw_reduce_msg *m, u32 i)
{
	return get_unaligned_be32(m->sans + 4 * i);
}

/* reduce.c: messages and results */
int pw_reduce_parse(const u8 *data, u32 len, struct pw_reduce_msg *m);
u32 pw_reduce_put_request(u8 *to, const struct pw_reduce_msg *m, const u32 *sans);
u32 pw_reduce_put_answer(u8 *to, const struct pw_reduce_id *id, const struct pw_reduce_result *r);
void pw_reduce_zero(struct pw_reduce_result *r, const struct pw_reduce_cmd *cmd);
void pw_reduce_add(struct pw_reduce_result *sum, const struct pw_reduce_cmd *cmd,
		   const struct pw_reduce_result *r);
void pw_reduce_miss(struct pw_reduce_result *sum, u32 sans, u8 err);
bool pw_reduce_cmd_valid(const struct pw_reduce_cmd *cmd);

/* reduce_agent.c: jobs */
void pw_reduce_init(struct pw_reduce_agent *a, const struct pw_reduce_ops *ops, void *ctx,
		    u32 san, u64 born);
bool pw_reduce_begin(struct pw_reduce_agent *a, struct pw_reduce_job *job, u32 n, u32 ms, u64 now);
enum pw_reduce_verdict pw_reduce_receive(struct pw_reduce_agent *a, int port,
					 const struct pw_reduce_msg *m);
bool pw_reduce_request(struct pw_reduce_agent *a, int port, const struct pw_reduce_msg *m,
		       struct pw_reduce_job *job, u64 now);
void pw_reduce_ring_done(struct pw_reduce_agent *a, struct pw_reduce_job *job,
			 const struct pw_ring_cmd *cmd);
u64 pw_reduce_tick(struct pw_reduce_agent *a, u64 now);

#endif
