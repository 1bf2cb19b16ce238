// SPDX-License-Identifier: GPL-2.0
/*
 * pwmodel net: memory of the SANs.
 *
 * Most of a fabric is buffers that are seldom full. All fabrics of a network are equal
 * after reset but for the addresses in them. So one fabric is initialized in a file in
 * memory, every SAN maps that file privately, and the system copies a page when the SAN
 * first writes to it: buffers take memory as far as they have been used.
 *
 * A second fabric at another address shows which words are addresses: those that differ,
 * by the distance of the two.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pwmodel.h"
#include "pwmodel_net.h"

static void reset(u8 *mem, const struct net_spec *s)
{
	struct net_san *a = (void *)mem;

	a->f = pw_fabric_init(mem + net_san_size(s), &s->params, &net_san_ops, a);
	pw_fabric_callbacks(a->f, false, pw_fabric_faults_on(&s->faults));
	a->heap = (u64 *)(a->source + s->ports);
}

static u8 *map(size_t size, int flags, int fd)
{
	u8 *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		pwm_fail("sans: no memory of %zu bytes: %s", size, strerror(errno));
	return p;
}

void net_image_init(struct net_image *g, const struct net_spec *s)
{
	size_t page = sysconf(_SC_PAGESIZE), words, cap = 0;
	uintptr_t *a, *b;
	u8 *other;

	g->size = round_up(net_san_size(s) + pw_fabric_size(&s->params), page);
	g->fd = memfd_create("pwmodel-net", MFD_CLOEXEC);
	if (g->fd < 0 || ftruncate(g->fd, g->size))
		pwm_fail("sans: no memory of %zu bytes: %s", g->size, strerror(errno));
	g->base = map(g->size, MAP_SHARED, g->fd);
	other = map(g->size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	reset(g->base, s);
	reset(other, s);
	a = (uintptr_t *)g->base;
	b = (uintptr_t *)other;
	words = g->size / sizeof(*a);
	for (size_t i = 0; i < words; i++) {
		if (a[i] == b[i])
			continue;
		if (b[i] - a[i] != (uintptr_t)other - (uintptr_t)g->base)
			pwm_fail("internal error: word %zu of a fabric is not an address", i);
		if (g->pointers == cap) {
			cap = cap ? 2 * cap : 4096;
			g->pointer = realloc(g->pointer, cap * sizeof(*g->pointer));
			if (!g->pointer)
				pwm_fail("out of memory");
		}
		g->pointer[g->pointers++] = i;
	}
	munmap(other, g->size);
}

struct net_san *net_image_copy(const struct net_image *g)
{
	u8 *p = map(g->size, MAP_PRIVATE | MAP_NORESERVE, g->fd);

	for (u32 i = 0; i < g->pointers; i++)
		((uintptr_t *)p)[g->pointer[i]] += (uintptr_t)p - (uintptr_t)g->base;
	return (struct net_san *)p;
}
