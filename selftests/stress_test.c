// SPDX-License-Identifier: GPL-2.0
/*
 * Stations that come and go: create, up, send, move to another namespace, send
 * again, the namespace deleted. In turns the station's namespace goes and the one
 * where its SAN is at home. Nothing is left: no device, no memory.
 */
#include "pwtest.h"
#include "kselftest.h"

#include <dirent.h>
#include <limits.h>

static uint8_t msg[256];

static long unreclaimable(void)
{
	char path[300];
	struct dirent *d;
	DIR *dir = opendir("/sys/kernel/slab");

	/* what SLUB keeps in reserve goes back first */
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", d->d_name);
		pw_write_file(path, "1");
	}
	if (dir)
		closedir(dir);
	return pw_meminfo("SUnreclaim");
}

/* what each cache holds, to name those that grew */
#define CACHES 512
static struct cache {
	char name[64];
	long objs, size, pages;
} caches[2][CACHES];

static int read_caches(struct cache *c)
{
	char line[256];
	FILE *f = fopen("/proc/slabinfo", "r");
	long each, slabs;
	int n = 0;

	while (f && n < CACHES && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld %*d %ld %*d %ld : tunables %*d %*d %*d : slabdata %*d %ld",
			   c[n].name, &c[n].objs, &c[n].size, &each, &slabs) == 5)
			c[n++].pages = each * slabs;
	if (f)
		fclose(f);
	return n;
}

static void name_growth(long rounds)
{
	int n0 = 0, n1 = read_caches(caches[1]), i, j;

	while (n0 < CACHES && caches[0][n0].name[0])
		n0++;
	for (i = 0; i < n1; i++) {
		long more = caches[1][i].objs, pages = caches[1][i].pages;

		for (j = 0; j < n0; j++)
			if (!strcmp(caches[0][j].name, caches[1][i].name)) {
				more -= caches[0][j].objs;
				pages -= caches[0][j].pages;
			}
		if (more * caches[1][i].size > 8192 || pages > 4)
			ksft_print_msg("%s: %ld objects of %ld bytes more, %.3f a round, and %ld pages\n",
				       caches[1][i].name, more, caches[1][i].size,
				       (double)more / rounds, pages);
	}
}

/* namespaces are taken down by a worker; wait until it has done its work */
static long namespaces(void)
{
	char line[256], name[64];
	long n = -1, v;
	FILE *f = fopen("/proc/slabinfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld", name, &v) == 2 && !strcmp(name, "net_namespace"))
			n = v;
	if (f)
		fclose(f);
	return n;
}

#define TRY(x)									\
	do {									\
		int err_ = (x);							\
		if (err_) {							\
			ksft_print_msg("round %ld: %s: %d (%s) %s\n", round, #x, err_,	\
				       strerror(err_ < 0 ? -err_ : errno), home.ext);	\
			return -1;						\
		}								\
	} while (0)

static int talk(int ns_from, int idx, uint32_t to, uint32_t from, int frames)
{
	int fd = pw_packet_open(ns_from, SOCK_RAW, ETH_P_PACKETWAY, idx), i;
	int n = pw_msg(msg, to, from, 1500, 0, 0, "stress", 6);

	if (fd < 0)
		return -1;
	for (i = 0; i < frames; i++)
		if (send(fd, msg, n, 0) != n)
			break;
	close(fd);
	return i == frames ? 0 : -1;
}

static int one_round(long round)
{
	struct pw_nl home, there;
	int ns[2], i;

	home.ext[0] = 0;
	for (i = 0; i < 2; i++) {
		ns[i] = pw_ns_new();
		TRY(ns[i] < 0);
	}
	TRY(pw_nl_open(&home, ns[0]));
	TRY(pw_nl_open(&there, ns[1]));
	/* a and b are made at home, c is on a SAN of its own where b goes */
	TRY(pw_station_add(&home, "a", 0, -1, -1));
	TRY(pw_station_add(&home, "b", 0, -1, -1));
	TRY(pw_station_add(&there, "c", round % 7, -1, -1));
	TRY(pw_link_up(&home, "a"));
	TRY(pw_link_up(&home, "b"));
	TRY(talk(ns[0], pw_link_index(&home, "a"), 2, 1, 20));
	TRY(talk(ns[0], pw_link_index(&home, "b"), PW_ADDR_BROADCAST, 2, 20));
	TRY(pw_link_move(&home, "b", ns[1]));
	/* to a station that is down */
	TRY(talk(ns[0], pw_link_index(&home, "a"), 2, 1, 5));
	TRY(pw_link_up(&there, "b"));
	TRY(talk(ns[1], pw_link_index(&there, "b"), 1, 2, 20));
	/* frames under way while it all goes */
	TRY(talk(ns[0], pw_link_index(&home, "a"), 2, 1, 50));
	close(home.fd);
	close(there.fd);
	/* in turns: the home of the SAN goes first, or where its station went */
	close(ns[round % 2]);
	close(ns[1 - round % 2]);
	return 0;
}

/*
 * Rounds until the namespaces of all of them have gone; returns how slab has grown, in KiB. What
 * waits for RCU is freed late on a busy machine, so growth counts that stays for a minute.
 */
static long pass(long rounds, long limit, long *done, long *ns)
{
	long before = unreclaimable(), ns0 = namespaces(), after, i;
	double end;

	read_caches(caches[0]);
	for (i = 0; i < rounds; i++)
		if (one_round(i))
			break;
	*done = i;
	end = pw_now() + 60;
	do {
		usleep(200000);
		after = unreclaimable();
		*ns = namespaces() - ns0;
	} while ((*ns > 0 || after - before >= limit) && pw_now() < end);
	return after - before;
}

int main(void)
{
	bool slow = pw_slow_kernel() && !getenv("PW_KMEMLEAK");
	/* 1000 in a soak; else 100 where all checks are on, and fewer elsewhere */
	long rounds = pw_count(100, slow ? 100 : 10);
	/*
	 * A lost station is 4 KiB and more, a lost SAN 512 bytes. KASAN's quarantine
	 * is part of what is measured on the debug kernel; kmemleak looks there.
	 */
	long limit = pw_slow_kernel() ? 16384 : 256 + rounds / 4;
	long grown, done, ns, again;
	double t = pw_now();

	ksft_print_header();
	ksft_set_plan(3);
	/* the kernel's own caches fill at first */
	pass(rounds / 10 + 5, LONG_MAX, &done, &ns);
	grown = pass(rounds, limit, &done, &ns);
	ksft_test_result(done == rounds, "%ld rounds of create, up, send, move, delete (%.1f s)\n",
			 done, pw_now() - t);
	/* SLUB counts free objects of a CPU's own slab as in use: a few are no leak */
	ksft_test_result(ns <= 8, "namespaces are gone: %ld left\n", ns);
	/* ... and now and then later, up to a mark; a leak grows every time */
	for (again = 0; again < 2 && done == rounds && grown >= limit; again++) {
		ksft_print_msg("slab has grown by %ld KiB: once more\n", grown);
		name_growth(rounds);
		grown = pass(rounds, limit, &done, &ns);
	}
	ksft_test_result(grown < limit, "slab does not grow: %ld KiB more\n", grown);
	if (grown >= limit)
		name_growth(rounds);
	ksft_finished();
}
