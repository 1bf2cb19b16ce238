// SPDX-License-Identifier: GPL-2.0
/*
 * ESP nodes: the store of a station or half-router, and what happens to a
 * message of type ESP that reaches a station.
 *
 *   pw_rx_one -> pw_esp_rx -> pw_esp_node_skb : executed in place, CRCs made anew
 *                          -> reflected to its source, packet sockets, or gone
 *
 * A store of up to PW_ESP_SPARSE bindings takes memory as it fills, by the page, and keeps it
 * until the link goes down (ndo_stop); a larger one takes all of it when the link comes up
 * (ndo_open). What strangers send costs no more than the capacity. An instruction takes
 * constant time, and NAPI decides how many run in a row. Bindings expire without a timer.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "pw_esp.h"
#include "pw_priv.h"
#include "pw_trace.h"

static_assert(PACKETWAY_ESP_CAPACITY_MAX <= PW_ESP_CAPACITY_MAX);
static_assert(PACKETWAY_ESP_LIFETIME_DEFAULT == PW_ESP_LIFETIME_MS);

/* largest sparse store: what it takes in softirqs are single pages */
#define PW_ESP_SPARSE	1024
/* bindings that are moved with the lock held when a store is replaced */
#define PW_ESP_MOVE_MAX	4096

/* default of the stations of a namespace */
void pw_esp_net_init(struct pw_esp_conf *conf)
{
	conf->capacity = PACKETWAY_ESP_CAPACITY_DEFAULT;
	conf->lifetime = PACKETWAY_ESP_LIFETIME_DEFAULT;
}

/* the node's own settings, the namespace's where it has none; RTNL */
static void pw_esp_conf_get(const struct pw_esp *esp, const struct net *net,
			    struct pw_esp_conf *conf)
{
	const struct pw_net *pn = pw_net(net);

	conf->capacity = esp->conf.capacity ?: pn->esp.capacity;
	conf->lifetime = esp->conf.lifetime ?: pn->esp.lifetime;
}

static u64 pw_esp_now(const struct pw_esp *esp)
{
	return pw_engine_now(esp->home);
}

/**
 * pw_esp_node_init - a node that is down
 * @esp: the node
 * @san: its SAN, which outlives it
 * @addr: its PacketWay address
 * @router: is it a half-router?
 */
void pw_esp_node_init(struct pw_esp *esp, const struct pw_san *san, u32 addr, bool router)
{
	spin_lock_init(&esp->lock);
	esp->mem = NULL;
	esp->memcg = san->memcg;
	esp->home = san;
	esp->id = addr;
	esp->router = router;
	esp->conf = (struct pw_esp_conf) {};
}

static void *pw_esp_store_alloc(struct pw_esp_store *store, const struct pw_esp_conf *conf,
				const siphash_key_t *key)
{
	size_t bytes = pw_esp_store_bytes(conf->capacity);
	void *mem;

	/* beyond its caches kmalloc() rounds up to a power of two: 64 KiB instead of 40 */
	mem = bytes > KMALLOC_MAX_CACHE_SIZE ? __vmalloc(bytes, PW_GFP) : kmalloc(bytes, PW_GFP);
	if (mem && pw_esp_store_init(store, mem, bytes, conf->capacity,
				     (u64)conf->lifetime * NSEC_PER_MSEC, key)) {
		kvfree(mem);
		mem = NULL;
	}
	return mem;
}

static void *pw_esp_sparse_alloc(struct pw_esp_store *store, const struct pw_esp_conf *conf,
				 const siphash_key_t *key)
{
	size_t bytes = pw_esp_sparse_bytes(conf->capacity);
	void *mem = kmalloc(bytes, PW_GFP);

	if (mem && pw_esp_sparse_init(store, mem, bytes, conf->capacity,
				      (u64)conf->lifetime * NSEC_PER_MSEC, key)) {
		kfree(mem);
		mem = NULL;
	}
	return mem;
}

/* @store, with its memory @mem, is not used any longer */
static void pw_esp_store_free(struct pw_esp_store *store, void *mem)
{
	void *piece;

	if (!mem)
		return;
	while ((piece = pw_esp_store_take(store)))
		kfree(piece);
	kvfree(mem);
}

