// SPDX-License-Identifier: GPL-2.0
/*
 * Labs: one YAML file makes a network.
 *
 * A lab has a network namespace of its own, where its SANs live, and for each
 * station one network namespace LAB-STATION, as `ip netns` knows them, and one
 * UTS namespace, so that the station has a host name. What `down` needs is in
 * LABS/LAB: the names of stations, one UTS namespace each, and a hosts file.
 *
 * A lab with hosts is made in parts, on each host the SANs that it has. A router between SANs
 * of two hosts is a trunk there, through a device that moves into the lab's own namespace.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/fabric_fault.h"
#include "pwctl.h"
#include "ring/ring_param.h"
#include "yaml_node.h"

#define NETNS "/run/netns"
#define LABS "/run/packetway/labs"
#define MAX_STATIONS 1024
#define MAX_ADDRS 4
/* between words of the list of stations */
#define BLANK "\n "

struct lab_station {
	char name[LAB_NAME_MAX];
	char addr[MAX_ADDRS][64];
	int naddr;
	long san, port, mtu;
	uint64_t operand[PACKETWAY_ATON_REGS];
	uint32_t set;		/* bit per operand given */
	long group;
	char **route;		/* source routes: ADDR[-LAST] l2rhs HEX [mtu N] */
	int nroute;
	uint32_t pw_addr;	/* learnt when it is up */
};

struct lab_host {
	char name[LAB_NAME_MAX];
	char dev[32];		/* for trunks */
	char addr[64];		/* of the device */
};

struct lab_san {
	char words[64][32];	/* as for `pwctl san add`, all of its parameters */
	int n;
	char topology[256];	/* likewise; empty: none */
	long id;
	char host[LAB_NAME_MAX];
};

struct lab {
	char name[LAB_NAME_MAX];
	struct lab_host host[64];
	int nhost;
	const struct lab_host *self;	/* NULL: the lab has no hosts */
	struct lab_san san[64];
	int nsan;
	struct lab_station *st;
	int nst;
	char router[64][128];	/* words as for `pwctl router add` */
	int nrouter;
};

/* UDP port of trunk 0 */
#define TRUNK_PORT 7700

/* YAML --------------------------------------------------------------------- */

static bool good_name(const char *s)
{
	size_t n;

	for (n = 0; isalnum((unsigned char)s[n]) || s[n] == '_'; n++)
		;
	return n && n < LAB_NAME_MAX && !s[n];
}

static int parse_long(const char *s, long *v)
{
	uint32_t x;

	if (!s || parse_u32(s, &x))
		return -EINVAL;
	*v = x;
	return 0;
}

/* a file of a topology lies beside the file of the lab, unless its path begins with '/' */
static bool san_topology(const char *file, const char *v, char *out, size_t cap)
{
	const char *slash = strrchr(file, '/');
	int dir = slash && *v != '/' && !strchr(v, ':') && strcmp(v, "default") ?
		  slash + 1 - file : 0;

	return snprintf(out, cap, "%.*s%s", dir, file, v) < (int)cap;
}

/*
 * A parameter of a SAN's fabric or a fault of its cells: words of `pwctl san add`, checked before
 * anything is made. 0 takes the default of a parameter; other parameters may lower a limit, which
 * the kernel checks.
 */
static enum status check_param(const char *file, yaml_document_t *d, const yaml_node_pair_t *p)
{
	const char *key = yaml_text(d, p->key), *v = yaml_text(d, p->value);
	const struct pw_fabric_param *f = pw_fabric_param_find(key);
	bool fault = !f;
	uint32_t x;

	if (fault)
		f = pw_fabric_fault_find(key);
	if (!f)
		return ST_OK;
	if (!strcmp(key, "k"))
		return yaml_bad(file, d, p->key, "k: 'ports' or 'topology' of a SAN determines it");
	if (!fault && !pw_fabric_param_has(f, PW_FABRIC_DEVICE))
		return yaml_bad(file, d, p->key, "%s: the machine 'device' has no such parameter",
				key);
	if (!fault && pw_fabric_param_named(f) && pw_fabric_route_named(v, &x))
		return ST_OK;
	if (parse_u32(v, &x) || ((fault || x) && (x < f->min || x > f->max)))
		return yaml_bad(file, d, p->value, "%s: '%s' is not %u..%u %s", f->name, v, f->min,
				f->max, f->unit);
	return ST_OK;
}

/* the same for a parameter of its ring, which has names for values instead of numbers, or a range */
static enum status check_ring(const char *file, yaml_document_t *d, const yaml_node_pair_t *p)
{
	const char *key = yaml_text(d, p->key), *v = yaml_text(d, p->value);
	const struct pw_ring_param *r = strncmp(key, "ring-", 5) ? NULL :
					pw_ring_param_find(key + 5);
	uint32_t x;

	if (!r)
		return ST_OK;
	for (x = 0; r->words && x <= r->san_max; x++)
		if (!strcmp(v, r->words[x]))
			return ST_OK;
	if (r->words)
		return yaml_bad(file, d, p->value, "%s: '%s' is neither %s nor %s", key, v,
				r->words[0], r->words[1]);
	if (parse_u32(v, &x) || x < r->min || x > r->san_max)
		return yaml_bad(file, d, p->value, "%s: '%s' is not %u..%u %s", key, v, r->min,
				r->san_max, r->unit);
	return ST_OK;
}

static enum status read_san(const char *file, yaml_document_t *d, yaml_node_t *map,
			    struct lab_san *s)
{
	yaml_node_pair_t *p;
	const char *key, *v;
	int i;

