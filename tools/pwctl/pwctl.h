/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of pwctl share. */
#ifndef PWCTL_H
#define PWCTL_H

#include <errno.h>
#include <jansson.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/packetway_netlink.h>

#include "packetway.h"

#define N(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* exit codes, in pwctl(8) as well */
enum {
	EX_OK_ = 0,
	EX_USAGE_ = 1,		/* the command line is wrong */
	EX_REFUSED_ = 2,	/* the kernel, or a file, said no */
	EX_SILENCE_ = 3,	/* nobody answered in time */
};

struct verb {
	const char *name;
	int (*run)(int argc, char **argv);	/* argv[0] is the word after the verb */
	const char *args;
	const char *what;
};

/* options of the command line */
extern bool opt_json, opt_pretty;

/* pwctl.c */
int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int dispatch(const char *group, const struct verb *v, int n, int argc, char **argv);
int enter_netns(const char *name);
/* is *@i at keyword @word? then @v is its value, and *@i behind both */
bool keyword(int argc, char **argv, int *i, const char *word, const char **v);
bool flagword(int argc, char **argv, int *i, const char *word);
int parse_u64(const char *text, uint64_t *v);
int parse_u32(const char *text, uint32_t *v);
int parse_addr(const char *text, uint32_t *addr);

/* output: a list of objects; the first member is the title in text */
void out_begin(bool stream);
void out_item(const char *what, json_t *obj);
void out_end(void);
json_t *j_u64(uint64_t v);
json_t *j_addr(uint32_t addr);

/* nl.c */
struct nl {
	struct mnl_socket *s;
	unsigned int portid;
	unsigned int seq;
	int err;		/* of the last talk: 0 or a negative errno */
	char ext[256];		/* the kernel's sentence about it */
};

#define NL_BUF 32768

int nl_open(struct nl *nl, int bus);
void nl_close(struct nl *nl);
struct nlmsghdr *nl_request(struct nl *nl, void *buf, int type, int flags);
/* returns 0 or a negative errno; @cb is called with every answer */
int nl_talk(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data);
/* the same, and the error is printed; returns an exit code */
int nl_do(struct nl *nl, struct nlmsghdr *h, mnl_cb_t cb, void *data, const char *what);
void nl_sentence(struct nl *nl, const struct nlmsghdr *h);

struct genl {
	struct nl nl;
	int family;
	int group;		/* id of "events" */
};

int genl_open(struct genl *g);
struct nlmsghdr *genl_request(struct genl *g, void *buf, int cmd, int flags);

/* object.c: SANs and whatever else the family has */
int cmd_san(int argc, char **argv);
int esp_show(int argc, char **argv);
int esp_set(int argc, char **argv);
int esp_bindings(int argc, char **argv);
int poets_show(int argc, char **argv);
json_t *object_event(const struct nlmsghdr *h, const char **what, const char **action);

/* station.c */
struct station {
	char name[IFNAMSIZ];
	uint32_t ifindex;
	uint32_t san, port, addr, order;
	uint32_t mtu;
	bool up;
};

/* stations of this namespace; returns their number, or a negative errno */
int stations(struct station **list);
/* the one named, or the only one there is; prints what is wrong */
int pick_station(const char *name, struct station *st);
int station_add(struct nl *nl, const char *name, long san, long port, long order, long mtu,
		int netns);
int station_up(struct nl *nl, const char *name);
int link_del(struct nl *nl, const char *name);
int cmd_station(int argc, char **argv);
int link_addr_add(struct nl *nl, uint32_t ifindex, const char *text);
json_t *station_json(const struct station *st);
json_t *link_event(const struct nlmsghdr *h, const char **action);

/* aton.c, eep.c, poets.c, misc.c, lab.c, top.c, experiment.c */
int cmd_aton(int argc, char **argv);
int cmd_ping(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_esp(int argc, char **argv);
int cmd_poets(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_fault(int argc, char **argv);
int cmd_lab(int argc, char **argv);

#define LAB_NAME_MAX 32

/* a station of a lab and its network namespace */
struct lab_ns {
	char station[LAB_NAME_MAX];
	int fd;
};

int lab_namespaces(const char *lab, struct lab_ns *list, int room, int *home);
int cmd_top(int argc, char **argv);
int cmd_experiment(int argc, char **argv);
json_t *station_stats(const char *name);
/* directory of a SAN of this namespace in debugfs; 0 or a negative errno */
int san_debugfs(uint32_t id, char *dir, size_t cap);
/* EEP echo; microseconds, or a negative errno */
int64_t eep_echo(struct pwl_sock *k, uint32_t dst, uint16_t seq, size_t len, int timeout_ms,
		 const char **why);
int cmd_trace(int argc, char **argv);

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

int rrp_route(struct pwl_sock *k, uint32_t dst, struct source_route *r, int timeout_ms);
size_t route_front(const struct source_route *r, unsigned int n);
unsigned int route_hops(const struct source_route *r);
int rrp_who(struct pwl_sock *k, uint32_t addr, struct rrp_node *node, int timeout_ms);
int rrp_tell(struct pwl_sock *k, uint32_t hr, const char *name, uint32_t addr,
	     struct rrp_node *node, int max, int timeout_ms);

/* router.c */
int cmd_router(int argc, char **argv);
int cmd_route(int argc, char **argv);
int cmd_name(int argc, char **argv);
int cmd_resolve(int argc, char **argv);
json_t *router_json(const struct nlattr *nest);
json_t *route_json(const struct nlattr *nest);
json_t *router_event(const struct nlmsghdr *h, const char **what, const char **action);
json_t *j_hex(const void *data, size_t len);

#endif
