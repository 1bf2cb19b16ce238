// SPDX-License-Identifier: GPL-2.0
/* pwmodel aton: both engines, every form, what it prints and what it refuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pw_os_user.h"
#include "tap.h"

static char text[2048], error[1024];
static int status;

static void run(const char *engine, const char *args)
{
	char cmd[1024], name[64], *q;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/tmp/aton_cli_test.%d", (int)getpid());
	snprintf(cmd, sizeof(cmd), "%s aton --engine %s %s 2>%s", getenv("PWMODEL"), engine, args,
		 name);
	f = popen(cmd, "r");
	if (!f)
		exit(1);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	if (n && text[n - 1] == '\n')
		text[n - 1] = 0;
	for (q = text; (q = strchr(q, '"'));)	/* for the table's sake */
		*q = '\'';
	status = pclose(f);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	f = fopen(name, "r");
	n = f ? fread(error, 1, sizeof(error) - 1, f) : 0;
	error[n] = 0;
	if (f)
		fclose(f);
	remove(name);
}

/* arguments, what is printed between the command's name and the ring time, ring time */
static const struct {
	const char *args, *fields;
	int bits;
} good[] = {
	{ "add 7 14 0",
	  "'counter':3,'v1':21,'v2':0,'overflow':false,'error':null", 275 },
	{ "add 0xffffffffffffffff 2",
	  "'counter':2,'v1':1,'v2':0,'overflow':true,'error':null", 274 },
	{ "and 12 10",
	  "'counter':2,'v1':8,'v2':0,'overflow':false,'error':null", 274 },
	{ "or 18446744073709551615 1",
	  "'counter':2,'v1':18446744073709551615,'v2':0,'overflow':false,'error':null", 274 },
	{ "max 5 9 9 2",
	  "'counter':4,'v1':9,'v2':3,'overflow':false,'error':null", 276 },
	{ "min --signed 3 -4 5",
	  "'counter':3,'v1':-4,'v2':2,'overflow':false,'error':null", 275 },
	{ "count-le 5 6 4 5 --propagation 2",
	  "'counter':4,'v1':5,'v2':3,'overflow':false,'error':null", 284 },
	{ "count-lt --comparand 5 9 6 4 5",
	  "'counter':4,'v1':5,'v2':2,'overflow':false,'error':null", 276 },
	{ "count-eq 5",
	  "'counter':1,'v1':5,'v2':1,'overflow':false,'error':null", 273 },
	{ "sort 5 2 9 2",
	  "'sorted':[2,2,5,9],'counter':4,'error':null", 404 },
	{ "majority 5 5 9",
	  "'majority':5,'messages':2,'counter':3,'count':2,'error':null", 1958 },
	{ "majority 5 5 9 9",
	  "'majority':null,'messages':2,'counter':4,'count':0,'error':null", 1960 },
	{ "add 7 14 0 --width 4",
	  "'counter':3,'v1':5,'v2':0,'overflow':true,'error':null", 144 + 4 + 24 + 3 },
	{ "min --signed 3 -4 5 --width 32",
	  "'counter':3,'v1':-4,'v2':2,'overflow':false,'error':null", 144 + 64 + 3 },
	{ "sort --signed 3 -4 5 -8 --width 4",
	  "'sorted':[-8,-4,3,5],'counter':4,'error':null", 144 + 16 + 4 },
	{ "majority 5 5 9 --bitsum 0",
	  "'majority':5,'messages':2,'counter':3,'count':2,'error':null", 144 + 64 * 2 + 272 + 6 },
	{ "majority 5 5 5 5 --bitsum 2 --width 8",
	  "'majority':null,'messages':2,'counter':4,'count':0,'error':null",
	  144 + 8 * 2 + 144 + 8 + 24 + 8 },
	{ "add 7 14 0 --release appended",
	  "'counter':3,'v1':21,'v2':0,'overflow':false,'error':null", 275 },
	{ "tree --ops add,max 1 2 3 4",
	  "'counter':4,'v1':7,'overflow':false,'error':null", 364 },
	{ "tree --ops add:max,min 1 2 3 4",
	  "'counter':4,'v1':3,'overflow':false,'error':null", 372 },
	{ "tree --ops add:max:min:or,and:add,max --signed 1 2 3 -4 5 6 7 8",
	  "'counter':8,'v1':20,'overflow':false,'error':null", 472 },
	{ "tree --ops min,add:or,add --from 1 9 8 7 6 5 4 3 3",
	  "'counter':8,'v1':21,'overflow':false,'error':null", 472 },
	{ "add 1 2 3 --flip 1:120",
	  "'error':'crc'", 275 },
	{ "add 1 2 3 --flip 0:0",
	  "'error':'crc'", 275 },
	{ "sort 1 2 3 --flip 2:271",
	  "'error':'crc'", 339 },
	{ "majority 1 2 3 --flip 2:1000",
	  "'error':'crc'", 1683 },
};

