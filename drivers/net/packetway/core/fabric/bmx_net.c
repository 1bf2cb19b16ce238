// SPDX-License-Identifier: GPL-2.0
/* BMX network, register by register. */
#include "arena.h"
#include "bmx_net.h"

/**
 * pw_bmx_entries_needed() - table entries that the paths of a network take
 * @k: ports of a switch
 *
 * First and middle stage: every source of a switch (k of them) has k*k
 * point-to-point destinations and one broadcast. Last stage: every source of
 * the network has k destinations and one broadcast. The last stage needs more.
 *
 * Return: k * k * (k + 1).
 */
u32 pw_bmx_entries_needed(u32 k)
{
	return k * k * (k + 1);
}

/**
 * pw_bmx_cfg_check() - check the sizes of a network
 * @cfg: sizes
 *
 * Return: 0 or -EINVAL.
 */
int pw_bmx_cfg_check(const struct pw_bmx_cfg *cfg)
{
	u32 k = pw_bmx_cfg_k(cfg);

	if (k < PW_BMX_KMIN || k > PW_BMX_KMAX)
		return -EINVAL;
	if (pw_bmx_cfg_depth(cfg) > PW_BMX_DEPTH_MAX)
		return -EINVAL;
	if (!cfg->topo && cfg->entries > BIT(16 - pw_bmx_vpi_shift(k)))
		return -EINVAL;
	return 0;
}

static u32 cfg_entries(const struct pw_bmx_cfg *cfg)
{
	return max_t(u32, cfg->entries ? cfg->entries : PW_BMX_ENTRIES,
		     pw_bmx_entries_needed(pw_bmx_cfg_k(cfg)));
}

/**
 * pw_bmx_units_layout() - memory of input and output units with their queues, initialized
 * @a: arena
 * @cfg: sizes, checked
 * @n: how many of each
 * @entries: table entries of an input unit; 0: left to the caller
 * @stride: words per entry
 * @u: result
 */
void pw_bmx_units_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg, u32 n, u32 entries,
			 u32 stride, struct pw_bmx_units *u)
{
	u32 k = pw_bmx_cfg_k(cfg), depth = pw_bmx_cfg_depth(cfg), i;
	u16 *row;
	u8 *mem;

	u->ppd = pw_arena_take(a, sizeof(*u->ppd) * n);
	u->spd = pw_arena_take(a, sizeof(*u->spd) * n);
	u->xpm = pw_arena_take(a, sizeof(*u->xpm) * n * k);
	row = pw_arena_take(a, sizeof(*row) * n * entries * stride);
	mem = pw_arena_take(a, (size_t)n * k * depth * PW_BMX_CELL);
	if (!a->base)
		return;
	for (i = 0; i < n; i++) {
		pw_bmx_ppd_init(&u->ppd[i], k, depth);
		if (entries)
			pw_bmx_tab_init(&u->ppd[i].tab, row + (size_t)i * entries * stride, entries,
					stride, pw_bmx_vpi_shift(k));
		pw_bmx_spd_init(&u->spd[i], k);
	}
	for (i = 0; i < n * k; i++)
		pw_bmx_xpm_init(&u->xpm[i], mem + (size_t)i * depth * PW_BMX_CELL, depth);
}

/* tables of a topology, each as large as the topology needs it */
static void topo_tables(struct pw_arena *a, const struct pw_topo *t, struct pw_bmx_ppd *ppd)
{
	u32 stride = 1 + t->k, r, n;
	u16 *row;

	for (r = 0; r < t->ranks; r++) {
		n = t->first[r + 1] - t->first[r];
		row = pw_arena_take(a, sizeof(*row) * n * stride);
		if (!a->base)
			continue;
		pw_bmx_tab_init(&ppd[r].tab, row, n, stride, t->shift);
		memcpy(row, t->row + (size_t)t->first[r] * stride, sizeof(*row) * n * stride);
	}
}

static struct pw_bmx_net *net_layout(struct pw_arena *a, const struct pw_bmx_cfg *cfg)
{
	u32 k = pw_bmx_cfg_k(cfg), ports = pw_bmx_cfg_ports(cfg);
	struct pw_bmx_net head = {}, *net;
	struct pw_bmx_units u;

