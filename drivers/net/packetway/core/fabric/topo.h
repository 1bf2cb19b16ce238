/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Topology of a BMX network as data: switches, links, the place of every station, and the
 * translation tables that lead a cell from one station to another.
 *
 * All switches have k inputs and k outputs, of which some may be without a link. Rank
 * unit * k + i is input i or output i of a switch. A station has one input of a switch, which
 * it drives, and one output, which drives it. Between two stations there are as many paths as
 * between any other two.
 *
 * A topology is made in two steps, both in memory of the caller:
 *
 *  - A plan: links, stations, and for each input, destination and path the output that a
 *    cell takes. The way onward depends on nothing else, because that is what one VPI of the
 *    table can tell. Generators (topo_gen.c) and files fill it.
 *  - The topology, from a plan that pw_topo_check() accepts: tables with VPIs, trees for
 *    cells to all stations, and an order of the links.
 *
 * Queues refuse cells when they are full, so links wait for each other: a link into a switch
 * waits for the links by which its cells leave. A circle of such links may stand still for
 * ever. pw_topo_check() refuses a plan with a circle. The order in which links wait also is
 * the order in which the event-driven engine handles them: see bmx_topo.c.
 *
 * A multicast connection leads from one station to some others. Its cells are copied where
 * the ways to its members part, by rows of the tables that no other cell uses. It has a tree
 * for each path. A tree takes only turns that cells between two stations take by that path as
 * well, so that connections add nothing to what links wait for.
 */
#ifndef PW_CORE_TOPO_H
#define PW_CORE_TOPO_H

#include "pw_os.h"
#include "bmx.h"

#define PW_TOPO_PORTS	256	/* stations, at most */
#define PW_TOPO_PATHS	16	/* paths between two stations, at most */
#define PW_TOPO_RANKS	4096	/* inputs of all switches, at most */
#define PW_TOPO_LEVELS	32	/* switches that wait for each other in a row, at most */
#define PW_TOPO_ROWS	2000000	/* rows of all tables, at most */
#define PW_TOPO_CELLS	16000000	/* inputs times stations times paths in a plan, at most */
#define PW_TOPO_ENTRIES	8192	/* rows of a table, at most: a VPI has 13 bits */
#define PW_TOPO_CONNS	1024	/* multicast connections, at most */
#define PW_TOPO_DIMS	4
#define PW_TOPO_NONE	0xffff	/* no link, no row */
#define PW_TOPO_PORT	0x8000	/* an output that drives a station; its number in the bits below */
#define PW_TOPO_NO_OUT	0xff	/* no output */

enum pw_topo_kind {
	PW_TOPO_CLOS,
	PW_TOPO_BENES,
	PW_TOPO_BUTTERFLY,
	PW_TOPO_CROSSBAR,
	PW_TOPO_TORUS,
	PW_TOPO_MESH,
	PW_TOPO_FATTREE,
	PW_TOPO_RING,
	PW_TOPO_KINDS,
};

/**
 * struct pw_topo_spec - a topology by its generator
 * @kind: generator
 * @dims: number of sizes
 * @dim: sizes
 */
struct pw_topo_spec {
	enum pw_topo_kind kind;
	u32 dims;
	u32 dim[PW_TOPO_DIMS];
};

/* sizes that determine the memory of a plan */
struct pw_topo_sizes {
	u32 units;
	u32 k;
	u32 ports;
	u32 paths;
	u32 conns;	/* multicast connections */
};

/**
 * struct pw_topo_conn - multicast connection
 * @src: station that sends
 * @nth: number among the connections of @src, which gives its VPIs
 * @num: number of members
 * @to: bit d: station d is a member; @src is none
 */
struct pw_topo_conn {
	u16 src;
	u16 nth;
	u16 num;
	u32 to[PW_TOPO_PORTS / 32];
};

