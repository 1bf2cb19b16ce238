/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fuzzer of the kernel's surface. A program is a list of typed calls in up to
 * FUZZ_THREADS threads; fuzz.c makes, runs and keeps programs, calls.c has the table
 * of calls, frames.c builds what goes on a wire.
 *
 * Everything that a call names (station, file, socket, namespace ...) is a number of
 * a slot. A call that finds its slot empty fails in the kernel or does nothing, so
 * every list of calls is a program, and programs can be cut and joined anywhere.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_THREADS	3
#define FUZZ_CALLS	40
#define FUZZ_ARGS	12
#define FUZZ_BLOB	160
#define FUZZ_SLOTS	4	/* of each kind */
#define FUZZ_FRAME	4096

struct call {
	uint8_t op;		/* index into fuzz_calls[] */
	uint8_t thread;
	uint16_t fail;		/* this allocation of the call fails; 0: none */
	uint16_t blen;
	uint64_t arg[FUZZ_ARGS];
	uint8_t blob[FUZZ_BLOB];
};

struct prog {
	bool user;		/* by an unprivileged user in a user namespace */
	uint8_t n;
	struct call c[FUZZ_CALLS];
};

struct thr;

/*
 * @args: a letter for each argument, see gen_arg()
 * @blob: the call takes bytes
 * @nofail: the kernel itself warns when it gets no memory for that
 * @root: only in programs of root
 */
struct call_desc {
	const char *name;
	void (*run)(struct thr *t, const uint64_t *a, const struct call *c);
	const char *args;
	uint8_t weight;
	bool blob, nofail, root;
};

extern const struct call_desc fuzz_calls[];
extern const unsigned int fuzz_ncalls;

/* one thread of a running program */
struct thr {
	int id;
	int ns;			/* slot of the namespace that it is in */
	int rt, ge, dg;		/* sockets there: rtnetlink, generic netlink, datagram */
	uint16_t family;
	uint32_t group;		/* of its notifications */
	const struct prog *p;
};

void world_init(void);
void thr_init(struct thr *t);
void call_run(struct thr *t, const struct call *c);
extern bool fuzz_reloaded;	/* a call took the module out */
int fuzz_module(bool in);

/* frames.c */
struct frame_spec {
	uint32_t dt, sa;
	uint16_t pt, te;
	uint8_t e, p;
	uint8_t prefix;		/* what is in front: see frame_build() */
	uint8_t opts;		/* optional headers, bit mask by type */
	uint8_t body;		/* how the data block is made */
	uint32_t len;
	uint64_t a, b;		/* for the body */
	const uint8_t *blob;
	int blen;
};

int frame_build(uint8_t *out, const struct frame_spec *s);
int prefix_build(uint8_t *out, uint8_t prefix, uint64_t b);
int trunk_seal(uint8_t *out, const uint8_t *hdr, const uint8_t *payload, int len, bool keyed);
int trunk_unseal(uint8_t *out, const uint8_t *pkt, int len);
void fuzz_key(uint8_t key[32]);

#endif
