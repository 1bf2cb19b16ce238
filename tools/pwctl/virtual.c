// SPDX-License-Identifier: GPL-2.0
/*
 * pwctl virtual: a command whose clocks are those of a SAN in lockstep. libpwtime is
 * preloaded; this program waits for the end of the command and for a stall.
 */
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/packetway.h>

#include "pwctl.h"

/* runs begin at a multiple of this virtual time: the fabric is at the same point in all */
#define RUN_ALIGN 1000000000ULL
#define LIST_MAX 4096
/* how often `await` looks, in real time */
#define AWAIT_MS 20

struct virtual_args {
	const char *dev;
	uint32_t stall;
	uint64_t quantum;
	bool fresh;
	bool time;
	uint32_t await;
	const char *cpu;
	char **command;
};

#define AT(m) offsetof(struct virtual_args, m)

const struct word virtual_words[] = {
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "stall", "MS", W_U32, AT(stall) },
	{ "quantum", "NS", W_U64, AT(quantum) },
	{ "cpu", "free|FACTOR", W_TEXT, AT(cpu) },
	{ "await", "N", W_U32, AT(await) },
	{ "fresh", NULL, W_FLAG, AT(fresh) },
	{ "time", NULL, W_FLAG, AT(time) },
	{ NULL, "COMMAND", W_REST, AT(command), WORD_NEEDED },
	{}
};

static enum status open_clock(const char *dev, int *clk)
{
	struct packetway_time_open o = { .size = sizeof(o) };
	int fd = open("/dev/" PACKETWAY_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return fail(errno, "/dev/" PACKETWAY_DEVICE);
	if (dev) {
		o.ifindex = if_nametoindex(dev);
		if (!o.ifindex) {
			close(fd);
			return fail(ENODEV, "%s", dev);
		}
	}
	*clk = ioctl(fd, PACKETWAY_IOC_TIME_OPEN, &o);
	err = errno;
	close(fd);
	if (*clk >= 0)
		return ST_OK;
	if (err == EOPNOTSUPP)
		return fail(0, "no station's SAN is in lockstep here; see `pwctl san set ID clock lockstep`");
	if (err == ENODEV)
		return fail(0, "this namespace has no station%s%s", dev ? " " : "", dev ?: "");
	return fail(err, "clock");
}

/* ---- can the library be preloaded? ---- */

/* where execvp() finds a program */
static bool find_program(const char *name, char *path, size_t cap)
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(path, cap, "%s", name);
		return !access(path, X_OK);
	}
	for (dirs = dirs ?: "/bin:/usr/bin"; ; dirs = end + 1) {
		end = strchrnul(dirs, ':');
		snprintf(path, cap, "%.*s/%s", (int)(end - dirs), dirs, name);
		if (!access(path, X_OK))
			return true;
		if (!*end)
			return false;
	}
}

