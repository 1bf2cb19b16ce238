/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one list of drop reasons and model counters. It makes the enums, the
 * `ethtool -S` strings and the symbolic names of the drop tracepoint.
 */
#ifndef PACKETWAY_STATS_H
#define PACKETWAY_STATS_H

#include <linux/atomic.h>
#include <linux/types.h>

/*
 * checkpatch-ignore: COMPLEX_MACRO,MACRO_ARG_REUSE (lists to be expanded)
 *
 * Why a frame was dropped: X(SYMBOL, name, side). The counter is drop_<name>;
 * it also adds to the standard errors or drops of the side (see pw_stats.c).
 */
#define PW_DROP_REASONS(X)				\
	X(UNKNOWN_DST,	"unknown_dst",	TX_ERR)		\
	X(NO_ROUTE,	"no_route",	TX_ERR)		\
	X(BAD_DST,	"bad_dst",	TX_ERR)		\
	X(BAD_L2RH,	"bad_l2rh",	TX_ERR)		\
	X(TOO_BIG,	"too_big",	TX_ERR)		\
	X(TX_MALFORMED,	"tx_malformed",	TX_ERR)		\
	X(TX_NOMEM,	"tx_nomem",	TX_DROP)	\
	X(TX_FULL,	"tx_full",	TX_DROP)	\
	X(TX_LOST,	"tx_lost",	TX_DROP)	\
	X(HOP_LIMIT,	"hop_limit",	TX_ERR)		\
	X(LOOPED,	"looped",	TX_ERR)		\
	X(BAD_VERSION,	"bad_version",	RX_ERR)		\
	X(BAD_PREFIX,	"bad_prefix",	RX_ERR)		\
	X(RX_BAD_DST,	"rx_bad_dst",	RX_ERR)		\
	X(BAD_SRC,	"bad_src",	RX_ERR)		\
	X(BAD_ENDIAN,	"bad_endian",	RX_ERR)		\
	X(BAD_LENGTH,	"bad_length",	RX_ERR)		\
	X(BAD_OPTION,	"bad_option",	RX_ERR)		\
	X(UNK_OPTION,	"unknown_mandatory", RX_ERR)	\
	X(RX_TOO_BIG,	"rx_too_big",	RX_ERR)		\
	X(NOT_FOR_US,	"not_for_us",	RX_DROP)	\
	X(RX_DOWN,	"rx_down",	RX_DROP)	\
	X(RX_NOMEM,	"rx_nomem",	RX_DROP)	\
	X(BAD_PAYLOAD,	"bad_payload",	RX_ERR)

/* ESP: what became of each instruction; the three of an opcode stay together */
#define PW_ESP_COUNTERS(X)				\
	X(ESP_UNKNOWN_FORWARD, "esp_unknown_forward")	\
	X(ESP_UNKNOWN_DISCARD, "esp_unknown_discard")	\
	X(ESP_UNKNOWN_ABORT, "esp_unknown_abort")	\
	X(ESP_COUNT_FORWARD, "esp_count_forward")	\
	X(ESP_COUNT_DISCARD, "esp_count_discard")	\
	X(ESP_COUNT_ABORT, "esp_count_abort")		\
	X(ESP_COMPARE_FORWARD, "esp_compare_forward")	\
	X(ESP_COMPARE_DISCARD, "esp_compare_discard")	\
	X(ESP_COMPARE_ABORT, "esp_compare_abort")	\
	X(ESP_COLLECT_FORWARD, "esp_collect_forward")	\
	X(ESP_COLLECT_DISCARD, "esp_collect_discard")	\
	X(ESP_COLLECT_ABORT, "esp_collect_abort")	\
	X(ESP_RCHLD_FORWARD, "esp_rchld_forward")	\
	X(ESP_RCHLD_DISCARD, "esp_rchld_discard")	\
	X(ESP_RCHLD_ABORT, "esp_rchld_abort")		\
	X(ESP_RCOLLECT_FORWARD, "esp_rcollect_forward")	\
	X(ESP_RCOLLECT_DISCARD, "esp_rcollect_discard")	\
	X(ESP_RCOLLECT_ABORT, "esp_rcollect_abort")	\
	X(ESP_PASS,	"esp_pass")			\
	X(ESP_FULL,	"esp_store_full")		\
	X(ESP_REFLECTED,	"esp_reflected")	\
	X(ESP_REFLECT_LIMITED, "esp_reflect_limited")

