// SPDX-License-Identifier: GPL-2.0
/* pwmodel esp and pwmodel poets as people call them; $PWMODEL names the binary. */
#include <string.h>
#include <sys/wait.h>
#include "tap.h"

static const char *pwmodel;

/* run it with @input on standard input; gives its exit status and both outputs */
static int run(const char *args, const char *input, char *out, char *err)
{
	char dir[] = "/tmp/pwcliXXXXXX", name[64], cmd[512];
	FILE *f;
	int rc;

	if (!mkdtemp(dir))
		return -1;
	snprintf(name, sizeof(name), "%s/in", dir);
	f = fopen(name, "w");
	fputs(input, f);
	fclose(f);
	snprintf(cmd, sizeof(cmd), "%s %s < %s/in > %s/out 2> %s/err", pwmodel, args, dir, dir,
		 dir);
	rc = system(cmd);
	for (int i = 0; i < 2; i++) {
		char *to = i ? err : out;

		snprintf(name, sizeof(name), "%s/%s", dir, i ? "err" : "out");
		f = fopen(name, "r");
		to[fread(to, 1, 2047, f)] = 0;
		fclose(f);
	}
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd) || !WIFEXITED(rc) ? -1 : WEXITSTATUS(rc);
}

static const struct {
	const char *args, *in, *out;
} good[] = {
	{ "esp -",
	 "0 COUNT tag=1 thresh=1\n1 count tag=0x1 thresh=1\n9999 get tag=1\n10000 get tag=1\n",
	  "{\"verdict\":\"forward\"}\n{\"verdict\":\"discard\"}\n{\"val\":2}\n{\"val\":null}\n" },
	{ "esp -", "# a comment\n\n0 compare tag=5 op=lt val=3\n0 compare tag=5 op=< val=3\n"
	  "0 compare tag=5 op=GE val=3\n",
	  "{\"verdict\":\"forward\"}\n{\"verdict\":\"discard\"}\n{\"verdict\":\"forward\"}\n" },
	{ "esp -", "0 collect valTag=1 cntTag=2 op=add val=1\n0 put tag=2 val=2\n"
	  "0 collect valTag=1 cntTag=2 op=add val=18446744073709551614\n"
	  "0 collect valTag=1 cntTag=2 op=add val=1\n0 get tag=1",
	  "{\"verdict\":\"abort\"}\n{\"verdict\":\"forward\"}\n{\"verdict\":\"discard\"}\n"
	  "{\"verdict\":\"forward\",\"val\":18446744073709551615}\n{\"val\":18446744073709551615}\n",
	},
	{ "esp - --node 9", "0 RCHLD sibTag=1 fwdTag=2 fwdThresh=1 pktId=100\n"
	  "0 RCHLD sibTag=1 fwdTag=2 fwdThresh=1 pktId=100\n"
	  "0 RCHLD sibTag=1 fwdTag=2 fwdThresh=1 pktId=101\n0 get tag=1\n"
	  "1 RCOLLECT sibTag=1 fwdTag=3 fwdThresh=1 compTag=4 op=max val=7 pktId=100\n"
	  "1 RCOLLECT sibTag=1 fwdTag=3 fwdThresh=1 compTag=4 op=max val=5 pktId=101\n"
	  "1 RCOLLECT sibTag=1 fwdTag=3 fwdThresh=1 compTag=4 op=max val=5 pktId=102\n",
	  "{\"verdict\":\"forward\",\"pktId\":9}\n{\"verdict\":\"discard\"}\n{\"verdict\":\"discard\"}\n"
	  "{\"val\":2}\n{\"verdict\":\"discard\"}\n{\"verdict\":\"forward\",\"val\":7,\"pktId\":9}\n"
	  "{\"verdict\":\"abort\"}\n" },
	{ "esp --capacity 1 --lifetime 5 -",
	 "0 put tag=1 val=1\n4 put tag=2 val=1\n5 put tag=2 val=3\n"
	  "9 get tag=2\n10 get tag=2\n",
	  "{\"verdict\":\"forward\"}\n{\"verdict\":\"abort\"}\n{\"verdict\":\"forward\"}\n{\"val\":3}\n"
	  "{\"val\":null}\n" },
	{ "esp -", "", "" },
	{ "poets decode 0000fdc023010000", "",
	  "{\"device\":0,\"opcode\":253,\"task\":0,\"cnc\":1,\"mothership\":1,\"pin\":35,\"edge\":1,\"payload\":\"\",\"flits\":1}\n",
	},
	{ "poets decode -",
	  "e8 03 01 48 ffffffff 0102030405060708 09\n",
	  "{\"device\":1000,\"opcode\":1,\"task\":8,\"cnc\":1,\"mothership\":0,\"pin\":255,\"edge\":16777215,\"payload\":\"010203040506070809\",\"flits\":2}\n",
	},
	{ "poets encode -", "{\"device\":513,\"task\":3}", "{\"hex\":\"0102000300000000\"}\n" },
	{ "poets encode -",
	  "{\"device\":1000,\"opcode\":1,\"task\":8,\"cnc\":1,\"mothership\":0,\"pin\":255,\"edge\":16777215,\"payload\":\"010203040506070809\",\"flits\":2}",
	  "{\"hex\":\"e8030148ffffffff010203040506070809\"}\n" },
};

