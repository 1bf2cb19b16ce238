// SPDX-License-Identifier: GPL-2.0
/*
 * Counters and levels in the text formats of Prometheus and OpenMetrics.
 *
 * A look at the network is one JSON object: stations, sans, routers, esp, poets, as the
 * other verbs print them. Tables turn its members into metrics. Names and labels are an
 * interface: they only grow.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwctl.h"

#define MAX_NS 1024

enum kind { GAUGE, COUNTER };

/**
 * struct family - a metric with all its samples
 * @name: without "packetway_" in front and, of a counter, without "_total" behind
 * @kind: GAUGE or COUNTER
 * @unit: with which @name ends, or NULL for a plain number
 * @help: one sentence
 */
struct family {
	const char *name;
	enum kind kind;
	const char *unit;
	const char *help;
};

/**
 * struct rule - which metric a counter of the snapshot is a sample of
 * @key: the counter; one that ends with '*' stands for all that begin like it
 * @family: name of the family
 * @label: a label that samples of this family have, or NULL
 * @value: value of @label; NULL: what '*' stands for, in words of `value_label`
 */
struct rule {
	const char *key;
	const char *family;
	const char *label;
	const char *value;
};

static const struct family families[] = {
	{ "up", GAUGE, NULL, "1 if the kernel has packetway, 0 if the module is not loaded." },
	{ "station_info", GAUGE, NULL, "Port, address and byte order of a station; always 1." },
	{ "station_up", GAUGE, NULL, "1 if the station is up." },
	{ "station_mtu_bytes", GAUGE, "bytes", "Largest payload that the station sends." },
	{ "station_receive_bytes", COUNTER, "bytes", "Bytes that the station received." },
	{ "station_transmit_bytes", COUNTER, "bytes", "Bytes that the station sent." },
	{ "station_receive_packets", COUNTER, "packets", "Frames that the station received." },
	{ "station_transmit_packets", COUNTER, "packets", "Frames that the station sent." },
	{ "station_receive_errors", COUNTER, "errors", "Frames that the station received and found wrong." },
	{ "station_transmit_errors", COUNTER, "errors", "Frames that the station could not send." },
	{ "station_drops", COUNTER, NULL, "Frames that the station dropped, by reason." },
	{ "eep_sent_frames", COUNTER, "frames", "EEP frames sent, by kind of destination." },
	{ "eep_own_frames", COUNTER, "frames", "EEP frames that the kernel made at this station and sent." },
	{ "eep_limited_frames", COUNTER, "frames", "EEP frames that the kernel made and did not send because of a limit, by kind." },
	{ "eep_queue_stops", COUNTER, NULL, "Times that the station's queue stopped because its port was full." },
	{ "eep_received_messages", COUNTER, "messages", "EEP messages received and accepted." },
	{ "eep_received_ip", COUNTER, NULL, "EEP messages that carried IP to the stack." },
	{ "eep_received_other", COUNTER, NULL, "EEP messages for other stations, received in promiscuous mode." },
	{ "eep_traced_messages", COUNTER, "messages", "EEP messages with a trace symbol for the station." },
	{ "eep_source_route_messages", COUNTER, "messages", "EEP messages sent by source route." },
	{ "eep_swapped_messages", COUNTER, "messages", "EEP messages whose byte order the station changed." },
	{ "eep_error_indications", COUNTER, NULL, "EEP messages that arrived with an error indication." },
	{ "eep_bad_crc", COUNTER, NULL, "EEP messages with a wrong CRC, by its width." },
	{ "eep_error_messages", COUNTER, "messages", "ERR messages, by direction." },
	{ "eep_echo_messages", COUNTER, "messages", "Echo messages: requests received, replies sent." },
	{ "esp_instructions", COUNTER, NULL, "ESP instructions executed at a node, by instruction and verdict." },
	{ "esp_passed_packets", COUNTER, "packets", "ESP packets that passed a station without being executed." },
	{ "esp_store_full", COUNTER, NULL, "ESP instructions that found the store full." },
	{ "esp_reflected_packets", COUNTER, "packets", "ESP packets sent back to their source." },
	{ "esp_bindings", GAUGE, NULL, "Bindings in a node's ESP store." },
	{ "esp_capacity_bindings", GAUGE, "bindings", "Bindings that fit into a node's ESP store." },
	{ "esp_lifetime_seconds", GAUGE, "seconds", "Lifetime of a binding in a node's ESP store." },
	{ "poets_packets", COUNTER, "packets", "POETS packets at a station, by what became of them." },
	{ "poets_drops", COUNTER, NULL, "POETS packets that a station dropped, by reason." },
	{ "poets_devices", GAUGE, NULL, "Devices of a softswitch." },
	{ "poets_pins", GAUGE, NULL, "Pins of the devices of a softswitch." },
	{ "poets_queued_packets", GAUGE, "packets", "Packets in the queue of a softswitch or mothership." },
	{ "poets_queue_size_packets", GAUGE, "packets", "Packets that fit into the queue of a softswitch or mothership." },
	{ "poets_lost_packets", COUNTER, "packets", "Packets that found the queue of a softswitch or mothership full." },
	{ "poets_state", GAUGE, NULL, "State of a softswitch: 1 for the state that it has." },
	{ "poets_report", GAUGE, NULL, "Counters of a softswitch since its last report." },
	{ "san_info", GAUGE, NULL, "Engines of a SAN's fabric and ring; always 1." },
	{ "san_ports", GAUGE, NULL, "Ports of a SAN." },
	{ "san_stations", GAUGE, NULL, "Stations on a SAN." },
	{ "san_rate_bits_per_second", GAUGE, "bits_per_second", "Rate of a fabric link of a SAN." },
	{ "san_virtual_time_seconds", GAUGE, "seconds", "Virtual time of a SAN's fabric." },
	{ "san_real_time", GAUGE, NULL, "1 if the fabric of a SAN is paced to its rate, 0 for virtual time." },
	{ "san_frozen", GAUGE, NULL, "1 if the fabric of a SAN collects frames and does not run." },
	{ "ring_packets", COUNTER, "packets", "Ring packets that commands sent." },
	{ "ring_standing_packets", COUNTER, "packets", "Ring packets that standing commands sent." },
	{ "ring_busy_bits", COUNTER, "bits", "Bit times in which the ring was busy." },
	{ "ring_errors", COUNTER, "errors", "Commands that failed on the ring, by reason." },
	{ "ring_tokens", COUNTER, "tokens", "Tokens that the active monitor found lost or twice." },
	{ "ring_orphans", COUNTER, NULL, "Ring packets that the active monitor removed." },
	{ "ring_faults", COUNTER, "faults", "Faults injected into the ring, by kind." },
	{ "ring_purges", COUNTER, NULL, "Times that interfaces were inserted into or removed from the ring." },
	{ "ring_refused_commands", COUNTER, "commands", "Commands refused because too many were queued." },
	{ "ring_refused_leases", COUNTER, "leases", "Leases of registers and group bits that were refused." },
	{ "fabric_cells", COUNTER, "cells", "Cells at a stage of the fabric, by what became of them." },
	{ "fabric_queued_bytes", GAUGE, "bytes", "Bytes that wait at the input units of a stage of the fabric." },
	{ "fabric_fullest_bytes", GAUGE, "bytes", "Bytes that wait at the fullest input unit of a stage of the fabric." },
	{ "fabric_cycles", COUNTER, "cycles", "Cycles that the fabric has run." },
	{ "aal_cells", COUNTER, "cells", "Data cells of a port's AAL unit, by direction." },
	{ "aal_acknowledgments", COUNTER, NULL, "Acknowledgment cells of a port's AAL unit, by direction." },
	{ "aal_messages", COUNTER, "messages", "Messages of a port's AAL unit, by direction." },
	{ "aal_refused_cells", COUNTER, "cells", "Cells refused at a port's AAL unit, by direction." },
	{ "aal_resent_cells", COUNTER, "cells", "Cells that a port's AAL unit sent again." },
	{ "aal_bad_cells", COUNTER, "cells", "Cells that a port's AAL unit could not use at once, by reason." },
	{ "half_received_frames", COUNTER, "frames", "Frames that a half-router received from its SAN." },
	{ "half_forwarded_frames", COUNTER, "frames", "Frames that a half-router forwarded into its SAN, by how it found the route." },
	{ "half_sent_frames", COUNTER, "frames", "All frames that a half-router sent into its SAN." },
	{ "half_drops", COUNTER, NULL, "Frames that a half-router dropped, by reason." },
	{ "half_error_indications", COUNTER, NULL, "Frames whose error indication a half-router rewrote." },
	{ "half_hop_traces", COUNTER, NULL, "Addresses that a half-router wrote into hop traces." },
	{ "half_traced_frames", COUNTER, "frames", "Frames with a trace symbol for a half-router." },
	{ "half_limited_echos", COUNTER, NULL, "Echo requests over the rate of a half-router." },
	{ "half_error_messages", COUNTER, "messages", "ERR messages of a half-router, sent or limited." },
	{ "half_rrp_messages", COUNTER, "messages", "RRP messages of a half-router, by what became of them." },
	{ "half_reduce_messages", COUNTER, "messages", "Messages of reductions over rings, by what became of them." },
	{ "half_routing_tables", COUNTER, NULL, "Routing tables that a half-router received, taken or ignored." },
	{ "half_down_reports", COUNTER, NULL, "Routers or links that a half-router reported down." },
	{ "half_echo_messages", COUNTER, "messages", "Echo requests that a half-router answered." },
	{ "half_tables", GAUGE, NULL, "Routing tables that a half-router keeps." },
	{ "half_mtu_bytes", GAUGE, "bytes", "MTU in force at a half-router." },
	{ "trunk_up", GAUGE, NULL, "1 if the other end of a trunk answers." },
	{ "trunk_mtu_bytes", GAUGE, "bytes", "Bytes of data that fit through a trunk; 0: any number." },
	{ "trunk_frames", COUNTER, "frames", "Frames that crossed a trunk, by direction." },
	{ "trunk_hello_messages", COUNTER, "messages", "Hello messages of a trunk, by direction." },
	{ "trunk_drops", COUNTER, NULL, "Frames that a trunk dropped, by reason." },
	{ "other", COUNTER, NULL, "Counters of a newer kernel that this pwctl has no name for." },
};

