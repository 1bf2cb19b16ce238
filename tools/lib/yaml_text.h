/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes of a YAML document: what every tool reads them with. */
#ifndef PW_YAML_TEXT_H
#define PW_YAML_TEXT_H

#include <yaml.h>

/* text of a scalar, NULL if the node is none */
static inline const char *yaml_text(yaml_document_t *d, int node)
{
	yaml_node_t *n = yaml_document_get_node(d, node);

	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

/* line of a node, counted from 1; 0 if there is no such node */
static inline size_t yaml_line(yaml_document_t *d, int node)
{
	yaml_node_t *n = yaml_document_get_node(d, node);

	return n ? n->start_mark.line + 1 : 0;
}

#endif
