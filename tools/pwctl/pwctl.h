/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of pwctl share. */
#ifndef PWCTL_H
#define PWCTL_H

#include <errno.h>
#include <jansson.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/packetway_netlink.h>

#include "packetway.h"

#define N(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Exit codes, as pwctl(8) lists them. A function of this type has printed what is
 * wrong. A function of type int returns 0 or a negative errno and prints nothing.
 */
enum status {
	ST_OK,
	ST_USAGE,	/* the command line or a lab file is wrong */
	ST_REFUSED,	/* the kernel or a file refused */
	ST_SILENT,	/* no answer in time */
	ST_STALLED = 99,	/* virtual: all wait, and nothing will happen */
};

/* words.c: tables of commands and of their words ----------------------------- */

enum word_kind {
	W_END,		/* ends a table */
	W_FLAG,		/* bool; no value */
	W_U32,		/* uint32_t */
	W_SWITCH,	/* uint32_t: "off" is 0, "on" is 1, or a number */
	W_LONG,		/* long: a 32-bit number; the caller's -1 stays where none is given */
	W_U64,		/* uint64_t */
	W_ADDR,		/* uint32_t: a PacketWay address */
	W_CHOICE,	/* uint32_t: which of the names in .value */
	W_TEXT,		/* const char * */
	W_REST,		/* char **: this word and all that follow */
	W_CALL,		/* .call() gets the values */
	/* netlink objects only */
	W_DEV,		/* index of a network device */
	W_ADDRS,	/* row of addresses */
	W_BYTES,	/* bytes in hexadecimal */
	W_SOCKADDR,
	W_COUNTERS,	/* nest of counters, named by .counter() */
	W_JSON,		/* what .json() makes of it; NULL: no member */
};

#define WORD_NEEDED	1U
#define WORD_KEY	2U	/* the value may stand without its word */
#define WORD_MANY	4U	/* may be given more than once */

/**
 * struct word - a word of a command line, or a member of a netlink object
 * @name: the word; NULL: a value that stands alone
 * @value: what help calls its value; W_CHOICE: the names, separated by '|'
 * @kind: enum word_kind
 * @at: offset in the structure that the command fills; netlink: the attribute
 * @flags: WORD_*
 * @max: largest number allowed; 0: any. W_CALL: how many values. W_CHOICE: the number
 *	of the first name
 * @call: W_CALL
 * @counter: W_COUNTERS: name of counter @i, NULL behind the last one
 * @json: W_JSON
 * @number: W_U32: reads a value that may also be a name; NULL: parse_u32()
 */
struct word {
	const char *name;
	const char *value;
	enum word_kind kind;
	unsigned int at;
	unsigned int flags;
	uint32_t max;
	enum status (*call)(void *to, char **values);
	const char *(*counter)(int i);
	json_t *(*json)(const struct nlattr *a);
	int (*number)(const char *text, uint32_t *v);
};

/**
 * struct verb - a command, or a group of commands
 * @name: how it is called; NULL ends a table
 * @run: carries it out; argv[0] is the word behind the verb
 * @arg: for @run
 * @words: what may follow
 * @what: what it does
 * @more: lines for `pwctl help VERB` only; examples are in examples.c
 * @sub: the commands of a group
 */
struct verb {
	const char *name;
	enum status (*run)(const struct verb *v, int argc, char **argv);
	int arg;
	const struct word *words;
	const char *what;
	const char *more;
	const struct verb *sub;
};

enum status usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
enum status fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum status dispatch(const char *group, const struct verb *table, int argc, char **argv);
enum status help(const char *group, const struct verb *table, int argc, char **argv);
/* " (did you mean ...?)" with the nearest of these names, or "" */
const char *did_you_mean(const char *word, const char *const *names, int n);
/* fill the structure at @to */
enum status words(const struct verb *v, int argc, char **argv, void *to);
/* the same with another function that takes each word */
enum status words_each(const struct verb *v, int argc, char **argv,
		       enum status (*take)(void *to, const struct word *w, char **values), void *to);
