// SPDX-License-Identifier: GPL-2.0
/*
 * pwctl experiment sweep: many runs of the fabric or the ring in user space, a process for each run and
 * as many at a time as there are CPUs. A journal keeps what is done; a sweep that was
 * interrupted goes on where it stood, and its files have the same bytes as without.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sweep.h"

#define JOURNAL "packetway-sweep"
#define MAX_JOBS 256

struct sweep_opts {
	const char *file;
	const char *out;
	uint32_t jobs;
	bool restart;
};

struct job {
	pid_t pid;
	int fd;
	uint32_t run;
};

struct campaign {
	const struct sweep *s;
	struct result *result;	/* of run point * seeds + seed */
	bool *done;
	uint32_t runs, ndone;
	struct job job[MAX_JOBS];
	uint32_t jobs, running;
	char path[4096];
	FILE *journal;
};

/* Journal ------------------------------------------------------------------------------ */

/* a line that was cut off, or is not one of ours, does not count */
static void take_line(struct campaign *c, const char *line)
{
	struct result r;
	uint64_t *v = (uint64_t *)&r;
	unsigned long long x;
	uint32_t run;
	int n, used;
	size_t i;

	if (!strchr(line, '\n') || sscanf(line, "%u%n", &run, &n) != 1 || run >= c->runs)
		return;
	for (i = 0; i < RESULT_WORDS; i++, n += used) {
		if (sscanf(line + n, "%llu%n", &x, &used) != 1)
			return;
		v[i] = x;
	}
	if (strcmp(line + n, " .\n") || c->done[run])
		return;
	c->result[run] = r;
	c->done[run] = true;
	c->ndone++;
}

static enum status open_journal(struct campaign *c, bool restart)
{
	uint64_t hash = sweep_hash(c->s);
	unsigned long long found;
	char line[1024];
	bool old = false;
	FILE *f = restart ? NULL : fopen(c->path, "re");

	if (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, JOURNAL " %llx", &found) != 1) {
			fclose(f);
			return fail(0, "%s: not a journal; remove it or say 'restart'", c->path);
		}
		if (found != hash) {
			fclose(f);
			return fail(0, "%s: journal of another sweep; remove it or say 'restart'",
				    c->path);
		}
		old = true;
		while (fgets(line, sizeof(line), f))
			take_line(c, line);
	}
	if (f)
		fclose(f);
	c->journal = fopen(c->path, old ? "ae" : "we");
	if (!c->journal)
		return fail(errno, "%s", c->path);
	/* a line feed ends a line that was cut off */
	if (old)
		fputc('\n', c->journal);
	else
		fprintf(c->journal, JOURNAL " %llx\n", (unsigned long long)hash);
	return fflush(c->journal) ? fail(errno, "%s", c->path) : ST_OK;
}

static enum status enter(struct campaign *c, uint32_t run)
{
	const uint64_t *v = (const uint64_t *)&c->result[run];
	size_t i;

	fprintf(c->journal, "%u", run);
	for (i = 0; i < RESULT_WORDS; i++)
		fprintf(c->journal, " %llu", (unsigned long long)v[i]);
	fprintf(c->journal, " .\n");
	return fflush(c->journal) ? fail(errno, "%s", c->path) : ST_OK;
}

/* Runs --------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) child(const struct campaign *c, uint32_t run, int fd)
{
	struct result r;
	struct point p;
	int err;

	sweep_point(c->s, run / c->s->seed.n, &p);
	err = (c->s->ring ? ring_run : sweep_run)(c->s, &p, c->s->seed.v[run % c->s->seed.n], &r);
	/* less than what a pipe takes at once */
	if (!err && write(fd, &r, sizeof(r)) != sizeof(r))
		err = -EIO;
	_exit(-err);
}

static enum status start(struct campaign *c, uint32_t run)
{
	struct job *j = &c->job[c->running];
	pid_t parent = getpid();
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return fail(errno, "pipe");
	j->pid = fork();
	if (j->pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return fail(errno, "fork");
	}
	if (!j->pid) {
		/* ends with the sweep */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EIO);
		close(fd[0]);
		child(c, run, fd[1]);
	}
	close(fd[1]);
	j->fd = fd[0];
	j->run = run;
	c->running++;
	return ST_OK;
}

static enum status complain(const struct campaign *c, uint32_t run, int status)
{
	struct point p;

	sweep_point(c->s, run / c->s->seed.n, &p);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EMSGSIZE)
		return fail(0, "bytes: %u do not fit into the buffers", p.bytes);
	if (WIFEXITED(status))
		return fail(WEXITSTATUS(status) ?: EIO, "run %u", run);
	return fail(0, "run %u: ended by signal %d", run, WTERMSIG(status));
}

