// SPDX-License-Identifier: GPL-2.0
/*
 * coll_storm [-j JOBS] [-r ROUNDS] [-c COLLECTIVES] [-s SEED] [-k] STATION...
 *
 * Several jobs at once use collectives (pwl_coll_*) on the same stations, round after round
 * under the same names. A job is a process at each of two or more stations. All know what the
 * results must be, and check them. With -k, in each round a process of every second job
 * ends, at a moment that a timer chooses: it kills itself, exits, or stores where it must not,
 * while it opens the collective (then it is started again) or later (then the others must get
 * -EPIPE). Beside them, processes that use no collectives have registers and groups of their
 * own on the same ring, leased and not leased.
 *
 * Prints what was done. Status 0: nothing was wrong, and nothing hung.
 *
 * coll_storm -w STATION STATION STATION: wrong uses, and what they return.
 */
#include <err.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <packetway.h>

#define JOBS	8
#define STATIONS	64
#define WORDS	7
#define LIMIT_MS	120000	/* a call that takes longer hangs */

enum end { RUNNING, FINISHED, BROKEN, HUNG, REFUSED };

struct member {
	pid_t pid;
	int station;
	bool victim, again;
	_Atomic bool opened;
	_Atomic int end;	/* enum end */
	_Atomic int error;
};

struct job {
	uint64_t seed;
	int n;
	struct member member[STATIONS];
	_Atomic uint32_t entered[8];	/* barrier k: index k % 8 */
};

static struct shared {
	struct job job[JOBS];
	_Atomic unsigned long collectives, wrong, sessions, broken, replaced, hung, refused;
	_Atomic unsigned long others, others_wrong;
	_Atomic bool stop;
} *sh;

static char **station;
static int nstations, jobs = 2, rounds = 10, collectives = 100;
static uint64_t seed = 1;
static bool kills;
static int how;
static volatile int *forbidden;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t rnd(uint64_t range)
{
	seed = mix(seed);
	return seed % range;
}

/* operand of a rank */
static uint64_t operand(const struct job *j, int k, uint32_t rank, int i)
{
	return mix(j->seed ^ mix(k ^ mix((uint64_t)rank << 32 | i)));
}

static uint64_t fold(uint32_t op, bool sign, uint64_t a, uint64_t b)
{
	switch (op) {
	case PW_ATON_OP_ADD:
		return a + b;
	case PW_ATON_OP_AND:
		return a & b;
	case PW_ATON_OP_OR:
		return a | b;
	case PW_ATON_OP_MIN:
		return (sign ? (int64_t)a < (int64_t)b : a < b) ? a : b;
	default:
		return (sign ? (int64_t)a < (int64_t)b : a < b) ? b : a;
	}
}

static void wrong(const char *what, int k, uint64_t got, uint64_t want)
{
	sh->wrong++;
	printf("# WRONG %s in collective %d: %llx, not %llx\n", what, k,
	       (unsigned long long)got, (unsigned long long)want);
}

static int reduction(struct pwl_coll *c, const struct job *j, int k, uint64_t dice)
{
	static const uint32_t ops[] = {
		PW_ATON_OP_ADD, PW_ATON_OP_MIN, PW_ATON_OP_MAX, PW_ATON_OP_AND, PW_ATON_OP_OR
	};
	uint32_t op = ops[dice % 5], n = pwl_coll_size(c), r;
	int words = dice >> 8 & 3 ? 1 : 1 + (dice >> 16) % WORDS, i, e;
	bool sign = dice >> 12 & 1;
	uint64_t w[WORDS], want;

	for (i = 0; i < words; i++)
		w[i] = operand(j, k, pwl_coll_rank(c), i);
	e = sign ? pwl_coll_i64(c, op, (int64_t *)w, words) : pwl_coll_u64(c, op, w, words);
	for (i = 0; i < words && !e; i++) {
		want = operand(j, k, 0, i);
		for (r = 1; r < n; r++)
			want = fold(op, sign, want, operand(j, k, r, i));
		if (w[i] != want)
			wrong("reduction", k, w[i], want);
	}
	return e;
}