/* memory for the next instruction; lock held. At most a table of buckets and two pieces */
static noinline int pw_esp_grow(struct pw_esp *esp, size_t bytes)
{
	void *mem;

	while (bytes) {
		mem = pw_memcg_alloc(esp->memcg, bytes);
		if (!mem)
			return -ENOMEM;
		pw_esp_store_give(&esp->store, mem);
		bytes = pw_esp_store_lacks(&esp->store);
	}
	return 0;
}

/**
 * pw_esp_node_up - give a node an empty store
 * @esp: the node
 * @net: namespace whose defaults hold; under RTNL
 *
 * Return: 0 or -ENOMEM.
 */
int pw_esp_node_up(struct pw_esp *esp, const struct net *net)
{
	struct pw_esp_conf conf;
	siphash_key_t key;
	void *mem;

	ASSERT_RTNL();
	get_random_bytes(&key, sizeof(key));
	pw_esp_conf_get(esp, net, &conf);
	/* the store is not read before mem is set */
	if (conf.capacity <= PW_ESP_SPARSE)
		mem = pw_esp_sparse_alloc(&esp->store, &conf, &key);
	else
		mem = pw_esp_store_alloc(&esp->store, &conf, &key);
	if (!mem)
		return -ENOMEM;
	spin_lock_bh(&esp->lock);
	esp->mem = mem;
	spin_unlock_bh(&esp->lock);
	return 0;
}

/**
 * pw_esp_node_down - forget everything
 * @esp: the node; under RTNL
 */
void pw_esp_node_down(struct pw_esp *esp)
{
	void *mem;

	spin_lock_bh(&esp->lock);
	mem = esp->mem;
	esp->mem = NULL;
	spin_unlock_bh(&esp->lock);
	pw_esp_store_free(&esp->store, mem);
}

/**
 * pw_esp_node_set - change capacity or lifetime of a node
 * @esp: the node
 * @net: its namespace; under RTNL
 * @conf: new settings; 0: as the namespace has it
 * @extack: where a refusal is explained
 *
 * What is bound stays bound. The store is locked while bindings move, hence a store
 * with more than PW_ESP_MOVE_MAX of them keeps its size until some have expired.
 *
 * Return: 0 or a negative errno; then nothing has changed.
 */
int pw_esp_node_set(struct pw_esp *esp, const struct net *net, const struct pw_esp_conf *conf,
		    struct netlink_ext_ack *extack)
{
	struct pw_esp_conf old = esp->conf, want;
	struct pw_esp_store other;
	void *mem = NULL;
	int err = 0;

	ASSERT_RTNL();
	esp->conf = *conf;
	pw_esp_conf_get(esp, net, &want);
	/* only RTNL holders change these */
	if (!esp->mem)
		return 0;
	if (want.capacity != esp->store.capacity) {
		/* the key stays: marks of reductions under way depend on it */
		mem = pw_esp_store_alloc(&other, &want, &esp->store.key);
		if (!mem) {
			esp->conf = old;
			return -ENOMEM;
		}
	}

	spin_lock_bh(&esp->lock);
	if (mem && esp->store.used > PW_ESP_MOVE_MAX)
		err = -ENOSPC;
	if (mem && !err) {
		err = pw_esp_store_copy(&other, &esp->store, pw_esp_now(esp));
		if (!err) {
			swap(esp->store, other);
			swap(esp->mem, mem);
		}
	}
	if (!err)
		pw_esp_store_set_lifetime(&esp->store, pw_esp_now(esp),
					  (u64)want.lifetime * NSEC_PER_MSEC);
	spin_unlock_bh(&esp->lock);
	pw_esp_store_free(&other, mem);
	if (err) {
		esp->conf = old;
		NL_SET_ERR_MSG(extack, "The store holds too many bindings; wait until they expire");
		return -EBUSY;
	}
	return 0;
}

/**
 * pw_esp_node_info - size and occupancy, which every user may read
 * @esp: the node
 * @net: its namespace; under RTNL
 * @info: result
 */
