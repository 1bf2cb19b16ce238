/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pwmodel net: many SANs joined by routers.
 *
 * A SAN is a fabric. A router has a port on each of the two SANs that it joins; the other
 * ports are stations. A message to a station of another SAN goes to the port of the
 * next router, is read there, reaches the peer SAN a fixed number of cycles later and is sent
 * there again.
 *
 * Nothing that happens in a SAN in cycle t affects another one before cycle t + latency.
 * So all SANs can run through a window of that many cycles independently of each other,
 * in any order, in threads and processes; what crosses is exchanged between two windows.
 * Each SAN takes its events in the order of cycle and port, so the result does not depend
 * on how SANs are distributed.
 */
#ifndef PWMODEL_NET_H
#define PWMODEL_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pw_os.h"
#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"

#define NET_SANS	65536
#define NET_CYCLES	1000000000000ull	/* limit of cycles in a file */
#define NET_DIMS	16
#define NET_THREADS	1024
#define NET_LATENCY	1000000
#define NET_LOOKUP	1000000			/* as the kernel has it for a SAN */
#define NET_NEVER	PW_FABRIC_NEVER
#define NET_NO_END	0xff			/* no way */

enum net_topology { NET_NONE, NET_RING, NET_TORUS, NET_TREE, NET_FULL, NET_LIST, NET_TOPOLOGIES };
enum net_pattern { NET_UNIFORM, NET_MESSAGES, NET_PATTERNS };

/* one end of a router: port ports - 1 - i of a SAN is its i-th end */
struct net_end {
	u32 san;		/* peer SAN */
	u32 end;		/* number of the end there */
};

struct net_link {
	u32 a, b;
};

/* a message of a list */
struct net_message {
	u64 cycle;
	u32 san, port;
	u32 dst_san, dst_port;
	u32 bytes;
	size_t line;
};

/**
 * struct net_spec - a network as the file has it
 * @file: name of the file, for messages
 * @sans: number of SANs
 * @ports: ports of a SAN
 * @params: parameters of the fabrics
 * @faults: faults of their cells; SAN i has the seed + i
 * @topology: how routers join the SANs
 * @dim: torus: SANs in each dimension
 * @dims: number of dimensions
 * @arity: tree: children of a SAN
 * @latency: cycles from the last get at a router to the send on the peer SAN
 * @cut_through: cycles from the first cell to the decision at a router; 0: it stores messages
 * @link: routers
 * @links: number of routers
 * @pattern: traffic
 * @load: load in millionths
 * @bytes: size of a message
 * @seed: seed of the random numbers
 * @cycles: messages come up in cycles 1 to @cycles
 * @message: messages of a list, in the order of their cycles
 * @messages: number of these
 * @first: first[s]..first[s + 1] - 1 are the ends of SAN s in @end
 * @end: ends of all routers
 * @base: number of the first station of a SAN; base[sans] is the number of stations
 */
struct net_spec {
	const char *file;
	u32 sans;
	u32 ports;
	struct pw_fabric_params params;
	struct pw_fabric_faults faults;
	u32 topology;
	u32 dim[NET_DIMS];
	u32 dims;
	u32 arity;
	u32 latency;
	u32 cut_through;
	struct net_link *link;
	size_t links, link_cap;
	u32 pattern;
	u32 load;
	u32 bytes;
	u64 seed;
	u64 cycles;
	struct net_message *message;
	size_t messages, message_cap;
	size_t *first;
	struct net_end *end;
	u32 *base;
};

extern const char *const net_topology_name[NET_TOPOLOGIES];
extern const char *const net_pattern_name[NET_PATTERNS];

/*
 * Cut-through: two SANs have a message at the same time. Each runs as if it had it alone; what
 * both count is taken off when it leaves the second one, as pw_fab_account() does it.
 */
struct net_cut {
	u32 first;		/* cycles before the last get: decision; 0: it was stored */
	u32 last;		/* last cell */
	u64 saved;		/* so far */
};

/* a message on its way: waits at a router, or crosses */
struct net_transit {
	u64 at;			/* cycle in which it reaches the peer SAN */
	u64 created;
	u32 src, dst;		/* stations */
	u32 bytes;
	u32 hops;
	struct net_cut cut;
};

/* list of messages; head is the first one not yet taken */
struct net_fifo {
	struct net_transit *m;
	u32 head, n, cap;
};

/* a message inside a fabric: its cookie is the index */
struct net_inside {
	u64 at;			/* cycle in which it came to this SAN */
	u64 created;
	u32 src, dst;
	u32 bytes;
	u32 hops;
	u32 next;		/* free list */
	struct net_cut cut;
};

