/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handlers of a POETS application, for `pwctl poets run APP.json`.
 *
 * An application is a graph of devices (the JSON file) and what its types of
 * devices do: a shared object made from C with this header,
 *
 *	cc -shared -fPIC -o ring.so ring.c
 *
 * that ends with POETS_APP(supervisor, type...). Each station is a process that
 * runs the handlers of its devices one at a time, never two at once; stations
 * share no memory. The supervisor runs in a process of its own, where the
 * mothership is. What a handler sends leaves after it has returned and when
 * nothing is left to receive.
 *
 * Functions that return int return 0, or -1 where an argument is wrong (no such
 * pin, more than POETS_PAYLOAD bytes, an opcode outside 1..0xef).
 */
#ifndef PACKETWAY_POETS_H
#define PACKETWAY_POETS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POETS_APP_VERSION	1
#define POETS_PAYLOAD		56	/* bytes of a packet */

/**
 * struct poets_device - a device, as its handlers see it
 * @name: of the file, with its place: "cell[3,4]"
 * @id: number in the application, from 0
 * @index: its place in the array of devices
 * @state: state_size bytes, zeroed before init
 */
struct poets_device {
	const char *name;
	uint32_t id;
	uint32_t index[3];
	void *state;
};

/**
 * struct poets_type - what devices of a type do; handlers may be NULL
 * @name: of the type in the file
 * @state_size: bytes of state of each device
 * @init: before the barrier; sends go out when it is open
 * @receive: a packet has come to an input pin, by an edge of it
 * @ctl: a packet from the supervisor, with its opcode (OnCtl)
 * @implicit: a reply or broadcast of the supervisor
 * @idle: there is nothing else to do; returns whether there may be more to do
 * @stop: everything has stopped; sends and logs have no effect from now on
 */
struct poets_type {
	const char *name;
	size_t state_size;
	void (*init)(struct poets_device *d);
	void (*receive)(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
			unsigned int len);
	void (*ctl)(struct poets_device *d, unsigned int opcode, const void *data,
		    unsigned int len);
	void (*implicit)(struct poets_device *d, const void *data, unsigned int len);
	int (*idle)(struct poets_device *d);
	void (*stop)(struct poets_device *d);
};

/**
 * struct poets_supervisor - one per application; handlers may be NULL
 * @init: all devices run
 * @receive: a device has sent to the supervisor, with an opcode of its own
 * @implicit: a device has sent to the implicit supervisor pin
 * @stop: everything has stopped; returns 0 if all is well, else pwctl ends with 2
 */
struct poets_supervisor {
	void (*init)(void);
	void (*receive)(uint32_t id, unsigned int opcode, const void *data, unsigned int len);
	void (*implicit)(uint32_t id, const void *data, unsigned int len);
	int (*stop)(void);
};

/**
 * struct poets_app - what the shared object defines
 * @version: POETS_APP_VERSION
 * @types: ends with NULL
 * @supervisor: NULL: none
 */
struct poets_app {
	unsigned int version;
	const struct poets_type *const *types;
	const struct poets_supervisor *supervisor;
};

extern const struct poets_app poets_app;

/* pointers to the supervisor, or NULL, and to the types */
#define POETS_APP(supervisor_, ...)						\
	static const struct poets_type *const poets_app_types[] = { __VA_ARGS__, NULL }; \
	const struct poets_app poets_app = {					\
		.version = POETS_APP_VERSION,					\
		.types = poets_app_types,					\
		.supervisor = supervisor_,					\
	}

/* For devices -------------------------------------------------------------- */

/* along all edges of an output pin, or along one of them */
int poets_send(struct poets_device *d, unsigned int pin, const void *data, unsigned int len);
int poets_send_edge(struct poets_device *d, unsigned int pin, uint32_t edge, const void *data,
		    unsigned int len);
/* how many edges a pin has, and the weight of one (0 if the file gives none) */
uint32_t poets_edges_out(const struct poets_device *d, unsigned int pin);
uint32_t poets_edges_in(const struct poets_device *d, unsigned int pin);
int64_t poets_weight_out(const struct poets_device *d, unsigned int pin, uint32_t edge);
int64_t poets_weight_in(const struct poets_device *d, unsigned int pin, uint32_t edge);
/* to the supervisor: with an opcode of 1..0xef, or implicitly */
int poets_supervisor_send(struct poets_device *d, unsigned int opcode, const void *data,
			  unsigned int len);
int poets_implicit(struct poets_device *d, const void *data, unsigned int len);
/* at most 220 bytes, to the log of the mothership */
int poets_log(struct poets_device *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* it cannot go on: everything stops, and the exit status says so */
void poets_kill(struct poets_device *d);

/* For both ----------------------------------------------------------------- */

/* a property of the device, else of its type, else of the application (d NULL) */
int64_t poets_property(const struct poets_device *d, const char *name, int64_t otherwise);
double poets_property_real(const struct poets_device *d, const char *name, double otherwise);

/* For the supervisor ------------------------------------------------------- */

uint32_t poets_devices(void);
const char *poets_name(uint32_t id);
/* to a device, or to all: implicitly, or with an opcode of 1..0xef */
int poets_reply(uint32_t id, const void *data, unsigned int len);
int poets_broadcast(const void *data, unsigned int len);
int poets_ctl(uint32_t id, unsigned int opcode, const void *data, unsigned int len);
int poets_ctl_all(unsigned int opcode, const void *data, unsigned int len);
/* into the log */
void poets_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* enough: everything stops */
void poets_stop(void);

#ifdef __cplusplus
}
#endif

#endif