/* POETS; drops in the order of enum pw_softswitch_drop, then those of no softswitch */
#define PW_POETS_COUNTERS(X)				\
	X(POETS_RX, "poets_rx")				\
	X(POETS_TX, "poets_tx")				\
	X(POETS_DELIVERED, "poets_delivered")		\
	X(POETS_OVERRUN, "poets_overrun")		\
	X(POETS_REPORTS, "poets_reports_sent")		\
	X(POETS_LOGS, "poets_logs_sent")		\
	X(POETS_LIMITED, "poets_limited")		\
	X(POETS_DROP_MALFORMED, "poets_drop_malformed")	\
	X(POETS_DROP_LOADING, "poets_drop_loading")	\
	X(POETS_DROP_BARRIER, "poets_drop_barrier")	\
	X(POETS_DROP_STOPPED, "poets_drop_stopped")	\
	X(POETS_DROP_MOTHERSHIP, "poets_drop_mothership") \
	X(POETS_DROP_DEVICE, "poets_drop_device")	\
	X(POETS_DROP_OPCODE, "poets_drop_opcode")	\
	X(POETS_DROP_PIN, "poets_drop_pin")		\
	X(POETS_DROP_EDGE, "poets_drop_edge")		\
	X(POETS_DROP_TASK, "poets_drop_task")

/* Everything else worth counting at a station: X(SYMBOL, name) */
#define PW_COUNTERS(X)					\
	X(TX_UNICAST,	"eep_tx_unicast")		\
	X(TX_GROUP,	"eep_tx_group")			\
	X(TX_OWN,	"eep_tx_own")			\
	X(TX_OWN_LIMITED, "eep_tx_own_limited")		\
	X(TX_STOPPED,	"eep_tx_stopped")		\
	X(RX_EEP,	"eep_rx_messages")		\
	X(RX_IP,	"eep_rx_ip")			\
	X(RX_OTHERHOST,	"eep_rx_otherhost")		\
	X(RX_SWAPPED,	"eep_rx_swapped")		\
	X(RX_EI,	"eep_rx_ei_set")		\
	X(CRC32_BAD,	"eep_crc32_bad")		\
	X(CRC64_BAD,	"eep_crc64_bad")		\
	X(ERR_SENT,	"err_sent")			\
	X(ERR_LIMITED,	"err_rate_limited")		\
	X(ERR_RECEIVED,	"err_received")			\
	X(PMTU_LIMITED,	"pmtu_rate_limited")		\
	X(ECHO_REQUEST,	"echo_requests")		\
	X(ECHO_REPLY,	"echo_replies_sent")		\
	X(ECHO_LIMITED,	"echo_rate_limited")		\
	X(TRACED,	"eep_traced")			\
	X(TX_SOURCE,	"eep_tx_source_route")		\
	PW_ESP_COUNTERS(X)				\
	PW_POETS_COUNTERS(X)

#define PW_X_DROP(sym, name, side) PW_DROP_##sym,
#define PW_X_STAT(sym, name) PW_STAT_##sym,
enum pw_drop {
	PW_DROP_REASONS(PW_X_DROP)
	PW_DROP_NUM
};

/* counters 0..PW_DROP_NUM-1 are the drop reasons */
enum pw_stat {
	PW_STAT_FIRST = PW_DROP_NUM - 1,
	PW_COUNTERS(PW_X_STAT)
	PW_STAT_NUM
};

#undef PW_X_DROP
#undef PW_X_STAT

/* instructions by opcode and what became of them: struct pw_esp has these */
#define PW_STAT_ESP_NUM		(PW_STAT_ESP_PASS - PW_STAT_ESP_UNKNOWN_FORWARD)

/*
 * Counters of a station, without those of struct pw_esp. They are not per CPU: frames are counted
 * by the device, and what is counted here happens in the station's poll or seldom.
 */
struct pw_stats {
	atomic64_t v[PW_STAT_NUM - PW_STAT_ESP_NUM];
};

#endif