	s->id = -1;
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		key = yaml_text(d, p->key);
		v = yaml_text(d, p->value);
		if (!key || !v || s->n + 2 > N(s->words))
			return yaml_bad(file, d, p->key, "a SAN has keys and values");
		if (!strcmp(key, "id")) {
			if (parse_long(v, &s->id))
				return yaml_bad(file, d, p->value, "id is not a number");
			continue;
		}
		if (!strcmp(key, "host")) {
			snprintf(s->host, sizeof(s->host), "%s", v);
			continue;
		}
		if (!strcmp(key, "topology")) {
			if (!san_topology(file, v, s->topology, sizeof(s->topology)))
				return yaml_bad(file, d, p->value, "the name of the file is too long");
			continue;
		}
		if (check_param(file, d, p) || check_ring(file, d, p))
			return ST_USAGE;
		for (i = 0; i < s->n; i += 2)
			if (!strcmp(s->words[i], key))
				return yaml_bad(file, d, p->key, "%s: given twice", key);
		snprintf(s->words[s->n++], sizeof(s->words[0]), "%s", key);
		snprintf(s->words[s->n++], sizeof(s->words[0]), "%s", v);
	}
	return s->id < 0 ? yaml_bad(file, d, 1, "a SAN needs an id") : ST_OK;
}

static enum status read_host(const char *file, yaml_document_t *d, yaml_node_t *map,
			     struct lab_host *h)
{
	yaml_node_pair_t *p;
	const char *key, *v;

	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		key = yaml_text(d, p->key);
		v = yaml_text(d, p->value);
		if (!key || !v)
			return yaml_bad(file, d, p->key, "a host has keys and values");
		if (!strcmp(key, "name"))
			snprintf(h->name, sizeof(h->name), "%s", good_name(v) ? v : "");
		else if (!strcmp(key, "device"))
			snprintf(h->dev, sizeof(h->dev), "%s", v);
		else if (!strcmp(key, "address"))
			snprintf(h->addr, sizeof(h->addr), "%s", v);
		else
			return yaml_bad(file, d, p->key, "unknown key '%s' in a host", key);
	}
	if (!h->name[0] || !h->dev[0] || !h->addr[0])
		return yaml_bad(file, d, map - d->nodes.start + 1,
				"a host needs a name of letters and digits, a device and its address");
	return ST_OK;
}

static enum status read_addrs(const char *file, yaml_document_t *d, int node, struct lab_station *s)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	yaml_node_item_t *i;

	if (n->type == YAML_SCALAR_NODE) {
		snprintf(s->addr[s->naddr++], sizeof(s->addr[0]), "%s", yaml_text(d, node));
		return ST_OK;
	}
	if (n->type != YAML_SEQUENCE_NODE)
		return yaml_bad(file, d, node, "addresses are a list");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
		if (s->naddr == MAX_ADDRS || !yaml_text(d, *i))
			return yaml_bad(file, d, *i, "at most 4 addresses");
		snprintf(s->addr[s->naddr++], sizeof(s->addr[0]), "%s", yaml_text(d, *i));
	}
	return ST_OK;
}

static enum status read_operands(const char *file, yaml_document_t *d, int node,
				 struct lab_station *s)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	yaml_node_item_t *i;
	int reg = 0;

	if (n->type == YAML_SCALAR_NODE) {
		s->set = 1;
		return parse_u64(yaml_text(d, node), &s->operand[0]) ?
		       yaml_bad(file, d, node, "an operand is a number") : ST_OK;
	}
	if (n->type != YAML_SEQUENCE_NODE)
		return yaml_bad(file, d, node, "operands are a list");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++, reg++) {
		if (reg == PACKETWAY_ATON_REGS || !yaml_text(d, *i) ||
		    parse_u64(yaml_text(d, *i), &s->operand[reg]))
			return yaml_bad(file, d, *i, "at most 16 operands, all of them numbers");
		s->set |= 1U << reg;
	}
	return ST_OK;
}

#define ROUTE_WORDS 5

/* the words of a source route, in a copy of its line; their number */
static int split_route(char *line, char **w)
{
	char *save;
	int n = 0;

	for (w[0] = strtok_r(line, BLANK, &save); w[n]; w[n] = strtok_r(NULL, BLANK, &save))
		if (++n > ROUTE_WORDS)
			break;
	return n;
}

/* the words are checked before anything is made; the kernel checks the row */
static bool good_route(char *line)
{
	uint8_t row[PACKETWAY_SOURCE_ROUTE_MAX];
	char *w[ROUTE_WORDS + 1], *dash;
	uint32_t x;
	int n, len;

	n = split_route(line, w);
	if ((n != 3 && n != 5) || strcmp(w[1], "l2rhs") || (n == 5 && strcmp(w[3], "mtu")))
		return false;
	dash = strchr(w[0], '-');
	if (dash)
		*dash++ = 0;
	if (parse_addr(w[0], &x) || (dash && parse_addr(dash, &x)))
		return false;
	len = parse_hex(w[2], row, sizeof(row));
	return len > 0 && len % 8 == 0 && (n == 3 || !parse_u32(w[4], &x));
}

static enum status read_route(const char *file, yaml_document_t *d, int node,
			      struct lab_station *s)
{
	const char *v = yaml_text(d, node);
	char *copy = v ? strdup(v) : NULL;
	bool good = copy && good_route(copy);