/* counters of ethtool -S; the station's own first, then those of its ring and fabric */
static const struct rule station_rules[] = {
	{ "drop_*", "station_drops", "reason" },
	{ "eep_tx_unicast", "eep_sent_frames", "to", "station" },
	{ "eep_tx_group", "eep_sent_frames", "to", "group" },
	{ "eep_tx_own", "eep_own_frames" },
	{ "eep_tx_own_limited", "eep_limited_frames", "kind", "own" },
	{ "err_rate_limited", "eep_limited_frames", "kind", "error" },
	{ "echo_rate_limited", "eep_limited_frames", "kind", "echo" },
	{ "pmtu_rate_limited", "eep_limited_frames", "kind", "pmtu" },
	{ "esp_reflect_limited", "eep_limited_frames", "kind", "esp" },
	{ "poets_limited", "eep_limited_frames", "kind", "poets" },
	{ "eep_tx_stopped", "eep_queue_stops" },
	{ "eep_rx_messages", "eep_received_messages" },
	{ "eep_rx_ip", "eep_received_ip" },
	{ "eep_rx_otherhost", "eep_received_other" },
	{ "eep_rx_swapped", "eep_swapped_messages" },
	{ "eep_rx_ei_set", "eep_error_indications" },
	{ "eep_traced", "eep_traced_messages" },
	{ "eep_tx_source_route", "eep_source_route_messages" },
	{ "eep_crc32_bad", "eep_bad_crc", "width", "32" },
	{ "eep_crc64_bad", "eep_bad_crc", "width", "64" },
	{ "err_sent", "eep_error_messages", "direction", "sent" },
	{ "err_received", "eep_error_messages", "direction", "received" },
	{ "echo_requests", "eep_echo_messages", "direction", "received" },
	{ "echo_replies_sent", "eep_echo_messages", "direction", "sent" },
	{ "esp_pass", "esp_passed_packets" },
	{ "esp_store_full", "esp_store_full" },
	{ "esp_reflected", "esp_reflected_packets" },
	{ "poets_drop_*", "poets_drops", "reason" },
	{ "poets_rx", "poets_packets", "event", "received" },
	{ "poets_tx", "poets_packets", "event", "sent" },
	{ "poets_delivered", "poets_packets", "event", "delivered" },
	{ "poets_overrun", "poets_packets", "event", "overrun" },
	{ "poets_reports_sent", "poets_packets", "event", "report" },
	{ "poets_logs_sent", "poets_packets", "event", "log" },
	{ "aal_cells_out", "aal_cells", "direction", "sent" },
	{ "aal_cells_in", "aal_cells", "direction", "received" },
	{ "aal_acks_out", "aal_acknowledgments", "direction", "sent" },
	{ "aal_acks_in", "aal_acknowledgments", "direction", "received" },
	{ "aal_messages_out", "aal_messages", "direction", "sent" },
	{ "aal_messages_in", "aal_messages", "direction", "received" },
	{ "aal_refused_out", "aal_refused_cells", "direction", "sent" },
	{ "aal_refused_in", "aal_refused_cells", "direction", "received" },
	{ "aal_resent", "aal_resent_cells" },
	{ "aal_bad_crc", "aal_bad_cells", "reason", "crc" },
	{ "aal_duplicate", "aal_bad_cells", "reason", "duplicate" },
	{ "aal_ahead", "aal_bad_cells", "reason", "ahead" },
	{ "aal_overrun", "aal_bad_cells", "reason", "overrun" },
	{}
};

