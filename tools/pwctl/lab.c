// SPDX-License-Identifier: GPL-2.0
/*
 * Labs: one YAML file makes a network.
 *
 * A lab has a network namespace of its own, where its SANs live, and for each
 * station one network namespace LAB-STATION, as `ip netns` knows them, and one
 * UTS namespace, so that the station has a host name. What `down` needs is in
 * LABS/LAB: the names of stations, one UTS namespace each, and a hosts file.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

#include "pwctl.h"

#define NETNS "/run/netns"
#define LABS "/run/packetway/labs"
#define NAME_MAX_ LAB_NAME_MAX
#define MAX_STATIONS 1024
#define MAX_ADDRS 4
/* between words of the list of stations */
#define BLANK "\n "

struct lab_station {
	char name[NAME_MAX_];
	char addr[MAX_ADDRS][64];
	int naddr;
	long san, port, mtu, order;
	uint64_t operand[PACKETWAY_ATON_REGS];
	uint32_t set;		/* bit per operand given */
	long group;
	uint32_t pw_addr;	/* learnt when it is up */
};

struct lab_san {
	char words[16][32];	/* as for `pwctl san add` */
	int n;
	long id;
};

struct lab {
	char name[NAME_MAX_];
	struct lab_san san[64];
	int nsan;
	struct lab_station *st;
	int nst;
	char router[64][128];	/* words as for `pwctl router add` */
	int nrouter;
};

/* YAML --------------------------------------------------------------------- */

static const char *scalar(yaml_document_t *d, int node)
{
	yaml_node_t *n = yaml_document_get_node(d, node);

	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static int bad(const char *file, yaml_document_t *d, int node, const char *what)
{
	yaml_node_t *n = yaml_document_get_node(d, node);

	fprintf(stderr, "pwctl: %s:%zu: %s\n", file, n ? n->start_mark.line + 1 : 0, what);
	return EX_USAGE_;
}

static bool good_name(const char *s)
{
	size_t n;

	for (n = 0; isalnum((unsigned char)s[n]) || s[n] == '_'; n++)
		;
	return n && n < NAME_MAX_ && !s[n];
}

static int parse_long(const char *s, long *v)
{
	uint32_t x;

	if (!s || parse_u32(s, &x))
		return -EINVAL;
	*v = x;
	return 0;
}

static int read_san(const char *file, yaml_document_t *d, yaml_node_t *map, struct lab_san *s)
{
	yaml_node_pair_t *p;
	const char *key, *v;

	s->id = -1;
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		key = scalar(d, p->key);
		v = scalar(d, p->value);
		if (!key || !v || s->n + 2 > N(s->words))
			return bad(file, d, p->key, "a SAN has words and values");
		if (!strcmp(key, "id")) {
			if (parse_long(v, &s->id))
				return bad(file, d, p->value, "the id of a SAN is a number");
			continue;
		}
		snprintf(s->words[s->n++], sizeof(s->words[0]), "%s", key);
		snprintf(s->words[s->n++], sizeof(s->words[0]), "%s", v);
	}
	return s->id < 0 ? bad(file, d, 1, "a SAN needs an id") : EX_OK_;
}

static int read_addrs(const char *file, yaml_document_t *d, int node, struct lab_station *s)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	yaml_node_item_t *i;

	if (n->type == YAML_SCALAR_NODE) {
		snprintf(s->addr[s->naddr++], sizeof(s->addr[0]), "%s", scalar(d, node));
		return EX_OK_;
	}
	if (n->type != YAML_SEQUENCE_NODE)
		return bad(file, d, node, "addresses are a list");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
		if (s->naddr == MAX_ADDRS || !scalar(d, *i))
			return bad(file, d, *i, "at most 4 addresses");
		snprintf(s->addr[s->naddr++], sizeof(s->addr[0]), "%s", scalar(d, *i));
	}
	return EX_OK_;
}

