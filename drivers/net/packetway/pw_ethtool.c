// SPDX-License-Identifier: GPL-2.0
/* ethtool: identity and the model's counters. */
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>

#include "pw_priv.h"

static void pw_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	const struct pw_station *st = netdev_priv(dev);

	strscpy(info->driver, PACKETWAY_KIND, sizeof(info->driver));
	snprintf(info->bus_info, sizeof(info->bus_info), "san%u.port%u", st->san->id, st->port);
}

#define PW_X_NAME(field, name) name,
static const char pw_fabric_stat_names[PW_FABRIC_STAT_NUM][ETH_GSTRING_LEN] = {
	PW_FABRIC_STAGE_NAMES(0),
	PW_FABRIC_STAGE_NAMES(1),
	PW_FABRIC_STAGE_NAMES(2),
	PW_FABRIC_STAGE_NAMES(3),
	PW_FABRIC_PORT_COUNTERS(PW_X_NAME)
	"fabric_cycles",
};

static int pw_get_sset_count(struct net_device *dev, int sset)
{
	return sset == ETH_SS_STATS ?
	       PW_STAT_NUM + PW_RING_STAT_NUM + PW_FABRIC_STAT_NUM : -EOPNOTSUPP;
}

static void pw_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	if (sset != ETH_SS_STATS)
		return;
	memcpy(data, pw_stat_names, sizeof(pw_stat_names));
	data += sizeof(pw_stat_names);
	memcpy(data, pw_ring_stat_names, sizeof(pw_ring_stat_names));
	data += sizeof(pw_ring_stat_names);
	memcpy(data, pw_fabric_stat_names, sizeof(pw_fabric_stat_names));
}

static void pw_get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	const struct pw_station *st = netdev_priv(dev);
	struct pw_engine *eng;

	pw_stats_fold(st, data);
	/* the ring is the SAN's: every station shows the same */
	data += PW_STAT_NUM;
	pw_aton_stats(st->san->aton, data);
	data += PW_RING_STAT_NUM;
	memset(data, 0, PW_FABRIC_STAT_NUM * sizeof(*data));
	rcu_read_lock();
	eng = rcu_dereference(st->san->engine);
	if (eng->ops->stats)
		eng->ops->stats(eng, st->port, data);
	rcu_read_unlock();
}

/* virtual time is a hardware timestamp: of every frame that arrives, of those sent if asked for */
static int pw_get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	const struct pw_station *st = netdev_priv(dev);

	ethtool_op_get_ts_info(dev, info);
	info->so_timestamping |= SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_HARDWARE |
				 SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	info->phc_index = pw_ptp_index(st->san->ptp);
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

const struct ethtool_ops pw_ethtool_ops = {
	.get_drvinfo = pw_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = pw_get_sset_count,
	.get_strings = pw_get_strings,
	.get_ethtool_stats = pw_get_ethtool_stats,
	.get_ts_info = pw_get_ts_info,
};
