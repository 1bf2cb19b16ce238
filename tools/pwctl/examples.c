// SPDX-License-Identifier: GPL-2.0
/*
 * Examples for help. selftests/pwctl_help.sh runs each of them, and finds verbs that
 * have none.
 */
#include "pwctl.h"

static const struct {
	const char *group, *verb, *lines;
} list[] = {
	{ "san", "show", "pwctl san show 1\npwctl -j san show" },
	{ "san", "add", "pwctl san add 1 ports 16 ring-engine rtl\npwctl san add 2 topology torus:4x4" },
	{ "san", "set", "pwctl san set 1 engine none\npwctl san set 1 rate 1000000000 real 1" },
	{ "san", "stages", "pwctl san stages 1\npwctl san stages 1 interval 100 count 3 csv" },
	{ "san", "del", "pwctl san del 1" },
	{ "station", "show", "pwctl station show pw0" },
	{ "station", "add", "pwctl station add pw1 san 1 port 3 up" },
	{ "station", "del", "pwctl station del pw1" },
	{ "router", "show", "pwctl router show ab stats" },
	{ "router", "add", "pwctl router add ab san 1:15 san 2:15\n"
	  "pwctl router add slow san 1 quality 10 san 2 quality 10\n"
	  "pwctl router add t san 1 trunk udp 10.0.0.1:7777 10.0.0.2:7777 secret-file k\n"
	  "pwctl router add t san 1 trunk dev eth0\n"
	  "pwctl router add x san 1:15 trunk dev eth1 bare" },
	{ "router", "del", "pwctl router del ab" },
	{ "route", "show", "pwctl route show san 1" },
	{ "route", "add", "pwctl route add 00:03:01-00:03:10 san 1 via 00:01:10\n"
			  "pwctl route add 00:03:01 dev pw0 l2rhs 0083010203000000" },
	{ "route", "del", "pwctl route del 00:03:01-00:03:10 san 1 via 00:01:10\n"
			  "pwctl route del 00:03:01 dev pw0" },
	{ "name", "show", "pwctl name show san 1" },
	{ "", "resolve", "pwctl resolve b1 san 1\npwctl resolve 00:02:01 dev pw0" },
	{ "aton", "show", "pwctl aton show dev pw0" },
	{ "aton", "add", "pwctl aton add dev pw0\npwctl aton add region 0xe00003 dev pw0\npwctl aton add scope tree dev pw0\npwctl aton add prefix dev pw0" },
	{ "aton", "latch", "pwctl aton latch\npwctl aton latch reg 2 signed dev pw0" },
	{ "aton", "and", "pwctl aton and dev pw0" },
	{ "aton", "or", "pwctl aton or dev pw0" },
	{ "aton", "max", "pwctl aton max signed dev pw0" },
	{ "aton", "min", "pwctl aton min reg 2 dev pw0" },
	{ "aton", "count-eq", "pwctl aton count-eq comparand 7 dev pw0" },
	{ "aton", "count-lt", "pwctl aton count-lt comparand 7 dev pw0" },
	{ "aton", "count-le", "pwctl aton count-le dev pw0" },
	{ "aton", "sort", "pwctl -j aton sort dev pw0" },
	{ "aton", "majority", "pwctl aton majority dev pw0" },
	{ "aton", "tree", "pwctl aton tree ops add,max dev pw0" },
	{ "aton", "set", "pwctl aton set 42 dev pw0\npwctl aton set group 3 dev pw0" },
	{ "aton", "watch", "pwctl aton watch max count 5 dev pw0" },
	{ "", "find", "pwctl find capability esp dev pw0\npwctl find group 0xe00007 dev pw0" },
	{ "", "describe", "pwctl describe name printer2 capability printer group 0xe00007 dev pw0" },
	{ "", "ping", "pwctl ping 00:00:02 count 3 dev pw0\npwctl ping 00:02:01 by-route dev pw0" },
	{ "", "trace", "pwctl trace 00:02:01 by-route dev pw0" },
	{ "", "send", "pwctl send 00:00:02 pt 9 text hello crc64 dev pw0\n"
	  "pwctl send 00:02:01 pt 9 text hello by-route dev pw0" },
	{ "esp", "show", "pwctl esp show pw0" },
	{ "esp", "set", "pwctl esp set pw0 capacity 4096 lifetime 2000\npwctl esp set lifetime 5000" },
	{ "esp", "bindings", "pwctl esp bindings pw0" },
	{ "esp", "listen", "pwctl esp listen count 1 timeout 5000 dev pw0" },
	{ "esp", "count", "pwctl esp count 00:00:02 tag 7 thresh 3 dev pw0\n"
	  "pwctl esp count 00:02:01 tag 7 thresh 3 one-way by-route dev pw0" },
	{ "esp", "compare", "pwctl esp compare 00:00:02 tag 7 val 10 op lt dev pw0" },
	{ "esp", "collect", "pwctl esp collect 00:00:02 val 5 val-tag 8 cnt-tag 9 op add dev pw0" },
	{ "esp", "rchld", "pwctl esp rchld 00:00:02 sib-tag 1 fwd-tag 2 fwd-thresh 2 dev pw0" },
	{ "esp", "rcollect", "pwctl esp rcollect 00:00:02 val 5 sib-tag 1 fwd-tag 2 fwd-thresh 2 "
	  "comp-tag 3 op max dev pw0" },
	{ "poets", "run", "pwctl poets run build/poets/sssp.json csv report.csv timeout 30" },
	{ "poets", "show", "pwctl poets show pw0" },
	{ "", "stats", "pwctl stats pw0\npwctl -j stats all" },
	{ "", "metrics", "pwctl metrics -o /var/lib/prometheus/node-exporter/packetway.prom\n"
	  "pwctl metrics lab ring8 --listen 9101" },
	{ "", "events", "pwctl -j events count 10\npwctl events event pw_deliver" },
	{ "", "monitor", "pwctl monitor count 10" },
	{ "", "capture", "pwctl capture dev pw0 -c 5 -V -Y pweep\npwctl -n ring8 capture ring -c 8" },
	{ "", "view", "pwctl view ring.pcapng\npwctl view trace.json -o page.html\n"
	  "pwctl view ring8 time 10\npwctl view --live ring8" },
	{ "fault", "ring", "pwctl fault ring san 0 flip 1 40" },
	{ "fault", "fabric", "pwctl fault fabric drop 1000 seed 7" },
	{ "lab", "show", "pwctl lab show ring8" },
	{ "lab", "up", "pwctl lab up Documentation/labs/ring8.yaml\n"
	  "pwctl lab up Documentation/labs/hosts.yaml --host left" },
	{ "lab", "exec", "pwctl lab exec s1 pwctl aton add\npwctl lab exec ring8/s2 ping -c 1 s8" },
	{ "", "virtual", "pwctl virtual fresh time pwsolve system.csv" },
	{ "lab", "down", "pwctl lab down ring8" },
	{ "experiment", "delay", "pwctl experiment delay 48 1024 engine fast svg delay.svg" },
	{ "experiment", "throughput", "pwctl experiment throughput 1024" },
	{ "experiment", "contention", "pwctl experiment contention engine fast log solve.csv" },
	{ "experiment", "queues", "pwctl experiment queues engine fast" },
	{ "experiment", "sweep", "pwctl experiment sweep tools/experiments/clos.yaml out clos" },
	{ "experiment", "messages", "pwctl experiment messages tools/testing/view/sans.pcapng san 1 write run.csv" },
	{ "", "doctor", "pwctl doctor\npwctl -j doctor" },
	{ "", "top", "pwctl top lab ring8\npwctl top once dev pw0" },
	{ "", "help", "pwctl help aton" },
};

const char *examples(const char *group, const char *verb)
{
	int i;

	for (i = 0; i < N(list); i++)
		if (!strcmp(list[i].group, group) && !strcmp(list[i].verb, verb))
			return list[i].lines;
	return "";
}