/* the message must name @field */
static const struct {
	const char *args, *in, *field;
} bad[] = {
	{ "esp -", "0 count tag=1 thresh=1\n0 count tag=1\n", "thresh" },
	{ "esp -", "5 get tag=1\n4 get tag=1\n", "MS" },
	{ "esp -", "x get tag=1\n", "MS" },
	{ "esp -", "0\n", "NAME" },
	{ "esp -", "0 frobnicate tag=1\n", "NAME" },
	{ "esp -", "0 get tag=18446744073709551616\n", "tag" },
	{ "esp -", "0 get tag=-1\n", "tag" },
	{ "esp -", "0 get tag=1 val=1\n", "val" },
	{ "esp -", "0 put tag=1 tag=2 val=1\n", "tag" },
	{ "esp -", "0 compare tag=1 op=add val=1\n", "op" },
	{ "esp -", "0 collect valTag=1 cntTag=1 op=lt val=1\n", "op" },
	{ "esp -", "0 compare tag=1 val=1\n", "op" },
	{ "esp -", "0 count tag=1 thresh=1 op=add\n", "op" },
	{ "esp --capacity 0 -", "", "--capacity" },
	{ "esp --lifetime 0 -", "", "--lifetime" },
	{ "esp - --node", "", "--node" },
	{ "esp", "", "script" },
	{ "esp - --bogus", "", "--bogus" },
	{ "poets decode 00", "", "swAddr" },
	{ "poets decode 0g", "", "hex" },
	{ "poets decode -",
	 "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
	  "payload" },
	{ "poets encode -", "{\"device\":65536}", "device" },
	{ "poets encode -", "{\"opcode\":256}", "opcode" },
	{ "poets encode -", "{\"task\":64}", "task" },
	{ "poets encode -", "{\"cnc\":2}", "cnc" },
	{ "poets encode -", "{\"mothership\":-1}", "mothership" },
	{ "poets encode -", "{\"pin\":256}", "pin" },
	{ "poets encode -", "{\"edge\":16777216}", "edge" },
	{ "poets encode -", "{\"payload\":\"0\"}", "payload" },
	{ "poets encode -", "{\"flits\":2}", "flits" },
	{ "poets encode -", "{\"colour\":2}", "colour" },
	{ "poets encode -", "{", "JSON" },
	{ "poets frob -", "", "frob" },
};

int main(void)
{
	char out[2048], err[2048];

	pwmodel = getenv("PWMODEL");
	if (!pwmodel) {
		ok(1, "skipped: PWMODEL is not set # SKIP");
		return tap_done();
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int rc = run(good[i].args, good[i].in, out, err);

		if (!ok(!rc && !strcmp(out, good[i].out) && !*err, "%s, case %zu", good[i].args, i))
			diag("exit %d, got: %s%s", rc, out, err);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int rc = run(bad[i].args, bad[i].in, out, err);
		char *nl = strchr(err, '\n');

		if (!ok(rc == 2 && !*out && strstr(err, bad[i].field) && nl && !nl[1],
			"%s: one line names %s, case %zu", bad[i].args, bad[i].field, i))
			diag("exit %d, got: %s%s", rc, out, err);
	}
	return tap_done();
}