	free(copy);
	if (!good)
		return yaml_bad(file, d, node,
				"station '%s': a route is one line, ADDR[-LAST] l2rhs HEX [mtu N]",
				s->name);
	if (s->nroute == PACKETWAY_SOURCE_ROUTES_MAX)
		return yaml_bad(file, d, node, "station '%s': at most %d routes", s->name,
				PACKETWAY_SOURCE_ROUTES_MAX);
	if (!s->route)
		s->route = calloc(PACKETWAY_SOURCE_ROUTES_MAX, sizeof(*s->route));
	if (s->route)
		s->route[s->nroute] = strdup(v);
	if (!s->route || !s->route[s->nroute])
		return fail(ENOMEM, "%s", file);
	s->nroute++;
	return ST_OK;
}

static enum status read_routes(const char *file, yaml_document_t *d, int node,
			       struct lab_station *s)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	enum status st = ST_OK;
	yaml_node_item_t *i;

	if (n->type != YAML_SEQUENCE_NODE)
		return read_route(file, d, node, s);
	for (i = n->data.sequence.items.start; !st && i < n->data.sequence.items.top; i++)
		st = read_route(file, d, *i, s);
	return st;
}

/* the keys of a station that are numbers */
static const struct {
	const char *key;
	size_t at;
} station_numbers[] = {
	{ "san", offsetof(struct lab_station, san) },
	{ "port", offsetof(struct lab_station, port) },
	{ "mtu", offsetof(struct lab_station, mtu) },
	{ "group", offsetof(struct lab_station, group) },
};

static enum status read_station(const char *file, yaml_document_t *d, yaml_node_t *map,
				struct lab_station *s)
{
	enum status st = ST_OK;
	yaml_node_pair_t *p;
	const char *key, *v;
	int i;

	s->port = -1;
	s->mtu = -1;
	s->group = -1;
	for (p = map->data.mapping.pairs.start; !st && p < map->data.mapping.pairs.top; p++) {
		key = yaml_text(d, p->key);
		v = yaml_text(d, p->value);
		for (i = 0; key && i < N(station_numbers); i++)
			if (!strcmp(key, station_numbers[i].key))
				break;
		if (!key)
			st = yaml_bad(file, d, p->key, "a station has keys and values");
		else if (i < N(station_numbers))
			st = parse_long(v, (long *)((char *)s + station_numbers[i].at)) ?
			     yaml_bad(file, d, p->value, "%s is not a number", key) : ST_OK;
		else if (!strcmp(key, "address"))
			st = read_addrs(file, d, p->value, s);
		else if (!strcmp(key, "operand"))
			st = read_operands(file, d, p->value, s);
		else if (!strcmp(key, "route"))
			st = read_routes(file, d, p->value, s);
		else if (strcmp(key, "name"))
			st = yaml_bad(file, d, p->key, "unknown key '%s' in station '%s'", key, s->name);
		else if (!v || !good_name(v))
			st = yaml_bad(file, d, p->value, "a name has letters, digits and _ only");
		else
			snprintf(s->name, sizeof(s->name), "%s", v);
	}
	if (!st && !s->name[0])
		st = yaml_bad(file, d, map - d->nodes.start + 1, "a station needs a name");
	return st;
}

/* one element of a list of the file */
static enum status read_element(const char *file, yaml_document_t *d, const char *key, int node,
				struct lab *lab)
{
	yaml_node_t *e = yaml_document_get_node(d, node);
	const char *v = yaml_text(d, node);

	if (!strcmp(key, "routers")) {
		if (!v || strlen(v) >= sizeof(lab->router[0]) || lab->nrouter == N(lab->router))
			return yaml_bad(file, d, node, "a router is one line, as for `pwctl router add`");
		strcpy(lab->router[lab->nrouter++], v);
		return ST_OK;
	}
	if (e->type != YAML_MAPPING_NODE)
		return yaml_bad(file, d, node, "keys and values are needed here");
	if (!strcmp(key, "hosts"))
		return lab->nhost == N(lab->host) ? yaml_bad(file, d, node, "too many hosts") :
		       read_host(file, d, e, &lab->host[lab->nhost++]);
	if (!strcmp(key, "sans"))
		return lab->nsan == N(lab->san) ? yaml_bad(file, d, node, "too many SANs") :
		       read_san(file, d, e, &lab->san[lab->nsan++]);
	return lab->nst == MAX_STATIONS ? yaml_bad(file, d, node, "too many stations") :
	       read_station(file, d, e, &lab->st[lab->nst++]);
}

static const struct lab_host *find_host(const struct lab *lab, const char *name)
{
	int i;

	for (i = 0; i < lab->nhost; i++)
		if (!strcmp(lab->host[i].name, name))
			return &lab->host[i];
	return NULL;
}

/* of a SAN; NULL: there is none */
static const struct lab_host *host_of(const struct lab *lab, long san)
{
	int i;

	for (i = 0; i < lab->nsan; i++)
		if (lab->san[i].id == san)
			return find_host(lab, lab->san[i].host);
	return NULL;
}

/* is this SAN in the part of the lab that this host has? */
static bool is_here(const struct lab *lab, long san)
{
	return !lab->self || host_of(lab, san) == lab->self;
}

/* each SAN is on a host, if there are any, and each station on one of these SANs */
static enum status check_hosts(const char *file, yaml_document_t *d, const struct lab *lab)
{
	int i;

	for (i = 0; i < lab->nsan; i++)
		if (!lab->nhost != !lab->san[i].host[0] ||
		    (lab->nhost && !find_host(lab, lab->san[i].host)))
			return yaml_bad(file, d, 1, "SAN %ld: there is no host '%s'",
					lab->san[i].id, lab->san[i].host);
	for (i = 0; lab->nhost && i < lab->nst; i++)
		if (!host_of(lab, lab->st[i].san))
			return yaml_bad(file, d, 1, "station '%s' is on a SAN without a host",
					lab->st[i].name);
	return ST_OK;
}

