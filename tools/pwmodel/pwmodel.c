// SPDX-License-Identifier: GPL-2.0
/* pwmodel: runs the pure cores in user space, without root. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwmodel.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
	const char *usage;
} commands[] = {
	{ "replay", pwm_replay, "step a unit of the fabric, print its trace",
	  "pwmodel replay ppd|spd|tandem|bmx STIMULI.csv [--until N] [--full] [--signals FILE]\n"
	  "       pwmodel replay aal STIMULI.csv --until N [--events]\n"
	  "Steps the unit through the stimuli (columns cycle,signal,value; - for standard\n"
	  "input) and prints every signal that changed, in the same three columns.\n"
	  "  --until N       up to cycle N instead of the last row's\n"
	  "  --full          every signal in every cycle\n"
	  "  --signals FILE  only the signals listed in FILE, one a line\n" },
	{ "fabric", pwm_fabric, "whole messages through AAL and network",
	  "pwmodel fabric --messages FILE.csv [--pack immediately] [--unpack immediately]\n"
	  "                      [--engine rtl|fast] [--machine device|published] [--published]\n"
	  "                      [--topology NAME|FILE.yaml] [--vcd FILE [--signals FILE]]\n"
	  "                      [--trace FILE] [--capture FILE] [--processes FILE.csv]\n"
	  "                      [--PARAMETER N]...\n"
	  "FILE.csv: cycle,src,dst,bytes; dst -1 is broadcast, mcN multicast connection N of\n"
	  "the topology. Without 'immediately' a\n"
	  "source idles 5 cycles after init-send and a destination asks all the time and\n"
	  "idles 12 cycles before its first get, as in the published trace.\n"
	  "  --engine rtl|fast           step every register (default), or compute events;\n"
	  "                              fast needs --unpack immediately\n"
	  "  --machine device|published  device (default): nothing is lost; published: buffers\n"
	  "                              of 1887 blocks, messages vanish after 40000 cycles\n"
	  "  --published                 the same as --machine published\n"
	  "  --topology NAME|FILE.yaml   switches and links: see 'pwmodel topology --help'; without\n"
	  "                              it clos:KxKxK, three stages of k switches\n"
	  "  --processes FILE.csv        several processes at a port, port,name,instance each; the\n"
	  "                              messages have the columns name,instance,type in addition,\n"
	  "                              instance -1: all of the name; needs --unpack immediately\n"
	  "  --vcd FILE                  waveform of every register named aalN, ppdN, spdN (rtl)\n"
	  "  --signals FILE              only those that FILE lists, one a line\n"
	  "  --trace FILE                events as JSON for the trace viewer of a browser\n"
	  "  --capture FILE              each cell at each unit, for Wireshark and pwctl view\n"
	  "Parameters, with unit, range and the default of each machine (-: has none):\n" },
	{ "topology", pwm_topology, "switches and links of a fabric",
	  "pwmodel topology NAME|FILE.yaml [--summary]\n"
	  "Checks a topology and prints it as a YAML file for pwmodel fabric --topology:\n"
	  "switches, stations, links, and the routes from each station to each other one.\n"
	  "  clos:ExMxR     R switches of E stations, M switches between any two of them;\n"
	  "                 clos:K is clos:KxKxK\n"
	  "  benes:N        N stations, a power of two, switches with 2 ports\n"
	  "  butterfly:KxS  S stages of switches with K ports\n"
	  "  crossbar:N     one switch\n"
	  "  torus:AxB      rings of switches with a station each; up to 4 dimensions\n"
	  "  mesh:AxB       the same without the links that close the rings\n"
	  "  fattree:KxS    S levels of switches with K ports down and K up\n"
	  "  ring:N[xS]     N switches with S stations each, 1 by default\n"
	  "A file has the keys that are printed (without routes: up*/down* routes), or\n"
	  "'generator: torus' and 'dims: [4, 4]'. Both may have 'multicast: [[0, 1, 2]]': a\n"
	  "connection from station 0 to stations 1 and 2. A topology in which cells could block\n"
	  "each other for ever is refused.\n"
	  "  --summary  print sizes instead\n" },