/* the same counters, which every station of a SAN has alike: once for each SAN */
static const struct rule shared_rules[] = {
	{ "ring_packets", "ring_packets" },
	{ "ring_standing", "ring_standing_packets" },
	{ "ring_busy_bits", "ring_busy_bits" },
	{ "ring_err_*", "ring_errors", "reason" },
	{ "ring_tokens_*", "ring_tokens", "event" },
	{ "ring_orphans", "ring_orphans" },
	{ "ring_flips", "ring_faults", "kind", "flip" },
	{ "ring_stuck", "ring_faults", "kind", "stuck" },
	{ "ring_purges", "ring_purges" },
	{ "ring_refused", "ring_refused_commands" },
	{ "ring_leases_refused", "ring_refused_leases" },
	{ "fabric_cycles", "fabric_cycles" },
	{}
};

static const struct rule half_rules[] = {
	{ "rx", "half_received_frames" },
	{ "forward-l3", "half_forwarded_frames", "by", "address" },
	{ "forward-l2", "half_forwarded_frames", "by", "source_route" },
	{ "forward-group", "half_forwarded_frames", "by", "group" },
	{ "sent", "half_sent_frames" },
	{ "drop-*", "half_drops", "reason" },
	{ "ei-marked", "half_error_indications" },
	{ "hop-trace", "half_hop_traces" },
	{ "err-*", "half_error_messages", "event" },
	{ "rrp-rx", "half_rrp_messages", "event", "received" },
	{ "rrp-tx", "half_rrp_messages", "event", "sent" },
	{ "rrp-*", "half_rrp_messages", "event" },
	{ "tables-*", "half_routing_tables", "event" },
	{ "hrdown", "half_down_reports" },
	{ "echo", "half_echo_messages" },
	{ "echo-limited", "half_limited_echos" },
	{ "traced", "half_traced_frames" },
	{ "reduce-*", "half_reduce_messages", "event" },
	{}
};