static bool is_list(const char *key)
{
	static const char *const keys[] = { "hosts", "sans", "routers", "stations" };
	int i;

	for (i = 0; key && i < N(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static enum status read_document(const char *file, yaml_document_t *d, struct lab *lab)
{
	yaml_node_t *root = yaml_document_get_root_node(d), *list;
	yaml_node_pair_t *p;
	yaml_node_item_t *i;
	const char *key, *v;
	enum status st = ST_OK;
	int k, m;

	if (!root || root->type != YAML_MAPPING_NODE)
		return yaml_bad(file, d, 1, "a lab has `lab`, `sans`, `routers` and `stations`");
	for (p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
		key = yaml_text(d, p->key);
		v = yaml_text(d, p->value);
		list = yaml_document_get_node(d, p->value);
		if (key && !strcmp(key, "lab")) {
			if (!v || !good_name(v))
				return yaml_bad(file, d, p->value, "a name has letters, digits and _ only");
			snprintf(lab->name, sizeof(lab->name), "%s", v);
			continue;
		}
		if (!is_list(key))
			return yaml_bad(file, d, p->key, "unknown key '%s' in the lab", key ? key : "");
		if (list->type != YAML_SEQUENCE_NODE)
			return yaml_bad(file, d, p->value, "%s is not a list", key);
		for (i = list->data.sequence.items.start;
		     !st && i < list->data.sequence.items.top; i++)
			st = read_element(file, d, key, *i, lab);
		if (st)
			return st;
	}
	if (!lab->name[0] || !lab->nst)
		return yaml_bad(file, d, 1, "a lab needs a name and stations");
	for (k = 0; k < lab->nst; k++)
		for (m = 0; m < k; m++)
			if (!strcmp(lab->st[k].name, lab->st[m].name))
				return yaml_bad(file, d, 1, "two stations are called '%s'",
					   lab->st[k].name);
	return check_hosts(file, d, lab);
}

/* the file of a lab that is installed with this program, or of the checkout that it was built in */
static FILE *open_known(const char *name)
{
	static const char *const dirs[] = { "../share/packetway/labs", "../Documentation/labs" };
	char path[512], exe[256];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	FILE *f = NULL;
	int i;

	if (n <= 0 || !good_name(name))
		return NULL;
	exe[n] = 0;
	*strrchr(exe, '/') = 0;
	for (i = 0; !f && i < N(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s.yaml", exe, dirs[i], name);
		f = fopen(path, "re");
	}
	return f;
}

static void free_lab(struct lab *lab)
{
	int i, k;

	for (i = 0; i < lab->nst; i++) {
		for (k = 0; k < lab->st[i].nroute; k++)
			free(lab->st[i].route[k]);
		free(lab->st[i].route);
	}
	free(lab->st);
}

/* free_lab() follows, whatever it returns */
static enum status read_lab(const char *file, struct lab *lab)
{
	yaml_parser_t parser;
	yaml_document_t d;
	enum status st;
	int err;
	FILE *f;

	memset(lab, 0, sizeof(*lab));
	f = fopen(file, "re");
	err = errno;
	if (!f)
		f = open_known(file);
	if (!f)
		return fail(err, "%s", file);
	lab->st = calloc(MAX_STATIONS, sizeof(*lab->st));
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_file(&parser, f);
	if (!lab->st) {
		st = fail(ENOMEM, "%s", file);
	} else if (!yaml_parser_load(&parser, &d)) {
		fprintf(stderr, "pwctl: %s:%zu: %s\n", file, parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "not YAML");
		st = ST_USAGE;
	} else {
		st = read_document(file, &d, lab);
		yaml_document_delete(&d);
	}
	yaml_parser_delete(&parser);
	fclose(f);
	return st;
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
		if (lab->self)
			fprintf(f, " host=%s", host_of(lab, lab->st[i].san)->name);
		for (k = 0; k < lab->st[i].naddr; k++)
			fprintf(f, " %s", lab->st[i].addr[k]);
		fputc('\n', f);
	}
	fclose(f);
	return 0;
}

/* `pwctl route add` for each source route; in the namespace of the station */
static enum status add_routes(const struct lab_station *s)
{
	char *argv[2 + ROUTE_WORDS + 2 + 1] = { "route", "add" }, *line;
	enum status st = ST_OK;
	int i, n;

	for (i = 0; !st && i < s->nroute; i++) {
		line = strdup(s->route[i]);
		if (!line)
			return fail(ENOMEM, "%s", s->name);
		n = 2 + split_route(line, argv + 2);
		argv[n++] = "dev";
		argv[n++] = "pw0";
		argv[n] = NULL;
		st = pwctl(n, argv);
		if (st)
			fail(0, "station '%s': route '%s' is refused", s->name, s->route[i]);
		free(line);
	}
	return st;
}

/* in the namespace of the station */
static enum status configure_station(struct lab_station *s)
{
	enum status ret;
	struct station st;
	int i, err = 0;
	struct pwl *p;
	struct nl nl;

	ret = rtnl_open(&nl);
	if (ret)
		return ret;
	ret = link_up(&nl, "lo");
	if (!ret)
		ret = link_up(&nl, "pw0");
	if (!ret)
		ret = pick_station("pw0", &st);
	/* routers know a station by its alias */
	if (!ret)
		ret = link_alias(&nl, "pw0", s->name);
	for (i = 0; !ret && i < s->naddr; i++)
		ret = link_addr_add(&nl, st.ifindex, s->addr[i]);
	nl_close(&nl);
	if (!ret)
		ret = add_routes(s);
	if (ret)
		return ret;
	s->pw_addr = st.addr;
	if (!s->set && s->group < 0)
		return ST_OK;
	err = pwl_open(&p, "pw0");
	if (err)
		return fail(err, "%s: /dev/" PACKETWAY_DEVICE, s->name);
	for (i = 0; !err && i < PACKETWAY_ATON_REGS; i++)
		if (s->set & 1U << i)
			err = pwl_set(p, i, s->operand[i]);
	if (!err && s->group >= 0)
		err = pwl_set_group(p, s->group);
	pwl_close(p);
	return err ? fail(err, "%s: operands", s->name) : ST_OK;
}

static bool in_lockstep(const struct lab *lab, long id)
{
	int i, k;

	for (i = 0; i < lab->nsan; i++)
		for (k = 0; lab->san[i].id == id && k + 1 < lab->san[i].n; k += 2)
			if (!strcmp(lab->san[i].words[k], "clock"))
				return !strcmp(lab->san[i].words[k + 1], "lockstep");
	return false;
}

static void write_sysctl(const char *path, const char *value)
{
	FILE *f = fopen(path, "we");

	if (f) {
		fputs(value, f);
		fclose(f);
	}
}

/*
 * What the stack does by the host's clock would make runs in virtual time differ: it asks
 * for neighbours, and TCP has timers that need not expire where nothing is lost. In the
 * namespace of the station.
 */
static enum status quiet_station(const struct lab *lab, const struct lab_station *s)
{
	int index = (int)if_nametoindex("pw0"), i, k;
	const struct lab_station *other;
	enum status st;
	struct nl nl;
	bool near;

	write_sysctl("/proc/sys/net/ipv4/tcp_early_retrans", "0");
	write_sysctl("/proc/sys/net/ipv4/tcp_slow_start_after_idle", "0");
	st = rtnl_open(&nl);
	for (i = 0; !st && i < lab->nst; i++) {
		other = &lab->st[i];
		/* those of other SANs are reached by routers */
		near = other->san == s->san || (lab->nrouter && is_here(lab, other->san));
		if (other == s || !near)
			continue;
		for (k = 0; !st && k < other->naddr; k++) {
			st = link_neigh_add(&nl, index, other->addr[k], other->pw_addr);
			if (!st)
				st = link_route_quiet(&nl, index, other->addr[k]);
		}
	}
	nl_close(&nl);
	return st;
}

/* which station of this host is to reach station @i; @i: none is */
static int asker(const struct lab *lab, int i)
{
	int m;

	for (m = 0; m < lab->nst; m++) {
		if (!is_here(lab, lab->st[m].san))
			continue;
		if (lab->nrouter || lab->st[m].san == lab->st[i].san)
			return m;
	}
	return i;
}

/* the address of a station of another host, from the half-routers here */
static void learn_addr(struct pwl_sock *k, struct lab_station *s)
{
	struct rrp_node node[1];

	if (rrp_tell(k, 0, s->name, 0, node, N(node), 500) > 0)
		s->pw_addr = node[0].addr;
}

/*
 * Every station answers the first one of its SAN; with routers, the first of all. Those of other
 * hosts answer when they are up as well.
 */
static enum status wait_lab(const struct lab *lab, const int *ns, int timeout_ms,
			    struct progress *bar)
{
	int64_t end = now_us() + 1000LL * timeout_ms, us;
	struct pwl_sock *k;
	int i, m, err;

	for (i = 0; i < lab->nst; i++) {
		progress_step(bar, 2 * lab->nst + i);
		m = asker(lab, i);
		if (m == i)
			continue;
		err = in_ns(ns[m]);
		if (!err)
			err = pwl_sock_open(&k, "pw0");
		if (err)
			return fail(err, "%s", lab->st[m].name);
		do {
			if (!lab->st[i].pw_addr)
				learn_addr(k, &lab->st[i]);
			us = lab->st[i].pw_addr ? eep_echo(k, lab->st[i].pw_addr, i, 8, 500, NULL) :
						  -EHOSTUNREACH;
			if (us < 0 && us != -ETIMEDOUT)
				usleep(50000);
		} while (us < 0 && now_us() < end);
		pwl_sock_close(k);
		if (us < 0) {
			fail(us, "%s%s%s does not answer %s", lab->st[i].name,
			     lab->self ? " on host " : "",
			     lab->self ? host_of(lab, lab->st[i].san)->name : "", lab->st[m].name);
			return ST_SILENT;
		}
	}
	return ST_OK;
}

/* a pwctl command in one line */
static enum status command(const char *line)
{
	char buf[256], *argv[32], *w, *save;
	int argc = 0;

	snprintf(buf, sizeof(buf), "%s", line);
	for (w = strtok_r(buf, " ", &save); w && argc < N(argv) - 1; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	return pwctl(argc, argv);
}

/* add a word to a line of @size bytes; false: there is no room */
static bool add_word(char *line, size_t size, const char *word)
{
	size_t n = strlen(line);

	return (size_t)snprintf(line + n, size - n, "%s%s", n ? " " : "", word) < size - n;
}

/* address and port of one end of a trunk */
static void add_end(char *line, size_t size, const struct lab_host *h, int port)
{
	bool v6 = strchr(h->addr, ':');
	char end[96];

	snprintf(end, sizeof(end), "%s%.*s%s:%d", v6 ? "[" : "", (int)strcspn(h->addr, "/"), h->addr,
		 v6 ? "]" : "", port);
	add_word(line, size, end);
}

/*
 * Router @i as this host makes it. "NAME san A:P ... san B:P ..." is a trunk if one SAN is
 * elsewhere: the words of the half that is here, the ends, and the words about keys.
 */
static enum status router_add(const struct lab *lab, int i)
{
	char buf[128], half[2][160] = {}, key[160] = {}, line[512] = "router add", *name, *w, *save;
	const struct lab_host *host[2] = {};
	bool fits = true, keys = false;
	int n = -1, here;

	snprintf(buf, sizeof(buf), "%s", lab->router[i]);
	name = strtok_r(buf, BLANK, &save);
	for (w = strtok_r(NULL, BLANK, &save); w; w = strtok_r(NULL, BLANK, &save)) {
		if (!strcmp(w, "san") && n < 1) {
			n++;
			fits &= add_word(half[n], sizeof(half[n]), w);
			w = strtok_r(NULL, BLANK, &save);
			host[n] = w ? host_of(lab, atol(w)) : NULL;
			keys = false;
		} else if (!strcmp(w, "secret") || !strcmp(w, "secret-file") || !strcmp(w, "insecure")) {
			keys = true;
		}
		if (!w || n < 0)
			break;
		fits &= add_word(keys ? key : half[n], sizeof(key), w);
	}
	if (!lab->self || n < 1 || host[0] == host[1]) {
		if (lab->self && n >= 0 && host[0] != lab->self)
			return ST_OK;
		add_word(line, sizeof(line), lab->router[i]);
		return command(line);
	}
	if (host[0] != lab->self && host[1] != lab->self)
		return ST_OK;
	here = host[1] == lab->self;
	if (!name || !fits || !host[!here])
		return usage("lab %s: router '%s' joins no two SANs of the file", lab->name,
			     lab->router[i]);
	add_word(line, sizeof(line), name);
	add_word(line, sizeof(line), half[here]);
	add_word(line, sizeof(line), "trunk udp");
	add_end(line, sizeof(line), host[here], TRUNK_PORT + i);
	add_end(line, sizeof(line), host[!here], TRUNK_PORT + i);
	if (key[0])
		add_word(line, sizeof(line), key);
	return command(line);
}

/* the device for trunks: from the namespace of the caller into that of the lab, the current one */
static enum status move_device(const struct lab_host *h, int self, int home)
{
	enum status st;
	struct nl nl;
	int err;

	err = in_ns(self);
	st = err ? fail(err, "lab") : rtnl_open(&nl);
	if (st)
		return st;
	st = link_move(&nl, h->dev, home);
	nl_close(&nl);
	err = in_ns(home);
	if (!st)
		st = err ? fail(err, "lab") : rtnl_open(&nl);
	if (st)
		return st;
	st = link_up(&nl, "lo");
	if (!st)
		st = link_up(&nl, h->dev);
	if (!st)
		st = link_addr_add(&nl, if_nametoindex(h->dev), h->addr);
	nl_close(&nl);
	return st;
}

/* the namespaces of a station, and its netdevice in them */
static enum status make_station(const struct lab *lab, const struct lab_station *s, struct nl *nl,
				int *ns)
{
	char path[256];
	int err;

	ns_path(path, sizeof(path), lab->name, s->name);
	err = keep_ns(CLONE_NEWNET, path, NULL);
	if (!err) {
		*ns = open(path, O_RDONLY | O_CLOEXEC);
		uts_path(path, sizeof(path), lab->name, s->name);
		err = *ns < 0 ? -errno : keep_ns(CLONE_NEWUTS, path, s->name);
	}
	return err ? fail(err, "%s", path) :
		     station_add(nl, "pw0", s->san, s->port, -1, s->mtu, *ns);
}

static enum status make_san(const struct lab_san *s)
{
	char *argv[N(s->words) + 5] = { "san", "add" }, id[16];
	int argc = 2, k;

	snprintf(id, sizeof(id), "%ld", s->id);
	argv[argc++] = id;
	for (k = 0; k < s->n; k++)
		argv[argc++] = (char *)s->words[k];
	if (*s->topology) {
		argv[argc++] = "topology";
		argv[argc++] = (char *)s->topology;
	}
	return pwctl(argc, argv);
}

/* @bar: one step for each station that is made, and one for each that is configured */
static enum status build(struct lab *lab, int self, int home, int *ns, struct progress *bar)
{
	enum status st = ST_OK;
	struct nl nl;
	int i, err;

	err = in_ns(home);
	if (err)
		return fail(err, "lab");
	if (lab->self)
		st = move_device(lab->self, self, home);
	for (i = 0; !st && i < lab->nsan; i++) {
		if (is_here(lab, lab->san[i].id))
			st = make_san(&lab->san[i]);
	}
	if (!st)
		st = rtnl_open(&nl);
	if (st)
		return st;
	for (i = 0; !st && i < lab->nst; i++) {
		if (is_here(lab, lab->st[i].san))
			st = make_station(lab, &lab->st[i], &nl, &ns[i]);
		progress_step(bar, i);
	}
	nl_close(&nl);
	for (i = 0; !st && i < lab->nrouter; i++)
		st = router_add(lab, i);
	for (i = 0; !st && i < lab->nst; i++) {
		if (ns[i] < 0)
			continue;
		err = in_ns(ns[i]);
		st = err ? fail(err, "%s", lab->st[i].name) : configure_station(&lab->st[i]);
		progress_step(bar, lab->nst + i);
	}
	for (i = 0; !st && i < lab->nst; i++) {
		if (ns[i] < 0 || !in_lockstep(lab, lab->st[i].san))
			continue;
		err = in_ns(ns[i]);
		st = err ? fail(err, "%s", lab->st[i].name) : quiet_station(lab, &lab->st[i]);
	}
	if (st)
		return st;
	err = write_hosts(lab);
	return err ? fail(err, LABS "/%s", lab->name) : ST_OK;
}

/* which part of the lab is made here? */
static enum status choose_host(struct lab *lab, const char *name)
{
	int i;

	if (!lab->nhost)
		return name ? usage("lab %s has no hosts", lab->name) : ST_OK;
	if (!name)
		return usage("lab %s is for several hosts; say which one this is: --host %s",
			     lab->name, lab->host[0].name);
	lab->self = find_host(lab, name);
	if (!lab->self)
		return usage("lab %s has no host '%s'", lab->name, name);
	for (i = 0; i < lab->nst; i++)
		if (is_here(lab, lab->st[i].san))
			return ST_OK;
	return usage("lab %s: host '%s' has no station", lab->name, name);
}

static int take_down(const char *name);

/* Other hosts -------------------------------------------------------------- */

#define MAX_HOSTS N(((struct lab *)0)->host)

/* `pwctl lab ...` on another host, by ssh or what PWCTL_RSH names; a process */
static pid_t on_host(const char *host, const char *command)
{
	const char *rsh = getenv("PWCTL_RSH");
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	if (!rsh)
		rsh = "ssh";
	execlp(rsh, rsh, host, command, (char *)NULL);
	_exit(fail(errno, "%s", rsh));
}

/* their end; the status of the first one that failed */
static enum status wait_hosts(const pid_t *pid, int n)
{
	enum status st = ST_OK;
	int i, status;

	for (i = 0; i < n; i++) {
		if (pid[i] < 0 || waitpid(pid[i], &status, 0) != pid[i] || !WIFEXITED(status))
			status = ST_REFUSED << 8;
		if (!st)
			st = WEXITSTATUS(status);
	}
	return st;
}

/* the parts of all other hosts, each with its own pwctl and the same path of the file */
static enum status hosts_up(const struct lab *lab, const char *file, uint32_t timeout, pid_t *pid,
			    int *n)
{
	char path[PATH_MAX], command[PATH_MAX + 128];
	const struct lab_host *h;

	if (strchr(file, '\'') || !realpath(file, path))
		snprintf(path, sizeof(path), "%s", file);
	if (strchr(path, '\''))
		return usage("the name of the file has a quote: %s", path);
	for (h = lab->host; h < lab->host + lab->nhost; h++) {
		if (h == lab->self)
			continue;
		snprintf(command, sizeof(command), "pwctl lab up '%s' --host %s timeout %u", path,
			 h->name, timeout);
		pid[(*n)++] = on_host(h->name, command);
	}
	return ST_OK;
}

struct lab_args {
	const char *name;	/* file of `up`, lab of the others, station of `exec` */
	const char *host;
	bool ssh;		/* the other hosts as well */
	uint32_t timeout;
	char **command;
};

#define AT(m) offsetof(struct lab_args, m)

static enum status lab_up(const struct verb *v, int argc, char **argv)
{
	struct lab_args a = {};
	int self, home = -1, *ns = NULL, err, i, nothers = 0;
	pid_t other[MAX_HOSTS];
	enum status st, theirs;
	struct progress bar;
	char path[256];
	struct lab lab;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	st = read_lab(a.name, &lab);
	if (!st)
		st = choose_host(&lab, a.host);
	if (!st && a.ssh && !lab.self)
		st = usage("lab %s has no hosts", lab.name);
	if (st) {
		free_lab(&lab);
		return st;
	}
	/* the other hosts may begin later */
	if (!a.timeout)
		a.timeout = lab.self ? 120000 : 20000;
	self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), LABS "/%s", lab.name);
	if (!access(path, F_OK)) {
		st = fail(0, "lab %s is up already; run `pwctl lab down %s` first", lab.name,
			  lab.name);
		goto out;
	}
	err = prepare_netns_dir();
	if (!err)
		err = make_dirs(path);
	if (err) {
		st = fail(err, "%s", path);
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
		st = fail(err ? err : -ENOMEM, "%s", path);
		take_down(lab.name);
		goto out;
	}
	for (i = 0; i < lab.nst; i++)
		ns[i] = -1;
	if (a.ssh)
		st = hosts_up(&lab, a.name, a.timeout, other, &nothers);
	/* a station is made, configured and waited for */
	progress_begin(&bar, "steps", 3ULL * lab.nst, 0);
	if (!st)
		st = build(&lab, self, home, ns, &bar);
	if (!st)
		st = wait_lab(&lab, ns, a.timeout, &bar);
	/* with the addresses of stations of other hosts */
	if (!st && lab.self) {
		err = write_hosts(&lab);
		st = err ? fail(err, LABS "/%s", lab.name) : ST_OK;
	}
	progress_end(&bar);
	in_ns(self);
	theirs = wait_hosts(other, nothers);
	if (!st)
		st = theirs;
	if (st)
		take_down(lab.name);
	for (i = 0; i < lab.nst; i++)
		if (ns[i] >= 0)
			close(ns[i]);
	if (home >= 0)
		close(home);
out:
	free(ns);
	free_lab(&lab);
	close(self);
	return st;
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
enum status lab_find(const char *name, char *out, size_t cap)
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
		return usage("several labs are up; name one of them");
	return ST_OK;
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

/* the other parts of a lab */
static enum status hosts_down(const char *name)
{
	char path[512], line[512], seen[MAX_HOSTS][LAB_NAME_MAX], *w, *save;
	pid_t pid[MAX_HOSTS];
	int n = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), LABS "/%s/stations", name);
	f = fopen(path, "re");
	while (f && n < (int)MAX_HOSTS && fgets(line, sizeof(line), f)) {
		w = strtok_r(line, BLANK, &save);
		uts_path(path, sizeof(path), name, w ? w : "");
		if (!access(path, F_OK))
			continue;
		while (w && strncmp(w, "host=", 5))
			w = strtok_r(NULL, BLANK, &save);
		for (i = 0; w && i < n && strcmp(seen[i], w + 5); i++)
			;
		if (!w || i < n)
			continue;
		snprintf(seen[n], sizeof(seen[n]), "%s", w + 5);
		snprintf(line, sizeof(line), "pwctl lab down %s", name);
		pid[n] = on_host(seen[n], line);
		n++;
	}
	if (f)
		fclose(f);
	return wait_hosts(pid, n);
}

static enum status lab_down(const struct verb *v, int argc, char **argv)
{
	enum status st, theirs = ST_OK;
	char name[LAB_NAME_MAX];
	struct lab_args a = {};
	int err;

	st = words(v, argc, argv, &a);
	if (!st)
		st = lab_find(a.name, name, sizeof(name));
	if (st)
		return st;
	if (a.ssh)
		theirs = hosts_down(name);
	end_processes(name);
	err = take_down(name);
	return err ? fail(err, "lab %s", name) : theirs;
}

/* Exec --------------------------------------------------------------------- */

/* "STATION" or "LAB/STATION" */
static enum status find_station(const char *text, char *lab, size_t cap, char *path, size_t pcap)
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
		return usage("several labs have a station %s; write LAB/%s", text, text);
	return ST_OK;
}