/* arguments, and all that is printed behind the command's name */
static const struct {
	const char *args, *text;
} whole[] = {
	{ "add 1 2 3 4 --from 3", "'counter':4,'v1':10,'v2':0,'overflow':false,'error':null,"
	  "'ring_bits':276,'wait':46" },
	{ "add 1 2 3 4 --to group:1 --members 1,0,1", "'counter':2,'v1':4,'v2':0,"
	  "'overflow':false,'error':null,'ring_bits':276" },
	{ "count-eq 3 5 3 3 --from 2 --to group:5 --members 1,2,4,3", "'counter':3,'v1':5,'v2':0,"
	  "'overflow':false,'error':null,'ring_bits':276,'wait':45" },
	{ "max 1 9 3 4 --to 3", "'counter':1,'v1':3,'v2':3,'overflow':false,'error':null,"
	  "'ring_bits':276" },
	{ "add 1 2 3 --register 7", "'counter':3,'v1':6,'v2':0,'overflow':false,'error':null,"
	  "'ring_bits':275" },
	{ "min --signed 0xffffffffffffffff 3", "'counter':2,'v1':-1,'v2':1,'overflow':false,"
	  "'error':null,'ring_bits':274" },
	{ "add 1 2 3 --standing 5", "'counter':3,'v1':6,'v2':0,'overflow':false,'error':null,"
	  "'ring_bits':275,'runs':5,'wait':21" },
	/* 1045: both packets, the token behind each, and the way to interface 1 */
	{ "add 1 2 3 --passive 2:3:64 --passive 3:1:16", "'counter':3,'v1':6,'v2':0,"
	  "'overflow':false,'error':null,'ring_bits':275,'wait':1045,"
	  "'passive':[{'delivered':1,'wait':46,'ring_bits':659},"
	  "{'delivered':1,'wait':727,'ring_bits':275}]" },
	/* the token is behind each packet: a revolution less for each of the two */
	{ "add 1 2 3 --passive 2:3:64 --passive 3:1:16 --release appended", "'counter':3,'v1':6,"
	  "'v2':0,'overflow':false,'error':null,'ring_bits':275,'wait':997,"
	  "'passive':[{'delivered':1,'wait':46,'ring_bits':659},"
	  "{'delivered':1,'wait':703,'ring_bits':275}]" },
	{ "add 1 2 3 --fault stuck:2", "'error':'lost','ring_bits':283,'wait':69,"
	  "'tokens_lost':0,'tokens_dup':0,'orphans':0" },
	{ "add 1 2 3 --fault leave:100 --propagation 200", "'error':'down','ring_bits':272,"
	  "'wait':1206,'tokens_lost':0,'tokens_dup':0,'orphans':1" },
	{ "add 1 2 3 --fault lose:0", "'counter':3,'v1':6,'v2':0,'overflow':false,'error':null,"
	  "'ring_bits':275,'wait':1797,'tokens_lost':1,'tokens_dup':0,'orphans':0" },
	{ "add 1 2 3 --fault dup --propagation 40 --passive 2:3:8", "'counter':3,'v1':6,'v2':0,"
	  "'overflow':false,'error':null,'ring_bits':395,'wait':577,'tokens_lost':0,"
	  "'tokens_dup':1,'orphans':0,'passive':[{'delivered':1,'wait':164,'ring_bits':331}]" },
	{ "add 1 2 3 --from 2 --prefix", "'counter':3,'v1':6,'v2':0,'overflow':false,'error':null,"
	  "'ring_bits':275,'latches':[{'interface':1,'counter':2,'before':5,'with':6,"
	  "'overflow':false},{'interface':2,'counter':0,'before':0,'with':2,'overflow':false},"
	  "{'interface':3,'counter':1,'before':2,'with':5,'overflow':false}],'wait':46" },
	{ "min --signed 3 -4 5 --prefix --to group:1 --members 0,1,1", "'counter':2,'v1':-4,"
	  "'v2':2,'overflow':false,'error':null,'ring_bits':275,'latches':[null,"
	  "{'interface':2,'counter':0,'before':9223372036854775807,'with':-4,'overflow':false},"
	  "{'interface':3,'counter':1,'before':-4,'with':-4,'overflow':false}]" },
	{ "count-le 5 6 4 5 --prefix", "'counter':4,'v1':5,'v2':3,'overflow':false,'error':null,"
	  "'ring_bits':276,'latches':[{'interface':1,'counter':0,'before':0,'with':1,"
	  "'overflow':false},{'interface':2,'counter':1,'before':1,'with':2,'overflow':false},"
	  "{'interface':3,'counter':2,'before':2,'with':2,'overflow':false},"
	  "{'interface':4,'counter':3,'before':2,'with':3,'overflow':false}]" },
	/* interface 2 got it undamaged, 3 and the sender did not */
	{ "add 1 2 3 --prefix --flip 1:120", "'error':'crc','ring_bits':275,'latches':[null,"
	  "{'interface':2,'counter':1,'before':1,'with':3,'overflow':false},null]" },
	{ "add 1 0xffffffffffffffff 3 --prefix", "'counter':3,'v1':3,'v2':0,'overflow':true,"
	  "'error':null,'ring_bits':275,'latches':[{'interface':1,'counter':0,'before':0,"
	  "'with':1,'overflow':false},{'interface':2,'counter':1,'before':1,'with':0,"
	  "'overflow':true},{'interface':3,'counter':2,'before':0,'with':3,'overflow':true}]" },
	{ "add 1 2 3 --fault flip:1:120 --fault lose:5", "'error':'crc','ring_bits':275,"
	  "'wait':1802,'tokens_lost':1,'tokens_dup':0,'orphans':0" },
};