static const struct rule trunk_rules[] = {
	{ "tx", "trunk_frames", "direction", "sent" },
	{ "rx", "trunk_frames", "direction", "received" },
	{ "hello-tx", "trunk_hello_messages", "direction", "sent" },
	{ "hello-rx", "trunk_hello_messages", "direction", "received" },
	{ "drop-*", "trunk_drops", "reason" },
	{}
};

static const struct rule report_rules[] = { { "*", "poets_report", "counter" }, {} };

/* Samples ------------------------------------------------------------------- */

/* the samples of each family, collected before they are printed together */
struct samples {
	FILE *f[N(families)];
	char *text[N(families)];
	size_t len[N(families)];
};

/* labels of one object, "a=\"1\",b=\"2\"" */
struct labels {
	char text[1024];
};

static void label(struct labels *l, const char *name, const char *value)
{
	size_t n = strlen(l->text), room = sizeof(l->text) - 4;
	const char *p;

	/* a label that does not fit whole is left out; the longest name has 127 bytes */
	if (!value || n + strlen(name) + 2 * strlen(value) + 4 > room)
		return;
	n += snprintf(l->text + n, room - n, "%s%s=\"", n ? "," : "", name);
	for (p = value; *p; p++) {
		if (*p == '\\' || *p == '"' || *p == '\n')
			l->text[n++] = '\\';
		l->text[n++] = *p == '\n' ? 'n' : *p;
	}
	l->text[n++] = '"';
	l->text[n] = 0;
}

static void label_member(struct labels *l, const char *name, const json_t *obj, const char *key)
{
	const json_t *v = json_object_get(obj, key);
	char buf[24];

	if (json_is_integer(v)) {
		snprintf(buf, sizeof(buf), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		label(l, name, buf);
	} else if (json_is_string(v)) {
		label(l, name, json_string_value(v));
	}
}

static int family_index(const char *name)
{
	int i;

	for (i = 0; i < N(families); i++)
		if (!strcmp(families[i].name, name))
			return i;
	return N(families) - 1;
}

static void sample_text(struct samples *s, const char *name, const struct labels *l, const char *value)
{
	const int i = family_index(name);

	if (!s->f[i])
		return;
	fprintf(s->f[i], "packetway_%s%s%s%s%s %s\n", families[i].name,
		families[i].kind == COUNTER ? "_total" : "", *l->text ? "{" : "", l->text,
		*l->text ? "}" : "", value);
}

static void sample(struct samples *s, const char *name, const struct labels *l, uint64_t value)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	sample_text(s, name, l, buf);
}

/* numbers above 2^63 - 1 are strings in a snapshot */
static bool number(const json_t *v, uint64_t *n)
{
	if (json_is_integer(v))
		*n = json_integer_value(v);
	else if (json_is_boolean(v))
		*n = json_is_true(v);
	else if (!json_is_string(v) || parse_u64(json_string_value(v), n))
		return false;
	return true;
}

static void sample_member(struct samples *s, const char *name, const struct labels *l,
			  const json_t *obj, const char *key)
{
	uint64_t n;

	if (number(json_object_get(obj, key), &n))
		sample(s, name, l, n);
}

/* a member in units of 1/@per of a second */
static void sample_seconds(struct samples *s, const char *name, const struct labels *l,
			   const json_t *obj, const char *key, uint64_t per)
{
	char buf[48];
	uint64_t n;

	if (!number(json_object_get(obj, key), &n))
		return;
	snprintf(buf, sizeof(buf), "%" PRIu64 ".%09" PRIu64, n / per,
		 n % per * (1000000000 / per));
	sample_text(s, name, l, buf);
}

static const struct rule *rule_of(const struct rule *r, const char *key)
{
	size_t n;

	for (; r->key; r++) {
		n = strlen(r->key);
		if (r->key[n - 1] == '*' ? !strncmp(r->key, key, n - 1) : !strcmp(r->key, key))
			return r;
	}
	return NULL;
}

/* one counter by its rule; @l: labels of the object that has it */
static void sample_rule(struct samples *s, const struct rule *r, const char *key,
			const struct labels *l, const json_t *v)
{
	struct labels more = *l;
	char value[64], *p;
	uint64_t n;

	if (!number(v, &n))
		return;
	if (r->label) {
		snprintf(value, sizeof(value), "%s",
			 r->value ? r->value : key + strlen(r->key) - 1);
		for (p = value; *p; p++)
			if (*p == '-')
				*p = '_';
		label(&more, r->label, value);
	}
	sample(s, r->family, &more, n);
}

static void sample_rules(struct samples *s, const struct rule *rules, const struct labels *l,
			 const json_t *counters)
{
	static const struct rule other = { "*", "other", "counter" };
	const struct rule *r;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)counters, key, v) {
		r = rule_of(rules, key);
		sample_rule(s, r ? r : &other, key, l, v);
	}
}

