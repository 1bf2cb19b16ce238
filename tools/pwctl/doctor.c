// SPDX-License-Identifier: GPL-2.0
/*
 * What of this machine works with packetway, and what to do about the rest. Each check is
 * good, a note (something optional is missing) or bad (nothing works without it).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pwctl.h"

#define SYSCTL "/proc/sys/net/packetway"
#define DEVICE "/dev/" PACKETWAY_DEVICE

enum verdict { GOOD, NOTE, BAD };

struct doctor {
	int bad;
	bool loaded;
	struct utsname uts;
};

/* one line: what was looked at, what was found, what to do; @todo: NULL if it is good */
static void __attribute__((format(printf, 5, 6)))
verdict(struct doctor *d, enum verdict v, const char *check, const char *todo, const char *fmt, ...)
{
	static const char *const names[] = { "ok", "note", "bad" };
	static const enum color colors[] = { C_GOOD, C_WARN, C_BAD };
	char found[512];
	va_list ap;
	json_t *j;

	va_start(ap, fmt);
	vsnprintf(found, sizeof(found), fmt, ap);
	va_end(ap);
	d->bad += v == BAD;
	if (!opt_json) {
		printf("%s%-4s%s %-14s %s\n", color(colors[v]), names[v], color(C_NONE), check, found);
		if (v != GOOD && todo)
			printf("                    -> %s\n", todo);
		return;
	}
	j = json_object();
	json_object_set_new(j, "check", json_string(check));
	json_object_set_new(j, "verdict", json_string(names[v]));
	json_object_set_new(j, "found", json_string(found));
	if (v != GOOD && todo)
		json_object_set_new(j, "todo", json_string(todo));
	out_item("", j);
}

/* the first line of a file without its end; false: it cannot be read */
static bool read_line(const char *path, char *line, size_t cap)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, cap, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

static void check_kernel(struct doctor *d)
{
	unsigned int major = 0, minor = 0;

	sscanf(d->uts.release, "%u.%u", &major, &minor);
	if (major < 6 || (major == 6 && minor < 1))
		verdict(d, BAD, "kernel", "boot Linux 6.1 or later", "%s is too old", d->uts.release);
	else
		verdict(d, GOOD, "kernel", NULL, "%s %s", d->uts.release, d->uts.machine);
}

/* does a line of modules.dep name this module? */
static bool module_installed(const struct doctor *d)
{
	char path[512], line[4096];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", d->uts.release);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, ":\n")] = 0;
		found = !!strstr(line, "/packetway.ko");
	}
	if (f)
		fclose(f);
	return found;
}