	net = pw_arena_take(a, sizeof(*net));
	head.k = k;
	head.ports = ports;
	head.ranks = cfg->topo ? cfg->topo->ranks : PW_BMX_STAGES * ports;
	head.depth = pw_bmx_cfg_depth(cfg);
	head.shift = cfg->topo ? cfg->topo->shift : pw_bmx_vpi_shift(k);
	head.topo = cfg->topo;
	head.in_byte = pw_arena_take(a, ports);
	head.in_byteind = pw_arena_take(a, ports);
	head.in_suspend = pw_arena_take(a, ports);
	head.out_byte = pw_arena_take(a, ports);
	head.out_byteind = pw_arena_take(a, ports);
	head.out_suspend = pw_arena_take(a, ports);
	head.peer = pw_arena_take(a, sizeof(*head.peer) * head.ranks);
	head.in = pw_arena_take(a, sizeof(*head.in) * ports);
	head.out = pw_arena_take(a, sizeof(*head.out) * ports);
	/* three stages: all outputs of an entry have the same VPI: two words per entry */
	pw_bmx_units_layout(a, cfg, head.ranks, cfg->topo ? 0 : cfg_entries(cfg), 2, &u);
	head.ppd = u.ppd;
	head.spd = u.spd;
	head.xpm = u.xpm;
	if (cfg->topo)
		topo_tables(a, cfg->topo, head.ppd);
	if (net)
		*net = head;
	return net;
}

/**
 * pw_bmx_net_size() - memory that a network needs
 * @cfg: sizes, checked
 *
 * Return: bytes to hand to pw_bmx_net_init().
 */
size_t pw_bmx_net_size(const struct pw_bmx_cfg *cfg)
{
	struct pw_arena a = {};

	net_layout(&a, cfg);
	return a.used;
}

static void set_one(struct pw_bmx_net *net, u32 ppd, u32 vpi, u32 out, u32 vpi_out)
{
	struct pw_bmx_entry e = {};

	e.sel = BIT(out);
	e.vpi[out] = vpi_out;
	pw_bmx_tab_set(&net->ppd[ppd].tab, vpi, &e);
}

static void set_all(struct pw_bmx_net *net, u32 ppd, u32 vpi, u32 vpi_out)
{
	struct pw_bmx_entry e = {};
	u32 i;

	e.sel = BIT(net->k) - 1;
	for (i = 0; i < net->k; i++)
		e.vpi[i] = vpi_out;
	pw_bmx_tab_set(&net->ppd[ppd].tab, vpi, &e);
}

/*
 * Every PPD allocates its entries upwards from 0: sources ascending, for each source
 * first all point-to-point paths (destination, then path), then its broadcast
 * paths. These are the closed forms of that for any k.
 */
static void fill_tables(struct pw_bmx_net *net)
{
	u32 k = net->k, n = net->ports;
	u32 s, d, r, j, mid, midv, lastv;

	for (s = 0; s < n; s++) {
		for (r = 0; r < k; r++) {
			mid = n + k * r + s / k;
			for (d = 0; d < n; d++) {
				midv = (n + 1) * (s % k) + d;
				lastv = (k + 1) * s + d % k;
				set_one(net, s, pw_bmx_vpi_one(k, d, r), r, midv);
				set_one(net, mid, midv, d / k, lastv);
				set_one(net, 2 * n + k * (d / k) + r, lastv, d % k, 0);
			}
			midv = (n + 1) * (s % k) + n;
			lastv = (k + 1) * s + k;
			set_one(net, s, pw_bmx_vpi_all(k, r), r, midv);
			set_all(net, mid, midv, lastv);
			for (j = 0; j < k; j++)
				set_all(net, 2 * n + k * j + r, lastv, 0);
		}
	}
}

/* links of the three-stage network */
static void fill_links(struct pw_bmx_net *net)
{
	u32 n = net->ports, i;

	for (i = 0; i < 2 * n; i++)
		net->peer[i] = (i / n + 1) * n + pw_bmx_wire(net->k, i % n);
	for (i = 0; i < n; i++) {
		net->in[i] = i;
		net->out[i] = 2 * n + i;
		net->peer[2 * n + i] = PW_TOPO_PORT | i;
	}
}

/**
 * pw_bmx_net_init() - reset network with its paths
 * @mem: pw_bmx_net_size() bytes, aligned to 8
 * @cfg: sizes, checked
 *
 * Return: the network (at @mem).
 */
struct pw_bmx_net *pw_bmx_net_init(void *mem, const struct pw_bmx_cfg *cfg)
{
	struct pw_arena a = { .base = mem };
	struct pw_bmx_net *net;

	net = net_layout(&a, cfg);
	memset(net->in_byte, 0, net->ports);
	memset(net->in_byteind, 0, net->ports);
	memset(net->in_suspend, 0, net->ports);
	memset(net->out_byte, 0, net->ports);
	memset(net->out_byteind, 0, net->ports);
	memset(net->out_suspend, 0, net->ports);
	if (net->topo) {
		memcpy(net->peer, net->topo->peer, sizeof(*net->peer) * net->ranks);
		memcpy(net->in, net->topo->in, sizeof(*net->in) * net->ports);
		memcpy(net->out, net->topo->out, sizeof(*net->out) * net->ports);
	} else {
		fill_links(net);
		fill_tables(net);
	}
	return net;
}

/**
 * pw_bmx_net_spds() - some output units in the first part of a cycle
 * @net: network
 * @from: the first one; 0 begins the cycle
 * @end: the one behind the last; the last of all ends the part
 */
