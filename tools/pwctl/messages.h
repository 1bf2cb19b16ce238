/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of a run, to be sent through another fabric. */
#ifndef PWCTL_MESSAGES_H
#define PWCTL_MESSAGES_H

#include "pwctl.h"

#define MESSAGES_ANY_SAN	UINT32_MAX

/**
 * struct message - one of them
 * @cycle: when it comes up
 * @bytes: between header and TAIL, without padding
 * @src: port
 * @dst: port, or PW_FABRIC_ALL
 */
struct message {
	uint64_t cycle;
	uint32_t bytes;
	uint16_t src, dst;
};

/**
 * struct messages - all of them, by time
 * @m: @n of them
 * @ports: highest port + 1
 * @mean: bytes of a message in the mean, rounded
 * @open: frames of a capture whose arrival it does not have; they are not in @m
 */
struct messages {
	struct message *m;
	size_t n;
	uint32_t ports;
	uint32_t mean;
	size_t open;
};

enum status messages_read(const char *path, uint32_t san, struct messages *ms);

extern const struct word messages_words[];
enum status exp_messages(const struct verb *v, int argc, char **argv);

#endif