static void check_module(struct doctor *d)
{
	char path[512], lockdown[128] = "", version[64] = "", todo[512];
	struct genl g;
	int err;

	err = genl_find(&g);
	if (!err)
		nl_close(&g.nl);
	d->loaded = !err;
	if (!err) {
		if (!read_line("/sys/module/packetway/version", version, sizeof(version)))
			verdict(d, GOOD, "module", NULL, "loaded");
		else if (strcmp(version, pwl_version()))
			verdict(d, NOTE, "module", "install module and tools of one version",
				"version %s is loaded, but these tools are version %s", version,
				pwl_version());
		else
			verdict(d, GOOD, "module", NULL, "loaded, version %s as these tools", version);
		return;
	}
	if (err != -ENOENT) {
		verdict(d, BAD, "module", "run this where generic netlink is allowed",
			"generic netlink: %s", strerror(-err));
		return;
	}
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", d->uts.release);
	if (module_installed(d))
		verdict(d, BAD, "module", "sudo modprobe packetway",
			"installed for this kernel, but not loaded");
	else if (access(path, R_OK)) {
		snprintf(todo, sizeof(todo), "install linux-headers-%s, then packetway-dkms, or run "
			 "`make install` in the source", d->uts.release);
		verdict(d, BAD, "module", todo, "not there, and neither are the headers to build it");
	} else {
		verdict(d, BAD, "module", "install packetway-dkms, or run `make install` in the source, "
			"then sudo modprobe packetway", "not built for kernel %s", d->uts.release);
	}
	if (read_line("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown)) &&
	    !strstr(lockdown, "[none]"))
		verdict(d, NOTE, "lockdown", "sign the module with a key that this machine trusts "
			"(mokutil, DKMS), or turn Secure Boot off",
			"the kernel refuses modules without a signature");
}

/* is CONFIG_@name set in the configuration of the running kernel? */
static bool option_set(const char *config, const char *name)
{
	char want[80];
	const char *p = config;
	int n = snprintf(want, sizeof(want), "CONFIG_%s=", name);

	while ((p = strstr(p, want))) {
		if ((p == config || p[-1] == '\n') && (p[n] == 'y' || p[n] == 'm'))
			return true;
		p += n;
	}
	return false;
}

static char *read_config(const struct doctor *d)
{
	static const char *const files[] = { "/boot/config-%s", "/lib/modules/%s/config",
					     "/lib/modules/%s/build/.config" };
	size_t len = 0;
	char path[512], *text = NULL;
	FILE *f = NULL;
	int i;

	for (i = 0; !f && i < N(files); i++) {
		snprintf(path, sizeof(path), files[i], d->uts.release);
		f = fopen(path, "re");
	}
	/* not compressed: /proc/config.gz is read by zcat */
	if (!f && !access("/proc/config.gz", R_OK)) {
		f = popen("zcat /proc/config.gz 2>/dev/null", "r");
		if (f && getdelim(&text, &len, 0, f) <= 0) {
			free(text);
			text = NULL;
		}
		if (f)
			pclose(f);
		return text;
	}
	if (f && getdelim(&text, &len, 0, f) <= 0) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

/* what the module does not build without, and what only parts of it use */
static void check_options(struct doctor *d)
{
	static const struct {
		const char *option, *what;
	} needed[] = {
		{ "MODULES", NULL }, { "INET", NULL }, { "NET_UDP_TUNNEL", NULL },
		{ "CRYPTO_LIB_CHACHA20POLY1305", NULL }, { "PACKET", NULL }, { "NET_NS", NULL },
		{ "HIGH_RES_TIMERS", NULL }, { "DEBUG_FS", NULL }, { "CRC_ITU_T", NULL },
		{ "CRC64", NULL }, { "CRC32", NULL },
	}, wanted[] = {
		{ "TRACEPOINTS", "`pwctl events trace`" }, { "PTP_1588_CLOCK", "virtual time as a clock" },
		{ "USER_NS", "labs without root" }, { "UTS_NS", "host names of a lab's stations" },
		{ "MEMCG", "limits of memory" },
	};
	char lacks[256] = "", *config = read_config(d);
	int i, n = 0;

	if (!config) {
		verdict(d, d->loaded ? GOOD : NOTE, "options", "install the kernel's package with its "
			"configuration", d->loaded ? "enough of them: the module is loaded" :
			"the configuration of this kernel is not readable here");
		return;
	}
	for (i = 0; i < N(needed); i++)
		if (!option_set(config, needed[i].option))
			n += snprintf(lacks + n, sizeof(lacks) - n, " CONFIG_%s", needed[i].option);
	if (n && !d->loaded)
		verdict(d, BAD, "options", "boot a kernel that has them (Debian's has all)",
			"this kernel lacks%s", lacks);
	else
		verdict(d, GOOD, "options", NULL, "this kernel has all that the module needs");
	for (i = 0; i < N(wanted); i++)
		if (!option_set(config, wanted[i].option))
			verdict(d, NOTE, "options", "boot a kernel that has it, if you need that",
				"without CONFIG_%s: no %s", wanted[i].option, wanted[i].what);
	free(config);
}

static void check_device(struct doctor *d)
{
	struct stat st;
	int fd;

	if (!d->loaded)
		return;
	if (stat(DEVICE, &st)) {
		verdict(d, BAD, DEVICE, "start udev, or mount devtmpfs at /dev; in a container, pass the "
			"device on (--device " DEVICE ")", "not there");
		return;
	}
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		verdict(d, BAD, DEVICE, "its mode is 0666 unless a udev rule changes it: see "
			"`udevadm test " DEVICE "`; in a container, allow the device",
			"mode %o, owner %u:%u: %s", st.st_mode & 07777, st.st_uid, st.st_gid,
			strerror(errno));
	else
		verdict(d, GOOD, DEVICE, NULL, "opens for reading and writing, mode %o",
			st.st_mode & 07777);
	if (fd >= 0)
		close(fd);
}

static void check_capabilities(struct doctor *d)
{
	static const struct {
		int bit;
		const char *name, *what;
	} caps[] = {
		{ 12, "CAP_NET_ADMIN", "changes of SANs, stations, routers" },
		{ 13, "CAP_NET_RAW", "sending: ping, trace, send, ESP" },
		{ 21, "CAP_SYS_ADMIN", "labs and -n, which enter namespaces" },
	};
	unsigned long long eff = 0;
	char line[256];
	FILE *f;
	int i;

	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &eff) == 1)
			break;
	if (f)
		fclose(f);
	for (i = 0; i < N(caps); i++) {
		if (eff & 1ULL << caps[i].bit)
			verdict(d, GOOD, "capability", NULL, "%s", caps[i].name);
		else
			verdict(d, NOTE, "capability", "run pwctl with sudo, or in `unshare -rn` for a network "
				"of your own", "without %s: no %s", caps[i].name, caps[i].what);
	}
}