/* the value of one word into the structure at @to */
enum status word_store(void *to, const struct word *w, char **values);
/* name @i of a list that '|' separates, for printf("%.*s"); its length, 0: none */
int choice(const char *names, uint32_t i, const char **name);

int parse_u64(const char *text, uint64_t *v);
int parse_u32(const char *text, uint32_t *v);
int parse_addr(const char *text, uint32_t *addr);
/* pairs of digits, with ':' or ' ' between them; how many bytes, or -EINVAL */
int parse_hex(const char *text, uint8_t *out, size_t cap);

/* examples.c: command lines for help, separated by newlines; "" if there are none */
const char *examples(const char *group, const char *verb);

/* main.c */
enum status pwctl(int argc, char **argv);
int enter_netns(const char *name);
int64_t now_us(void);
/* SIGINT and SIGTERM set this instead of ending the program */
extern volatile sig_atomic_t interrupted;
void catch_signals(void);

/* out.c: a list of objects; in text the first member is the title */
extern bool opt_json, opt_pretty, opt_color;
enum color { C_NONE, C_NAME, C_ADDR, C_IP, C_GOOD, C_BAD, C_WARN };
/* what switches to a colour, C_NONE: back; nothing without -c and in JSON */
const char *color(enum color c);
void out_begin(bool stream);
void out_item(const char *what, json_t *obj);
void out_end(void);
/* a list of one object */
enum status out_one(const char *what, json_t *obj);
json_t *j_u64(uint64_t v);
json_t *j_addr(uint32_t addr);
json_t *j_hex(const void *data, size_t len);

/* progress.c: a line on a terminal if something takes longer than two seconds */
struct progress {
	const char *what;	/* of which there are @total */
	uint64_t total;
	uint64_t first;		/* done when it began */
	int64_t begin, next, every;	/* us */
	bool shown;
};