static int read_operands(const char *file, yaml_document_t *d, int node, struct lab_station *s)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	yaml_node_item_t *i;
	int reg = 0;

	if (n->type == YAML_SCALAR_NODE) {
		s->set = 1;
		return parse_u64(scalar(d, node), &s->operand[0]) ?
		       bad(file, d, node, "an operand is a number") : EX_OK_;
	}
	if (n->type != YAML_SEQUENCE_NODE)
		return bad(file, d, node, "operands are a list");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++, reg++) {
		if (reg == PACKETWAY_ATON_REGS || !scalar(d, *i) ||
		    parse_u64(scalar(d, *i), &s->operand[reg]))
			return bad(file, d, *i, "at most 16 operands, all of them numbers");
		s->set |= 1U << reg;
	}
	return EX_OK_;
}

static int read_station(const char *file, yaml_document_t *d, yaml_node_t *map,
			struct lab_station *s)
{
	yaml_node_pair_t *p;
	const char *key, *v;
	int err = EX_OK_;

	s->san = 0;
	s->port = -1;
	s->mtu = -1;
	s->order = -1;
	s->group = -1;
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		key = scalar(d, p->key);
		v = scalar(d, p->value);
		if (!key)
			return bad(file, d, p->key, "a station has words and values");
		if (!strcmp(key, "name")) {
			if (!v || !good_name(v))
				return bad(file, d, p->value, "a name has letters and digits only");
			snprintf(s->name, sizeof(s->name), "%s", v);
		} else if (!strcmp(key, "address")) {
			err = read_addrs(file, d, p->value, s);
		} else if (!strcmp(key, "operand")) {
			err = read_operands(file, d, p->value, s);
		} else if (!strcmp(key, "san")) {
			err = parse_long(v, &s->san);
		} else if (!strcmp(key, "port")) {
			err = parse_long(v, &s->port);
		} else if (!strcmp(key, "mtu")) {
			err = parse_long(v, &s->mtu);
		} else if (!strcmp(key, "group")) {
			err = parse_long(v, &s->group);
		} else {
			return bad(file, d, p->key, "this is no word of a station");
		}
		if (err < 0)
			return bad(file, d, p->value, "a number is needed here");
		if (err)
			return err;
	}
	return s->name[0] ? EX_OK_ : EX_USAGE_;
}

static int read_lab(const char *file, struct lab *lab)
{
	yaml_node_t *root, *list, *e;
	yaml_node_pair_t *p;
	yaml_node_item_t *i;
	yaml_parser_t parser;
	yaml_document_t d;
	const char *key, *v;
	int err = EX_OK_, k;
	FILE *f;

	memset(lab, 0, sizeof(*lab));
	f = fopen(file, "re");
	if (!f)
		return fail(errno, "%s", file);
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &d)) {
		fprintf(stderr, "pwctl: %s:%zu: %s\n", file, parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "no YAML");
		yaml_parser_delete(&parser);
		fclose(f);
		return EX_USAGE_;
	}
	lab->st = calloc(MAX_STATIONS, sizeof(*lab->st));
	root = yaml_document_get_root_node(&d);
	if (!root || root->type != YAML_MAPPING_NODE || !lab->st)
		err = bad(file, &d, 1, "a lab has `lab`, `sans` and `stations`");
	for (p = err ? NULL : root->data.mapping.pairs.start;
	     !err && p < root->data.mapping.pairs.top; p++) {
		key = scalar(&d, p->key);
		v = scalar(&d, p->value);
		if (key && !strcmp(key, "lab")) {
			if (!v || !good_name(v))
				err = bad(file, &d, p->value, "a name has letters and digits only");
			else
				snprintf(lab->name, sizeof(lab->name), "%s", v);
			continue;
		}
		list = yaml_document_get_node(&d, p->value);
		if (!key || list->type != YAML_SEQUENCE_NODE) {
			err = bad(file, &d, p->value, "a list is needed here");
			break;
		}
		for (i = list->data.sequence.items.start;
		     !err && i < list->data.sequence.items.top; i++) {
			if (!strcmp(key, "routers")) {
				v = scalar(&d, *i);
				if (!v || strlen(v) >= sizeof(lab->router[0]) ||
				    lab->nrouter == N(lab->router))
					err = bad(file, &d, *i,
						  "a router is one line of words");
				else
					strcpy(lab->router[lab->nrouter++], v);
				if (err)
					break;
				continue;
			}
			e = yaml_document_get_node(&d, *i);
			if (e->type != YAML_MAPPING_NODE)
				err = bad(file, &d, *i, "words and values are needed here");
			else if (!strcmp(key, "sans"))
				err = lab->nsan == N(lab->san) ?
				      bad(file, &d, *i, "too many SANs") :
				      read_san(file, &d, e, &lab->san[lab->nsan++]);
			else if (!strcmp(key, "stations"))
				err = lab->nst == MAX_STATIONS ?
				      bad(file, &d, *i, "too many stations") :
				      read_station(file, &d, e, &lab->st[lab->nst++]);
			else
				err = bad(file, &d, p->key,
					  "a lab has `lab`, `sans`, `routers` and `stations`");
		}
	}
	if (!err && (!lab->name[0] || !lab->nst))
		err = bad(file, &d, 1, "a lab has a name and stations");
	for (k = 0; !err && k < lab->nst; k++)
		for (int m = 0; m < k; m++)
			if (!strcmp(lab->st[k].name, lab->st[m].name))
				err = bad(file, &d, 1, "two stations have the same name");
	yaml_document_delete(&d);
	yaml_parser_delete(&parser);
	fclose(f);
	return err;
}

