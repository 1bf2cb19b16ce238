/* SPDX-License-Identifier: GPL-2.0 */
/*
 * POETS packets, and the softswitch that hands them to devices.
 *
 * A softswitch and everything that is called with it needs one lock of the
 * caller. Time is an unsigned 64-bit count of nanoseconds that does not go
 * backwards; only differences matter.
 *
 * The functions of poets_tools.c and softswitch_tools.c are for tools and tests: the
 * module does not have them.
 */
#ifndef PW_CORE_POETS_H
#define PW_CORE_POETS_H

#include "pw_os.h"
#include <linux/packetway_eep.h>

/* ---- packet ---- */

#define PW_POETS_PKT_MAX	(PW_POETS_HDR_LEN + PW_POETS_MAX_PAYLOAD)
#define PW_POETS_DEVICES_MAX	0xffffU		/* 0xffff is the broadcast address */
#define PW_POETS_PINS_MAX	256U		/* of a device */
#define PW_POETS_EDGES_MAX	0x1000000U	/* of a pin */
#define PW_POETS_SW_KILL	0xc0ff0000U	/* softswitch to mothership */

struct pw_poets_pkt {
	u32 sw_addr;
	u32 pin_addr;
	const u8 *payload;
	u8 len;			/* of the payload */
};

static inline u16 pw_poets_device(u32 sw_addr)
{
	return FIELD_GET(PW_POETS_DEVICE_MASK, sw_addr);
}

static inline u8 pw_poets_opcode(u32 sw_addr)
{
	return FIELD_GET(PW_POETS_OPCODE_MASK, sw_addr);
}

static inline u8 pw_poets_task(u32 sw_addr)
{
	return FIELD_GET(PW_POETS_TASK_MASK, sw_addr);
}

static inline u8 pw_poets_pin(u32 pin_addr)
{
	return FIELD_GET(PW_POETS_PIN_MASK, pin_addr);
}

static inline u32 pw_poets_edge(u32 pin_addr)
{
	return FIELD_GET(PW_POETS_EDGE_MASK, pin_addr);
}

static inline enum pw_poets_kind pw_poets_kind(u32 sw_addr)
{
	return (enum pw_poets_kind)((sw_addr & PW_POETS_MOTHERSHIP ? PW_POETS_KIND_EXTERNAL : 0) |
				    (sw_addr & PW_POETS_CNC ? PW_POETS_KIND_CONTROL : 0));
}

static inline u32 pw_poets_sw_addr(bool mothership, bool cnc, u8 task, u8 opcode, u16 device)
{
	return (mothership ? PW_POETS_MOTHERSHIP : 0) | (cnc ? PW_POETS_CNC : 0) |
	       FIELD_PREP(PW_POETS_TASK_MASK, (u32)task) |
	       FIELD_PREP(PW_POETS_OPCODE_MASK, (u32)opcode) | device;
}

static inline u32 pw_poets_pin_addr(u8 pin, u32 edge)
{
	return FIELD_PREP(PW_POETS_EDGE_MASK, edge) | pin;
}

unsigned int pw_poets_flits(size_t payload_len);
int pw_poets_parse(const void *buf, size_t len, struct pw_poets_pkt *p);
size_t pw_poets_build(void *buf, size_t size, u32 sw_addr, u32 pin_addr, const void *payload,
		      size_t len);

/* the same with the hardware address in front, for where no carrier has it */
#define PW_POETS_ADDRESSED_LEN	4U	/* in front of the packet */
int pw_poets_parse_addressed(const void *buf, size_t len, u32 *hw_addr, struct pw_poets_pkt *p);
size_t pw_poets_build_addressed(void *buf, size_t size, u32 hw_addr, u32 sw_addr, u32 pin_addr,
				const void *payload, size_t len);
#define PW_POETS_DEBUG_LEN	5U
int pw_poets_parse_debug(const void *buf, size_t len, u32 *origin, u8 *byte);
size_t pw_poets_build_debug(void *buf, size_t size, u32 origin, u8 byte);

/* what a mothership does with a packet */
enum pw_poets_ms {
	PW_POETS_MS_COMMAND,	/* barrier, instrumentation, log, stop, kill */
	PW_POETS_MS_SUPERVISOR,	/* for the supervisor of the task */
	PW_POETS_MS_EXTERNAL,	/* for the outside: warn, drop */
	PW_POETS_MS_FOREIGN,	/* for a device: warn, drop */
	PW_POETS_MS_BAD,	/* supervisor with a device address: warn, drop */
	PW_POETS_MS_COUNT
};

enum pw_poets_ms pw_poets_mothership(u32 sw_addr);

/* ---- log ---- */