static int scan(struct pwl_coll *c, const struct job *j, int k, uint64_t dice)
{
	static const uint32_t ops[] = {
		PW_ATON_OP_ADD, PW_ATON_OP_MIN, PW_ATON_OP_MAX, PW_ATON_OP_AND, PW_ATON_OP_OR
	};
	uint32_t op = ops[dice % 5], r, rank = pwl_coll_rank(c);
	int words = dice >> 8 & 3 ? 1 : 1 + (dice >> 16) % WORDS, i, e;
	bool sign = dice >> 12 & 1, exclusive = dice >> 13 & 1;
	uint64_t w[WORDS], want;

	for (i = 0; i < words; i++)
		w[i] = operand(j, k, rank, i);
	e = sign ? pwl_coll_scan_i64(c, op, (int64_t *)w, words, exclusive) :
		   pwl_coll_scan_u64(c, op, w, words, exclusive);
	for (i = 0; i < words && !e; i++) {
		want = op == PW_ATON_OP_AND ? ~0ULL :
		       op == PW_ATON_OP_MIN ? ~0ULL >> sign :
		       op == PW_ATON_OP_MAX ? (uint64_t)sign << 63 : 0;
		for (r = 0; r < rank + !exclusive; r++)
			want = fold(op, sign, want, operand(j, k, r, i));
		if (w[i] != want)
			wrong("scan", k, w[i], want);
	}
	return e;
}

static int broadcast(struct pwl_coll *c, const struct job *j, int k, uint64_t dice)
{
	uint32_t root = (dice >> 8) % pwl_coll_size(c);
	uint64_t w = operand(j, k, pwl_coll_rank(c), 0);
	int e = pwl_coll_bcast(c, root, &w, 1);

	if (!e && w != operand(j, k, root, 0))
		wrong("broadcast", k, w, operand(j, k, root, 0));
	return e;
}

static double real(const struct job *j, int k, uint32_t rank)
{
	/* the first two cancel out, and any order of additions in a double loses the others */
	if (rank < 2)
		return rank ? -1e300 : 1e300;
	return (double)(int32_t)operand(j, k, rank, 0) / (1 << 20);
}

static int sum(struct pwl_coll *c, const struct job *j, int k)
{
	double x = real(j, k, pwl_coll_rank(c)), want = 0;
	uint32_t r;
	int e = pwl_coll_double(c, PW_ATON_OP_ADD, &x, 1);

	for (r = 2; r < pwl_coll_size(c); r++)
		want += real(j, k, r);
	if (!e && x != want)
		wrong("sum of doubles", k, x, want);
	return e;
}

static int barrier(struct pwl_coll *c, struct job *j, int k)
{
	int e;

	j->entered[(k + 4) % 8] = 0;
	j->entered[k % 8]++;
	e = pwl_coll_barrier(c);
	if (!e && j->entered[k % 8] < pwl_coll_size(c))
		wrong("barrier", k, j->entered[k % 8], pwl_coll_size(c));
	return e;
}

static int collective(struct pwl_coll *c, struct job *j, int k)
{
	uint64_t dice = mix(j->seed ^ mix(k));

	/* barriers clean up behind others: they must come often enough */
	switch (k % 2 ? dice % 8 : 0) {
	case 0:
		return barrier(c, j, k / 2);
	case 1:
		return broadcast(c, j, k, dice);
	case 2:
		return sum(c, j, k);
	case 3:
	case 4:
		return scan(c, j, k, dice >> 3);
	default:
		return reduction(c, j, k, dice);
	}
}

static void die(int sig)
{
	if (how == 0)
		raise(SIGKILL);
	if (how == 1)
		_exit(0);
	*forbidden = 1;
}

/* die at some time in the next @us microseconds */
static void arm(long us)
{
	struct itimerval t = { .it_value.tv_usec = 1 + rnd(us) };

	how = rnd(3);
	signal(SIGALRM, die);
	setitimer(ITIMER_REAL, &t, NULL);
}

static int ended(struct member *me, int e)
{
	me->error = e;
	if (e == -EPIPE)
		me->end = BROKEN;
	else
		me->end = e == -ETIMEDOUT ? HUNG : REFUSED;
	return 0;
}

static int member(struct job *j, struct member *me, const char *name)
{
	int victim_at = me->victim ? (int)rnd(collectives) - collectives / 4 : -1;
	struct pwl_coll *c;
	int k, e;

	/* a quarter of them in open */
	if (me->victim && victim_at <= 0)
		arm(100000);
	e = pwl_coll_open(&c, station[me->station], name, j->n, LIMIT_MS);
	if (e)
		return ended(me, e);
	me->opened = true;
	for (k = 0; k < collectives; k++) {
		if (victim_at > 0 && k == victim_at)
			arm(20000);
		e = collective(c, j, k);
		if (e) {
			if (pwl_coll_barrier(c) != -ENOTCONN)
				wrong("call after a failure", k, 0, ENOTCONN);
			pwl_coll_close(c);
			return ended(me, e);
		}
		sh->collectives++;
	}
	/* one that was to end does so here at last, without a word */
	if (me->victim)
		raise(SIGKILL);
	pwl_coll_close(c);
	me->end = FINISHED;
	return 0;
}