/* an ELF program without an interpreter has no dynamic linker that would preload */
static bool is_static(const char *path)
{
	unsigned char b[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;
	ssize_t n = fd < 0 ? -1 : read(fd, b, sizeof(b));
	const Elf64_Ehdr *e = (void *)b;
	const Elf64_Phdr *p;

	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)sizeof(*e) || memcmp(b, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (i = 0; i < e->e_phnum; i++) {
		if (e->e_phoff + (i + 1) * sizeof(*p) > (size_t)n)
			return false;
		p = (void *)(b + e->e_phoff + i * sizeof(*p));
		if (p->p_type == PT_INTERP)
			return false;
	}
	return true;
}

static enum status check_program(const char *name)
{
	char path[4096];
	struct stat st;

	if (!find_program(name, path, sizeof(path)) || stat(path, &st))
		return fail(errno, "%s", name);
	if (is_static(path))
		return fail(0, "%s is linked statically: no library can give it virtual clocks", path);
	if (geteuid() && ((st.st_mode & (S_ISUID | S_ISGID)) ||
			  getxattr(path, "security.capability", NULL, 0) > 0))
		return fail(0, "%s gains privileges when it starts: Linux preloads no library into it", path);
	return ST_OK;
}

static enum status find_library(char *path, size_t cap)
{
	static const char *const where[] = { "%s/libpwtime.so", "%s/../lib/libpwtime.so",
					     "%s/../lib/*-linux-*/libpwtime.so" };
	char self[2048], pattern[2200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;
	glob_t g;

	if (n < 0)
		return fail(errno, "/proc/self/exe");
	self[n] = 0;
	*strrchr(self, '/') = 0;
	for (i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		snprintf(pattern, sizeof(pattern), where[i], self);
		if (!glob(pattern, 0, NULL, &g)) {
			n = snprintf(path, cap, "%s", g.gl_pathv[0]);
			globfree(&g);
			return n < (ssize_t)cap ? ST_OK : fail(ENAMETOOLONG, "libpwtime.so");
		}
	}
	return fail(0, "libpwtime.so is not installed beside pwctl");
}

static enum status check_cpu(const char *text)
{
	char *end;

	if (!text || !strcmp(text, "free"))
		return ST_OK;
	return strtod(text, &end) > 0 && !*end ? ST_OK : fail(0, "cpu: free, or a factor above 0");
}

/* ---- the run ---- */

static int join(int clk, uint32_t flags)
{
	struct packetway_time_join j = { .size = sizeof(j), .flags = flags };

	return ioctl(clk, PACKETWAY_IOC_TIME_JOIN, &j);
}

static void leave(int clk)
{
	struct packetway_time_leave l = { .size = sizeof(l) };

	ioctl(clk, PACKETWAY_IOC_TIME_LEAVE, &l);
}

static enum status settings(int clk, const struct virtual_args *a)
{
	struct packetway_time_set s = {
		.size = sizeof(s), .stall_ms = a->stall, .quantum = a->quantum,
		.flags = (a->stall ? PACKETWAY_TIME_SET_STALL : 0) |
			 (a->quantum ? PACKETWAY_TIME_SET_QUANTUM : 0),
	};

	if (ioctl(clk, PACKETWAY_IOC_TIME_SET, &s))
		return fail(errno, "stall is 1..3600000 ms, quantum 1..1000000000 ns");
	return ST_OK;
}

/* become a participant at the begin of a virtual second */
static enum status align(int clk, uint64_t *zero)
{
	struct packetway_time_get g = { .size = sizeof(g) };
	struct packetway_time_wait w = { .size = sizeof(w) };

	if (join(clk, 0))
		return fail(errno, "cannot join the clock");
	if (ioctl(clk, PACKETWAY_IOC_TIME_GET, &g))
		return fail(errno, "clock");
	w.until = g.out_now + RUN_ALIGN - g.out_now % RUN_ALIGN;
	if (ioctl(clk, PACKETWAY_IOC_TIME_WAIT, &w))
		return fail(errno, "clock");
	*zero = w.out_now;
	return ST_OK;
}

static void preload(const char *lib, const struct virtual_args *a, uint64_t zero)
{
	const char *old = getenv("LD_PRELOAD");
	char text[4096];

	/* a launcher is not of the run: it preloads the library for what it starts */
	if (!a->await && (!old || !strstr(old, "libpwtime.so"))) {
		snprintf(text, sizeof(text), "%s%s%s", lib, old ? " " : "", old ?: "");
		setenv("LD_PRELOAD", text, 1);
	}
	setenv("PW_TIME", a->await ? "await" : "1", 1);
	if (a->dev)
		setenv("PW_TIME_DEV", a->dev, 1);
	if (a->cpu && strcmp(a->cpu, "free"))
		setenv("PW_TIME_CPU", a->cpu, 1);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)zero);
	setenv("PW_TIME_ZERO", text, 1);
}

/* the command, which is a participant before this returns if @joins; its pid, or -1 */
static pid_t start(int clk, char **command, bool joins)
{
	char c = 0;
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid) {
		close(p[1]);
		if (pid > 0 && read(p[0], &c, 1) != 1) {
			waitpid(pid, NULL, 0);
			pid = -1;
		}
		close(p[0]);
		return pid;
	}
	if ((joins && join(clk, PACKETWAY_TIME_JOIN_EXEC)) || write(p[1], "j", 1) != 1)
		_exit(125);
	execvp(command[0], command);
	fprintf(stderr, "pwctl: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

static void read_line(uint32_t pid, const char *what, char *out, size_t cap)
{
	char path[64];
	FILE *f;

	snprintf(out, cap, "?");
	snprintf(path, sizeof(path), "/proc/%u/%s", pid, what);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(out, cap, f))
		out[strcspn(out, "\n")] = 0;
	fclose(f);
}

static const char *syscall_name(const char *text)
{
	static const struct {
		long nr;
		const char *name;
	} names[] = {
		{ SYS_read, "read" }, { SYS_write, "write" }, { SYS_recvfrom, "recvfrom" },
		{ SYS_recvmsg, "recvmsg" }, { SYS_sendto, "sendto" }, { SYS_sendmsg, "sendmsg" },
#ifdef SYS_accept
		{ SYS_accept, "accept" },	/* s390x has none */
#endif
		{ SYS_accept4, "accept4" }, { SYS_connect, "connect" },
		{ SYS_ppoll, "ppoll" }, { SYS_pselect6, "pselect6" },
		{ SYS_epoll_pwait, "epoll_pwait" }, { SYS_futex, "futex" }, { SYS_wait4, "wait4" },
		{ SYS_waitid, "waitid" }, { SYS_ioctl, "ioctl" },
		{ SYS_rt_sigsuspend, "rt_sigsuspend" }, { SYS_nanosleep, "nanosleep" },
		{ SYS_clock_nanosleep, "clock_nanosleep" },
	};
	long nr = strtol(text, NULL, 10);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].nr == nr)
			return names[i].name;
	return text;
}