void pw_esp_node_info(struct pw_esp *esp, const struct net *net, struct pw_esp_info *info)
{
	struct pw_esp_conf conf;
	int op, v;

	pw_esp_conf_get(esp, net, &conf);
	info->capacity = conf.capacity;
	info->lifetime = conf.lifetime;
	info->used = 0;
	spin_lock_bh(&esp->lock);
	info->up = esp->mem;
	if (esp->mem) {
		/* changed defaults hold from the next time the link comes up */
		info->capacity = esp->store.capacity;
		info->lifetime = div_u64(esp->store.lifetime, NSEC_PER_MSEC);
		info->used = pw_esp_store_live(&esp->store, pw_esp_now(esp));
	}
	spin_unlock_bh(&esp->lock);
	for (op = 0; op < PW_ESP_OPCODES; op++)
		for (v = 0; v < PW_ESP_VERDICTS; v++)
			info->done[op][v] = atomic64_read(&esp->done[op][v]);
}

/**
 * pw_esp_node_peek - one binding, for administrators only: tags are capabilities
 * @esp: the node
 * @nth: which, the oldest is 0
 * @tag: its tag
 * @val: its value
 * @left: nanoseconds it has left
 *
 * Return: false where there are not so many.
 */
bool pw_esp_node_peek(struct pw_esp *esp, u32 nth, u64 *tag, u64 *val, u64 *left)
{
	bool found;

	spin_lock_bh(&esp->lock);
	found = esp->mem && pw_esp_store_peek(&esp->store, pw_esp_now(esp), nth, tag, val, left);
	spin_unlock_bh(&esp->lock);
	return found;
}

/* a half-router that is unpublished, or that was not even initialised */
void pw_esp_node_free(struct pw_esp *esp)
{
	pw_esp_store_free(&esp->store, esp->mem);
}

/* recompute the CRCs of a data block that has changed */
void pw_esp_crc(struct sk_buff *skb, const struct pw_eep_view *v)
{
	struct pw_eep_elem el;
	struct pw_eep_iter it;
	struct pw_eep_crc crc;
	unsigned int i = 0;

	if (!v->nann)
		return;
	pw_eep_crc_init(&crc, v->oh_mask);
	pw_eep_crc_update(&crc, skb->data + v->db_off, (size_t)v->dl * PW_EEP_WORD);
	pw_eep_iter_ot(&it, skb->data + v->ot_off, v);
	while (i < v->nann && pw_eep_next(&it, &el)) {
		u8 type = v->ann & BIT_ULL(i) ? PW_OH_CRC64 : PW_OH_CRC32;

		if (el.type != type)
			continue;
		i++;
		if (el.data_len == (type == PW_OH_CRC64 ? PW_OH_CRC64_LEN : PW_OH_CRC32_LEN))
			pw_eep_crc_put(&crc, type, skb->data + v->ot_off + el.data_off);
	}
}

/* values of the node for those that name their tags; BH off, RCU held */
static void pw_esp_facts(const struct pw_esp *esp, u32 mtu, u64 *facts)
{
	const struct pw_san *san = esp->home;
	const struct pw_engine *eng = rcu_dereference(san->engine);
	const struct pw_port *port = &san->port[pw_san_port_of(san, esp->id)];

	facts[PW_ESP_TAG_QUEUE - 1] = pw_port_frames(port);
	facts[PW_ESP_TAG_BYTES - 1] = pw_port_bytes(port);
	facts[PW_ESP_TAG_RATE - 1] = eng->ops->time ? READ_ONCE(san->fabric.rate) : U64_MAX;
	facts[PW_ESP_TAG_MTU - 1] = mtu;
	facts[PW_ESP_TAG_TIME - 1] = pw_engine_time(san);
}

/**
 * pw_esp_node_skb - a message of type ESP passes a node
 * @esp: the node
 * @mtu: of the node
 * @skb: the message, changed in place; linear and private afterwards
 * @v: what was parsed of it; its data must be good
 * @res: what happened
 *
 * For stations and half-routers alike. BH off, RCU held.
 *
 * Return: 0, or -ENOMEM with nothing executed.
 */
int pw_esp_node_skb(struct pw_esp *esp, u32 mtu, struct sk_buff *skb, const struct pw_eep_view *v,
		    struct pw_esp_result *res)
{
	const struct pw_esp_node node = {
		.store = &esp->store,
		.id = esp->id,
		.router = esp->router,
	};

	u64 facts[PW_ESP_FACTS];
	size_t lacks;
	bool asked;

