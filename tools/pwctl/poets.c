// SPDX-License-Identifier: GPL-2.0
/* POETS: what there is, and applications. */
#include "poets.h"

int cmd_poets(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "run", poets_run, "APP.json [csv FILE] [log FILE] [timeout SECONDS]",
		  "load an application onto stations, run it until it stops, show what it did" },
		{ "show", poets_show, "[NAME]", "softswitches and motherships: state, devices, drops" },
	};

	return dispatch("poets", v, N(v), argc, argv);
}