#define PW_POETS_LOG_FRAGS	4U
#define PW_POETS_LOG_BYTES	(PW_POETS_MAX_PAYLOAD - 1)	/* in one fragment */
#define PW_POETS_LOG_MAX	(PW_POETS_LOG_FRAGS * PW_POETS_LOG_BYTES)

/* one per source of log packets: hardware address and pinAddr, the device */
struct pw_poets_log {
	u8 left;		/* fragments that must follow; 0: none under way */
	u8 len;
	u32 lost;		/* messages that were begun and never ended, bad fragments */
	char text[PW_POETS_LOG_MAX];
};

unsigned int pw_poets_log_fragments(size_t len);
size_t pw_poets_log_build(void *buf, size_t size, u16 device, const char *text, size_t len,
			  unsigned int nth);
void pw_poets_log_init(struct pw_poets_log *log);
int pw_poets_log_add(struct pw_poets_log *log, const u8 *payload, size_t len);

/* ---- instrumentation ---- */

enum pw_poets_counter {
	PW_POETS_C_INDEX,
	PW_POETS_C_CYCLES,
	PW_POETS_C_RX,
	PW_POETS_C_RX_HANDLERS,
	PW_POETS_C_TX,
	PW_POETS_C_TX_SUPERVISOR,
	PW_POETS_C_TX_HANDLERS,
	PW_POETS_C_IDLE,
	PW_POETS_C_IDLE_HANDLERS,
	PW_POETS_C_BLOCKED,
	PW_POETS_C_BASIC,	/* as many in the short payload */
	PW_POETS_C_CACHE_MISSES = PW_POETS_C_BASIC,
	PW_POETS_C_CACHE_HITS,
	PW_POETS_C_CACHE_WRITEBACKS,
	PW_POETS_C_CPU_IDLE,
	PW_POETS_C_COUNT	/* as many in the long payload */
};

extern const char *const pw_poets_counter_name[PW_POETS_C_COUNT];

int pw_poets_instr_parse(const u8 *payload, size_t len, u32 *c);
size_t pw_poets_instr_build(u8 *payload, const u32 *c, bool extended);

/* ---- softswitch ---- */

#define PW_SOFTSWITCH_LOG_PERIOD	100000000U	/* 10 log packets a second */
#define PW_SOFTSWITCH_LOG_BURST		10U

enum pw_softswitch_state {
	PW_SOFTSWITCH_LOADING,
	PW_SOFTSWITCH_BARRIER,
	PW_SOFTSWITCH_RUNNING,
	PW_SOFTSWITCH_STOPPED,
	PW_SOFTSWITCH_STATES
};

enum pw_softswitch_drop {
	PW_SOFTSWITCH_OK,
	PW_SOFTSWITCH_D_MALFORMED,	/* shorter than a header or longer than 4 flits */
	PW_SOFTSWITCH_D_LOADING,
	PW_SOFTSWITCH_D_BARRIER,	/* not released yet */
	PW_SOFTSWITCH_D_STOPPED,
	PW_SOFTSWITCH_D_MOTHERSHIP,	/* not for a softswitch at all */
	PW_SOFTSWITCH_D_DEVICE,		/* no such device */
	PW_SOFTSWITCH_D_OPCODE,		/* not an opcode for a softswitch */
	PW_SOFTSWITCH_D_PIN,		/* no such pin */
	PW_SOFTSWITCH_D_EDGE,		/* no such edge */
	PW_SOFTSWITCH_DROPS
};

extern const char *const pw_softswitch_drop_name[PW_SOFTSWITCH_DROPS];

enum pw_softswitch_verdict {
	PW_SOFTSWITCH_DELIVER,		/* see pw_softswitch_next() */
	PW_SOFTSWITCH_RELEASED,		/* the barrier is open, devices run */
	PW_SOFTSWITCH_STOP,		/* devices have stopped */
	PW_SOFTSWITCH_REPORT,		/* a report was asked for */
	PW_SOFTSWITCH_DROP,
};

enum pw_softswitch_handler {
	PW_SOFTSWITCH_H_NONE,		/* dropped for this device */
	PW_SOFTSWITCH_H_PIN,
	PW_SOFTSWITCH_H_CTL,		/* OnCtl, with the opcode */
	PW_SOFTSWITCH_H_IMPL,		/* implicit supervisor handler */
};

/* what to do first, in the order of the reference's loop */
enum pw_softswitch_work {
	PW_SOFTSWITCH_W_RECEIVE,
	PW_SOFTSWITCH_W_REPORT,
	PW_SOFTSWITCH_W_SEND,
	PW_SOFTSWITCH_W_IDLE,
	PW_SOFTSWITCH_W_SLEEP,
};

struct pw_softswitch_device {
	u32 first_pin;		/* index into edges[] */
	u32 pins;
};

