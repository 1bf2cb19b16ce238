// SPDX-License-Identifier: GPL-2.0
/*
 * The published run of two messages between two ports (golden J): every event,
 * the CRCs and registers the specification quotes, through the code of
 * `pwmodel replay aal` itself.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../pwmodel/pwmodel_aal.c"
#include "tap.h"

void pwm_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	exit(2);
}

uint64_t pwm_u64(const char *s, const char *what)
{
	return strtoull(s, NULL, 0);
}

int64_t pwm_s64(const char *s, const char *what)
{
	return strtoll(s, NULL, 0);
}

char *pwm_slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *buf = calloc(1, 1 << 16);

	if (!f || !buf)
		pwm_fail("%s: cannot be read\n", path);
	if (!fread(buf, 1, (1 << 16) - 1, f))
		pwm_fail("%s: empty\n", path);
	fclose(f);
	return buf;
}

/* what the README of the data says the processes did */
static const char gaps[] = ",host1.gap_after_initsend_1,5\n"
			   ",host1.gap_before_initsend_2,11\n"
			   ",host5.gap_before_get_1,12\n";

static char *output;

static bool has(const char *row)
{
	char want[256];

	snprintf(want, sizeof(want), "\n%s\n", row);
	return strstr(output, want);
}

static void run(bool with_gaps)
{
	char in[] = "/tmp/aalXXXXXX", out[] = "/tmp/aalXXXXXX";
	char *argv[] = { "aal", in, "--until", "1100", "--events", NULL };
	char *stimuli = pwm_slurp(PW_GOLDEN "/J/stimuli.csv", NULL);
	int fd = mkstemp(in), fo = mkstemp(out), keep = dup(1);
	size_t n = 0, got;
	FILE *f;

	if (write(fd, stimuli, strlen(stimuli)) < 0 ||
	    (with_gaps && write(fd, gaps, sizeof(gaps) - 1) < 0))
		abort();
	close(fd);
	fflush(stdout);
	dup2(fo, 1);
	pwm_replay_aal(5, argv);
	fflush(stdout);
	dup2(keep, 1);
	close(fo);
	close(keep);
	output = calloc(1, 1 << 20);
	f = fopen(out, "r");
	while (f && (got = fread(output + n, 1, (1 << 20) - 1 - n, f)) > 0)
		n += got;
	if (f)
		fclose(f);
	unlink(in);
	unlink(out);
	free(stimuli);
}

int main(void)
{
	FILE *f = fopen(PW_GOLDEN "/J/trace.csv", "r");
	unsigned int rows = 0, missing = 0;
	const struct pw_aal *u;
	char line[128];

	if (!ok(f, "golden data are there"))
		return tap_done();
	run(true);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\r\n")] = 0;
		if (!*line || !strncmp(line, "cycle", 5))
			continue;
		/* the data say that this one does not hold: no command before cycle 64 */
		if (!strcmp(line, "62,aal1.segmentation.begin,2")) {
			missing += !has("73,aal1.segmentation.begin,2");
			continue;
		}
		rows++;
		if (!has(line)) {
			missing++;
			diag("missing: %s", line);
		}
	}
	fclose(f);
	is(missing, 0, "all %u events of the published run that hold", rows);
	is(rows, 25, "no row was skipped but the one that is known not to hold");

	u = R.u[1];
	is(get_unaligned_be16(u->og_cell + 51), 0x4a78, "CRC of the first cell");
	is(get_unaligned_be16(u->og_cell + 53 + 51), 0xdfbd, "CRC of the second cell");
	is(get_unaligned_be16(u->ackbuf + 51), 0xbe22, "CRC of the acknowledgment");
	is(u->og_cell[0], 0x04, "the broadcast cell begins with VPI 64");
	is(u->og_cell[53], 0x01, "the cell to port 5 begins with a VPI of 20 to 23");
	is(pw_aal_blktime(u, 0), -1, "both send blocks are released");
	is(u->ogmsgnum, 0, "no message is left in the send buffer");
	is(u->ogbblknum + u->ogfinum, PW_AAL_BLOCKS, "no send block is lost");
	is(R.u[5]->icbblknum + R.u[5]->icfinum, PW_AAL_BLOCKS, "no receive block is lost");
	is(R.u[5]->msgnumfrm[1], 2, "both messages are complete at port 5");
	is(R.u[6]->msgnumfrm[1], 1, "the broadcast is at port 6");
	is(R.host[0].state || R.host[1].state, 0, "both processes are done");
	ok(has("219,aal5.message.read,1"), "the first get runs from cycle 201 to 219");
	free(output);
	return tap_done();
}