#ifndef PWM_WITHOUT_NET
	{ "net", pwm_net, "many SANs joined by routers",
	  "pwmodel net FILE.yaml [--threads N] [--stats]\n"
	  "Simulates the network that FILE.yaml describes and prints totals, latencies in\n"
	  "cycles and a digest of all deliveries as JSON.\n"
	  "  --threads N  run the SANs in N threads, 1 by default; the result is the same\n"
	  "               mpirun ... pwmodel-mpi net FILE.yaml: in processes, likewise\n"
	  "  --stats      seconds, events per second and memory, on standard error\n" },
#endif
	{ "aton", pwm_aton, "one command on a ring with the given operands",
	  "pwmodel aton COMMAND OPERAND... [OPTION...]\n"
	  "One command on a ring with an interface for each operand, as JSON. Commands: add,\n"
	  "and, or, max, min, count-eq, count-lt, count-le, sort, majority, tree.\n"
	  "Interfaces have the numbers and addresses 1 to n.\n"
	  "  --signed         operands are signed; with 0x they are patterns of 64 bits\n"
	  "  --comparand N    count: compare with N instead of the first operand\n"
	  "  --prefix         basic commands: print what each interface latches as the packet\n"
	  "                   passes: the result before it and with it (exscan and scan)\n"
	  "  --ops OP,OP,...  tree: an operation for each height, leaves first; with OP:OP:...\n"
	  "                   in place of an OP one for each node of that height\n"
	  "  --engine ENGINE  rtl (default) or fast\n"
	  "  --propagation N  bit times from one interface to the next, 0 to 65536, 0 by default\n"
	  "  --release WHEN   of the token: back (default), when the packet is back, or appended\n"
	  "                   to the packet\n"
	  "  --width N        bits of an operand, 1 to 64 (default); results are modulo 2^N\n"
	  "  --bitsum N       majority: bits of a count, 1 to 24 (default), 0: as many as it takes\n"
	  "  --from I         the interface that sends, 1 by default\n"
	  "  --to WHERE       execution region: ring (default), an interface, group:MASK\n"
	  "  --members M,...  group mask of each interface, 0 by default\n"
	  "  --register R     operand register 0 to 15, 0 by default\n"
	  "  --standing N     a standing command that runs N times; the result is its last one\n"
	  "  --passive A:B:N  a packet of N bytes from A to B, queued before; up to 16\n"
	  "  --flip HOP:BIT   invert this bit of the packet behind interface HOP\n"
	  "  --fault FAULT    up to 8: flip:HOP:BIT; stuck:I, the interface swallows a packet;\n"
	  "                   leave:N, the sender goes down N bit times after its start, but\n"
	  "                   not before the packet is sent whole; lose:T, the token is lost\n"
	  "                   at bit time T; dup, the token is released twice\n"
	  "  --capture FILE   the packet at each hop, for Wireshark and pwctl view\n" },
	{ "eep", pwm_eep, "EEP messages to JSON and back",
	  "pwmodel eep decode HEX|-    EEP message in hexadecimal, prints JSON\n"
	  "       pwmodel eep encode -        JSON on standard input, prints hexadecimal\n" },
	{ "rrp", pwm_rrp, "RRP records to JSON and back",
	  "pwmodel rrp decode HEX|-    data block of an RRP message, prints JSON\n"
	  "       pwmodel rrp encode -        JSON on standard input, prints hexadecimal\n" },
	{ "esp", pwm_esp, "ESP instructions on one store",
	  "pwmodel esp [--node N] [--lifetime MS] [--capacity N] -|FILE\n"
	  "Each line: MS NAME key=value ...   (time in milliseconds, never decreasing)\n"
	  "  MS count    tag= thresh=\n"
	  "  MS compare  tag= op=lt|le|eq|ne|ge|gt val=\n"
	  "  MS collect  valTag= cntTag= op=add|and|or|max|min|xor val=\n"
	  "  MS rchld    sibTag= fwdTag= fwdThresh= pktId=\n"
	  "  MS rcollect sibTag= fwdTag= fwdThresh= compTag= op= val= pktId=\n"
	  "  MS put      tag= val=\n"
	  "  MS get      tag=\n"
	  "Empty lines and lines that begin with # are skipped.\n" },
	{ "poets", pwm_poets, "POETS packets to JSON and back",
	  "pwmodel poets decode HEX|-    data block of a POETS packet, prints JSON\n"
	  "       pwmodel poets encode -|FILE   JSON, prints hexadecimal\n" },
};