/**
 * struct pw_softswitch - devices of one station
 * @device: its devices
 * @edges: edges of every pin of every device
 * @devices: how many
 * @pins: how many
 * @max_devices: room for
 * @max_pins: room for
 * @state: of them all
 * @generation: changes with every reset, so that nothing old is delivered
 * @hw_addr: address of the station
 * @task: task that packets to the mothership carry, as in swAddr
 * @c: counters since the last report
 * @drops: packets not delivered, by reason; broadcasts count once per device
 * @reported: virtual cycle of the last report
 * @interval: between reports; 0: only when asked
 * @next_report: time of the next one
 * @report_pending: asked for
 * @log_period: time in which one log packet may be sent; 0: all may
 * @log_burst: how many at once after a pause
 * @log_next: time at which the last allowed log packet would be due
 * @log_suppressed: log packets not sent since the last one that was
 */
struct pw_softswitch {
	struct pw_softswitch_device *device;
	u32 *edges;
	u32 devices;
	u32 pins;
	u32 max_devices;
	u32 max_pins;
	enum pw_softswitch_state state;
	u32 generation;
	u32 hw_addr;
	u32 task;
	u32 c[PW_POETS_C_COUNT];
	u64 drops[PW_SOFTSWITCH_DROPS];
	u64 reported;
	u64 interval;
	u64 next_report;
	bool report_pending;
	u64 log_period;
	u32 log_burst;
	u64 log_next;
	u32 log_suppressed;
};

/**
 * struct pw_softswitch_rx - a packet on its way to devices
 * @pkt: the packet; its payload is the caller's buffer
 * @drop: why it was dropped
 * @log: whether a log packet about the drop may be sent now
 * @next: next device
 * @end: one after the last device
 * @generation: of the softswitch that accepted it
 */
struct pw_softswitch_rx {
	struct pw_poets_pkt pkt;
	enum pw_softswitch_drop drop;
	bool log;
	u32 next;
	u32 end;
	u32 generation;
};

/**
 * struct pw_softswitch_delivery - one device's part of a packet
 * @handler: which handler; PW_SOFTSWITCH_H_NONE: dropped for this device
 * @drop: why
 * @log: whether a log packet about it may be sent now
 * @device: the device
 * @pin: its pin, for PW_SOFTSWITCH_H_PIN
 * @edge: of that pin
 * @opcode: for PW_SOFTSWITCH_H_CTL
 */
struct pw_softswitch_delivery {
	enum pw_softswitch_handler handler;
	enum pw_softswitch_drop drop;
	bool log;
	u16 device;
	u8 pin;
	u32 edge;
	u8 opcode;
};

size_t pw_softswitch_bytes(u32 max_devices, u32 max_pins);
int pw_softswitch_init(struct pw_softswitch *s, void *mem, size_t bytes, u32 max_devices,
		       u32 max_pins, u32 hw_addr);
void pw_softswitch_reset(struct pw_softswitch *s);
int pw_softswitch_add(struct pw_softswitch *s, u32 pins, const u32 *edges);
size_t pw_softswitch_loaded(struct pw_softswitch *s, u64 cycle, void *buf, size_t size);
enum pw_softswitch_verdict pw_softswitch_input(struct pw_softswitch *s, u64 now, const void *buf,
					       size_t len, struct pw_softswitch_rx *rx);
bool pw_softswitch_next(struct pw_softswitch *s, u64 now, struct pw_softswitch_rx *rx,
			struct pw_softswitch_delivery *d);
void pw_softswitch_sent(struct pw_softswitch *s, u32 sw_addr);
void pw_softswitch_count(struct pw_softswitch *s, enum pw_poets_counter which, u32 n);
size_t pw_softswitch_kill(struct pw_softswitch *s, void *buf, size_t size);
void pw_softswitch_set_interval(struct pw_softswitch *s, u64 now, u64 interval);
u64 pw_softswitch_next_report(const struct pw_softswitch *s);
bool pw_softswitch_report_due(const struct pw_softswitch *s, u64 now);
size_t pw_softswitch_report(struct pw_softswitch *s, u64 now, u64 cycle, bool extended, void *buf,
			    size_t size);
void pw_softswitch_set_log_limit(struct pw_softswitch *s, u64 period, u32 burst);
bool pw_softswitch_log_allowed(struct pw_softswitch *s, u64 now);
size_t pw_softswitch_drop_text(struct pw_softswitch *s, enum pw_softswitch_drop drop,
			       const struct pw_poets_pkt *pkt, u16 device, char *text, size_t size);
enum pw_softswitch_work pw_softswitch_next_work(const struct pw_softswitch *s, u64 now,
						bool received, bool to_send, bool can_idle);

#endif /* PW_CORE_POETS_H */