void progress_begin(struct progress *p, const char *what, uint64_t total, uint64_t done);
void progress_step(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

/* nl.c */
struct nl {
	struct mnl_socket *s;
	unsigned int portid;
	unsigned int seq;
	int err;		/* of the last talk: 0 or a negative errno */
	char ext[256];		/* the kernel's sentence about it */
};

#define NL_BUF 65536
/* words of a request; long enough for any that the kernel would accept */
#define NL_WORDS 4096
/* a request: words and a topology */
#define NL_REQUEST (NL_WORDS + (63 << 10))

int nl_open(struct nl *nl, int bus);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_request(struct nl *nl, void *buf, int type, int flags);
/* an attribute of a request in a buffer of NL_REQUEST bytes, if there is room for it */
enum status nl_put(struct nlmsghdr *h, int type, const void *data, size_t len);
enum status nl_put_text(struct nlmsghdr *h, int type, const char *text);
/* the same for data of any size that a request has room for */
enum status nl_put_long(struct nlmsghdr *h, int type, const void *data, size_t len);
/* @cb is called with every answer */
int nl_talk(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data);
/* the same, and the error is printed */
enum status nl_do(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data, const char *what);
enum status rtnl_open(struct nl *nl);

struct genl {
	struct nl nl;
	int family;
	int group;		/* id of "events" */
	char buf[NL_REQUEST] __attribute__((aligned(8)));
	struct nlmsghdr *h;	/* the request in buf */
	struct nlattr *nest;	/* open in it */
};

enum status genl_open(struct genl *g);
/* the same without a complaint; 0 or a negative errno */
int genl_find(struct genl *g);
/* a request with this nest, which genl_end() sends unless @st says that words were wrong */
void genl_begin(struct genl *g, int cmd, int flags, int nest);
enum status genl_end(struct genl *g, enum status st, mnl_cb_t cb, void *data, const char *what);

/* all objects of a kind: @cb is called with every message */
enum status genl_dump(int cmd, mnl_cb_t cb, void *data, const char *what);

/* object.c: objects of the generic netlink family */
extern const struct verb san_verbs[];
enum status esp_show(const struct verb *v, int argc, char **argv);
enum status esp_set(const struct verb *v, int argc, char **argv);
enum status poets_show(const struct verb *v, int argc, char **argv);
extern const struct word esp_which[], esp_settings[], poets_which[];
/* all of "san", "esp" or "poets", as `show` has them, added to @list */
enum status object_list(const char *name, json_t *list);
enum status put_word(void *h, const struct word *w, char **values);
/* members of @fields that @nest has, added to @j */
json_t *fields_json(json_t *j, const struct word *fields, const struct nlattr *nest);
json_t *object_event(const struct nlmsghdr *h, const char **what, const char **action);

/* stages.c: stages of a SAN's fabric; none if its engine is none */
extern const struct word stages_words[];
enum status cmd_stages(const struct verb *v, int argc, char **argv);
enum status san_stages(uint32_t id, json_t *list);

/* station.c */
struct station {
	char name[IFNAMSIZ];
	uint32_t ifindex;
	uint32_t san, port, addr, order;
	uint32_t mtu;
	bool up;
	struct rtnl_link_stats64 link;
};

extern const struct verb station_verbs[];
json_t *station_json(const struct station *st);
/* stations of this namespace; their number, or a negative errno */
int stations(struct station **list);
/* the one of this name, or the only one */
enum status pick_station(const char *name, struct station *st);
enum status open_sock(const char *dev, struct pwl_sock **k, struct station *st);
enum status station_add(struct nl *nl, const char *name, long san, long port, long order, long mtu,
			int netns);
enum status link_up(struct nl *nl, const char *name);
enum status link_del(struct nl *nl, const char *name);
enum status link_alias(struct nl *nl, const char *name, const char *alias);
enum status link_move(struct nl *nl, const char *name, int netns);
enum status link_addr_add(struct nl *nl, uint32_t ifindex, const char *text);
enum status link_neigh_add(struct nl *nl, int ifindex, const char *text, uint32_t lladdr);
enum status link_route_quiet(struct nl *nl, uint32_t ifindex, const char *text);
json_t *link_event(const struct nlmsghdr *h, const char **action);

/* rrp.c: what a host asks half-routers, from a station's socket */
struct source_route {
	uint8_t bytes[1024];	/* L2RHs, the one on the own SAN first */
	size_t len;
	uint32_t quality;
	uint32_t mtu;		/* bytes, 0 = unlimited */
};

struct rrp_node {
	uint32_t addr;
	char name[128];
	bool router;
};

/* name of a capability (PW_CAPA_*), or NULL */
const char *capa_name(unsigned int code);
/* a row of L2RHs in hexadecimal, as `pwctl resolve` shows it; @word is complained of */
enum status route_parse(const char *word, const char *text, struct source_route *r);
/* ask half-routers for a source route, and complain if there is none */
enum status route_fetch(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms);
int rrp_route(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms);
size_t route_front(const struct source_route *r, unsigned int n);
unsigned int route_hops(const struct source_route *r);
int rrp_who(struct pwl_sock *k, uint32_t addr, struct rrp_node *node, int timeout_ms);
int rrp_tell(struct pwl_sock *k, uint32_t hr, const char *name, uint32_t addr,
	     struct rrp_node *node, int max, int timeout_ms);

/* the other groups of commands, one file each */
extern const struct verb aton_verbs[], esp_verbs[], poets_verbs[], fault_verbs[], lab_verbs[];
extern const struct verb experiment_verbs[], router_verbs[], route_verbs[], name_verbs[];
extern const struct word resolve_words[], ping_words[], trace_words[], send_words[], stats_words[];
extern const struct word events_words[], capture_words[], top_words[], metrics_words[];
extern const struct word doctor_words[], view_words[], find_words[], describe_words[];
enum status cmd_find(const struct verb *v, int argc, char **argv);
enum status cmd_describe(const struct verb *v, int argc, char **argv);
enum status cmd_resolve(const struct verb *v, int argc, char **argv);
enum status cmd_ping(const struct verb *v, int argc, char **argv);
enum status cmd_trace(const struct verb *v, int argc, char **argv);
enum status cmd_send(const struct verb *v, int argc, char **argv);
enum status cmd_stats(const struct verb *v, int argc, char **argv);
enum status cmd_events(const struct verb *v, int argc, char **argv);
enum status cmd_capture(const struct verb *v, int argc, char **argv);
enum status cmd_doctor(const struct verb *v, int argc, char **argv);
enum status cmd_metrics(const struct verb *v, int argc, char **argv);
enum status cmd_view(const struct verb *v, int argc, char **argv);
extern const struct word virtual_words[];
enum status cmd_virtual(const struct verb *v, int argc, char **argv);
/* a command in the virtual time of a station here; returns at its end */
enum status virtual_run(char **command);
enum status virtual_fresh(void);
enum status cmd_top(const struct verb *v, int argc, char **argv);

/* lab.c */
#define LAB_NAME_MAX 32

/* a station of a lab and its network namespace */
struct lab_ns {
	char station[LAB_NAME_MAX];
	int fd;
};

int lab_namespaces(const char *lab, struct lab_ns *list, int room, int *home);

/* the lab of this name, or the only one that is up */
enum status lab_find(const char *name, char *out, size_t cap);

/* capture.c: make a pwmon device that is up */
enum status pwmon_add(struct nl *nl, const char *name, bool ring, bool cells);

/* view.c: the page with its data */
void view_print(FILE *f, const json_t *page);

/* view_lab.c: records of a lab, into a page or to browsers as they come */
struct view_lab {
	const char *lab;
	const char *listen;	/* NULL: a free port */
	uint32_t count;		/* records, 0: any number */
	uint32_t seconds;	/* 0: until interrupted */
	bool cells;
};

enum status view_lab_page(const struct view_lab *a, json_t *page);
enum status view_lab_live(const struct view_lab *a, json_t *page);

/* router.c */
enum status router_list(json_t *list);
json_t *router_event(const struct nlmsghdr *h, const char **what, const char **action);

/* http.c */
struct http_client;

/**
 * struct http_ops - what a server does
 * @path: of the page, for the line that says where the server is
 * @loopback: refuse other addresses than those of the loopback device
 * @get: answer a request by http_answer(), http_text() or, if @room, http_stream()
 * @more: give a stream what it has not got yet by http_send(), if there is something
 * @ready: read another source, if it can be read now; called twice a second or more often.
 *	false: it has ended
 */
struct http_ops {
	const char *path;
	bool loopback;
	void (*get)(struct http_client *c, const char *path, const char *headers, bool head,
		    bool room, void *data);
	void (*more)(struct http_client *c, void *data);
	bool (*ready)(void *data);
};

/* serve until interrupted; @source: a descriptor for @ready, or -1 */
enum status http_serve(const char *where, const struct http_ops *ops, int source, void *data);
void http_answer(struct http_client *c, const char *status, const char *type, const char *body,
		 size_t len, bool head);
void http_text(struct http_client *c, const char *status, const char *text, bool head);
/* begin a stream; @at: its position, which http_position() gives */
void http_stream(struct http_client *c, const char *type, uint64_t at);
uint64_t *http_position(struct http_client *c);
/* @text is freed when it is sent; @last: the stream ends */
void http_send(struct http_client *c, char *text, size_t len, bool last);
/* the value of a header line, or NULL */
const char *http_header(const char *headers, const char *name, size_t *len);

/* stats.c, fault.c, ping.c */
json_t *station_stats(const char *name);
int write_file(const char *path, const char *text);
/* directory of a SAN of this namespace in debugfs */
int san_debugfs(uint32_t id, char *dir, size_t cap);
/* EEP echo; microseconds, or a negative errno */
int64_t eep_echo(struct pwl_sock *k, uint32_t dst, uint16_t seq, size_t len, int timeout_ms,
		 const char **why);

#endif
