// SPDX-License-Identifier: GPL-2.0
/* Softswitches and motherships: the file that owns one, and log messages. */
#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "packetway.h"
#include "poets.h"

_Static_assert(sizeof(struct pw_poets_log) <= sizeof(struct pwl_poets_log), "room for the state");

int pwl_poets_open(struct pwl *s, const struct packetway_poets_open *o)
{
	struct packetway_poets_open k = *o;
	int fd;

	k.size = sizeof(k);
	fd = ioctl(pwl_fd(s), PACKETWAY_IOC_POETS_OPEN, &k);
	return fd < 0 ? -errno : fd;
}

int pwl_poets_load(int fd, uint32_t devices, const uint32_t *pins, const uint32_t *edges)
{
	struct packetway_poets_load k = {
		.size = sizeof(k),
		.devices = devices,
		.pins = (uintptr_t)pins,
		.edges = (uintptr_t)edges,
	};
	uint32_t i;

	for (i = 0; i < devices; i++)
		k.total += pins[i];
	return ioctl(fd, PACKETWAY_IOC_POETS_LOAD, &k) ? -errno : (int)k.out_first;
}

static int simple(int fd, unsigned long cmd)
{
	struct packetway_poets_simple k = { .size = sizeof(k) };

	return ioctl(fd, cmd, &k) ? -errno : 0;
}

int pwl_poets_start(int fd)
{
	return simple(fd, PACKETWAY_IOC_POETS_START);
}

int pwl_poets_kill(int fd)
{
	return simple(fd, PACKETWAY_IOC_POETS_KILL);
}

int pwl_poets_reset(int fd)
{
	return simple(fd, PACKETWAY_IOC_POETS_RESET);
}

int pwl_poets_get(int fd, struct packetway_poets_get *g)
{
	*g = (struct packetway_poets_get) { .size = sizeof(*g) };
	return ioctl(fd, PACKETWAY_IOC_POETS_GET, g) ? -errno : 0;
}

int pwl_poets_count(int fd, uint32_t send_handlers, uint32_t idle, uint32_t idle_handlers,
		    uint32_t blocked)
{
	struct packetway_poets_count k = {
		.size = sizeof(k),
		.send_handlers = send_handlers,
		.idle = idle,
		.idle_handlers = idle_handlers,
		.blocked = blocked,
	};

	return ioctl(fd, PACKETWAY_IOC_POETS_COUNT, &k) ? -errno : 0;
}

int pwl_poets_log_build(uint16_t device, const char *text, size_t len,
			struct packetway_poets_packet p[4])
{
	unsigned int i, n = pw_poets_log_fragments(len);
	u8 pkt[PW_POETS_PKT_MAX];
	struct pw_poets_pkt k;

	for (i = 0; i < n; i++) {
		size_t bytes = pw_poets_log_build(pkt, sizeof(pkt), device, text, len, i);

		if (!bytes || pw_poets_parse(pkt, bytes, &k))
			return -EINVAL;
		p[i] = (struct packetway_poets_packet) {
			.sw_addr = k.sw_addr, .pin_addr = k.pin_addr, .len = k.len,
		};
		memcpy(p[i].payload, k.payload, k.len);
	}
	return n;
}

int pwl_poets_log_add(struct pwl_poets_log *log, const void *payload, size_t len, const char **text)
{
	struct pw_poets_log *k = (struct pw_poets_log *)log;

	if (pw_poets_log_add(k, payload, len) != 1)
		return 0;
	*text = k->text;
	return k->len;
}