/* objects of this namespace against net.packetway.max_* */
static void check_limits(struct doctor *d)
{
	unsigned long long max, nr, refused, full = 0;
	char path[512], line[64], todo[160];
	struct rlimit files;
	struct dirent *e;
	int seen = 0;
	DIR *dir;

	dir = opendir(SYSCTL);
	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "max_", 4))
			continue;
		snprintf(path, sizeof(path), SYSCTL "/%s", e->d_name);
		if (!read_line(path, line, sizeof(line)) || sscanf(line, "%llu", &max) != 1)
			continue;
		snprintf(path, sizeof(path), SYSCTL "/nr_%s", e->d_name + 4);
		nr = refused = 0;
		if (!read_line(path, line, sizeof(line)) || sscanf(line, "%llu %llu", &nr, &refused) < 1)
			continue;
		seen++;
		if (!refused && nr * 10 < max * 9)
			continue;
		full++;
		snprintf(todo, sizeof(todo), "sudo sysctl net.packetway.%s=%llu", e->d_name, 2 * max);
		verdict(d, NOTE, "limit", todo, "%s: %llu of %llu are in use, %llu requests were refused",
			e->d_name + 4, nr, max, refused);
	}
	if (dir)
		closedir(dir);
	if (seen && !full)
		verdict(d, GOOD, "limit", NULL, "%d limits of objects, none is near", seen);
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < 1024)
		verdict(d, NOTE, "limit", "ulimit -n 4096", "%llu open files: too few for large labs",
			(unsigned long long)files.rlim_cur);
}

static void check_mounts(struct doctor *d)
{
	if (access("/sys/kernel/tracing/events", F_OK) && !geteuid())
		verdict(d, NOTE, "tracefs", "mount -t tracefs none /sys/kernel/tracing",
			"not mounted: no `pwctl events trace`");
	if (access("/sys/kernel/debug/packetway", F_OK) && !geteuid() && d->loaded)
		verdict(d, NOTE, "debugfs", "mount -t debugfs none /sys/kernel/debug",
			"not mounted: no `pwctl fault`, no queues in `pwctl top`");
}

static bool program_there(const char *name)
{
	const char *dirs = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	char path[512];
	int n;

	for (; *dirs; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s/%s", n, dirs, name);
		if (!access(path, X_OK))
			return true;
	}
	/* not in everyone's path */
	snprintf(path, sizeof(path), "/usr/sbin/%s", name);
	return !access(path, X_OK);
}

static void check_programs(struct doctor *d)
{
	static const struct {
		const char *name, *todo, *what;
	} programs[] = {
		{ "ip", "install iproute2", "addresses of stations and namespaces by hand" },
		{ "tshark", "install tshark", "`pwctl capture` with the dissector" },
		{ "mpirun", "install openmpi-bin", "`pwrun`" },
		{ "gnuplot", "install gnuplot-nox", "plots of `pwctl experiment`" },
	};
	int i, there = 0;

	for (i = 0; i < N(programs); i++) {
		if (program_there(programs[i].name))
			there++;
		else
			verdict(d, NOTE, "program", programs[i].todo, "%s is not there: no %s",
				programs[i].name, programs[i].what);
	}
	if (there == N(programs))
		verdict(d, GOOD, "program", NULL, "ip, tshark, mpirun and gnuplot are there");
}

static void check_stations(struct doctor *d)
{
	struct station *list;
	int n, i, up = 0;

	if (!d->loaded)
		return;
	n = stations(&list);
	for (i = 0; i < n; i++)
		up += list[i].up;
	free(list);
	if (n < 0)
		verdict(d, BAD, "stations", "run this where rtnetlink is allowed", "%s", strerror(-n));
	else if (!n)
		verdict(d, NOTE, "stations", "sudo pwctl station add pw0 up, or sudo pwctl lab up "
			"FILE.yaml", "none in this namespace");
	else if (!up)
		verdict(d, NOTE, "stations", "sudo ip link set pw0 up", "%d, none of them is up", n);
	else
		verdict(d, GOOD, "stations", NULL, "%d, %d up", n, up);
}

const struct word doctor_words[] = { {} };

enum status cmd_doctor(const struct verb *v, int argc, char **argv)
{
	struct doctor d = {};
	enum status st;

	st = words(v, argc, argv, &d);
	if (st)
		return st;
	uname(&d.uts);
	out_begin(false);
	check_kernel(&d);
	check_module(&d);
	check_options(&d);
	check_device(&d);
	check_capabilities(&d);
	check_limits(&d);
	check_mounts(&d);
	check_programs(&d);
	check_stations(&d);
	out_end();
	return d.bad ? ST_REFUSED : ST_OK;
}