void pw_bmx_net_spds(struct pw_bmx_net *net, u32 from, u32 end)
{
	u32 k = net->k, r, to;
	bool suspend;

	if (!from)
		net->cycle++;
	for (r = from; r < end; r++) {
		to = net->peer[r];
		if (to < net->ranks)
			suspend = net->ppd[to].suspend;
		else if (to != PW_TOPO_NONE)
			suspend = net->out_suspend[to & ~PW_TOPO_PORT];
		else
			continue;
		pw_bmx_spd_step(&net->spd[r], suspend, pw_bmx_spd_queue(net->xpm, k, r), k);
	}
	if (end < net->ranks)
		return;
	for (r = 0; r < net->ports; r++) {
		net->out_byte[r] = net->spd[net->out[r]].byte;
		net->out_byteind[r] = net->spd[net->out[r]].byteind;
	}
}

/**
 * pw_bmx_net_step_spd() - first part of a cycle: all output units
 * @net: network
 */
void pw_bmx_net_step_spd(struct pw_bmx_net *net)
{
	pw_bmx_net_spds(net, 0, net->ranks);
}

/**
 * pw_bmx_net_stage() - stage of an input unit
 * @net: network
 * @ppd: its rank
 *
 * Return: 0 for those that ports drive.
 */
u32 pw_bmx_net_stage(const struct pw_bmx_net *net, u32 ppd)
{
	return net->topo ? net->topo->level[ppd] : ppd / net->ports;
}

/* call net->fault for the cell that PPD @r accepts in this cycle, if there is one */
static void ask_fault(struct pw_bmx_net *net, u32 r)
{
	struct pw_bmx_ppd *p = &net->ppd[r];
	u32 stage;

	if (!p->cind || p->qind || pw_bmx_ppd_full(p, &net->xpm[(size_t)r * net->k]))
		return;
	stage = pw_bmx_net_stage(net, r);
	switch (net->fault(net->fault_ctx, r, net->cycle - PW_BMX_DECIDE)) {
	case PW_BMX_FAULT_DROP:
		p->sel = 0;
		net->dropped[stage]++;
		break;
	case PW_BMX_FAULT_CORRUPT:
		p->flip_at = PW_BMX_FLIP(stage);
		net->corrupted[stage]++;
		break;
	default:
		break;
	}
}

/**
 * pw_bmx_net_faults() - faults of some input units, before any of them is stepped
 * @net: network
 * @from: the first one
 * @end: the one behind the last
 */
void pw_bmx_net_faults(struct pw_bmx_net *net, u32 from, u32 end)
{
	u32 r;

	if (unlikely(net->fault))
		for (r = from; r < end; r++)
			ask_fault(net, r);
}

/**
 * pw_bmx_net_ppds_in() - the input units of some ports
 * @net: network
 * @from: the first port
 * @end: the one behind the last
 */
void pw_bmx_net_ppds_in(struct pw_bmx_net *net, u32 from, u32 end)
{
	u32 r, to;

	for (r = from; r < end; r++) {
		to = net->in[r];
		pw_bmx_ppd_step(&net->ppd[to], net->in_byte[r], net->in_byteind[r],
				&net->xpm[(size_t)to * net->k]);
		net->in_suspend[r] = net->ppd[to].suspend;
	}
}

/**
 * pw_bmx_net_ppds() - the input units that some output units drive
 * @net: network
 * @from: the first output unit
 * @end: the one behind the last
 */
void pw_bmx_net_ppds(struct pw_bmx_net *net, u32 from, u32 end)
{
	u32 k = net->k, r, to;

	for (r = from; r < end; r++) {
		to = net->peer[r];
		if (to < net->ranks)
			pw_bmx_ppd_step(&net->ppd[to], net->spd[r].byte, net->spd[r].byteind,
					&net->xpm[(size_t)to * k]);
	}
}

/**
 * pw_bmx_net_step_ppd() - last part of a cycle: all input units
 * @net: network
 */
void pw_bmx_net_step_ppd(struct pw_bmx_net *net)
{
	pw_bmx_net_faults(net, 0, net->ranks);
	pw_bmx_net_ppds_in(net, 0, net->ports);
	pw_bmx_net_ppds(net, 0, net->ranks);
}

/**
 * pw_bmx_net_idle() - is the network idle?
 * @net: network
 *
 * Return: true if no byte is in a queue, a register or on a link.
 */
bool pw_bmx_net_idle(const struct pw_bmx_net *net)
{
	u32 i;

	for (i = 0; i < net->ranks; i++) {
		const struct pw_bmx_ppd *p = &net->ppd[i];
		const struct pw_bmx_spd *s = &net->spd[i];

		if (p->aind || p->bind || p->cind || p->dind || p->oind || p->pind || p->qind ||
		    p->count || p->suspend || s->bufind || s->byteind || s->trsmit)
			return false;
	}
	for (i = 0; i < net->ranks * net->k; i++)
		if (net->xpm[i].size)
			return false;
	return true;
}