/* new fabrics for a run in virtual time, in the lab's own namespace */
static enum status lab_fresh(const char *lab)
{
	char path[256];
	int status, err;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		ns_path(path, sizeof(path), lab, "");
		err = enter_netns(path);
		_exit(err ? fail(err, "%s", path) : virtual_fresh());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return fail(errno, "fork");
	return WEXITSTATUS(status);
}

static enum status lab_exec(const struct verb *v, int argc, char **argv)
{
	char lab[LAB_NAME_MAX], uts[256], path[256];
	struct lab_args a = {};
	bool virtual = argc && !strcmp(argv[0], "--virtual");
	const char *slash;
	enum status st;
	int fd, err;

	st = words(v, argc - virtual, argv + virtual, &a);
	if (!st)
		st = find_station(a.name, lab, sizeof(lab), uts, sizeof(uts));
	if (st)
		return st;
	/* a command of a run belongs to that run */
	if (virtual && !getenv("PW_TIME_ZERO"))
		st = lab_fresh(lab);
	if (st)
		return st;
	slash = strchr(a.name, '/');
	ns_path(path, sizeof(path), lab, slash ? slash + 1 : a.name);
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
	if (virtual)
		return virtual_run(a.command);
	execvp(a.command[0], a.command);
	return fail(errno, "%s", a.command[0]);
}

