// SPDX-License-Identifier: GPL-2.0
/* Fabric: functions for tools and tests; in the module only its KUnit tests use them. */
#include "aal_ctl.h"
#include "fabric_fault.h"
#include "fabric_priv.h"

#define AT(m) offsetof(struct pw_fabric_faults, m)

const struct pw_fabric_param pw_fabric_fault_param[PW_FABRIC_FAULT_PARAMS] = {
	{ "drop", "ppm", AT(drop), 0, PW_FABRIC_FAULT_MAX, { 0, 0 },
	  "cells in a million that an input unit drops" },
	{ "corrupt", "ppm", AT(corrupt), 0, PW_FABRIC_FAULT_MAX, { 0, 0 },
	  "cells in a million that an input unit damages" },
	{ "fault-seed", "number", AT(seed), 0, U32_MAX,
	  { PW_FABRIC_FAULT_SEED, PW_FABRIC_FAULT_SEED },
	  "seed that decides which cells these are" },
};

/**
 * pw_fabric_fault_find() - parameter of the faults of that name
 * @name: name
 *
 * Return: its line of the table or NULL.
 */
const struct pw_fabric_param *pw_fabric_fault_find(const char *name)
{
	u32 i;

	for (i = 0; i < PW_FABRIC_FAULT_PARAMS; i++)
		if (!strcmp(pw_fabric_fault_param[i].name, name))
			return &pw_fabric_fault_param[i];
	return NULL;
}

/**
 * pw_fabric_fault_set() - change a parameter of the faults
 * @c: faults
 * @d: parameter
 * @v: value in its range
 */
void pw_fabric_fault_set(struct pw_fabric_faults *c, const struct pw_fabric_param *d, u32 v)
{
	memcpy((char *)c + d->at, &v, sizeof(v));
}

/**
 * pw_fabric_aal() - AAL unit of a port
 * @f: fabric
 * @port: port
 *
 * Return: the AAL unit.
 */
struct pw_aal *pw_fabric_aal(struct pw_fabric *f, u16 port)
{
	return f->port[port].u;
}

/**
 * pw_fabric_net() - network of the rtl engine
 * @f: fabric
 *
 * Return: the network; NULL with the fast engine.
 */
const struct pw_bmx_net *pw_fabric_net(const struct pw_fabric *f)
{
	return f->net;
}

/**
 * pw_fabric_stats() - counters of the fabric
 * @f: fabric
 * @s: result
 */
void pw_fabric_stats(const struct pw_fabric *f, struct pw_fabric_stats *s)
{
	*s = f->stats;
}

/* parts of the one-way delay of a message, published sums in brackets */
enum fabric_delay {
	/*
	 * once (145): init-send (3), destination and header words (18), controller 1 (5), 5 (3),
	 * network (18), first cell taken in (53), controller 7 (23), request (15), 8 (7)
	 */
	DELAY_MSG	= CYC_COMMAND + CYC_HEADERS + CYC_C1_MSG + CYC_C5_LINK +
			  PW_BMX_LATENCY + PW_BMX_CELL + CYC_C7_CELL +
			  PW_AAL_HDR_WORDS * CYC_COMMAND + CYC_C8_GRANT,
	/* each cell (10): controllers 1 to 4 */
	DELAY_CELL	= CYC_C1_CELL + CYC_C2_CELL,
	/* each word (38): put and get */
	DELAY_WORD	= 2 * CYC_WORD,
	/* second cell (58): the sender's spacing; controller 7 passes the first block */
	DELAY_SECOND	= CYC_C5_CELL + CYC_C7_PASS,
	/* each further cell (61): controller 7 is slower than the sender */
	DELAY_MIDDLE	= 1 + PW_AAL_ACK_CYCLES + CYC_C7_PASS + CYC_C7_CELL,
};

/* put and get of the last @r bytes */
#define DELAY_REST(r)	(2 * (CYC_COMMAND + CYC_BYTE * (r)))

/**
 * pw_fabric_delay() - closed form of the one-way delay
 * @len: data bytes
 *
 * From init-send to the end of the last get, in an idle fabric, with processes that take
 * no time and the sender at port 0 (each source that controller 8 passes adds
 * CYC_C8_SOURCE cycles).
 *
 * Return: cycles.
 */
u64 pw_fabric_delay(u32 len)
{
	u64 c = pw_cell_count(len), d = DELAY_MSG + DELAY_CELL * c + DELAY_WORD * (u64)(len / 4);
	u32 r = len % 4;

	if (r)
		d += DELAY_REST(r);
	if (c > 1)
		d += DELAY_SECOND;
	if (c > 2)
		d += DELAY_MIDDLE * (c - 2);
	return d;
}
