// SPDX-License-Identifier: GPL-2.0
/*
 * A live view: the ring with its operands and its token, the fabric's queues as
 * a heat map, and the rates of the stations here or of a lab.
 */
#include <curses.h>
#include <locale.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pwctl.h"

#define MAX_SHOWN 64
#define FRAME 0.1	/* seconds */

/* one look at a station */
struct look {
	struct station st;
	char name[LAB_NAME_MAX];	/* in a lab every one is called pw0 */
	struct packetway_aton_get bank;
	bool has_bank;
	uint64_t runs;		/* commands of this interface that have ended */
	json_t *stats;
	double at;
};

struct view {
	struct look now[MAX_SHOWN], before[MAX_SHOWN];
	int n, n_before;
	const char *lab;
	struct lab_ns ns[MAX_SHOWN];	/* where to look; none: here */
	int nns, home;
};

static double seconds(void)
{
	return now_us() / 1e6;
}

static void forget(struct look *l, int n)
{
	while (n--)
		json_decref(l[n].stats);
}

/* commands of this interface; ethtool counters are those of the whole ring */
static uint64_t commands_run(const struct pwl *s)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	struct packetway_aton_page *page;
	uint64_t runs;

	page = mmap(NULL, size, PROT_READ, MAP_SHARED, pwl_fd(s), size);
	if (page == MAP_FAILED)
		return 0;
	runs = page->command.runs + page->standing.runs;
	munmap(page, size);
	return runs;
}

/* the stations of the namespace that we are in */
static int look_here(struct view *v, const char *dev, const char *name)
{
	struct station *list;
	struct pwl *s;
	int n, i;

	n = stations(&list);
	for (i = 0; i < n && v->n < MAX_SHOWN; i++) {
		struct look *l = &v->now[v->n];

		if (dev && strcmp(dev, list[i].name))
			continue;
		memset(l, 0, sizeof(*l));
		l->st = list[i];
		snprintf(l->name, sizeof(l->name), "%s", name ? name : list[i].name);
		l->at = seconds();
		l->stats = station_stats(list[i].name);
		if (!pwl_open(&s, list[i].name)) {
			l->has_bank = !pwl_bank(s, &l->bank);
			l->runs = commands_run(s);
			pwl_close(s);
		}
		v->n++;
	}
	free(list);
	return n < 0 ? n : 0;
}

static int look(struct view *v, const char *dev)
{
	int err = 0, i;

	forget(v->before, v->n_before);
	memcpy(v->before, v->now, sizeof(v->now));
	v->n_before = v->n;
	v->n = 0;
	if (!v->nns)
		err = look_here(v, dev, NULL);
	for (i = 0; !err && i < v->nns; i++) {
		err = setns(v->ns[i].fd, CLONE_NEWNET) ? -errno : 0;
		if (!err)
			err = look_here(v, dev, v->ns[i].station);
	}
	/* the SANs of a lab are at home */
	if (v->nns && setns(v->home, CLONE_NEWNET))
		err = -errno;
	return err ? err : v->n;
}

static double counter(const struct look *l, const char *name)
{
	json_t *j = json_object_get(l->stats, name);

	return j && json_is_integer(j) ? json_integer_value(j) : 0;
}

static const struct look *look_before(const struct view *v, const struct look *l)
{
	int k;

	for (k = 0; k < v->n_before; k++)
		if (v->before[k].st.ifindex == l->st.ifindex &&
		    !strcmp(v->before[k].name, l->name) && l->at > v->before[k].at)
			return &v->before[k];
	return NULL;
}

/* per second since the look before; the total where there was none */
static double rate(const struct view *v, int i, const char *name)
{
	const struct look *l = &v->now[i], *old = look_before(v, l);

	return old ? (counter(l, name) - counter(old, name)) / (l->at - old->at) :
		     counter(l, name);
}

/* has this interface sent a ring packet since the look before? */
static bool took_token(const struct view *v, const struct look *l)
{
	const struct look *old = look_before(v, l);

	return old && l->runs > old->runs;
}

static void line(bool screen, int row, const char *text)
{
	if (!screen)
		puts(text);
	else if (row < LINES)
		mvaddnstr(row, 0, text, COLS);
}