static void start(int jn, int mn)
{
	struct member *me = &sh->job[jn].member[mn];
	struct rlimit none = { 0, 0 };
	char name[32];
	pid_t pid;

	seed = mix(seed);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid) {
		me->pid = pid;
		return;
	}
	/* core files would take all the time */
	setrlimit(RLIMIT_CORE, &none);
	snprintf(name, sizeof(name), "storm %d", jn);
	exit(member(&sh->job[jn], me, name));
}

/* another program of the ring: its own register, and a group bit, leased or not */
static int other(int at, bool leased)
{
	struct pwl_aton a = { .op = PW_ATON_OP_MAX };
	uint32_t regs = 0, bits = 0;
	struct pwl_result r;
	uint64_t k, v;
	struct pwl *s;
	int e;

	e = pwl_open(&s, station[at]);
	if (e)
		errx(1, "%s: %s", station[at], strerror(-e));
	pwl_map(s);
	a.reg = 0;
	a.dst = PW_ADDR_LOGICAL_MIN | 1;
	if (leased) {
		do {
			usleep(100);
			pwl_lease_look(s, &regs, &bits);
			a.reg = __builtin_ctz(regs & 0xfffe);
			a.dst = PW_ADDR_LOGICAL_MIN | 1U << __builtin_ctz(bits & 0xffffe);
		} while (!(regs & 0xfffe) || !(bits & 0xffffe) ||
			 pwl_lease(s, 1U << a.reg, a.dst & PW_ADDR_LOGICAL_MASK, mix(getpid()) | 1));
	} else {
		/* a program from before there were leases: register 0, group 0 */
		pwl_set_group(s, 1);
	}
	for (k = 0; !sh->stop; k++) {
		v = mix(k);
		pwl_set(s, a.reg, v);
		e = pwl_aton(s, &a, &r);
		sh->others++;
		if (e || r.counter != 1 || r.v1 != v) {
			sh->others_wrong++;
			printf("# WRONG another program: %s, %llu took part, %llx not %llx\n",
			       strerror(-e), (unsigned long long)r.counter,
			       (unsigned long long)r.v1, (unsigned long long)v);
		}
		usleep(1000);
	}
	if (!leased) {
		pwl_set(s, 0, 0);
		pwl_set_group(s, 0);
	}
	pwl_close(s);
	return 0;
}

static struct member *find(pid_t pid, int *jn, int *mn)
{
	for (*jn = 0; *jn < jobs; (*jn)++)
		for (*mn = 0; *mn < sh->job[*jn].n; (*mn)++)
			if (sh->job[*jn].member[*mn].pid == pid)
				return &sh->job[*jn].member[*mn];
	return NULL;
}

/*
 * A member ends in open when some of the others are open already. They fail and end; those that
 * are not wait for them, with the one that was started again, until their time is over.
 */
static int end_waiting(struct job *j)
{
	int i, left = 0, opened = 0, broken = 0;

	for (i = 0; i < j->n; i++) {
		left += j->member[i].pid != 0;
		opened += j->member[i].pid && j->member[i].opened;
		broken += j->member[i].end == BROKEN;
	}
	for (i = 0; i < j->n && broken && !opened; i++)
		if (j->member[i].pid)
			kill(j->member[i].pid, SIGTERM);
	return left;
}

static void judge(const struct job *j)
{
	bool victim = false;
	int i;

	for (i = 0; i < j->n; i++)
		victim |= j->member[i].victim || j->member[i].again;
	for (i = 0; i < j->n; i++) {
		const struct member *m = &j->member[i];

		sh->sessions++;
		sh->broken += m->end == BROKEN;
		sh->hung += m->end == HUNG;
		/* -EPIPE without a reason is a refusal, too */
		if (m->end == REFUSED || (!victim && m->end != FINISHED)) {
			sh->refused++;
			printf("# member %d of %d at %s: %s\n", i, j->n, station[m->station],
			       m->error ? strerror(-m->error) : "ended");
		}
	}
}