/* who waits in what; returns how many entries @e has */
static uint32_t table(int clk, struct packetway_time_entry *e)
{
	struct packetway_time_list l = {
		.size = sizeof(l), .entries = (uintptr_t)e, .room = LIST_MAX,
	};
	char comm[64], call[256], wchan[64];
	uint32_t i;
	int tries;

	if (ioctl(clk, PACKETWAY_IOC_TIME_LIST, &l))
		l.out_count = 0;
	if (l.out_count > l.room)
		l.out_count = l.room;
	fprintf(stderr, "%8s %-16s %5s %14s  %s\n", "thread", "program", "port", "since/ns", "waits in");
	for (i = 0; i < l.out_count; i++) {
		read_line(e[i].pid, "comm", comm, sizeof(comm));
		/* a thread that went to sleep just now counts as running there */
		for (tries = 0; tries < 20; tries++) {
			read_line(e[i].pid, "syscall", call, sizeof(call));
			if (!e[i].blocked || strcmp(call, "running"))
				break;
			usleep(1000);
		}
		read_line(e[i].pid, "wchan", wchan, sizeof(wchan));
		call[strcspn(call, " ")] = 0;
		fprintf(stderr, "%8u %-16s %5u %14llu  %s%s (%s)\n", e[i].pid, comm, e[i].port,
			(unsigned long long)e[i].since, e[i].blocked ? "" : "runs: ",
			syscall_name(call), wchan);
	}
	return l.out_count;
}

/* kill the participants that were started under this command, by getsid() */
static enum status stalled(int clk, pid_t child)
{
	static struct packetway_time_entry e[LIST_MAX];
	uint32_t i, n;