static enum status lab_show(const struct verb *v, int argc, char **argv)
{
	char path[512], line[512], *w, *save;
	struct lab_args args = {};
	struct dirent *d;
	enum status st;
	json_t *j, *a;
	FILE *f;
	DIR *h;

	st = words(v, argc, argv, &args);
	if (st)
		return st;
	out_begin(false);
	h = opendir(LABS);
	while (h && (d = readdir(h))) {
		if (d->d_name[0] == '.' || (args.name && strcmp(args.name, d->d_name)))
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
			while ((w = strtok_r(NULL, BLANK, &save))) {
				if (strncmp(w, "host=", 5))
					json_array_append_new(a, json_string(w));
				else
					json_object_set_new(j, "host", json_string(w + 5));
			}
			json_object_set_new(j, "ip", a);
			out_item("station", j);
		}
		if (f)
			fclose(f);
	}
	if (h)
		closedir(h);
	out_end();
	return ST_OK;
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

static const struct word which[] = { { NULL, "LAB", W_TEXT, AT(name) }, {} };

static const struct word down[] = {
	{ NULL, "LAB", W_TEXT, AT(name) },
	{ "--ssh", NULL, W_FLAG, AT(ssh) },
	{}
};

static const struct word up[] = {
	{ NULL, "FILE.yaml|NAME", W_TEXT, AT(name), WORD_NEEDED },
	{ "timeout", "MS", W_U32, AT(timeout) },
	{ "--host", "HOST", W_TEXT, AT(host) },
	{ "--ssh", NULL, W_FLAG, AT(ssh) },
	{}
};

static const struct word exec[] = {
	{ NULL, "[LAB/]STATION", W_TEXT, AT(name), WORD_NEEDED },
	{ NULL, "COMMAND", W_REST, AT(command), WORD_NEEDED },
	{}
};

const struct verb lab_verbs[] = {
	{ "show", lab_show, 0, which, "stations of the labs that are up" },
	{ "up", lab_up, 0, up,
	  "make the namespaces, SANs and stations of a file; wait until they answer",
	  "NAME: a lab that is installed with this program, such as ring8\n"
	  "        --host: the part of a lab with hosts that this host has; waits for the others\n"
	  "        --ssh: makes these as well, by ssh or what PWCTL_RSH names" },
	{ "exec", lab_exec, 0, exec, "run a command in the namespaces of a station",
	  "exec --virtual: in the virtual time of its SAN, see `pwctl help virtual`" },
	{ "down", lab_down, 0, down, "end the processes of a lab and remove it",
	  "--ssh: on all hosts of the lab" },
	{}
};