void pwm_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("pwmodel: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

uint64_t pwm_u64(const char *s, const char *what)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (!isdigit((unsigned char)*s) || *end || errno)
		pwm_fail("%s: '%s' is not an unsigned 64-bit number", what, s);
	return v;
}

int64_t pwm_s64(const char *s, const char *what)
{
	long long v;
	char *end;

	errno = 0;
	v = strtoll(s, &end, 0);
	if (end == s || *end || errno || isspace((unsigned char)*s))
		pwm_fail("%s: '%s' is not a signed 64-bit number", what, s);
	return v;
}

char *pwm_slurp(const char *path, size_t *len)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	size_t cap = 1 << 16, n = 0, got;
	char *buf = malloc(cap + 1);

	if (!f)
		pwm_fail("%s: %s", path, strerror(errno));
	while (buf && (got = fread(buf + n, 1, cap - n, f)) > 0) {
		n += got;
		if (n == cap)
			buf = realloc(buf, (cap *= 2) + 1);
	}
	if (!buf)
		pwm_fail("%s: too large", path);
	if (ferror(f))
		pwm_fail("%s: %s", path, strerror(errno));
	if (f != stdin)
		fclose(f);
	buf[n] = 0;
	if (len)
		*len = n;
	return buf;
}

static int hexdigit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint8_t *pwm_unhex(const char *hex, size_t *len, const char *what)
{
	uint8_t *out = malloc(strlen(hex) / 2 + 1);
	size_t n = 0;
	int hi = -1;

	for (; out && *hex; hex++) {
		int d = hexdigit((unsigned char)*hex);

		if (isspace((unsigned char)*hex))
			continue;
		if (d < 0)
			pwm_fail("%s: '%c' is not a hex digit", what, *hex);
		if (hi < 0) {
			hi = d;
		} else {
			out[n++] = hi << 4 | d;
			hi = -1;
		}
	}
	if (!out)
		pwm_fail("out of memory");
	if (hi >= 0)
		pwm_fail("%s: odd number of hex digits", what);
	*len = n;
	return out;
}

char *pwm_hex(const uint8_t *p, size_t len)
{
	char *s = malloc(2 * len + 1);

	if (!s)
		pwm_fail("out of memory");
	for (size_t i = 0; i < len; i++)
		sprintf(s + 2 * i, "%02x", p[i]);
	s[2 * len] = 0;
	return s;
}

static void usage(FILE *f)
{
	fputs("Usage: pwmodel COMMAND ...   (pwmodel COMMAND --help for its options)\n", f);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].what);
}

static int is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "help") || is_help(argv[1])) {
		usage(stdout);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		for (int k = 2; k < argc; k++) {
			if (is_help(argv[k])) {
				printf("Usage: %s", commands[i].usage);
				if (commands[i].run == pwm_fabric)
					pwm_fabric_table();
				return 0;
			}
		}
		return commands[i].run(argc - 1, argv + 1);
	}
	pwm_fail("unknown command '%s', see 'pwmodel help'", argv[1]);
}

int pwm_codec(int argc, char **argv, void (*decode)(const char *), void (*encode)(const char *))
{
	if (argc != 3)
		pwm_fail("%s: 'decode HEX' or 'encode -' is needed", argv[0]);
	if (!strcmp(argv[1], "decode"))
		decode(argv[2]);
	else if (!strcmp(argv[1], "encode"))
		encode(argv[2]);
	else
		pwm_fail("%s: '%s' is neither decode nor encode", argv[0], argv[1]);
	return 0;
}
