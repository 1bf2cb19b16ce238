/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes of a YAML file: what labs and sweeps read them with. */
#ifndef PWCTL_YAML_NODE_H
#define PWCTL_YAML_NODE_H

#include <stdarg.h>

#include "pwctl.h"
#include "yaml_text.h"

/* print what is wrong, with the file and the line of the node */
static inline enum status __attribute__((format(printf, 4, 5)))
yaml_bad(const char *file, yaml_document_t *d, int node, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "pwctl: %s:%zu: ", file, yaml_line(d, node));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return ST_USAGE;
}

#endif
