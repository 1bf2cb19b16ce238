// SPDX-License-Identifier: GPL-2.0
/* How far a long command is, and how long it will take: one line on a terminal. */
#include <unistd.h>

#include "pwctl.h"

/* commands that end sooner say nothing */
#define DELAY_MS 2000
#define EVERY_US 200000

static int64_t delay_us(void)
{
	const char *text = getenv("PWCTL_PROGRESS_MS");
	uint32_t ms;

	return 1000LL * (text && !parse_u32(text, &ms) ? ms : DELAY_MS);
}

void progress_begin(struct progress *p, const char *what, uint64_t total, uint64_t done)
{
	*p = (struct progress) { .what = what, .total = total, .first = done, .begin = now_us() };
	p->every = delay_us() < EVERY_US ? delay_us() : EVERY_US;
	p->next = isatty(STDERR_FILENO) ? p->begin + delay_us() : INT64_MAX;
}

void progress_step(struct progress *p, uint64_t done)
{
	int64_t now = now_us();
	uint64_t left;

	if (now < p->next || !p->total)
		return;
	p->next = now + p->every;
	p->shown = true;
	fprintf(stderr, "\r%llu of %llu %s, %u %%", (unsigned long long)done,
		(unsigned long long)p->total, p->what, (unsigned int)(100 * done / p->total));
	if (done > p->first && done < p->total) {
		left = (now - p->begin) / (done - p->first) * (p->total - done) / 1000000;
		fprintf(stderr, ", about %llu:%02llu left", (unsigned long long)left / 60,
			(unsigned long long)left % 60);
	}
	fprintf(stderr, "\033[K");
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->next = INT64_MAX;
}
