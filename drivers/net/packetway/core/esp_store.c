// SPDX-License-Identifier: GPL-2.0
/*
 * The ephemeral state store.
 *
 * Nothing is ever removed except by age and every binding has the same
 * lifetime, so the order of creation is the order of expiry: a ring is all the
 * timer that is needed. Chains of the hash table are in the order of creation
 * too, hence what has expired is always at the front of its chain and is
 * unlinked without a search. Every operation gives back a few expired bindings
 * at the old end of the ring, at least as many as it can create, so the store
 * is full exactly when it is full of live bindings, and no operation ever
 * walks more than a constant number of them.
 *
 * Tags come from the network. The hash function has a secret key, and chains
 * have a maximum length that honest or blind tags never reach (with one binding
 * per chain on average, a chain of 24 has a probability below 10^-24).
 *
 * A sparse store has no memory for bindings at first. Before a transaction its owner gives
 * pieces for the places at the young end of the ring. A piece that the old end leaves is used
 * again at the young end, so the store has about as many as its bindings need.
 */
#include "esp.h"

#define NIL	U32_MAX

static bool expired(const struct pw_esp_store *st, const struct pw_esp_binding *b)
{
	return st->now - b->born >= st->lifetime || b->born < st->ended;
}

static u32 buckets(u32 capacity)
{
	return 1U << fls(capacity - 1);
}

static u32 chunks(u32 capacity)
{
	return DIV_ROUND_UP(capacity, PW_ESP_CHUNK);
}

/**
 * pw_esp_store_bytes - memory that a store needs
 * @capacity: bindings that must fit
 *
 * Return: bytes, or 0 where @capacity is 0 or above PW_ESP_CAPACITY_MAX.
 */
size_t pw_esp_store_bytes(u32 capacity)
{
	if (!capacity || capacity > PW_ESP_CAPACITY_MAX)
		return 0;
	return (size_t)capacity * sizeof(struct pw_esp_binding) + pw_esp_sparse_bytes(capacity) +
	       (size_t)buckets(capacity) * sizeof(u32);
}

/**
 * pw_esp_sparse_bytes - memory that a sparse store needs when it is made
 * @capacity: bindings that must fit
 *
 * Return: bytes, or 0 where @capacity is 0 or above PW_ESP_CAPACITY_MAX.
 */
size_t pw_esp_sparse_bytes(u32 capacity)
{
	if (!capacity || capacity > PW_ESP_CAPACITY_MAX)
		return 0;
	return chunks(capacity) * sizeof(struct pw_esp_binding *);
}

/**
 * pw_esp_sparse_init - make an empty store whose owner gives memory as it fills
 * @st: the store
 * @mem: memory for its table, aligned for pointers, the caller's to free
 * @bytes: size of @mem, at least pw_esp_sparse_bytes(@capacity)
 * @capacity: bindings that must fit
 * @lifetime: of a binding; not 0
 * @key: random and secret
 *
 * Return: 0, or -EINVAL with nothing done.
 */
int pw_esp_sparse_init(struct pw_esp_store *st, void *mem, size_t bytes, u32 capacity,
		       u64 lifetime, const siphash_key_t *key)
{
	size_t need = pw_esp_sparse_bytes(capacity);

	if (!need || bytes < need || !lifetime)
		return -EINVAL;
	*st = (struct pw_esp_store) {
		.key = *key,
		.lifetime = lifetime,
		.capacity = capacity,
		.mask = buckets(capacity) - 1,
		.chunk = memset(mem, 0, need),
		.sparse = true,
	};
	return 0;
}

/**
 * pw_esp_store_init - make an empty store
 * @st: the store
 * @mem: memory for it, on a multiple of 8 bytes, the caller's to free
 * @bytes: size of @mem, at least pw_esp_store_bytes(@capacity)
 * @capacity: bindings that must fit
 * @lifetime: of a binding; not 0
 * @key: random and secret
 *
 * Return: 0, or -EINVAL with nothing done.
 */
int pw_esp_store_init(struct pw_esp_store *st, void *mem, size_t bytes, u32 capacity,
		      u64 lifetime, const siphash_key_t *key)
{
	size_t need = pw_esp_store_bytes(capacity);
	struct pw_esp_binding *ring = mem;
	u32 i;

	if (!need || bytes < need || (unsigned long)mem & 7 ||
	    pw_esp_sparse_init(st, ring + capacity, bytes, capacity, lifetime, key))
		return -EINVAL;
	for (i = 0; i < chunks(capacity); i++)
		st->chunk[i] = ring + (size_t)i * PW_ESP_CHUNK;
	st->bucket = (u32 *)(st->chunk + chunks(capacity));
	st->sparse = false;
	pw_esp_store_clear(st);
	return 0;
}