	if (pw_skb_make_writable(skb))
		return -ENOMEM;
	/* an engine's lock is not taken inside that of a store */
	asked = pw_esp_names_node(skb->data + v->db_off, v->data_len);
	if (unlikely(asked))
		pw_esp_facts(esp, mtu, facts);
	*res = (struct pw_esp_result) { .verdict = PW_ESP_V_PASS };
	spin_lock(&esp->lock);
	if (likely(esp->mem)) {
		lacks = pw_esp_store_lacks(&esp->store);
		if (unlikely(lacks && pw_esp_grow(esp, lacks))) {
			spin_unlock(&esp->lock);
			return -ENOMEM;
		}
		esp->store.facts = asked ? facts : NULL;
		pw_esp_node_input(&node, pw_esp_now(esp), skb->data + v->db_off, v->data_len, res);
		esp->store.facts = NULL;
	}
	spin_unlock(&esp->lock);
	if (res->verdict >= PW_ESP_V_FORWARD && res->verdict <= PW_ESP_V_ABORT)
		atomic64_inc(&esp->done[res->opcode][res->verdict - PW_ESP_V_FORWARD]);
	if (res->verdict == PW_ESP_V_FORWARD || res->verdict == PW_ESP_V_ABORT)
		pw_esp_crc(skb, v);
	return 0;
}

/* what pw_esp_node_skb() has not counted */
static void pw_esp_count(struct pw_station *st, const struct pw_esp_result *res)
{
	if (res->verdict == PW_ESP_V_PASS)
		pw_count(st, PW_STAT_ESP_PASS);
	if (res->reason == PW_ESP_R_FULL)
		pw_count(st, PW_STAT_ESP_FULL);
}

/* the message goes back where it came from */
static void pw_esp_send_back(struct pw_station *st, struct sk_buff *skb)
{
	u8 *hdr = skb->data;

	if (pw_own_full(st, skb->len)) {
		pw_count(st, PW_STAT_ESP_REFLECT_LIMITED);
		consume_skb(skb);
		return;
	}
	memcpy(hdr + PW_EEP_OFF_DT, hdr + PW_EEP_OFF_SA, PW_ADDR_LEN);
	put_unaligned_be24(st->addr, hdr + PW_EEP_OFF_SA);
	pw_count(st, PW_STAT_ESP_REFLECTED);
	pw_send_own(st, skb);
}

/**
 * pw_esp_rx - a message of type ESP has reached a station
 * @st: the station
 * @skb: the message; consumed if PW_OK is returned
 * @v: what was parsed of it
 * @up: messages for the stack
 *
 * Damaged data is not executed. What came by a group address is executed, but
 * not reflected: one packet must not have many answers. BH off, RCU held.
 *
 * Return: PW_OK or a drop reason.
 */
int pw_esp_rx(struct pw_station *st, struct sk_buff *skb, const struct pw_eep_view *v,
	      struct pw_up *up)
{
	struct pw_esp_result res = { .verdict = PW_ESP_V_PASS };
	bool reflect = false, damaged = v->ei;
	struct sk_buff *copy = NULL;

	/* captures get it as it was received */
	if (!damaged && dev_nit_active(st->dev))
		copy = skb_clone(skb, GFP_ATOMIC);
	if (!damaged && pw_esp_node_skb(&st->esp, READ_ONCE(st->dev->mtu), skb, v, &res)) {
		kfree_skb(copy);
		return PW_DROP_RX_NOMEM;
	}
	trace_pw_esp(st->dev->name, st->addr, v, &res);
	pw_esp_count(st, &res);
	if (res.verdict == PW_ESP_V_DROP) {
		kfree_skb(copy);
		return PW_DROP_BAD_PAYLOAD;
	}
	if (res.verdict != PW_ESP_V_DISCARD && !damaged && skb->pkt_type == PACKET_HOST &&
	    pw_addr_kind(v->sa) == PW_ADDR_KIND_PHYS)
		reflect = pw_esp_reflect(skb->data + v->db_off, v->data_len);

	if (res.verdict != PW_ESP_V_DISCARD && !reflect) {
		consume_skb(copy);
		pw_skb_strip(skb, v);
		pw_up_add(up, skb);
		return PW_OK;
	}
	if (copy) {
		/* pkt_type tells programs that it was not for them */
		copy->pkt_type = PACKET_OTHERHOST;
		pw_skb_strip(copy, v);
		pw_up_add(up, copy);
	}
	if (reflect) {
		pw_esp_crc(skb, v);
		pw_skb_strip(skb, v);
		pw_esp_send_back(st, skb);
	} else {
		consume_skb(skb);
	}
	return PW_OK;
}