	fprintf(stderr, "pwctl: the clock has stalled: every participant waits, and nothing is pending\n");
	n = table(clk, e);
	for (i = 0; i < n; i++)
		if (e[i].pid && getsid(e[i].pid) == getsid(0))
			kill(e[i].pid, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return ST_STALLED;
}

/* a participant runs for so long that time seems to stand still: print the table once */
static void standing(int clk, uint64_t *last)
{
	static struct packetway_time_entry e[LIST_MAX];
	struct packetway_time_get g = { .size = sizeof(g) };

	if (ioctl(clk, PACKETWAY_IOC_TIME_GET, &g) || !g.out_running)
		return;
	if (g.out_now != *last) {
		*last = g.out_now;
		return;
	}
	fprintf(stderr, "pwctl: virtual time has stood still for %u ms: %u run or start\n",
		g.out_stall_ms, g.out_running);
	table(clk, e);
	*last = UINT64_MAX;
}

static void hold_end(int clk)
{
	struct packetway_time_leave l = { .size = sizeof(l), .flags = PACKETWAY_TIME_JOIN_HOLD };

	ioctl(clk, PACKETWAY_IOC_TIME_LEAVE, &l);
}

/* let time run when @n threads wait for the begin of the run. Return: true if they do */
static bool all_here(int clk, uint32_t n)
{
	struct packetway_time_get g = { .size = sizeof(g) };

	/* the hold is the only one that runs */
	if (ioctl(clk, PACKETWAY_IOC_TIME_GET, &g) || g.out_participants < n || g.out_running > 1)
		return false;
	hold_end(clk);
	return true;
}

static enum status watch(int clk, pid_t child, const struct packetway_time_get *begin,
			 uint32_t await)
{
	struct packetway_time_get g = { .size = sizeof(g) };
	struct pollfd p[2] = {
		{ .fd = syscall(SYS_pidfd_open, child, 0), .events = POLLIN },
		{ .fd = clk, .events = POLLPRI },
	};
	uint64_t last = 0;
	int status, n;

	for (;;) {
		n = poll(p, 2, await ? AWAIT_MS :
			 last == UINT64_MAX ? -1 : (int)begin->out_stall_ms);
		if (n < 0 && errno != EINTR)
			return fail(errno, "poll");
		if (interrupted)
			kill(child, SIGTERM);
		if (!n && !await)
			standing(clk, &last);
		if (await && all_here(clk, await))
			await = 0;
		if (n <= 0)
			continue;
		if (p[0].revents)
			break;
		if (p[1].revents & POLLPRI)
			return stalled(clk, child);
		/* the clock has ended: only the command remains */
		if (p[1].revents)
			p[1].fd = -1;
	}
	close(p[0].fd);
	waitpid(child, &status, 0);
	if (!ioctl(clk, PACKETWAY_IOC_TIME_GET, &g) && g.out_outside > begin->out_outside)
		fprintf(stderr, "pwctl: %llu messages came from programs outside the run: another run may differ\n",
			(unsigned long long)(g.out_outside - begin->out_outside));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* the command has ended for its parent a little before its last thread leaves the clock */
static int last_left(int clk, struct packetway_time_get *g)
{
	int tries, err = 0;

	for (tries = 0; tries < 200; tries++) {
		err = ioctl(clk, PACKETWAY_IOC_TIME_GET, g);
		if (err || !g->out_participants)
			break;
		usleep(5000);
	}
	return err;
}

static enum status run(const struct virtual_args *a)
{
	struct packetway_time_get g = { .size = sizeof(g) };
	char lib[4096];
	uint64_t zero = 0;
	enum status st;
	pid_t child;
	int clk = -1;

	st = check_program(a->command[0]);
	if (!st)
		st = check_cpu(a->cpu);
	if (!st)
		st = find_library(lib, sizeof(lib));
	/* in a run already: the command is part of it */
	if (!st && getenv("PW_TIME_ZERO")) {
		execvp(a->command[0], a->command);
		return fail(errno, "%s", a->command[0]);
	}
	if (!st)
		st = open_clock(a->dev, &clk);
	if (!st)
		st = settings(clk, a);
	if (!st)
		st = align(clk, &zero);
	if (st)
		return st;
	ioctl(clk, PACKETWAY_IOC_TIME_GET, &g);
	if (a->await) {
		/* this process leaves before the others come; time stands still meanwhile */
		if (join(clk, PACKETWAY_TIME_JOIN_HOLD))
			return fail(errno, "cannot hold the clock");
		zero += RUN_ALIGN;
	}
	preload(lib, a, zero);
	child = start(clk, a->command, !a->await);
	leave(clk);
	if (child < 0)
		return fail(0, "%s does not start", a->command[0]);
	catch_signals();
	st = watch(clk, child, &g, a->await);
	if (a->time && !last_left(clk, &g))
		fprintf(stderr, "virtual time: %llu ns\n",
			(unsigned long long)(g.out_left - zero));
	return st;
}

/* ---- the same begin ---- */

static enum status san_set(const char *id, const char *engine, const char *clock)
{
	char *words[] = { "san", "set", (char *)id, (char *)(engine ? "engine" : "clock"),
			  (char *)(engine ?: clock), "clock", (char *)clock };

	return pwctl(engine && clock ? 7 : 5, words);
}

static int participants(void)
{
	FILE *f = fopen("/proc/sys/net/packetway/nr_participants", "re");
	int n = 0;

	if (f && fscanf(f, "%d", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* @leave: SANs in lockstep leave it and their fabric; otherwise they get both again */
static enum status each_fresh(json_t *list, bool leave)
{
	const char *clock, *engine;
	enum status st = ST_OK;
	json_t *san;
	char id[16];
	size_t i;

	json_array_foreach(list, i, san) {
		clock = json_string_value(json_object_get(san, "clock"));
		engine = json_string_value(json_object_get(san, "engine"));
		if (st || strcmp(clock ?: "", "lockstep"))
			continue;
		snprintf(id, sizeof(id), "%lld",
			 (long long)json_integer_value(json_object_get(san, "id")));
		st = leave ? san_set(id, NULL, "free") ?: san_set(id, "none", NULL) :
			     san_set(id, engine, "lockstep");
	}
	return st;
}

/*
 * A fabric remembers which path and which source was last, so that the first message of a
 * run may take some cycles more or less. The SANs of this namespace that are in lockstep get
 * a new one, unless there are participants. All leave before the first one enters again: they
 * share a clock, which begins anew.
 */
enum status virtual_fresh(void)
{
	json_t *list = json_array();
	enum status st = ST_OK;
	int tries;

	/* those of a run before this one may be just about to end */
	for (tries = 0; tries < 100 && participants(); tries++)
		usleep(10000);
	if (tries < 100)
		st = object_list("san", list) ?: each_fresh(list, true) ?: each_fresh(list, false);
	json_decref(list);
	return st;
}

enum status virtual_run(char **command)
{
	struct virtual_args a = { .command = command };

	return run(&a);
}

enum status cmd_virtual(const struct verb *v, int argc, char **argv)
{
	struct virtual_args a = {};
	enum status st = words(v, argc, argv, &a);

	if (!st && a.fresh && !getenv("PW_TIME_ZERO"))
		st = virtual_fresh();
	return st ?: run(&a);
}
