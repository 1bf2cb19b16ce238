// SPDX-License-Identifier: GPL-2.0
/*
 * pvm_check [WORKERS]: an ordinary PVM 3 program, master and worker in one. Nothing
 * here knows of packetway: the daemons of PVM talk IP, and their IP goes through the
 * stations.
 *
 * The master spawns one worker on each host, sends each a slice of numbers to add up,
 * and takes the sums back. Then a counter goes from worker to worker,
 * and the last one reports. Prints one line per phase.
 *
 * checkpatch-ignore: CAMELCASE (names of PVM)
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORKERS 64
#define SLICE 1000

enum tag { TAG_WORK = 1, TAG_SUM, TAG_RING, TAG_LAP };

static int fail(const char *what)
{
	pvm_perror((char *)what);
	pvm_exit();
	return 1;
}

static long sum_of(const int *v, int n)
{
	long sum = 0;

	while (n--)
		sum += *v++;
	return sum;
}

static int worker(int parent)
{
	int tids[MAX_WORKERS], slice[SLICE], n, me, lap;
	char host[64];
	long sum;

	if (pvm_recv(parent, TAG_WORK) < 0)
		return fail("work");
	pvm_upkint(&n, 1, 1);
	pvm_upkint(&me, 1, 1);
	pvm_upkint(tids, n, 1);
	pvm_upkint(slice, SLICE, 1);
	sum = sum_of(slice, SLICE);
	gethostname(host, sizeof(host));
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&me, 1, 1);
	pvm_pklong(&sum, 1, 1);
	pvm_pkstr(host);
	pvm_send(parent, TAG_SUM);

	/* from worker to worker, the last one reports */
	if (pvm_recv(-1, TAG_RING) < 0)
		return fail("counter of the one before");
	pvm_upkint(&lap, 1, 1);
	lap++;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&lap, 1, 1);
	pvm_send(me == n - 1 ? parent : tids[me + 1], me == n - 1 ? TAG_LAP : TAG_RING);
	pvm_exit();
	return 0;
}

static int master(char *self, int n)
{
	int tids[MAX_WORKERS], slice[SLICE], i, k, who, lap = 0, hosts = 0;
	char host[64], seen[MAX_WORKERS][64];
	struct pvmhostinfo *info;
	long sum, total = 0, want = 0;
	int nhost, narch;

	if (pvm_config(&nhost, &narch, &info) < 0)
		return fail("pvm_config");
	if (!n)
		n = nhost;
	if (n > MAX_WORKERS)
		n = MAX_WORKERS;
	for (i = 0; i < n; i++) {
		k = pvm_spawn(self, NULL, PvmTaskHost, info[i % nhost].hi_name, 1, &tids[i]);
		if (k != 1) {
			fprintf(stderr, "pvm_check: no worker on %s: %d\n",
				info[i % nhost].hi_name, tids[i]);
			return fail("pvm_spawn");
		}
	}
	for (i = 0; i < n; i++) {
		for (k = 0; k < SLICE; k++)
			slice[k] = (i * SLICE + k) * 7 % 1009 - 300;
		want += sum_of(slice, SLICE);
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&n, 1, 1);
		pvm_pkint(&i, 1, 1);
		pvm_pkint(tids, n, 1);
		pvm_pkint(slice, SLICE, 1);
		pvm_send(tids[i], TAG_WORK);
	}
	for (i = 0; i < n; i++) {
		if (pvm_recv(-1, TAG_SUM) < 0)
			return fail("sums");
		pvm_upkint(&who, 1, 1);
		pvm_upklong(&sum, 1, 1);
		pvm_upkstr(host);
		total += sum;
		for (k = 0; k < hosts && strcmp(seen[k], host); k++)
			;
		if (k == hosts)
			snprintf(seen[hosts++], sizeof(seen[0]), "%s", host);
	}
	printf("%d workers on %d hosts: sum %ld, wanted %ld\n", n, hosts, total, want);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&lap, 1, 1);
	pvm_send(tids[0], TAG_RING);
	if (pvm_recv(tids[n - 1], TAG_LAP) < 0)
		return fail("counter of the last one");
	pvm_upkint(&lap, 1, 1);
	printf("a counter went from worker to worker: %d of %d\n", lap, n);
	pvm_exit();
	return total != want || lap != n;
}

int main(int argc, char **argv)
{
	int parent;

	if (pvm_mytid() < 0)
		return fail("pvm_mytid");
	parent = pvm_parent();
	if (parent >= 0)
		return worker(parent);
	if (parent != PvmNoParent)
		return fail("pvm_parent");
	return master(strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0],
		      argc > 1 ? atoi(argv[1]) : 0);
}