/* wait for one run to end */
static enum status finish(struct campaign *c)
{
	struct job *j, done;
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	if (pid < 0)
		return fail(errno, "waitpid");
	for (j = c->job; j < c->job + c->running && j->pid != pid; j++)
		;
	if (j == c->job + c->running)
		return ST_OK;
	done = *j;
	*j = c->job[--c->running];
	if (!WIFEXITED(status) || WEXITSTATUS(status) ||
	    read(done.fd, &c->result[done.run], sizeof(struct result)) != sizeof(struct result)) {
		close(done.fd);
		return complain(c, done.run, status);
	}
	close(done.fd);
	c->done[done.run] = true;
	c->ndone++;
	return enter(c, done.run);
}

static enum status run_all(struct campaign *c)
{
	enum status st = ST_OK;
	struct progress p;
	uint32_t next = 0;

	progress_begin(&p, "runs", c->runs, c->ndone);
	while (!st && c->ndone < c->runs) {
		while (!st && c->running < c->jobs && next < c->runs) {
			if (!c->done[next])
				st = start(c, next);
			next++;
		}
		if (!st)
			st = finish(c);
		progress_step(&p, c->ndone);
	}
	while (c->running) {
		kill(c->job[--c->running].pid, SIGKILL);
		waitpid(c->job[c->running].pid, NULL, 0);
		close(c->job[c->running].fd);
	}
	progress_end(&p);
	return st;
}

static uint32_t cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* name of the file without its directory and its ending */
static void prefix_of(const char *file, char *prefix, size_t cap)
{
	const char *base = strrchr(file, '/');
	char *dot;

	snprintf(prefix, cap, "%s", base ? base + 1 : file);
	dot = strrchr(prefix, '.');
	if (dot && dot != prefix)
		*dot = 0;
}

/* the table of a trace often has the name of the sweep; the results must not replace it */
static bool would_overwrite(const struct sweep *s, const char *prefix)
{
	static const char *const ends[] = { ".csv", "-runs.csv", ".json", ".journal" };
	struct stat trace, other;
	char path[2100];

	if (!s->trace.n || stat(s->trace_path, &trace))
		return false;
	for (int i = 0; i < N(ends); i++) {
		snprintf(path, sizeof(path), "%s%s", prefix, ends[i]);
		if (!stat(path, &other) && other.st_dev == trace.st_dev &&
		    other.st_ino == trace.st_ino)
			return true;
	}
	return false;
}

enum status exp_sweep(const struct verb *v, int argc, char **argv)
{
	struct sweep_opts o = {};
	struct sweep *s = calloc(1, sizeof(*s));
	struct campaign *c = calloc(1, sizeof(*c));
	char prefix[2048];
	enum status st = words(v, argc, argv, &o);

	if (!st && (!s || !c))
		st = fail(ENOMEM, "sweep");
	st = st ?: sweep_read(o.file, s);
	if (st)
		goto out;
	prefix_of(o.file, prefix, sizeof(prefix));
	if (!*s->name)
		snprintf(s->name, sizeof(s->name), "%.60s", prefix);
	if (o.out)
		snprintf(prefix, sizeof(prefix), "%s", o.out);
	if (strpbrk(prefix, "\"\\\n")) {
		st = usage("out: a file name without quotes and backslashes is needed");
		goto out;
	}
	if (would_overwrite(s, prefix)) {
		st = usage("out: results named %s would replace the trace %s", prefix,
			   s->trace_path);
		goto out;
	}
	c->s = s;
	c->runs = s->points * s->seed.n;
	c->jobs = o.jobs ?: cpus();
	if (c->jobs > MAX_JOBS)
		c->jobs = MAX_JOBS;
	c->result = calloc(c->runs, sizeof(*c->result));
	c->done = calloc(c->runs, sizeof(*c->done));
	snprintf(c->path, sizeof(c->path), "%s.journal", prefix);
	if (!c->result || !c->done)
		st = fail(ENOMEM, "sweep");
	st = st ?: open_journal(c, o.restart) ?: run_all(c) ?: sweep_write(s, c->result, prefix);
	if (c->journal)
		fclose(c->journal);
	if (!st)
		unlink(c->path);
out:
	if (c) {
		free(c->result);
		free(c->done);
	}
	free(c);
	if (s)
		free(s->trace.m);
	free(s);
	return st;
}

#define AT(m) offsetof(struct sweep_opts, m)

const struct word sweep_words[] = {
	{ NULL, "FILE.yaml", W_TEXT, AT(file), WORD_NEEDED },
	{ "out", "PREFIX", W_TEXT, AT(out) },
	{ "jobs", "N", W_U32, AT(jobs), 0, MAX_JOBS },
	{ "restart", NULL, W_FLAG, AT(restart) },
	{}
};