/* "INSTRUCTION_VERDICT" with these labels of a node; false: it is another counter */
static bool sample_verdict(struct samples *s, const struct labels *node, const char *key,
			   const json_t *v)
{
	static const char *const verdicts[] = { "forward", "discard", "abort" };
	const char *verdict = strrchr(key, '_');
	struct labels l = *node;
	char name[32];
	uint64_t n;
	int i;

	for (i = 0; verdict && i < N(verdicts); i++) {
		if (strcmp(verdict + 1, verdicts[i]) || !number(v, &n))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(verdict - key), key);
		label(&l, "instruction", name);
		label(&l, "verdict", verdicts[i]);
		sample(s, "esp_instructions", &l, n);
		return true;
	}
	return false;
}

/* "fabric_stageN_EVENT"; false: it is another counter */
static bool sample_stage(struct samples *s, const struct labels *san, const char *key,
			 const json_t *v)
{
	struct labels l = *san;
	char stage[8], event[24];
	uint64_t n;

	if (sscanf(key, "fabric_stage%7[0-9]_%23s", stage, event) != 2 || !number(v, &n))
		return false;
	label(&l, "stage", stage);
	label(&l, "event", strcmp(event, "cells") ? event : "taken");
	sample(s, "fabric_cells", &l, n);
	return true;
}

static void station_labels(struct labels *l, const json_t *st)
{
	label_member(l, "lab", st, "lab");
	label_member(l, "station", st, "ifname");
	label_member(l, "san", st, "san");
}

/* @first: no station before it is on the same SAN; @stages: the SAN has its stages itself */
static void sample_station(struct samples *s, const json_t *st, bool first, bool stages)
{
	static const struct rule other = { "*", "other", "counter" };
	struct labels l = {}, info, node = {}, san = {};
	json_t *link = json_object_get(st, "link"), *v;
	const char *key, *state;
	const struct rule *r;

	station_labels(&l, st);
	info = l;
	label_member(&info, "port", st, "port");
	label_member(&info, "addr", st, "addr");
	label_member(&info, "order", st, "order");
	label_member(&node, "lab", st, "lab");
	label_member(&node, "node", st, "addr");
	label_member(&node, "station", st, "ifname");
	label_member(&san, "lab", st, "lab");
	label_member(&san, "san", st, "san");
	sample(s, "station_info", &info, 1);
	state = json_string_value(json_object_get(st, "state"));
	sample(s, "station_up", &l, state && !strcmp(state, "up"));
	sample_member(s, "station_mtu_bytes", &l, st, "mtu");
	sample_member(s, "station_receive_bytes", &l, link, "rx_bytes");
	sample_member(s, "station_transmit_bytes", &l, link, "tx_bytes");
	sample_member(s, "station_receive_packets", &l, link, "rx_packets");
	sample_member(s, "station_transmit_packets", &l, link, "tx_packets");
	sample_member(s, "station_receive_errors", &l, link, "rx_errors");
	sample_member(s, "station_transmit_errors", &l, link, "tx_errors");
	json_object_foreach(json_object_get(st, "stats"), key, v) {
		r = rule_of(station_rules, key);
		if (!strncmp(key, "esp_", 4) && sample_verdict(s, &node, key + 4, v))
			continue;
		if (r) {
			sample_rule(s, r, key, &l, v);
			continue;
		}
		r = rule_of(shared_rules, key);
		if (stages && !strncmp(key, "fabric_stage", 12))
			continue;
		if (!r && (first || strncmp(key, "fabric_stage", 12)) &&
		    !sample_stage(s, &san, key, v))
			sample_rule(s, &other, key, &l, v);
		else if (r && first)
			sample_rule(s, r, key, &san, v);
	}
}

static void sample_stages(struct samples *s, const struct labels *san, const json_t *stages)
{
	static const char *const events[] = { "cells", "refused", "dropped", "corrupted" };
	struct labels l, more;
	size_t i, k;
	uint64_t n;
	json_t *v;

	json_array_foreach(stages, i, v) {
		l = *san;
		label_member(&l, "stage", v, "stage");
		for (k = 0; k < N(events); k++) {
			more = l;
			label(&more, "event", k ? events[k] : "taken");
			if (number(json_object_get(v, events[k]), &n))
				sample(s, "fabric_cells", &more, n);
		}
		/* nothing waits at output ports, which are the last ones */
		if (i + 1 == json_array_size(stages))
			continue;
		sample_member(s, "fabric_queued_bytes", &l, v, "queued");
		sample_member(s, "fabric_fullest_bytes", &l, v, "fullest");
	}
}

