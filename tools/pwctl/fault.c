// SPDX-License-Identifier: GPL-2.0
/* Faults that debugfs injects into the ring and the fabric of a SAN. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwctl.h"

#define FAULTS "/sys/kernel/debug/packetway"

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int san_debugfs(uint32_t id, char *dir, size_t cap)
{
	struct stat ns;

	if (stat("/proc/self/ns/net", &ns))
		return -errno;
	snprintf(dir, cap, FAULTS "/net%lu-san%u", (unsigned long)ns.st_ino, id);
	if (access(dir, F_OK))
		snprintf(dir, cap, FAULTS "/san%u", id);
	return access(dir, F_OK) ? -errno : 0;
}

struct fault_args {
	uint32_t san, drop, corrupt, seed;
	char text[64];
};

#define AT(m) offsetof(struct fault_args, m)

static enum status take_fault(void *to, char **values)
{
	struct fault_args *a = to;

	if (strlen(a->text) + strlen(values[0]) + 2 > sizeof(a->text))
		return usage("fault ring: too many words");
	if (*a->text)
		strcat(a->text, " ");
	strcat(a->text, values[0]);
	return ST_OK;
}

/* arg: the fabric, otherwise the ring */
static enum status fault(const struct verb *v, int argc, char **argv)
{
	struct fault_args a = { .seed = 1 };
	char dir[200], path[256];
	enum status st;
	int err;

	st = words(v, argc, argv, &a);
	if (st)
		return st;
	if (v->arg)
		snprintf(a.text, sizeof(a.text), "%u %u %u", a.drop, a.corrupt, a.seed);
	err = san_debugfs(a.san, dir, sizeof(dir));
	if (err)
		return fail(err, "faults of SAN %u (%s)", a.san, dir);
	snprintf(path, sizeof(path), "%s/%s_fault", dir, v->name);
	err = write_file(path, a.text);
	return err ? fail(err, "%s", path) : ST_OK;
}

static const struct word ring[] = {
	{ "san", "N", W_U32, AT(san) },
	{ NULL, "FAULT", W_CALL, 0, WORD_NEEDED | WORD_MANY, 1, take_fault },
	{}
};

static const struct word fabric[] = {
	{ "san", "N", W_U32, AT(san) },
	{ "drop", "PPM", W_U32, AT(drop) },
	{ "corrupt", "PPM", W_U32, AT(corrupt) },
	{ "seed", "N", W_U32, AT(seed) },
	{}
};

const struct verb fault_verbs[] = {
	{ "ring", fault, 0, ring, "one fault, with the next ring packet or token",
	  "FAULT: flip HOP BIT | stuck INTERFACE | leave BITS | lose | dup" },
	{ "fabric", fault, 1, fabric,
	  "cells lost and corrupted from now on, in parts per million" },
	{}
};
