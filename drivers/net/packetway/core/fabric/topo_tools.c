// SPDX-License-Identifier: GPL-2.0
/* Topologies: sentences for the tools; the module has its own, without numbers. */
#include "topo.h"

/**
 * pw_topo_text() - what is wrong, as a sentence
 * @why: result of a check or of pw_topo_parse()
 * @text: result
 * @cap: its size
 */
void pw_topo_text(const struct pw_topo_fault *why, char *text, size_t cap)
{
	u32 a = why->a, b = why->b, c = why->c, d = why->d;

	switch (why->what) {
	case PW_TOPO_OK:
		scnprintf(text, cap, "nothing is wrong");
		break;
	case PW_TOPO_E_SIZES:
		scnprintf(text, cap,
			  "%u switches of %u ports, %u stations, %u paths: there may be 2..%u ports, 2..%u stations, 1..%u paths and %u inputs in all",
			  a, b, c, d, PW_BMX_KMAX, PW_TOPO_PORTS, PW_TOPO_PATHS, PW_TOPO_RANKS);
		break;
	case PW_TOPO_E_LARGE:
		scnprintf(text, cap,
			  "%u inputs times %u stations%s times %u paths are more than %u", a, b,
			  d ? " and connections" : "", c, PW_TOPO_CELLS);
		break;
	case PW_TOPO_E_NAME:
		scnprintf(text, cap, "unknown topology");
		break;
	case PW_TOPO_E_DIMS:
		scnprintf(text, cap, "sizes are missing, too many or out of range");
		break;
	case PW_TOPO_E_STATION:
		scnprintf(text, cap, "station %u has no place, or shares its place", a);
		break;
	case PW_TOPO_E_INPUT:
		scnprintf(text, cap,
			  "input %u of switch %u does not exist or is driven twice", b, a);
		break;
	case PW_TOPO_E_ROUTE:
		scnprintf(text, cap,
			  "no route from station %u to %u by path %u, it ends at switch %u",
			  a, b, c, d);
		break;
	case PW_TOPO_E_ASTRAY:
		scnprintf(text, cap,
			  "the route from station %u to %u by path %u ends at station %u",
			  a, b, c, d);
		break;
	case PW_TOPO_E_CIRCLE:
		scnprintf(text, cap,
			  "deadlock: links wait for each other in a circle, among them output %u of switch %u",
			  b, a);
		break;
	case PW_TOPO_E_DEEP:
		scnprintf(text, cap, "%u switches in a row, at most %u are possible", a,
			  PW_TOPO_LEVELS);
		break;
	case PW_TOPO_E_ENTRIES:
		scnprintf(text, cap,
			  "the table of input %u of switch %u has %u rows, at most %u fit",
			  b, a, c, PW_TOPO_ENTRIES);
		break;
	case PW_TOPO_E_ROWS:
		scnprintf(text, cap, "the tables have %u rows, at most %u fit", a, PW_TOPO_ROWS);
		break;
	case PW_TOPO_E_CONNS:
		scnprintf(text, cap, "%u multicast connections, at most %u are possible", a,
			  PW_TOPO_CONNS);
		break;
	case PW_TOPO_E_SENDER:
		scnprintf(text, cap, "multicast connection %u: there is no station %u", a, b);
		break;
	case PW_TOPO_E_MEMBER:
		if (b == c)
			scnprintf(text, cap, "multicast connection %u: station %u is its sender",
				  a, b);
		else
			scnprintf(text, cap, "multicast connection %u: there is no station %u", a,
				  b);
		break;
	case PW_TOPO_E_MEMBERS:
		scnprintf(text, cap, "multicast connection %u from station %u has no members", a,
			  b);
		break;
	}
}