/**
 * struct pw_topo_plan - topology that is being described
 * @z: sizes
 * @ranks: inputs, and outputs, of all switches
 * @levels: result of pw_topo_check(): switches that wait for each other in a row
 * @rows: result of pw_topo_check(): rows of all tables
 * @entries: result of pw_topo_check(): rows of the largest table
 * @peer: input that an output drives, PW_TOPO_PORT + station, or PW_TOPO_NONE
 * @in: input that a station drives
 * @out: output that drives a station
 * @via: output for a cell at an input, see pw_topo_via()
 * @conn: connections: sender and members; pw_topo_check() completes them
 * @label: VPI of a cell at an input, for each station and path, to it and from it to all,
 *	and for each connection and path
 * @turn: outputs that cells of an input take, for each path
 * @sel: the same for the tree that is being built
 * @from: output that drives an input, or PW_TOPO_NONE
 * @level: of an output: see struct pw_topo
 * @list: inputs that were reached, in that order
 * @parent: input from which an input was reached
 * @wait: number of inputs whose cells an output sends
 * @seen: tree in which an input was reached last
 * @copies: stations behind an input in the tree that is being built
 * @rest: called between two steps of long work, so that the owner may let others run; NULL: none
 */
struct pw_topo_plan {
	struct pw_topo_sizes z;
	u32 ranks;
	u32 levels;
	u32 rows;
	u32 entries;
	u16 *peer;
	u16 *in;
	u16 *out;
	u8 *via;
	struct pw_topo_conn *conn;
	u16 *label;
	u16 *turn;
	u16 *sel;
	u16 *from;
	u8 *level;
	u16 *list;
	u16 *parent;
	u16 *wait;
	u16 *seen;
	u16 *copies;
	void (*rest)(void);
};

/* steps between two of these take some 10^5 instructions */
static inline void pw_topo_rest(const struct pw_topo_plan *p)
{
	if (p->rest)
		p->rest();
}

/**
 * struct pw_topo - topology
 * @k: inputs and outputs of a switch
 * @units: switches
 * @ranks: inputs, and outputs, of all switches
 * @ports: stations
 * @paths: paths between two stations
 * @shift: bits of the header word below the VPI
 * @levels: stages of the network. A station drives inputs of level 0; an output with cells
 *	of inputs of level l has a level above l, and so has the input that it drives. Outputs
 *	that drive stations have level @levels.
 * @peer: input that an output drives, PW_TOPO_PORT + station, or PW_TOPO_NONE
 * @in: input that a station drives
 * @out: output that drives a station
 * @level: level of an input, that of the output that drives it
 * @order: outputs that send cells, by ascending level; those that drive stations are the
 *	last ones
 * @norder: their number
 * @first: first row of the table of an input; one more for the end of the last one
 * @row: 1 + k words: select bits, VPI for each output
 * @copies: stations that a cell with the VPI of this row reaches
 * @conns: number of multicast connections
 * @conn: the connections
 */
struct pw_topo {
	u32 k;
	u32 units;
	u32 ranks;
	u32 ports;
	u32 paths;
	u32 shift;
	u32 levels;
	u32 norder;
	u16 *peer;
	u16 *in;
	u16 *out;
	u8 *level;
	u16 *order;
	u32 *first;
	u16 *row;
	u16 *copies;
	u32 conns;
	struct pw_topo_conn *conn;
};