static void sample_san(struct samples *s, const json_t *san)
{
	struct labels l = {}, info;

	label_member(&l, "lab", san, "lab");
	label_member(&l, "san", san, "id");
	info = l;
	label_member(&info, "engine", san, "engine");
	label_member(&info, "ring_engine", san, "ring-engine");
	label_member(&info, "topology", san, "topology");
	sample(s, "san_info", &info, 1);
	sample_member(s, "san_ports", &l, san, "ports");
	sample_member(s, "san_stations", &l, san, "stations");
	sample_member(s, "san_rate_bits_per_second", &l, san, "rate");
	sample_seconds(s, "san_virtual_time_seconds", &l, san, "time", 1000000000);
	sample_member(s, "san_real_time", &l, san, "real");
	sample_member(s, "san_frozen", &l, san, "frozen");
	sample_stages(s, &l, json_object_get(san, "fabric"));
}

static void sample_router(struct samples *s, const json_t *router)
{
	json_t *half, *trunk = json_object_get(router, "trunk");
	struct labels base = {}, l;
	size_t i;

	label_member(&base, "lab", router, "lab");
	label_member(&base, "router", router, "name");
	json_array_foreach(json_object_get(router, "halves"), i, half) {
		l = base;
		label_member(&l, "san", half, "san");
		label_member(&l, "node", half, "addr");
		sample_member(s, "half_tables", &l, half, "tables");
		sample_member(s, "half_mtu_bytes", &l, half, "mtu");
		sample_rules(s, half_rules, &l, json_object_get(half, "stats"));
	}
	if (!trunk)
		return;
	sample_member(s, "trunk_up", &base, trunk, "up");
	sample_member(s, "trunk_mtu_bytes", &base, trunk, "mtu");
	sample_rules(s, trunk_rules, &base, json_object_get(trunk, "stats"));
}

static void sample_esp(struct samples *s, const json_t *esp)
{
	struct labels l = {};
	const char *key;
	json_t *v;

	/* the defaults of the namespace have no node */
	if (!json_object_get(esp, "node"))
		return;
	label_member(&l, "lab", esp, "lab");
	label_member(&l, "node", esp, "node");
	label_member(&l, "station", esp, "dev");
	label_member(&l, "router", esp, "router");
	sample_member(s, "esp_bindings", &l, esp, "used");
	sample_member(s, "esp_capacity_bindings", &l, esp, "capacity");
	sample_seconds(s, "esp_lifetime_seconds", &l, esp, "lifetime", 1000);
	json_object_foreach(json_object_get(esp, "done"), key, v)
		sample_verdict(s, &l, key, v);
}

static void sample_poets(struct samples *s, const json_t *poets)
{
	static const char *const states[] = { "loading", "barrier", "running", "stopped" };
	const char *state = json_string_value(json_object_get(poets, "state"));
	json_t *counters = json_object_get(poets, "counters");
	struct labels l = {}, more;
	int i;

	label_member(&l, "lab", poets, "lab");
	label_member(&l, "station", poets, "dev");
	label_member(&l, "role", poets, "role");
	sample_member(s, "poets_devices", &l, poets, "devices");
	sample_member(s, "poets_pins", &l, poets, "pins");
	sample_member(s, "poets_queue_size_packets", &l, poets, "queue");
	sample_member(s, "poets_queued_packets", &l, poets, "queued");
	sample_member(s, "poets_lost_packets", &l, poets, "lost");
	for (i = 0; state && i < N(states); i++) {
		more = l;
		label(&more, "state", states[i]);
		sample(s, "poets_state", &more, !strcmp(state, states[i]));
	}
	json_object_del(counters, "index");
	sample_rules(s, report_rules, &l, counters);
}

/* Printing ------------------------------------------------------------------ */

static bool samples_open(struct samples *s)
{
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < N(families); i++) {
		s->f[i] = open_memstream(&s->text[i], &s->len[i]);
		if (!s->f[i])
			return false;
	}
	return true;
}

static void samples_close(struct samples *s)
{
	int i;

	for (i = 0; i < N(families); i++) {
		if (s->f[i])
			fclose(s->f[i]);
		s->f[i] = NULL;
	}
}

/*
 * The two formats differ in the name of a counter's family, in units and in the end.
 * Readers of the older one take the name with _total for the family.
 */
static void print_family(FILE *f, const struct family *fam, const char *text, bool openmetrics)
{
	const bool counter = fam->kind == COUNTER;
	const char *total = counter && !openmetrics ? "_total" : "";

	fprintf(f, "# HELP packetway_%s%s %s\n", fam->name, total, fam->help);
	fprintf(f, "# TYPE packetway_%s%s %s\n", fam->name, total, counter ? "counter" : "gauge");
	if (openmetrics && fam->unit)
		fprintf(f, "# UNIT packetway_%s %s\n", fam->name, fam->unit);
	fputs(text, f);
}

/* has the look at the SAN of a station its stages? */
static bool has_stages(const json_t *look, const json_t *station)
{
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(look, "sans"), i, v)
		if (json_equal(json_object_get(v, "id"), json_object_get(station, "san")) &&
		    json_array_size(json_object_get(v, "fabric")))
			return true;
	return false;
}

static enum status print_metrics(FILE *f, const json_t *look, bool openmetrics)
{
	const json_t *stations = json_object_get(look, "stations");
	const struct labels none = {};
	struct samples s;
	size_t i, k;
	json_t *v;

