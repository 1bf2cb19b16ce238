// SPDX-License-Identifier: GPL-2.0
/* Counters of stations, as `ethtool -S` has them. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pwctl.h"

struct stats_args {
	const char *dev;
	bool all;
};

const struct word stats_words[] = {
	{ "dev", "NAME", W_TEXT, offsetof(struct stats_args, dev), WORD_KEY },
	{ "all", NULL, W_FLAG, offsetof(struct stats_args, all) },
	{}
};

json_t *station_stats(const char *name)
{
	struct {
		struct ethtool_sset_info h;
		__u32 n;
	} info = { { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS }, 0 };
	struct ethtool_gstrings *strings = NULL;
	struct ethtool_stats *values = NULL;
	struct ifreq ifr = {};
	json_t *j = NULL;
	__u32 i;
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = (void *)&info;
	if (ioctl(fd, SIOCETHTOOL, &ifr) || !info.h.sset_mask)
		goto out;
	strings = calloc(1, sizeof(*strings) + (size_t)info.n * ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + (size_t)info.n * 8);
	if (!strings || !values)
		goto out;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = info.n;
	ifr.ifr_data = (void *)strings;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		goto out;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = info.n;
	ifr.ifr_data = (void *)values;
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		goto out;
	j = json_object();
	for (i = 0; i < info.n; i++) {
		char key[ETH_GSTRING_LEN + 1];

		snprintf(key, sizeof(key), "%.*s", ETH_GSTRING_LEN,
			 (char *)strings->data + i * ETH_GSTRING_LEN);
		json_object_set_new(j, key, j_u64(values->data[i]));
	}
out:
	free(strings);
	free(values);
	close(fd);
	return j;
}

enum status cmd_stats(const struct verb *verb, int argc, char **argv)
{
	struct stats_args a = {};
	struct station *list;
	json_t *j, *s, *v;
	int n, i, hits = 0;
	enum status st;
	const char *key;

	st = words(verb, argc, argv, &a);
	if (st)
		return st;
	n = stations(&list);
	if (n < 0)
		return fail(n, "stations");
	out_begin(false);
	for (i = 0; i < n; i++) {
		if (a.dev && strcmp(list[i].name, a.dev))
			continue;
		hits++;
		s = station_stats(list[i].name);
		if (!s) {
			st = fail(errno, "%s", list[i].name);
			break;
		}
		if (opt_json) {
			j = json_object();
			json_object_set_new(j, "ifname", json_string(list[i].name));
			json_object_set_new(j, "stats", s);
			out_item("station", j);
			continue;
		}
		printf("station %s%s%s:\n", color(C_NAME), list[i].name, color(C_NONE));
		json_object_foreach(s, key, v)
			if (a.all || !json_is_integer(v) || json_integer_value(v))
				printf("    %-28s %lld\n", key, (long long)json_integer_value(v));
		json_decref(s);
	}
	free(list);
	if (st)
		return st;
	if (a.dev && !hits)
		return fail(0, "there is no station %s in this namespace", a.dev);
	out_end();
	return ST_OK;
}