/* Namespaces --------------------------------------------------------------- */

static int make_dirs(const char *path)
{
	char p[256], *s;

	snprintf(p, sizeof(p), "%s", path);
	for (s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = 0;
		if (mkdir(p, 0755) && errno != EEXIST)
			return -errno;
		*s = '/';
	}
	return mkdir(p, 0755) && errno != EEXIST ? -errno : 0;
}

/* as `ip netns` does: others see namespaces that are mounted here later */
static int prepare_netns_dir(void)
{
	int err;

	err = make_dirs(NETNS);
	if (err)
		return err;
	if (mount("", NETNS, "none", MS_SHARED | MS_REC, NULL)) {
		if (errno != EINVAL || mount(NETNS, NETNS, "none", MS_BIND | MS_REC, NULL) ||
		    mount("", NETNS, "none", MS_SHARED | MS_REC, NULL))
			return -errno;
	}
	return 0;
}

/* a new namespace of @kind, kept by a mount on @path; runs in a child */
static int keep_ns(int kind, const char *path, const char *hostname)
{
	const char *self = kind == CLONE_NEWNET ? "/proc/self/ns/net" : "/proc/self/ns/uts";
	int fd, status;
	pid_t pid;

	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	close(fd);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		if (unshare(kind) || (hostname && sethostname(hostname, strlen(hostname))) ||
		    mount(self, path, "none", MS_BIND, NULL))
			_exit(errno);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -EIO;
	return -WEXITSTATUS(status);
}

static void ns_path(char *buf, size_t n, const char *lab, const char *station)
{
	snprintf(buf, n, NETNS "/%s%s%s", lab, *station ? "-" : "", station);
}

static void uts_path(char *buf, size_t n, const char *lab, const char *station)
{
	snprintf(buf, n, LABS "/%s/%s.uts", lab, station);
}

static void unkeep(const char *path)
{
	umount2(path, MNT_DETACH);
	unlink(path);
}