	if (!samples_open(&s)) {
		samples_close(&s);
		for (i = 0; i < N(families); i++)
			free(s.text[i]);
		return fail(ENOMEM, "metrics");
	}
	sample_member(&s, "up", &none, look, "up");
	json_array_foreach(stations, i, v) {
		/* in a lab, stations of different namespaces share SANs */
		for (k = 0; k < i; k++)
			if (json_equal(json_object_get(json_array_get(stations, k), "san"),
				       json_object_get(v, "san")))
				break;
		sample_station(&s, v, k == i, has_stages(look, v));
	}
	json_array_foreach(json_object_get(look, "sans"), i, v)
		sample_san(&s, v);
	json_array_foreach(json_object_get(look, "routers"), i, v)
		sample_router(&s, v);
	json_array_foreach(json_object_get(look, "esp"), i, v)
		sample_esp(&s, v);
	json_array_foreach(json_object_get(look, "poets"), i, v)
		sample_poets(&s, v);
	samples_close(&s);
	for (i = 0; i < N(families); i++) {
		if (s.len[i])
			print_family(f, &families[i], s.text[i], openmetrics);
		free(s.text[i]);
	}
	if (openmetrics)
		fputs("# EOF\n", f);
	return ST_OK;
}

/* A look -------------------------------------------------------------------- */

static json_t *link_json(const struct rtnl_link_stats64 *l)
{
	json_t *j = json_object();

	json_object_set_new(j, "rx_packets", j_u64(l->rx_packets));
	json_object_set_new(j, "tx_packets", j_u64(l->tx_packets));
	json_object_set_new(j, "rx_bytes", j_u64(l->rx_bytes));
	json_object_set_new(j, "tx_bytes", j_u64(l->tx_bytes));
	json_object_set_new(j, "rx_errors", j_u64(l->rx_errors));
	json_object_set_new(j, "tx_errors", j_u64(l->tx_errors));
	return j;
}

/* members of a list get the name of the lab and, in a station's namespace, of the station */
static void rename_members(json_t *list, size_t from, const char *lab, const char *key,
			   const char *name)
{
	for (; from < json_array_size(list); from++) {
		json_t *j = json_array_get(list, from);

		if (lab)
			json_object_set_new(j, "lab", json_string(lab));
		if (name && json_object_get(j, key))
			json_object_set_new(j, key, json_string(name));
	}
}

static enum status look_stations(json_t *out)
{
	json_t *list = json_object_get(out, "stations"), *j, *s;
	struct station *st;
	int n, i;

	n = stations(&st);
	if (n < 0)
		return fail(n, "stations");
	for (i = 0; i < n; i++) {
		/* it may have been deleted meanwhile */
		s = station_stats(st[i].name);
		if (!s)
			continue;
		j = station_json(&st[i]);
		json_object_set_new(j, "link", link_json(&st[i].link));
		json_object_set_new(j, "stats", s);
		json_array_append_new(list, j);
	}
	free(st);
	return ST_OK;
}

/* SANs, each with the stages of its fabric; one that was deleted meanwhile has none */
static enum status look_sans(json_t *list, size_t from)
{
	enum status st = object_list("san", list);
	json_t *san, *stages;

	for (; !st && from < json_array_size(list); from++) {
		san = json_array_get(list, from);
		stages = json_array();
		san_stages(json_integer_value(json_object_get(san, "id")), stages);
		json_object_set_new(san, "fabric", stages);
	}
	return st;
}

/* all that this namespace has; @station: name of the station that a lab's namespace is of */
static enum status look_here(json_t *out, const char *lab, const char *station)
{
	static const struct {
		const char *list, *object, *dev;
	} lists[] = {
		{ "stations", NULL, "ifname" }, { "sans", NULL, NULL }, { "esp", "esp", "dev" },
		{ "poets", "poets", "dev" }, { "routers", NULL, NULL },
	};
	enum status st;
	json_t *list;
	size_t from;
	int i;

	for (i = 0; i < N(lists); i++) {
		list = json_object_get(out, lists[i].list);
		from = json_array_size(list);
		st = lists[i].object ? object_list(lists[i].object, list) :
		     i == 0 ? look_stations(out) : i == 1 ? look_sans(list, from) : router_list(list);
		if (st)
			return st;
		rename_members(list, from, lab, lists[i].dev ? lists[i].dev : "", station);
	}
	return ST_OK;
}

struct metrics_args {
	const char *file, *listen, *lab, *from;
	uint32_t format;
	/* a lab: where to look */
	struct lab_ns *ns;
	int nns, home, here;
};

static enum status look(const struct metrics_args *a, json_t **out)
{
	enum status st = ST_OK;
	struct genl g;
	int i, err;

	*out = json_pack("{s:b, s:[], s:[], s:[], s:[], s:[]}", "up", 0, "stations", "sans",
			 "routers", "esp", "poets");
	err = genl_find(&g);
	if (err == -ENOENT)
		return ST_OK;
	if (err)
		return fail(err, "generic netlink");
	nl_close(&g.nl);
	json_object_set_new(*out, "up", json_true());
	if (!a->lab)
		return look_here(*out, NULL, NULL);
	for (i = 0; !st && i < a->nns; i++)
		st = setns(a->ns[i].fd, CLONE_NEWNET) ? fail(errno, "%s", a->ns[i].station) :
		     look_here(*out, a->lab, a->ns[i].station);
	if (!st)
		st = setns(a->home, CLONE_NEWNET) ? fail(errno, "%s", a->lab) :
		     look_here(*out, a->lab, NULL);
	if (setns(a->here, CLONE_NEWNET))
		st = fail(errno, "the namespace before");
	return st;
}

