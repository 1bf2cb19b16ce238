// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "fabric/fabric.h"
#include "fabric/fabric_fault.h"
#include "fabric/ref.h"

static const struct ref_msg *msgs;
static struct pw_fabric *f;
static struct ref_out *outs;
static int nout, maxout, *blocked, nblocked;
static struct pw_fabric_faults faults;
static struct pw_topo *topo;

static u64 cells[PW_TOPO_LEVELS + 1];

int ref_topology(const char *name)
{
	return ref_multicast(name, NULL, 0);
}

int ref_multicast(const char *name, const struct ref_conn *conn, int n)
{
	struct pw_topo_fault why;
	struct pw_topo_spec spec;
	struct pw_topo_sizes z;
	struct pw_topo_plan *p;
	int i;

	free(topo);
	topo = NULL;
	if (!name)
		return 16;
	if (pw_topo_parse(name, &spec, &why) || pw_topo_gen_sizes(&spec, &z, &why))
		return -1;
	z.conns = n;
	p = pw_topo_plan_init(malloc(pw_topo_plan_size(&z)), &z);
	pw_topo_gen(p, &spec);
	for (i = 0; i < n; i++) {
		p->conn[i].src = conn[i].from;
		p->conn[i].to[0] = conn[i].to;
	}
	if (!pw_topo_check(p, &why))
		topo = pw_topo_make(malloc(pw_topo_size(p)), p);
	free(p);
	return topo ? (int)topo->ports : -1;
}

int ref_paths(void)
{
	return topo ? topo->paths : 4;
}

int ref_stages(void)
{
	return topo ? topo->levels : PW_BMX_STAGES;
}

uint64_t ref_cells(int stage)
{
	return cells[stage];
}

static void deliver(void *ctx, u16 dst, u16 src, u64 cookie, u32 len, u64 cycle,
		    const struct pw_fabric_times *t)
{
	if (nout < maxout)
		outs[nout] = (struct ref_out) { .cycle = cycle, .dst = dst, .id = (int)cookie };
	nout++;
}

static int offer(int id)
{
	const struct ref_msg *m = &msgs[id];

	if (m->conn)
		return pw_fabric_send(f, m->src, PW_FABRIC_MC + m->conn - 1, PW_FABRIC_AUTO,
				      m->len, id, NULL);
	return pw_fabric_send(f, m->src, m->dst < 0 ? PW_FABRIC_ALL : m->dst,
			      m->dst < 0 ? PW_FABRIC_AUTO : m->path, m->len, id, NULL);
}

static bool waits(int src)
{
	int i;

	for (i = 0; i < nblocked; i++)
		if (msgs[blocked[i]].src == src)
			return true;
	return false;
}

static void room(void *ctx, u16 src, u64 cycle)
{
	int i, id;

	for (i = 0; i < nblocked; ) {
		id = blocked[i];
		if (msgs[id].src != src) {
			i++;
			continue;
		}
		if (offer(id) == -EBUSY)
			return;
		nblocked--;
		memmove(blocked + i, blocked + i + 1, (nblocked - i) * sizeof(*blocked));
	}
}

static enum pw_bmx_fault fault_fn(void *ctx, u32 ppd, u64 t)
{
	return pw_fabric_fault(&faults, ppd, t);
}

int ref_run(const struct ref_msg *msg, int n, bool rtl, const struct ref_fault *fault,
	    struct ref_out *out, int max, uint64_t *resent)
{
	static const struct pw_fabric_ops ops = {
		.deliver = deliver, .room = room, .fault = fault_fn,
	};
	struct pw_fabric_params p = { .k = 4, .topo = topo, .resend = fault ? fault->resend : 0,
				      .flags = PW_FABRIC_F_DEVICE | (rtl ? 0 : PW_FABRIC_F_FAST) };
	struct pw_fabric_stage stage;
	struct pw_aal_stats st;
	void *mem = calloc(1, pw_fabric_size(&p));
	int i, err;

	blocked = calloc(n + 1, sizeof(*blocked));
	if (!mem || !blocked)
		return -1;
	msgs = msg;
	outs = out;
	maxout = max;
	nout = 0;
	nblocked = 0;
	faults = (struct pw_fabric_faults) {};
	if (fault)
		faults = (struct pw_fabric_faults) { fault->drop, fault->corrupt, fault->seed };
	f = pw_fabric_init(mem, &p, &ops, NULL);
	for (i = 0; i < n; i++) {
		while (pw_fabric_now(f) < msg[i].cycle)
			pw_fabric_run(f, msg[i].cycle, 1 << 20);
		err = waits(msg[i].src) ? -EBUSY : offer(i);
		if (err == -EBUSY)
			blocked[nblocked++] = i;
		else if (err)
			return -1;
	}
	while (pw_fabric_next(f) != PW_FABRIC_NEVER)
		pw_fabric_run(f, pw_fabric_next(f) + 1000, 1 << 20);
	for (i = 0; i <= ref_stages(); i++) {
		pw_fabric_stage(f, i, &stage);
		cells[i] = stage.cells;
	}
	if (resent) {
		*resent = 0;
		for (i = 0; i < pw_fabric_ports(&p); i++) {
			pw_fabric_port_stats(f, i, &st);
			*resent += st.resent;
		}
	}
	free(blocked);
	free(mem);
	return nblocked ? -1 : nout;
}
