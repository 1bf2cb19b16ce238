/* SPDX-License-Identifier: GPL-2.0 */
/* Capture files, for what reads them: pages and traffic of models. */
#ifndef PWCTL_CAPTURE_FILE_H
#define PWCTL_CAPTURE_FILE_H

#include "pwctl.h"

/**
 * struct capture_record - a record of packetway
 * @ns: when it was captured
 * @monitor: of a pwmon device; otherwise an EEP message
 * @bytes: what was captured, without the header of the link
 * @len: bytes of it
 * @whole: bytes that there were
 */
struct capture_record {
	uint64_t ns;
	bool monitor;
	const uint8_t *bytes;
	size_t len, whole;
};

typedef enum status (*capture_fn)(void *ctx, const struct capture_record *r);

/**
 * struct capture - a file
 * @path: its name
 * @data: all of it; the caller frees it
 * @len: bytes of it
 * @skipped: records of other protocols
 * @comment: of its first section, in a pcapng file; in @data, not ended; NULL: none
 * @comment_len: bytes of it
 */
struct capture {
	const char *path;
	uint8_t *data;
	size_t len;
	size_t skipped;
	const char *comment;
	size_t comment_len;
	/* private: */
	bool swapped;		/* in the other byte order than this machine */
	capture_fn take;
	void *ctx;
};

enum status capture_load(struct capture *c);
bool capture_is(const struct capture *c);
enum status capture_records(struct capture *c, capture_fn take, void *ctx);

#endif
