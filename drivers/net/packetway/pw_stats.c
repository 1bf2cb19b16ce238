// SPDX-License-Identifier: GPL-2.0
/* Counting: one place where a frame is counted and freed. */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "pw_mon.h"
#include "pw_priv.h"
#include "pw_trace.h"

#define PW_X_DROP(sym, name, side) "drop_" name,
#define PW_X_STAT(sym, name) name,
const char pw_stat_names[PW_STAT_NUM][ETH_GSTRING_LEN] = {
	PW_DROP_REASONS(PW_X_DROP)
	PW_COUNTERS(PW_X_STAT)
};

/* which standard counter a drop adds to */
enum pw_side { PW_SIDE_TX_ERR, PW_SIDE_TX_DROP, PW_SIDE_RX_ERR, PW_SIDE_RX_DROP };

#define PW_X_SIDE(sym, name, side) PW_SIDE_##side,
static const u8 pw_drop_side[PW_DROP_NUM] = {
	PW_DROP_REASONS(PW_X_SIDE)
};

/*
 * Modules cannot add drop reasons of their own: drop_monitor and kfree_skb get the
 * nearest of the kernel's, the packetway:pw_drop tracepoint has the exact one.
 */
static const enum skb_drop_reason pw_drop_skb_reason[PW_DROP_NUM] = {
	[PW_DROP_UNKNOWN_DST] = SKB_DROP_REASON_IP_OUTNOROUTES,
	[PW_DROP_NO_ROUTE] = SKB_DROP_REASON_IP_OUTNOROUTES,
	[PW_DROP_BAD_DST] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_BAD_L2RH] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_TOO_BIG] = SKB_DROP_REASON_PKT_TOO_BIG,
	[PW_DROP_TX_MALFORMED] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_TX_NOMEM] = SKB_DROP_REASON_NOMEM,
	[PW_DROP_TX_FULL] = SKB_DROP_REASON_FULL_RING,
	[PW_DROP_TX_LOST] = SKB_DROP_REASON_DEV_READY,
	[PW_DROP_HOP_LIMIT] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_LOOPED] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_BAD_VERSION] = SKB_DROP_REASON_INVALID_PROTO,
	[PW_DROP_BAD_PREFIX] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_RX_BAD_DST] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_BAD_SRC] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_BAD_ENDIAN] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_BAD_LENGTH] = SKB_DROP_REASON_PKT_TOO_SMALL,
	[PW_DROP_BAD_OPTION] = SKB_DROP_REASON_DEV_HDR,
	[PW_DROP_UNK_OPTION] = SKB_DROP_REASON_UNHANDLED_PROTO,
	[PW_DROP_RX_TOO_BIG] = SKB_DROP_REASON_PKT_TOO_BIG,
	[PW_DROP_NOT_FOR_US] = SKB_DROP_REASON_OTHERHOST,
	[PW_DROP_RX_DOWN] = SKB_DROP_REASON_DEV_READY,
	[PW_DROP_RX_NOMEM] = SKB_DROP_REASON_NOMEM,
	[PW_DROP_BAD_PAYLOAD] = SKB_DROP_REASON_UNHANDLED_PROTO,
};

/* where a counter is that struct pw_esp does not have */
static unsigned int pw_stat_slot(enum pw_stat id)
{
	return id < PW_STAT_ESP_UNKNOWN_FORWARD ? id : id - PW_STAT_ESP_NUM;
}

/**
 * pw_count - add one to a station's counter
 * @st: the station
 * @id: which; not one of those of struct pw_esp
 */
void pw_count(struct pw_station *st, enum pw_stat id)
{
	atomic64_inc(&st->stats->v[pw_stat_slot(id)]);
}

/**
 * pw_drop - count why a frame ends here, and free it
 * @st: station that drops it
 * @skb: the frame
 * @why: reason; BH off
 */
void pw_drop(struct pw_station *st, struct sk_buff *skb, enum pw_drop why)
{
	trace_pw_drop(st->dev, skb, why);
	/* on the way out pw_cb() may not be filled yet */
	pw_mon_record(st->san, PACKETWAY_MON_STATION, st->port, PACKETWAY_MON_DROPPED, skb,
		      ktime_to_ns(skb_hwtstamps(skb)->hwtstamp));
	pw_count(st, (enum pw_stat)why);
	kfree_skb_reason(skb, pw_drop_skb_reason[why]);
}

/**
 * pw_stats_fold - a station's counters
 * @st: the station
 * @sum: PW_STAT_NUM values
 */
void pw_stats_fold(const struct pw_station *st, u64 *sum)
{
	const atomic64_t *esp = &st->esp.done[0][0];
	struct rtnl_link_stats64 dev = {};
	int i;

	BUILD_BUG_ON(sizeof(st->esp.done) != PW_STAT_ESP_NUM * sizeof(*esp));
	for (i = 0; i < PW_STAT_NUM; i++) {
		if (i >= PW_STAT_ESP_UNKNOWN_FORWARD && i < PW_STAT_ESP_PASS)
			sum[i] = atomic64_read(esp++);
		else
			sum[i] = atomic64_read(&st->stats->v[pw_stat_slot(i)]);
	}
	/* the counters of the device have these already: each frame is counted once */
	dev_fetch_sw_netstats(&dev, st->dev->tstats);
	sum[PW_STAT_RX_EEP] = dev.rx_packets;
	sum[PW_STAT_TX_UNICAST] = dev.tx_packets - min(dev.tx_packets, sum[PW_STAT_TX_GROUP]);
}

/**
 * pw_get_stats64 - standard counters; drops by reason add into them
 * @dev: the station's device
 * @s: result
 */
void pw_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	const struct pw_station *st = netdev_priv(dev);
	u64 sum[PW_STAT_NUM];
	int i;

	dev_get_tstats64(dev, s);
	pw_stats_fold(st, sum);
	for (i = 0; i < PW_DROP_NUM; i++) {
		switch (pw_drop_side[i]) {
		case PW_SIDE_TX_ERR:
			s->tx_errors += sum[i];
			break;
		case PW_SIDE_TX_DROP:
			s->tx_dropped += sum[i];
			break;
		case PW_SIDE_RX_ERR:
			s->rx_errors += sum[i];
			break;
		case PW_SIDE_RX_DROP:
			s->rx_dropped += sum[i];
			break;
		}
	}
	s->rx_length_errors = sum[PW_DROP_BAD_LENGTH] + sum[PW_DROP_RX_TOO_BIG];
	s->rx_crc_errors = sum[PW_STAT_CRC32_BAD] + sum[PW_STAT_CRC64_BAD];
}