static void one_round(int round)
{
	int jn, mn, left, status, i;
	struct member *m;
	pid_t pid;

	for (jn = 0; jn < jobs; jn++) {
		struct job *j = &sh->job[jn];
		int from = rnd(nstations);

		memset(j, 0, sizeof(*j));
		j->seed = mix(seed);
		j->n = 2 + rnd(nstations - 1);
		for (i = 0; i < j->n; i++)
			j->member[i].station = (from + i) % nstations;
		if (kills && (jn + round) % 2)
			j->member[rnd(j->n)].victim = true;
		for (mn = 0; mn < j->n; mn++)
			start(jn, mn);
	}
	do {
		pid = wait(&status);
		m = pid > 0 ? find(pid, &jn, &mn) : NULL;
		if (!m)
			errx(1, "a process that was not to end has ended");
		m->pid = 0;
		if (m->victim && !m->opened) {
			m->victim = false;
			m->again = true;
			sh->replaced++;
			start(jn, mn);
		}
		for (jn = left = 0; jn < jobs; jn++)
			left += end_waiting(&sh->job[jn]);
	} while (left);
	for (jn = 0; jn < jobs; jn++)
		judge(&sh->job[jn]);
}

/* Wrong uses ----------------------------------------------------------------- */

/* what two members returned; 1: nothing yet */
static struct { _Atomic int e[2]; } *res;

static struct pwl_coll *opened(int at, const char *name, uint32_t n)
{
	struct pwl_coll *c;
	int e = pwl_coll_open(&c, station[at], name, n, LIMIT_MS);

	if (e)
		errx(1, "%s: %s", name, strerror(-e));
	return c;
}

static int other_call(struct pwl_coll *c, int at)
{
	uint64_t w = 1;

	return at ? pwl_coll_u64(c, PW_ATON_OP_ADD, &w, 1) : pwl_coll_barrier(c);
}

static int other_count(struct pwl_coll *c, int at)
{
	uint64_t w[2] = { 1, 1 };

	return pwl_coll_u64(c, PW_ATON_OP_ADD, w, 1 + at);
}

static int absent(struct pwl_coll *c, int at)
{
	pwl_coll_timeout(c, 300);
	if (!at)
		return pwl_coll_barrier(c);
	while (res->e[0] == 1)
		usleep(1000);
	return pwl_coll_barrier(c);
}

static int closed(struct pwl_coll *c, int at)
{
	int e = pwl_coll_barrier(c);

	return at || e ? e : pwl_coll_barrier(c);
}

static int bad_root(struct pwl_coll *c, int at)
{
	uint64_t w;

	return pwl_coll_bcast(c, 2, &w, 1);
}

static int bad_op(struct pwl_coll *c, int at)
{
	uint64_t w;

	return pwl_coll_u64(c, PW_ATON_OP_SORT, &w, 1);
}

/* two members, each does this */
static void both(const char *name, int (*fn)(struct pwl_coll *c, int at))
{
	struct pwl_coll *c;
	int i;

	fflush(stdout);
	for (i = 0; i < 2; i++) {
		res->e[i] = 1;
		if (fork())
			continue;
		c = opened(i, name, 2);
		/* ranks are in the order of stations */
		res->e[i] = fn(c, i);
		pwl_coll_close(c);
		exit(0);
	}
	for (i = 0; i < 2; i++)
		wait(NULL);
	printf("%s: %s, %s\n", name, strerrorname_np(-res->e[0]), strerrorname_np(-res->e[1]));
}

static void open_one(const char *what, uint32_t n, int timeout_ms)
{
	struct pwl_coll *c;
	int e = pwl_coll_open(&c, station[0], what, n, timeout_ms);

	printf("%s: %s\n", what, strerrorname_np(-e));
	pwl_coll_close(c);
}

/* three come to a meeting of two: one of them waits on */
static void crowd(void)
{
	int i, k, status, met = 0;
	struct pwl_coll *c;
	pid_t pid[3], done;

	fflush(stdout);
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		c = opened(i, "crowd", 2);
		k = pwl_coll_barrier(c);
		pwl_coll_close(c);
		_exit(k ? 1 : 0);
	}
	for (i = 0; i < 3; i++) {
		done = wait(&status);
		met += WIFEXITED(status) && !WEXITSTATUS(status);
		for (k = 0; k < 3; k++) {
			if (pid[k] == done)
				pid[k] = 0;
			else if (pid[k] && i == 1)
				kill(pid[k], SIGTERM);
		}
	}
	printf("three for two: %d met\n", met);
}