/* arguments, and what the message must name */
static const struct {
	const char *args, *names;
} bad[] = {
	{ "", "cmd" }, { "sum 1 2", "sum" }, { "add", "operands" }, { "add 1 two", "operand 2" },
	{ "add 1 2 --flip 2:1", "flip hop" }, { "add 1 2 --flip 1:272", "flip bit" },
	{ "add 1 2 --flip 7", "flip" }, { "tree --ops add 1 2 3", "operands" },
	{ "tree --ops add 1 2 3 4", "ops" }, { "tree --ops add,xor 1 2 3 4", "ops" },
	{ "tree --ops add:xor,max 1 2 3 4", "xor" }, { "tree --ops add:max:min,or 1 2 3 4", "ops" },
	{ "tree --ops add:max,or:and 1 2 3 4", "ops" }, { "tree --ops add:max 1 2 3 4", "ops" },
	{ "tree --ops add:,max 1 2 3 4", "ops" }, { "tree --ops add:max:,or,or 1 2 3 4 5 6 7 8", "ops" },
	{ "add --comparand 1 1 2", "comparand" }, { "add --ops add 1 2", "ops" },
	{ "add --propagation x 1", "propagation" }, { "add 1 --propagation 65537", "0 to 65536" },
	{ "add 1 --release late", "release" }, { "add 1 --width 0", "1 to 64" },
	{ "add 1 --width 65", "width" }, { "add 1 --bitsum 25", "0 to 24" },
	{ "add 1 2 --flip 1:272 --width 63", "flip bit" }, { "add 1 2 --flip 1:270 --width 63", "flip bit" },
	{ "add --engine slow 1", "engine" },
	{ "add --what 1", "--what" }, { "add 18446744073709551616", "operand 1" },
	{ "add 1 2 --from 3", "from" }, { "add 1 2 --from 0", "from" }, { "add 1 2 --to 3", "to" },
	{ "add 1 2 --to group:1048576", "to group" }, { "add 1 2 --members 1,2,4", "members" },
	{ "add 1 2 --register 16", "register" }, { "majority 1 2 --standing 2", "standing" },
	{ "add 1 2 --passive 1:3:4", "passive" }, { "add 1 2 --passive 1:2", "passive bytes" },
	{ "add 1 2 --passive 1:2:4097", "passive bytes" }, { "add 1 2 --fault melt", "melt" },
	{ "add 1 2 --fault stuck", "fault stuck" }, { "add 1 2 --fault stuck:3", "fault stuck" },
	{ "sort 1 2 --prefix", "prefix" }, { "tree --ops add 1 2 --prefix", "prefix" },
	{ "add 1 2 --fault dup:1", "fault" }, { "add 1 2 --fault flip", "flip" },
};

int main(void)
{
	static const char * const engine[] = { "rtl", "fast" };
	char want[2048], *line;
	unsigned int e, i;

	if (!getenv("PWMODEL")) {
		printf("1..0 # SKIP PWMODEL names no program\n");
		return 0;
	}
	for (e = 0; e < 2; e++) {
		for (i = 0; i < ARRAY_SIZE(good); i++) {
			run(engine[e], good[i].args);
			snprintf(want, sizeof(want), "{'cmd':'%.*s',%s,'ring_bits':%d}",
				 (int)strcspn(good[i].args, " "), good[i].args, good[i].fields,
				 good[i].bits);
			if (!ok(!status && !strcmp(text, want) && !*error, "%s: %s", engine[e],
				good[i].args))
				diag("%s", text);
		}
		for (i = 0; i < ARRAY_SIZE(whole); i++) {
			run(engine[e], whole[i].args);
			snprintf(want, sizeof(want), "{'cmd':'%.*s',%s}",
				 (int)strcspn(whole[i].args, " "), whole[i].args, whole[i].text);
			if (!ok(!status && !strcmp(text, want) && !*error, "%s: %s", engine[e],
				whole[i].args))
				diag("%s", text);
		}
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			run(engine[e], bad[i].args);
			line = strchr(error, '\n');
			if (!ok(status == 2 && !*text && line && !line[1] &&
				strstr(error, bad[i].names), "%s: refuses '%s', naming %s",
				engine[e], bad[i].args, bad[i].names))
				diag("%d %s", status, error);
		}
	}
	return tap_done();
}
