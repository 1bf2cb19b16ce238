// SPDX-License-Identifier: GPL-2.0
/* ethtool: identity and the model's counters. */
#include <linux/ethtool.h>

#include "pw_priv.h"

static void pw_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	const struct pw_station *st = netdev_priv(dev);

	strscpy(info->driver, PACKETWAY_KIND, sizeof(info->driver));
	snprintf(info->bus_info, sizeof(info->bus_info), "san%u.port%u", st->san->id, st->port);
}

static int pw_get_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ? PW_STAT_NUM + PW_RING_STAT_NUM : -EOPNOTSUPP;
}

static void pw_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	if (sset != ETH_SS_STATS)
		return;
	memcpy(data, pw_stat_names, sizeof(pw_stat_names));
	memcpy(data + sizeof(pw_stat_names), pw_ring_stat_names, sizeof(pw_ring_stat_names));
}

static void pw_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	const struct pw_station *st = netdev_priv(dev);

	pw_stats_fold(st, data);
	/* the ring is the SAN's: every station shows the same */
	pw_aton_stats(st->san->aton, data + PW_STAT_NUM);
}

const struct ethtool_ops pw_ethtool_ops = {
	.get_drvinfo = pw_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = pw_get_sset_count,
	.get_strings = pw_get_strings,
	.get_ethtool_stats = pw_get_ethtool_stats,
	.get_ts_info = ethtool_op_get_ts_info,
};