/* what is wrong with a plan; the numbers are those of pw_topo_text() */
enum pw_topo_wrong {
	PW_TOPO_OK,
	PW_TOPO_E_SIZES,	/* a size out of range */
	PW_TOPO_E_LARGE,	/* too much in all */
	PW_TOPO_E_NAME,		/* no such generator */
	PW_TOPO_E_DIMS,		/* not the sizes that the generator takes */
	PW_TOPO_E_STATION,	/* a station without a place, or two at one */
	PW_TOPO_E_INPUT,	/* an input that two outputs or stations drive */
	PW_TOPO_E_ROUTE,	/* no way from a station to another one */
	PW_TOPO_E_ASTRAY,	/* the way ends at another station */
	PW_TOPO_E_CIRCLE,	/* links that wait for each other */
	PW_TOPO_E_DEEP,		/* too many levels */
	PW_TOPO_E_ENTRIES,	/* a table with too many rows */
	PW_TOPO_E_ROWS,		/* too many rows in all */
	PW_TOPO_E_CONNS,	/* too many connections */
	PW_TOPO_E_SENDER,	/* a connection of a station that does not exist */
	PW_TOPO_E_MEMBER,	/* a member that does not exist or is the sender */
	PW_TOPO_E_MEMBERS,	/* a connection without members */
};

struct pw_topo_fault {
	enum pw_topo_wrong what;
	u32 a, b, c, d;
};

static inline bool pw_topo_is_port(u32 peer)
{
	return peer != PW_TOPO_NONE && peer & PW_TOPO_PORT;
}

/* output for a cell at input @rank, to station @d by path @r */
static inline u8 *pw_topo_via(const struct pw_topo_plan *p, u32 rank, u32 d, u32 r)
{
	return &p->via[((size_t)rank * p->z.ports + d) * p->z.paths + r];
}

/* kinds of cells by path at an input: to a station, from a station to all, of a connection */
static inline u32 pw_topo_kinds(const struct pw_topo_sizes *z)
{
	return 2 * z->ports + z->conns;
}

/* VPI at input @rank of a cell of kind @kind by path @r; PW_TOPO_NONE: there is no such cell */
static inline u16 *pw_topo_label(const struct pw_topo_plan *p, u32 rank, u32 kind, u32 r)
{
	return &p->label[((size_t)rank * pw_topo_kinds(&p->z) + kind) * p->z.paths + r];
}

static inline bool pw_topo_member(const struct pw_topo_conn *c, u32 d)
{
	return c->to[d / 32] >> d % 32 & 1;
}

static inline void pw_topo_join(struct pw_topo_conn *c, u32 d)
{
	c->to[d / 32] |= 1U << d % 32;
}

/* destination number in a VPI at the sender: stations, all, connections of the sender */
static inline u32 pw_topo_conn_dest(u32 ports, const struct pw_topo_conn *c)
{
	return ports + 1 + c->nth;
}

/* table row of VPI @vpi at input @rank, NULL without one */
static inline const u16 *pw_topo_row(const struct pw_topo *t, u32 rank, u32 vpi)
{
	u32 n = t->first[rank] + vpi;

	return n < t->first[rank + 1] ? t->row + (size_t)n * (1 + t->k) : NULL;
}

int pw_topo_sizes_check(const struct pw_topo_sizes *z, struct pw_topo_fault *why);
size_t pw_topo_plan_size(const struct pw_topo_sizes *z);
struct pw_topo_plan *pw_topo_plan_init(void *mem, const struct pw_topo_sizes *z);
int pw_topo_check(struct pw_topo_plan *p, struct pw_topo_fault *why);
size_t pw_topo_size(const struct pw_topo_plan *p);
struct pw_topo *pw_topo_make(void *mem, const struct pw_topo_plan *p);

/* topo_gen.c */
extern const char *const pw_topo_kind_name[PW_TOPO_KINDS];
extern const char *const pw_topo_kind_dims[PW_TOPO_KINDS];

int pw_topo_parse(const char *text, struct pw_topo_spec *spec, struct pw_topo_fault *why);
int pw_topo_gen_sizes(const struct pw_topo_spec *spec, struct pw_topo_sizes *z,
		      struct pw_topo_fault *why);
void pw_topo_gen(struct pw_topo_plan *p, const struct pw_topo_spec *spec);

/* topo_tools.c */
void pw_topo_text(const struct pw_topo_fault *why, char *text, size_t cap);

/* topo_route.c */
void pw_topo_route(struct pw_topo_plan *p);

#endif /* PW_CORE_TOPO_H */