static int draw(const struct view *v, bool screen)
{
	const char *unit = v->n_before ? "/s" : "";
	char buf[512], addr[PWL_ADDR_STRLEN];
	int i, k, row = 0, len;

	snprintf(buf, sizeof(buf), "packetway: %d station%s in %s%s%s", v->n,
		 v->n == 1 ? "" : "s", v->lab ? "lab " : "this namespace",
		 v->lab ? v->lab : "", screen ? "   (q quits)" : "");
	line(screen, row++, buf);
	snprintf(buf, sizeof(buf), "%-8s %-8s %4s %4s %-5s %9s%-2s %9s%-2s %9s%-2s %9s%-2s",
		 "station", "addr", "san", "port", "state", "tx", unit, "rx", unit, "ring", unit,
		 "standing", unit);
	line(screen, row++, buf);
	for (i = 0; i < v->n; i++) {
		const struct look *l = &v->now[i];

		snprintf(buf, sizeof(buf), "%-8s %-8s %4u %4u %-5s %11.0f %11.0f %11.0f %11.0f",
			 l->name, pwl_addr_str(l->st.addr, addr), l->st.san, l->st.port,
			 l->st.up ? "up" : "down",
			 rate(v, i, "eep_tx_unicast") + rate(v, i, "eep_tx_group"),
			 rate(v, i, "eep_rx_messages"), rate(v, i, "ring_packets"),
			 rate(v, i, "ring_standing"));
		line(screen, row++, buf);
	}
	line(screen, row++, "");
	line(screen, row++, "ring: operand registers 0..7, and what came back last "
			    "(T: took the token since the last look, *: has a standing command)");
	for (i = 0; i < v->n; i++) {
		const struct look *l = &v->now[i];

		if (!l->has_bank) {
			snprintf(buf, sizeof(buf), "%-8s (no permission to read)", l->name);
			line(screen, row++, buf);
			continue;
		}
		len = snprintf(buf, sizeof(buf), "%-8s %c%c[", l->name,
			       took_token(v, l) ? 'T' : ' ', l->bank.out_irq_mask & 1 ? '*' : ' ');
		for (k = 0; k < 8; k++)
			len += snprintf(buf + len, sizeof(buf) - len, "%s%llu", k ? " " : "",
					(unsigned long long)l->bank.out_operand[k]);
		snprintf(buf + len, sizeof(buf) - len,
			 "] of %u: counter %llu v1 %llu v2 %llu in %llu bits",
			 l->bank.out_interfaces, (unsigned long long)l->bank.out_counter,
			 (unsigned long long)l->bank.out_v1,
			 (unsigned long long)l->bank.out_v2,
			 (unsigned long long)l->bank.out_ring_time);
		line(screen, row++, buf);
	}
	return row;
}

/* how full: a cell is 53 bytes, an input unit of a 4x4 switch holds 32 of them */
static char heat(long bytes)
{
	static const char shade[] = ".:-=+*#%@";
	int i = 0;

	for (bytes = (bytes + 52) / 53; bytes && i < (int)sizeof(shade) - 2; bytes /= 2)
		i++;
	return shade[i];
}

/* stage by stage, what waits at each input unit */
static int draw_fabric(uint32_t san, bool screen, int row)
{
	char path[256], dir[200], text[32768], map[300], *p, *end;
	int stage, n;
	long sum, v;
	FILE *f;

	if (san_debugfs(san, dir, sizeof(dir)))
		return row;
	snprintf(path, sizeof(path), "%s/fabric_queues", dir);
	f = fopen(path, "re");
	if (!f)
		return row;
	line(screen, row++, "");
	snprintf(map, sizeof(map), "fabric of SAN %u: bytes that wait at the input units "
		 "(. none, : a cell, - 2, = 4, + 8, * 16, # 32 ...)", san);
	line(screen, row++, map);
	for (stage = 0; fgets(text, sizeof(text), f); stage++) {
		sum = 0;
		n = snprintf(map, sizeof(map), "stage %d [", stage);
		for (p = text; n < (int)sizeof(map) - 20; p = end) {
			v = strtol(p, &end, 10);
			if (p == end)
				break;
			map[n++] = heat(v);
			sum += v;
		}
		snprintf(map + n, sizeof(map) - n, "] %ld", sum);
		line(screen, row++, map);
	}
	fclose(f);
	return row;
}

static void draw_fabrics(const struct view *v, bool screen, int row)
{
	int i, k;

	for (i = 0; i < v->n; i++) {
		for (k = 0; k < i && v->now[k].st.san != v->now[i].st.san; k++)
			;
		if (k == i)
			row = draw_fabric(v->now[i].st.san, screen, row);
	}
}

struct top_args {
	const char *dev, *lab;
	bool once;
};

#define AT(m) offsetof(struct top_args, m)

const struct word top_words[] = {
	{ "dev", "NAME", W_TEXT, AT(dev) },
	{ "lab", "LAB", W_TEXT, AT(lab) },
	{ "once", NULL, W_FLAG, AT(once) },
	{}
};

enum status cmd_top(const struct verb *verb, int argc, char **argv)
{
	struct top_args a = {};
	static struct view v;
	enum status st;
	int n, c, left;
	double next;

	st = words(verb, argc, argv, &a);
	if (st)
		return st;
	v.lab = a.lab;
	if (v.lab) {
		v.nns = lab_namespaces(v.lab, v.ns, N(v.ns), &v.home);
		if (v.nns <= 0)
			return fail(v.nns, "there is no lab %s", v.lab);
	}
	n = look(&v, a.dev);
	if (n < 0)
		return fail(n, "stations");
	if (!n)
		return fail(0, "there is no such station in this namespace");
	if (a.once) {
		draw_fabrics(&v, false, draw(&v, false));
		forget(v.now, v.n);
		return ST_OK;
	}
	if (!isatty(STDOUT_FILENO))
		return usage("top needs a terminal; use `pwctl top once`");
	setlocale(LC_ALL, "");
	catch_signals();
	initscr();
	cbreak();
	noecho();
	curs_set(0);
	while (!interrupted) {
		next = seconds() + FRAME;
		erase();
		draw_fabrics(&v, true, draw(&v, true));
		refresh();
		/* only `q` and a new size of the terminal are worth an early frame */
		do {
			left = (next - seconds()) * 1000;
			timeout(left > 0 ? left : 0);
			c = getch();
		} while (c != ERR && c != KEY_RESIZE && c != 'q' && !interrupted);
		if (c == 'q')
			break;
		look(&v, a.dev);
	}
	endwin();
	forget(v.now, v.n);
	forget(v.before, v.n_before);
	return ST_OK;
}