/*
 * A source of uniform traffic. Messages come up whatever the fabric does. Those that the
 * fabric cannot take wait; as cycle and destination follow from the seed, only their
 * number is stored.
 */
struct net_source {
	u64 arrival_rnd, arrival;	/* next message that comes up */
	u64 send_rnd, send;		/* next message to send */
	u32 waiting;
};

/* results; each is a sum, a minimum or a maximum over SANs */
struct net_totals {
	u64 sent, delivered, bytes;
	u64 crossings;
	u64 cells, acks, resent;
	u64 events;
	u64 latency;		/* sum */
	u64 digest;
	u64 latency_min;	/* minimum: negated, so that it is a maximum */
	u64 latency_max;
	u64 last;		/* cycle of the last delivery */
	u64 queue_max;		/* messages at a router at a time */
};
#define NET_SUMS	(offsetof(struct net_totals, latency_min) / sizeof(u64))
#define NET_MAXIMA	(sizeof(struct net_totals) / sizeof(u64) - NET_SUMS)

/*
 * Latencies by size: one bin for each value below 2^NET_HIST_BITS, then half as many bins
 * for each power of two. A bin is at most 1/8192 of its values wide.
 */
#define NET_HIST_BITS	14
#define NET_HIST	((1 << NET_HIST_BITS) + (48 - NET_HIST_BITS) * (1 << (NET_HIST_BITS - 1)))

struct net;

/* a SAN; it is at the start of the memory of its fabric, see pwmodel_net_image.c */
struct net_san {
	const struct net *net;
	struct pw_fabric *f;
	u32 id;
	u32 stations;
	u32 ends;
	u32 lists;		/* ports with a list: all, or those of routers */
	u8 *hop;		/* end towards each SAN */
	struct net_fifo *list;	/* of port ports - 1 - i: messages that wait for the fabric */
	struct net_fifo (*out)[2];	/* per end: what crosses, by the parity of the window */
	struct net_fifo *in;	/* per end: from another process */
	size_t message, messages;	/* list of the file: next one, end */
	u64 *heap;		/* next event of each port, cycle << 8 | port */
	u32 heaped;
	u32 window;		/* number of the window */
	u64 full[4];		/* bit p: the queue of port p is full */
	struct net_inside *inside;
	u32 inside_free, inside_cap;
	u64 *hist;		/* of the thread that runs the SAN */
	struct net_totals t;
	struct net_source source[];
};

/* memory of a fabric after reset, from which SANs are copied page by page when they write */
struct net_image {
	int fd;
	size_t size;
	u8 *base;
	u32 *pointer;		/* words that are addresses */
	u32 pointers;
};

/* the network as this process has it: SANs lo to hi - 1 */
struct net {
	const struct net_spec *s;
	u32 lo, hi;
	u32 threads;
	struct net_san **san;	/* hi - lo */
	struct net_image image;
	u64 chance[32];		/* chance that nothing comes up in 2^i cycles, in 2^-64 */
	u64 total_windows;
};

/* pwmodel_net_file.c, pwmodel_net_map.c */
void net_read(const char *file, struct net_spec *s);
void net_bad(const struct net_spec *s, size_t line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void net_links(struct net_spec *s);
void net_map(struct net_spec *s, size_t line);
void net_hops(const struct net_spec *s, u32 san, u8 *hop);

/* pwmodel_net_image.c */
void net_image_init(struct net_image *g, const struct net_spec *s);
struct net_san *net_image_copy(const struct net_image *g);

/* pwmodel_net_san.c */
extern const struct pw_fabric_ops net_san_ops;
size_t net_san_size(const struct net_spec *s);
void net_san_init(struct net *n, struct net_san *a, u32 id);
u64 net_san_first(const struct net_san *a);
u64 net_san_window(struct net_san *a, u64 end);
void net_san_end(struct net_san *a);
void net_chances(struct net *n);

/* pwmodel_net_run.c */
void net_run(struct net *n, struct net_totals *t, u64 *hist);

void *net_alloc(size_t n, size_t size);
struct net_transit *net_fifo_add(struct net_fifo *q);

/*
 * Processes. pwmodel_net_alone.c: one; mpi/pwmodel_net_mpi.c: those of MPI. Only the main
 * thread calls these, and every process calls the same ones. net_comm_start() waits in
 * the others until process 0 calls net_comm_good(): arguments and file are right.
 */
struct net_bytes {
	u8 *p;
	size_t n, cap;
};

extern u32 net_rank, net_size;
void net_comm_start(void);
void net_comm_good(void);
void net_comm_stop(void);
void net_comm_sum(u64 *v, size_t n);
void net_comm_max(u64 *v, size_t n);
u64 net_comm_exchange(struct net_bytes *out, struct net_bytes *in, u64 next);

#endif