/* another program has all registers of a station, or group bits */
static void taken(const char *what, uint32_t regs, uint32_t bits)
{
	struct pwl *s;
	pid_t pid;

	fflush(stdout);
	res->e[0] = 1;
	pid = fork();
	if (!pid) {
		if (pwl_open(&s, station[0]) || pwl_lease(s, regs, bits, bits ? 1 : 0))
			errx(1, "no lease");
		res->e[0] = 0;
		pause();
	}
	while (res->e[0])
		usleep(1000);
	open_one(what, 1, 5000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define KILLED_BIT	10
#define KILLED_REG	5

/* a file that has a bit and a register */
static struct pwl *with_lease(int at, uint64_t key)
{
	struct pwl *s;

	if (pwl_open(&s, station[at]) || pwl_lease(s, 1U << KILLED_REG, 1U << KILLED_BIT, key))
		errx(1, "%s: no lease", station[at]);
	return s;
}

static int round_of_two(struct pwl *s, uint64_t call)
{
	struct pwl_round r = {
		.bit = KILLED_BIT, .members = 2, .round = 1, .call = call, .op = PW_ATON_OP_OR,
		.reg = { KILLED_REG }, .count = 1, .timeout_ms = LIMIT_MS,
	};
	return pwl_aton_round(s, &r);
}

/* one is killed in a round, the other returns the bit: the next group has a round of its own */
static void killed_in_round(void)
{
	struct pwl *s;
	pid_t pid;
	int i;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		round_of_two(with_lease(0, 1), 1);
		exit(0);
	}
	s = with_lease(1, 1);
	/* nothing tells that a process waits in a round; too early, and the test sees less */
	usleep(200000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	pwl_close(s);
	res->e[0] = 1;
	res->e[1] = 1;
	for (i = 0; i < 2; i++) {
		if (fork())
			continue;
		s = with_lease(i, 3);
		res->e[i] = 0;
		while (res->e[!i] > 0)
			usleep(1000);
		res->e[i] = round_of_two(s, 2);
		pwl_close(s);
		exit(0);
	}
	for (i = 0; i < 2; i++)
		wait(NULL);
	printf("after one killed in a round: %s, %s\n", strerrorname_np(-res->e[0]),
	       strerrorname_np(-res->e[1]));
}

static int wrong_uses(void)
{
	res = mmap(NULL, sizeof(*res), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (res == MAP_FAILED)
		err(1, "memory");
	both("different calls", other_call);
	both("different counts", other_count);
	both("one does not come", absent);
	both("one has closed", closed);
	both("root that is not there", bad_root);
	both("operation that is none", bad_op);
	open_one("alone", 2, 300);
	open_one("", 2, 300);
	open_one("no members", 0, 300);
	open_one("one", 1, LIMIT_MS);
	crowd();
	taken("all registers taken", 0xffff, 0);
	/* bit 1 is for the meeting, bit 0 is of programs that lease none */
	taken("two bits left", 0, PW_ADDR_LOGICAL_MASK & ~3U);
	taken("three bits left", 0, PW_ADDR_LOGICAL_MASK & ~7U);
	killed_in_round();
	open_one("free again", 1, LIMIT_MS);
	return 0;
}

int main(int argc, char **argv)
{
	bool wrongs = false;
	pid_t beside[2];
	int opt, i;

	while ((opt = getopt(argc, argv, "j:r:c:s:kw")) != -1) {
		if (opt == 'j')
			jobs = atoi(optarg);
		else if (opt == 'r')
			rounds = atoi(optarg);
		else if (opt == 'c')
			collectives = atoi(optarg);
		else if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 'k')
			kills = true;
		else if (opt == 'w')
			wrongs = true;
		else
			errx(2, "usage: coll_storm [-j JOBS] [-r ROUNDS] [-c COLLECTIVES] [-s SEED] [-k] STATION...");
	}
	station = argv + optind;
	nstations = argc - optind;
	if (nstations < 2 || nstations > STATIONS || jobs < 1 || jobs > JOBS || collectives < 2)
		errx(2, "2 to %d stations, 1 to %d jobs", STATIONS, JOBS);
	if (wrongs)
		return nstations < 3 ? 2 : wrong_uses();
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	forbidden = mmap(NULL, sizeof(*forbidden), PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED || forbidden == MAP_FAILED)
		err(1, "memory");
	fflush(stdout);
	for (i = 0; i < 2; i++) {
		beside[i] = fork();
		if (!beside[i])
			exit(other(i, i));
	}
	for (i = 0; i < rounds; i++)
		one_round(i);
	sh->stop = true;
	for (i = 0; i < 2; i++)
		waitpid(beside[i], NULL, 0);
	printf("%lu collectives, %lu wrong; %lu members in %d rounds of %d jobs: %lu ended with -EPIPE, %lu were started again, %lu hung, %lu refused\n",
	       sh->collectives, sh->wrong, sh->sessions, rounds, jobs, sh->broken, sh->replaced,
	       sh->hung, sh->refused);
	printf("other programs: %lu commands, %lu wrong\n", sh->others, sh->others_wrong);
	return sh->wrong || sh->others_wrong || sh->hung || sh->refused || !sh->collectives || !sh->others;
}