/* piece with the place of the binding that is the @nth to be created */
static u32 young_chunk(const struct pw_esp_store *st, u32 nth)
{
	return (st->head + st->used + nth) % st->capacity / PW_ESP_CHUNK;
}

/* see pw_esp_store_lacks(); finds memory for as many places as a transaction may need */
size_t __pw_esp_store_lacks(struct pw_esp_store *st)
{
	u32 i, at;

	if (!st->bucket)
		return ((size_t)st->mask + 1) * sizeof(u32);
	for (i = 0; i < PW_ESP_TXN_MAX; i++) {
		at = young_chunk(st, i);
		if (st->chunk[at])
			continue;
		if (!st->spare)
			return PW_ESP_CHUNK_BYTES;
		st->chunk[at] = (void *)st->spare;
		st->spare = st->spare->next;
	}
	at = pw_esp_ring_index(st, st->used);
	st->room = max(PW_ESP_TXN_MAX, min(PW_ESP_CHUNK - at % PW_ESP_CHUNK, st->capacity - at));
	return 0;
}

/**
 * pw_esp_store_give - give a sparse store memory
 * @st: the store
 * @mem: as many bytes as pw_esp_store_lacks() returned, on a multiple of 8 bytes; the
 *	store's until pw_esp_store_take()
 */
void pw_esp_store_give(struct pw_esp_store *st, void *mem)
{
	struct pw_esp_spare *spare = mem;

	if (!st->bucket) {
		st->bucket = mem;
		pw_esp_store_clear(st);
		return;
	}
	spare->next = st->spare;
	st->spare = spare;
}

/**
 * pw_esp_store_take - take memory back from a sparse store that is used no longer
 * @st: the store; not to be used again, except for this
 *
 * Return: a piece that the store was given, or NULL if it has none.
 */
void *pw_esp_store_take(struct pw_esp_store *st)
{
	void *mem;
	u32 i;

	if (!st->sparse)
		return NULL;
	for (i = 0; i < chunks(st->capacity); i++) {
		if (st->chunk[i]) {
			mem = st->chunk[i];
			st->chunk[i] = NULL;
			return mem;
		}
	}
	mem = st->spare;
	if (mem) {
		st->spare = st->spare->next;
		return mem;
	}
	mem = st->bucket;
	st->bucket = NULL;
	return mem;
}

/**
 * pw_esp_store_clear - forget everything
 * @st: the store
 */
void pw_esp_store_clear(struct pw_esp_store *st)
{
	st->head = 0;
	st->used = 0;
	st->room = 0;
	if (st->bucket)
		memset(st->bucket, 0xff, ((size_t)st->mask + 1) * sizeof(u32));
}

/* the old end of the ring has left a piece of a sparse store: it may be used at the young end */
static void leave(struct pw_esp_store *st, u32 at)
{
	struct pw_esp_spare *spare = (void *)st->chunk[at];
	u32 i;

	/* a transaction under way may write here */
	for (i = 0; i < PW_ESP_TXN_MAX; i++)
		if (at == young_chunk(st, i))
			return;
	spare->next = st->spare;
	st->spare = spare;
	st->chunk[at] = NULL;
}

/**
 * pw_esp_store_reap - give back expired bindings
 * @st: the store
 * @now: time
 * @budget: most bindings to give back
 *
 * There is no need to call it: every operation does a little of it.
 *
 * Return: how many were given back; less than @budget means that no expired
 * binding is left.
 */
u32 pw_esp_store_reap(struct pw_esp_store *st, u64 now, u32 budget)
{
	u32 n = 0;

	if (now > st->now)
		st->now = now;
	while (n < budget && st->used) {
		const struct pw_esp_binding *b = pw_esp_at(st, st->head);
		u32 at = st->head / PW_ESP_CHUNK;
		u32 *first = &st->bucket[b->hash & st->mask];

		if (!expired(st, b))
			break;
		/* the oldest of its chain, unless a lookup unlinked it already */
		if (*first == st->head)
			*first = b->next;
		st->head = pw_esp_ring_index(st, 1);
		st->used--;
		if (st->sparse && st->head / PW_ESP_CHUNK != at)
			leave(st, at);
		n++;
	}
	return n;
}

