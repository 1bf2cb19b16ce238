/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes of a YAML file: what labs and sweeps read them with. */
#ifndef PWCTL_YAML_NODE_H
#define PWCTL_YAML_NODE_H

#include <stdarg.h>
#include <yaml.h>

#include "pwctl.h"

/* text of a scalar, NULL if the node is none */
static inline const char *yaml_text(yaml_document_t *d, int node)
{
	yaml_node_t *n = yaml_document_get_node(d, node);

	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* print what is wrong, with the file and the line of the node */
static inline enum status __attribute__((format(printf, 4, 5)))
yaml_bad(const char *file, yaml_document_t *d, int node, const char *fmt, ...)
{
	yaml_node_t *n = yaml_document_get_node(d, node);
	va_list ap;

	fprintf(stderr, "pwctl: %s:%zu: ", file, n ? n->start_mark.line + 1 : 0);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return ST_USAGE;
}

#endif