static int in_ns(int fd)
{
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

/* Up ----------------------------------------------------------------------- */

static int write_hosts(const struct lab *lab)
{
	char path[256];
	FILE *f;
	int i, k;

	snprintf(path, sizeof(path), LABS "/%s/hosts", lab->name);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fprintf(f, "127.0.0.1 localhost\n::1 localhost\n");
	for (i = 0; i < lab->nst; i++)
		for (k = 0; k < lab->st[i].naddr; k++)
			fprintf(f, "%.*s %s\n", (int)strcspn(lab->st[i].addr[k], "/"),
				lab->st[i].addr[k], lab->st[i].name);
	fclose(f);
	snprintf(path, sizeof(path), LABS "/%s/stations", lab->name);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	for (i = 0; i < lab->nst; i++) {
		char buf[PWL_ADDR_STRLEN];

		fprintf(f, "%s %ld %s", lab->st[i].name, lab->st[i].san,
			pwl_addr_str(lab->st[i].pw_addr, buf));
		for (k = 0; k < lab->st[i].naddr; k++)
			fprintf(f, " %s", lab->st[i].addr[k]);
		fputc('\n', f);
	}
	fclose(f);
	return 0;
}

/* the name by which routers know it */
static int set_alias(struct nl *nl, uint32_t ifindex, const char *name)
{
	char buf[256] __attribute__((aligned(8)));
	struct ifinfomsg *ifi;
	struct nlmsghdr *h;

	h = nl_request(nl, buf, RTM_NEWLINK, 0);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	mnl_attr_put_strz(h, IFLA_IFALIAS, name);
	return nl_do(nl, h, NULL, NULL, name);
}

/* in the namespace of the station */
static int configure_station(const struct lab *lab, struct lab_station *s)
{
	struct station st;
	struct pwl *p;
	struct nl nl;
	int err, i;

	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	err = station_up(&nl, "lo");
	if (!err)
		err = station_up(&nl, "pw0");
	if (!err)
		err = pick_station("pw0", &st);
	if (!err)
		err = set_alias(&nl, st.ifindex, s->name);
	for (i = 0; !err && i < s->naddr; i++)
		err = link_addr_add(&nl, st.ifindex, s->addr[i]);
	nl_close(&nl);
	if (err)
		return err;
	s->pw_addr = st.addr;
	if (!s->set && s->group < 0)
		return EX_OK_;
	err = pwl_open(&p, "pw0");
	if (err)
		return fail(err, "%s: /dev/" PACKETWAY_DEVICE, s->name);
	for (i = 0; !err && i < PACKETWAY_ATON_REGS; i++)
		if (s->set & 1U << i)
			err = pwl_set(p, i, s->operand[i]);
	if (!err && s->group >= 0)
		err = pwl_set_group(p, s->group);
	pwl_close(p);
	return err ? fail(err, "%s: operands", s->name) : EX_OK_;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* every station answers the first one of its SAN; with routers, the first of all */
static int wait_lab(const struct lab *lab, const int *ns, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms, us;
	struct pwl_sock *k;
	int i, m, err;

	for (i = 0; i < lab->nst; i++) {
		for (m = 0; m < i && lab->st[m].san != lab->st[i].san; m++)
			;
		if (lab->nrouter)
			m = 0;
		if (m == i)
			continue;
		err = in_ns(ns[m]);
		if (!err)
			err = pwl_sock_open(&k, "pw0");
		if (err)
			return fail(err, "%s", lab->st[m].name);
		do {
			us = eep_echo(k, lab->st[i].pw_addr, i, 8, 500, NULL);
			if (us < 0 && us != -ETIMEDOUT)
				usleep(50000);
		} while (us < 0 && now_ms() < end);
		pwl_sock_close(k);
		if (us < 0) {
			fail(us, "%s does not answer %s", lab->st[i].name, lab->st[m].name);
			return EX_SILENCE_;
		}
	}
	return EX_OK_;
}

static int run_words(int (*cmd)(int, char **), const char *line)
{
	char buf[256], *argv[32], *w, *save;
	int argc = 0;

	snprintf(buf, sizeof(buf), "add %s", line);
	for (w = strtok_r(buf, " ", &save); w && argc < N(argv); w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return cmd(argc, argv);
}

static int build(struct lab *lab, int home, int *ns)
{
	char path[256], line[256];
	struct nl nl;
	int i, k, err;

	err = in_ns(home);
	if (err)
		return fail(err, "lab");
	for (i = 0; i < lab->nsan; i++) {
		k = snprintf(line, sizeof(line), "%ld", lab->san[i].id);
		for (int w = 0; w < lab->san[i].n; w++)
			k += snprintf(line + k, sizeof(line) - k, " %s", lab->san[i].words[w]);
		err = run_words(cmd_san, line);
		if (err)
			return err;
	}
	err = nl_open(&nl, NETLINK_ROUTE);
	if (err)
		return fail(err, "rtnetlink");
	for (i = 0; i < lab->nst; i++) {
		struct lab_station *s = &lab->st[i];

		ns_path(path, sizeof(path), lab->name, s->name);
		err = keep_ns(CLONE_NEWNET, path, NULL);
		if (!err) {
			ns[i] = open(path, O_RDONLY | O_CLOEXEC);
			uts_path(path, sizeof(path), lab->name, s->name);
			err = ns[i] < 0 ? -errno : keep_ns(CLONE_NEWUTS, path, s->name);
		}
		if (err) {
			err = fail(err, "%s", path);
			break;
		}
		err = station_add(&nl, "pw0", s->san, s->port, s->order, s->mtu, ns[i]);
		if (err)
			break;
	}
	nl_close(&nl);
	for (i = 0; !err && i < lab->nrouter; i++)
		err = run_words(cmd_router, lab->router[i]);
	for (i = 0; !err && i < lab->nst; i++) {
		err = in_ns(ns[i]);
		err = err ? fail(err, "%s", lab->st[i].name) : configure_station(lab, &lab->st[i]);
	}
	if (err)
		return err;
	err = write_hosts(lab);
	return err ? fail(err, LABS "/%s", lab->name) : EX_OK_;
}

static int take_down(const char *name);

static int lab_up(int argc, char **argv)
{
	int self, home = -1, *ns = NULL, err, i;
	uint32_t timeout = 20000;
	char path[256];
	struct lab lab;

	if (argc == 3 && !strcmp(argv[1], "timeout") && !parse_u32(argv[2], &timeout))
		argc = 1;
	if (argc != 1)
		return usage("lab up: FILE.yaml [timeout MS]");
	err = read_lab(argv[0], &lab);
	if (err)
		return err;
	self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), LABS "/%s", lab.name);
	if (!access(path, F_OK)) {
		err = fail(0, "lab %s is up already; `pwctl lab down %s` first", lab.name,
			   lab.name);
		goto out;
	}
	err = prepare_netns_dir();
	if (!err)
		err = make_dirs(path);
	if (err) {
		err = fail(err, "%s", path);
		goto out;
	}
	ns_path(path, sizeof(path), lab.name, "");
	err = keep_ns(CLONE_NEWNET, path, NULL);
	if (!err) {
		home = open(path, O_RDONLY | O_CLOEXEC);
		err = home < 0 ? -errno : 0;
	}
	ns = calloc(lab.nst, sizeof(*ns));
	if (err || !ns) {
		err = fail(err ? err : -ENOMEM, "%s", path);
		take_down(lab.name);
		goto out;
	}
	for (i = 0; i < lab.nst; i++)
		ns[i] = -1;
	err = build(&lab, home, ns);
	if (!err)
		err = wait_lab(&lab, ns, timeout);
	in_ns(self);
	if (err)
		take_down(lab.name);
	for (i = 0; i < lab.nst; i++)
		if (ns[i] >= 0)
			close(ns[i]);
	if (home >= 0)
		close(home);
out:
	free(ns);
	free(lab.st);
	close(self);
	return err;
}

/* Down --------------------------------------------------------------------- */

static int take_down(const char *name)
{
	char path[512], dir[256];
	struct dirent *d;
	DIR *h;

	snprintf(dir, sizeof(dir), LABS "/%s", name);
	h = opendir(dir);
	if (!h)
		return -errno;
	while ((d = readdir(h))) {
		size_t n = strlen(d->d_name);

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		if (n > 4 && !strcmp(d->d_name + n - 4, ".uts")) {
			unkeep(path);
			d->d_name[n - 4] = 0;
			ns_path(path, sizeof(path), name, d->d_name);
			unkeep(path);
			continue;
		}
		unlink(path);
	}
	closedir(h);
	/* a station whose UTS namespace was never made may have a network namespace */
	h = opendir(NETNS);
	while (h && (d = readdir(h))) {
		size_t n = strlen(name);

		if (!strncmp(d->d_name, name, n) && (d->d_name[n] == '-' || !d->d_name[n])) {
			snprintf(path, sizeof(path), NETNS "/%s", d->d_name);
			unkeep(path);
		}
	}
	if (h)
		closedir(h);
	if (rmdir(dir))
		return -errno;
	rmdir(LABS);
	rmdir("/run/packetway");
	return 0;
}

/* the labs that are up; with one only, it need not be named */
static int the_lab(const char *name, char *out, size_t cap)
{
	struct dirent *d;
	int n = 0;
	DIR *h;

	h = opendir(LABS);
	while (h && (d = readdir(h))) {
		if (d->d_name[0] == '.' || (name && strcmp(name, d->d_name)))
			continue;
		snprintf(out, cap, "%s", d->d_name);
		n++;
	}
	if (h)
		closedir(h);
	if (name && !n)
		return fail(0, "there is no lab %s", name);
	if (!n)
		return fail(0, "no lab is up");
	if (n > 1)
		return usage("several labs are up; say which one");
	return EX_OK_;
}

/* processes that were started in the lab's namespaces end with it */
static void end_processes(const char *name)
{
	char path[512], link[64];
	struct stat ns[MAX_STATIONS + 1], sb;
	struct dirent *d;
	int n = 0, i;
	DIR *h;

	h = opendir(NETNS);
	while (h && (d = readdir(h)) && n < N(ns)) {
		size_t len = strlen(name);

		if (strncmp(d->d_name, name, len) || (d->d_name[len] && d->d_name[len] != '-'))
			continue;
		snprintf(path, sizeof(path), NETNS "/%s", d->d_name);
		n += !stat(path, &ns[n]);
	}
	if (h)
		closedir(h);
	h = opendir("/proc");
	while (h && (d = readdir(h))) {
		pid_t pid = atoi(d->d_name);

		if (pid <= 1 || pid == getpid())
			continue;
		snprintf(link, sizeof(link), "/proc/%d/ns/net", pid);
		if (stat(link, &sb))
			continue;
		for (i = 0; i < n; i++)
			if (ns[i].st_ino == sb.st_ino && ns[i].st_dev == sb.st_dev)
				kill(pid, SIGKILL);
	}
	if (h)
		closedir(h);
}

static int lab_down(int argc, char **argv)
{
	char name[NAME_MAX_];
	int err;

	err = the_lab(argc ? argv[0] : NULL, name, sizeof(name));
	if (err)
		return err;
	end_processes(name);
	err = take_down(name);
	return err ? fail(err, "lab %s", name) : EX_OK_;
}

/* Exec --------------------------------------------------------------------- */

/* "STATION" or "LAB/STATION" */
static int find_station(const char *text, char *lab, size_t cap, char *path, size_t pcap)
{
	const char *slash = strchr(text, '/'), *station = slash ? slash + 1 : text;
	struct dirent *d;
	int n = 0;
	DIR *h;

	h = opendir(LABS);
	while (h && (d = readdir(h))) {
		char p[256];

		if (d->d_name[0] == '.')
			continue;
		if (slash && (strlen(d->d_name) != (size_t)(slash - text) ||
			      strncmp(d->d_name, text, slash - text)))
			continue;
		uts_path(p, sizeof(p), d->d_name, station);
		if (access(p, F_OK))
			continue;
		snprintf(lab, cap, "%s", d->d_name);
		snprintf(path, pcap, "%s", p);
		n++;
	}
	if (h)
		closedir(h);
	if (!n)
		return fail(0, "no lab has a station %s", text);
	if (n > 1)
		return usage("several labs have a station %s; say LAB/%s", text, text);
	return EX_OK_;
}

static int lab_exec(int argc, char **argv)
{
	char lab[NAME_MAX_], uts[256], path[256];
	const char *slash;
	int fd, err;

	if (argc < 2)
		return usage("lab exec: STATION COMMAND...");
	err = find_station(argv[0], lab, sizeof(lab), uts, sizeof(uts));
	if (err)
		return err;
	slash = strchr(argv[0], '/');
	ns_path(path, sizeof(path), lab, slash ? slash + 1 : argv[0]);
	err = enter_netns(path);
	if (err)
		return fail(err, "%s", path);
	fd = open(uts, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWUTS))
		return fail(errno, "%s", uts);
	close(fd);
	/* /sys shows this namespace, /etc/hosts the lab; only for the command */
	if (unshare(CLONE_NEWNS) || mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		return fail(errno, "mount namespace");
	umount2("/sys", MNT_DETACH);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	snprintf(path, sizeof(path), LABS "/%s/hosts", lab);
	mount(path, "/etc/hosts", "none", MS_BIND, NULL);
	execvp(argv[1], argv + 1);
	return fail(errno, "%s", argv[1]);
}

static int lab_show(int argc, char **argv)
{
	char path[512], line[512], *w, *save;
	struct dirent *d;
	json_t *j, *a;
	FILE *f;
	DIR *h;

	out_begin(false);
	h = opendir(LABS);
	while (h && (d = readdir(h))) {
		if (d->d_name[0] == '.' || (argc && strcmp(argv[0], d->d_name)))
			continue;
		snprintf(path, sizeof(path), LABS "/%s/stations", d->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			j = json_object();
			w = strtok_r(line, BLANK, &save);
			json_object_set_new(j, "station", json_string(w ? w : ""));
			json_object_set_new(j, "lab", json_string(d->d_name));
			w = strtok_r(NULL, BLANK, &save);
			json_object_set_new(j, "san", json_integer(w ? atol(w) : 0));
			w = strtok_r(NULL, BLANK, &save);
			json_object_set_new(j, "addr", json_string(w ? w : ""));
			a = json_array();
			while ((w = strtok_r(NULL, BLANK, &save)))
				json_array_append_new(a, json_string(w));
			json_object_set_new(j, "ip", a);
			out_item("station", j);
		}
		if (f)
			fclose(f);
	}
	if (h)
		closedir(h);
	out_end();
	return EX_OK_;
}

/* for as long as this process lives: the namespaces of a lab's stations and, @home, its own */
int lab_namespaces(const char *lab, struct lab_ns *list, int room, int *home)
{
	char path[512], line[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), LABS "/%s/stations", lab);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (n < room && fgets(line, sizeof(line), f)) {
		line[strcspn(line, BLANK)] = 0;
		snprintf(list[n].station, sizeof(list[n].station), "%s", line);
		ns_path(path, sizeof(path), lab, line);
		list[n].fd = open(path, O_RDONLY | O_CLOEXEC);
		n += list[n].fd >= 0;
	}
	fclose(f);
	ns_path(path, sizeof(path), lab, "");
	*home = open(path, O_RDONLY | O_CLOEXEC);
	return *home < 0 ? -errno : n;
}

int cmd_lab(int argc, char **argv)
{
	static const struct verb v[] = {
		{ "show", lab_show, "[LAB]", "stations of the labs that are up" },
		{ "up", lab_up, "FILE.yaml [timeout MS]",
		  "make the namespaces, SANs and stations of a file; wait until they answer" },
		{ "exec", lab_exec, "[LAB/]STATION COMMAND...",
		  "run a command in the namespaces of a station" },
		{ "down", lab_down, "[LAB]", "end what runs in it and remove everything" },
	};

	return dispatch("lab", v, N(v), argc, argv);
}