/* age of bindings falls along the ring: how many at its old end have expired? */
static u32 count_expired(const struct pw_esp_store *st)
{
	u32 lo = 0, hi = st->used;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (expired(st, pw_esp_at(st, pw_esp_ring_index(st, mid))))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/**
 * pw_esp_store_live - number of bindings
 * @st: the store
 * @now: time
 *
 * Return: bindings that have not expired. Takes log2(capacity) steps.
 */
u32 pw_esp_store_live(struct pw_esp_store *st, u64 now)
{
	pw_esp_store_reap(st, now, 0);
	return st->used - count_expired(st);
}

/**
 * pw_esp_store_peek - list bindings
 * @st: the store
 * @now: time
 * @nth: which live binding, the oldest is number 0
 * @tag: its tag; tags are capabilities, show them to administrators only
 * @val: its value
 * @left: time it has left
 *
 * Return: false where there are not so many.
 */
bool pw_esp_store_peek(struct pw_esp_store *st, u64 now, u32 nth, u64 *tag, u64 *val, u64 *left)
{
	const struct pw_esp_binding *b;
	u32 gone;

	pw_esp_store_reap(st, now, 0);
	gone = count_expired(st);
	if (nth >= st->used - gone)
		return false;
	b = pw_esp_at(st, pw_esp_ring_index(st, gone + nth));
	*tag = b->tag;
	*val = b->val;
	*left = st->lifetime - (st->now - b->born);
	return true;
}

/**
 * pw_esp_store_set_lifetime - change the lifetime of all bindings
 * @st: the store
 * @now: time
 * @lifetime: the new lifetime, also of bindings that exist; not 0
 *
 * What has expired under the old lifetime does not come back.
 */
void pw_esp_store_set_lifetime(struct pw_esp_store *st, u64 now, u64 lifetime)
{
	if (!lifetime)
		return;
	pw_esp_store_reap(st, now, 0);
	if (st->now >= st->lifetime)
		st->ended = max(st->ended, st->now - st->lifetime + 1);
	st->lifetime = lifetime;
}

static void find(struct pw_esp_store *st, struct pw_esp_slot *s)
{
	u32 *first = &st->bucket[s->hash & st->mask];
	u32 i;

	while (*first != NIL && expired(st, pw_esp_at(st, *first)))
		*first = pw_esp_at(st, *first)->next;

	s->index = NIL;
	s->depth = 0;
	for (i = *first; i != NIL; i = pw_esp_at(st, i)->next) {
		s->depth++;
		if (pw_esp_at(st, i)->tag == s->tag) {
			s->index = i;
			return;
		}
	}
}

/* the caller has made sure that there is room */
static void append(struct pw_esp_store *st, u64 tag, u32 hash, u64 val, u64 born)
{
	u32 at = pw_esp_ring_index(st, st->used++);
	u32 *link = &st->bucket[hash & st->mask];

	if (st->room)
		st->room--;
	while (*link != NIL)
		link = &pw_esp_at(st, *link)->next;
	*link = at;
	*pw_esp_at(st, at) = (struct pw_esp_binding){
		.tag = tag, .val = val, .born = born, .hash = hash, .next = NIL,
	};
}

/**
 * pw_esp_store_copy - move to a store of another size or with another key
 * @dst: the new store, empty
 * @src: the old store, which keeps its contents
 * @now: time
 *
 * The lifetime becomes that of @src. Bindings keep their age. The marks of
 * RCHLD depend on the key, so with a new key reductions under way abort.
 * Takes time in proportion to the number of bindings.
 *
 * Return: 0, or -ENOSPC where they do not fit; @dst is empty then.
 */
int pw_esp_store_copy(struct pw_esp_store *dst, struct pw_esp_store *src, u64 now)
{
	u32 i;

	pw_esp_store_reap(src, now, U32_MAX);
	dst->now = src->now;
	dst->lifetime = src->lifetime;
	if (src->used > dst->capacity)
		return -ENOSPC;
	for (i = 0; i < src->used; i++) {
		const struct pw_esp_binding *b = pw_esp_at(src, pw_esp_ring_index(src, i));
		struct pw_esp_slot s = {
			.tag = b->tag,
			.hash = (u32)siphash_1u64(b->tag, &dst->key),
		};

		find(dst, &s);
		if (s.depth >= PW_ESP_PROBE_MAX) {
			pw_esp_store_clear(dst);
			return -ENOSPC;
		}
		append(dst, s.tag, s.hash, b->val, b->born);
	}
	return 0;
}

/**
 * pw_esp_mark_tag - where RCHLD remembers that it has seen a packet
 * @st: the store
 * @sib_tag: names the computation
 * @pkt_id: names the packet in it
 *
 * pktId becomes a node id on the way, which is neither random nor secret and is
 * the same for all computations that go through that node. It is therefore not
 * used as a tag by itself: the mark's tag is a keyed hash of it together with
 * sibTag, which no other node can name.
 *
 * Return: the tag.
 */
u64 pw_esp_mark_tag(const struct pw_esp_store *st, u64 sib_tag, u64 pkt_id)
{
	return siphash_2u64(sib_tag, pkt_id, &st->key);
}

/**
 * pw_esp_txn_begin - start to read and write
 * @t: the transaction
 * @st: the store; the caller alone uses it until the end
 * @now: time
 */
void pw_esp_txn_begin(struct pw_esp_txn *t, struct pw_esp_store *st, u64 now)
{
	BUILD_BUG_ON(PW_ESP_REAP_BATCH < PW_ESP_TXN_MAX);
	t->st = st;
	t->n = 0;
	pw_esp_store_reap(st, now, PW_ESP_REAP_BATCH);
}

static struct pw_esp_slot *slot(struct pw_esp_txn *t, u64 tag)
{
	struct pw_esp_slot *s;
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (t->slot[i].tag == tag)
			return &t->slot[i];
	if (WARN_ON_ONCE(t->n == PW_ESP_TXN_MAX))
		return NULL;
	s = &t->slot[t->n++];
	s->tag = tag;
	s->hash = (u32)siphash_1u64(tag, &t->st->key);
	find(t->st, s);
	s->bound = s->index != NIL;
	s->dirty = false;
	s->val = s->bound ? pw_esp_at(t->st, s->index)->val : 0;
	return s;
}

/**
 * pw_esp_txn_get - read a tag
 * @t: the transaction
 * @tag: the tag
 * @val: its value, 0 where there is none
 *
 * Return: whether there is one.
 */
bool pw_esp_txn_get(struct pw_esp_txn *t, u64 tag, u64 *val)
{
	const struct pw_esp_slot *s = slot(t, tag);

	*val = s ? s->val : 0;
	return s && s->bound;
}

/**
 * pw_esp_txn_put - write a tag
 * @t: the transaction
 * @tag: the tag
 * @val: its value from now on
 */
void pw_esp_txn_put(struct pw_esp_txn *t, u64 tag, u64 val)
{
	struct pw_esp_slot *s = slot(t, tag);

	if (!s)
		return;
	s->val = val;
	s->bound = true;
	s->dirty = true;
}

/**
 * pw_esp_txn_commit - let all that was written take effect
 * @t: the transaction, which is over then
 *
 * A value that replaces another one does not get a longer life by that.
 *
 * Return: 0, or -ENOSPC where not all new tags fit; nothing has changed then.
 */
int pw_esp_txn_commit(struct pw_esp_txn *t)
{
	struct pw_esp_store *st = t->st;
	unsigned int i, j;
	u32 fresh = 0;

	for (i = 0; i < t->n; i++) {
		const struct pw_esp_slot *s = &t->slot[i];
		u32 depth = s->depth;

		if (!s->dirty || s->index != NIL)
			continue;
		for (j = 0; j < i; j++)
			if (t->slot[j].dirty && t->slot[j].index == NIL &&
			    !((t->slot[j].hash ^ s->hash) & st->mask))
				depth++;
		if (depth >= PW_ESP_PROBE_MAX)
			return -ENOSPC;
		fresh++;
	}
	if (fresh > st->capacity - st->used)
		return -ENOSPC;

	for (i = 0; i < t->n; i++) {
		const struct pw_esp_slot *s = &t->slot[i];

		if (!s->dirty)
			continue;
		if (s->index != NIL)
			pw_esp_at(st, s->index)->val = s->val;
		else
			append(st, s->tag, s->hash, s->val, st->now);
	}
	return 0;
}