static enum status render(FILE *f, bool openmetrics, void *data)
{
	enum status st;
	json_t *j;

	st = look(data, &j);
	if (!st)
		st = print_metrics(f, j, openmetrics);
	json_decref(j);
	return st;
}

/* The verb ------------------------------------------------------------------ */

static enum status print_look(const struct metrics_args *a, FILE *f)
{
	json_error_t bad;
	enum status st;
	json_t *j;

	if (a->from) {
		j = strcmp(a->from, "-") ? json_load_file(a->from, 0, &bad) :
		    json_loadf(stdin, 0, &bad);
		if (!json_is_object(j)) {
			json_decref(j);
			return fail(0, "%s: not what `pwctl -j metrics` prints", a->from);
		}
		st = ST_OK;
	} else {
		st = look(a, &j);
	}
	if (!st && opt_json)
		st = json_dumpf(j, f, opt_pretty ? JSON_INDENT(4) : JSON_COMPACT) ||
		     fputc('\n', f) == EOF ? fail(errno, "metrics") : ST_OK;
	else if (!st)
		st = print_metrics(f, j, a->format);
	json_decref(j);
	return st;
}

/* readers see the old file or the new one, never a part */
static enum status print_file(const struct metrics_args *a)
{
	char tmp[PATH_MAX];
	enum status st;
	mode_t mask;
	FILE *f;
	int fd;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", a->file) >= (int)sizeof(tmp))
		return fail(ENAMETOOLONG, "%s", a->file);
	fd = mkstemp(tmp);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		return fail(errno, "%s", a->file);
	mask = umask(0);
	umask(mask);
	st = fchmod(fd, 0644 & ~mask) ? fail(errno, "%s", a->file) : print_look(a, f);
	if (fflush(f) || fsync(fd))
		st = st ? st : fail(errno, "%s", a->file);
	fclose(f);
	if (!st && rename(tmp, a->file))
		st = fail(errno, "%s", a->file);
	if (st)
		unlink(tmp);
	return st;
}

/* does the client ask for the newer format? */
static bool wants_openmetrics(const char *headers)
{
	size_t len;
	const char *accept = http_header(headers, "accept", &len);

	return accept && memmem(accept, len, "application/openmetrics-text", 28);
}

static void get_metrics(struct http_client *c, const char *path, const char *headers, bool head,
			bool room, void *data)
{
	const bool om = wants_openmetrics(headers);
	char *body = NULL;
	size_t len = 0;
	enum status st;
	FILE *f;

	if (!strcmp(path, "/")) {
		http_text(c, "200 OK", "packetway: see /metrics\n", head);
		return;
	}
	if (strcmp(path, "/metrics")) {
		http_text(c, "404 Not Found", "see /metrics\n", head);
		return;
	}
	f = open_memstream(&body, &len);
	if (!f)
		return;
	st = render(f, om, data);
	fclose(f);
	if (st)
		http_text(c, "500 Internal Server Error", "the network cannot be read\n", head);
	else
		http_answer(c, "200 OK", om ?
			    "application/openmetrics-text; version=1.0.0; charset=utf-8" :
			    "text/plain; version=0.0.4; charset=utf-8", body, len, head);
	free(body);
}

static const struct http_ops metrics_server = { .path = "/metrics", .get = get_metrics };

#define AT(m) offsetof(struct metrics_args, m)

const struct word metrics_words[] = {
	{ "lab", "LAB", W_TEXT, AT(lab) },
	{ "format", "prometheus|openmetrics", W_CHOICE, AT(format) },
	{ "from", "FILE.json", W_TEXT, AT(from) },
	{ "-o", "FILE", W_TEXT, AT(file) },
	{ "--listen", "[ADDR:]PORT", W_TEXT, AT(listen) },
	{}
};

enum status cmd_metrics(const struct verb *v, int argc, char **argv)
{
	struct metrics_args a = { .home = -1, .here = -1 };
	enum status st;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	if (a.listen && (a.file || a.from || opt_json))
		return usage("metrics: --listen stands without -o, from and -j");
	if (a.from && a.lab)
		return usage("metrics: from and lab exclude each other");
	if (a.lab) {
		a.ns = calloc(MAX_NS, sizeof(*a.ns));
		if (!a.ns)
			return fail(ENOMEM, "metrics");
		a.nns = lab_namespaces(a.lab, a.ns, MAX_NS, &a.home);
		if (a.nns <= 0)
			return fail(a.nns, "there is no lab %s", a.lab);
		a.here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		if (a.here < 0)
			return fail(errno, "this network namespace");
	}
	if (a.listen)
		return http_serve(a.listen, &metrics_server, -1, &a);
	st = a.file ? print_file(&a) : print_look(&a, stdout);
	free(a.ns);
	return st;
}
