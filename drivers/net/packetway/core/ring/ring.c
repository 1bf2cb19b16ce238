// SPDX-License-Identifier: GPL-2.0
/*
 * ATON: membership, queues, faults and results, shared by the two engines.
 *
 * The engines decide what happens on the wire and when, and report it with
 * pw_ring_begin(), pw_ring_end(), pw_ring_abandon() and pw_ring_reissue().
 */
#include "ring_priv.h"

/**
 * pw_ring_dist - bit times from one interface's output to another's
 * @ring: the ring
 * @from: first interface
 * @to: second; the same one: once around
 */
u64 pw_ring_dist(const struct pw_ring *ring, u32 from, u32 to)
{
	u64 hop = 1 + ring->p.propagation;

	if (to > from)
		return (to - from) * hop;
	return (ring->n - from + to) * hop + ring->pad;
}

/**
 * pw_ring_next_up - first interface at or after @from, not wrapping, that is up
 * @ring: the ring
 * @from: where to start
 *
 * Return: its number, or the number of interfaces.
 */
u32 pw_ring_next_up(const struct pw_ring *ring, u32 from)
{
	u32 w = from / 64;
	u64 bits;

	/* blocks are always up, and come last */
	if (from >= ring->own)
		return min(from, ring->n);
	for (bits = ring->up[w] & (~0ULL << from % 64); !bits; bits = ring->up[w])
		if (++w >= pw_ring_words(ring->own))
			return ring->own;
	return w * 64 + __ffs64(bits);
}

static void set_ready(struct pw_ring *ring, u32 interface, bool v)
{
	if (pw_ring_bit(ring->ready, interface) == v)
		return;
	pw_ring_put_bit(ring->ready, interface, v);
	ring->nready += v ? 1 : -1;
}

static void future_remove(struct pw_ring *ring, struct pw_ring_sender *sender)
{
	struct pw_ring_sender **p;

	for (p = &ring->future; *p; p = &(*p)->next_future)
		if (*p == sender) {
			*p = sender->next_future;
			return;
		}
}

/* the head of an interface's queue is new: file it under ready or future */
static void file_head(struct pw_ring *ring, struct pw_ring_sender *sender)
{
	bool due = sender->head && sender->head->submit <= ring->now;
	struct pw_ring_sender **p;

	set_ready(ring, sender->interface, due);
	if (!sender->head || due)
		return;
	for (p = &ring->future; *p && (*p)->head->submit <= sender->head->submit;
	     p = &(*p)->next_future)
		;
	sender->next_future = *p;
	*p = sender;
}

/**
 * pw_ring_promote - make the commands ready that are due
 * @ring: the ring
 * @t: bit time by which they are due
 */
void pw_ring_promote(struct pw_ring *ring, u64 t)
{
	struct pw_ring_sender *sender;

	while ((sender = ring->future) && sender->head->submit <= t) {
		ring->future = sender->next_future;
		set_ready(ring, sender->interface, true);
	}
}

static void put_done(struct pw_ring *ring, struct pw_ring_cmd *cmd)
{
	cmd->runs++;
	ring->stats.errors[cmd->err]++;
	if (cmd->on_done)
		return;
	cmd->on_done = true;
	cmd->next_done = NULL;
	if (ring->done)
		ring->done_tail->next_done = cmd;
	else
		ring->done = cmd;
	ring->done_tail = cmd;
}

/**
 * pw_ring_reap - next command that has ended
 * @ring: the ring
 *
 * Return: commands in the order in which they ended; NULL if there is none. A
 * standing command stays installed.
 */
struct pw_ring_cmd *pw_ring_reap(struct pw_ring *ring)
{
	struct pw_ring_cmd *cmd = ring->done;

	if (cmd) {
		ring->done = cmd->next_done;
		cmd->on_done = false;
	}
	return cmd;
}

/**
 * pw_ring_ended - has pw_ring_reap() a command to return?
 * @ring: the ring
 */
bool pw_ring_ended(const struct pw_ring *ring)
{
	return ring->done;
}

/*
 * Add @n, which may be negative, to the number of queued commands. Passive packets do not count:
 * their senders limit them, and commands shall find room beside them.
 */
static void count_queued(struct pw_ring *ring, struct pw_ring_sender *sender,
			 const struct pw_ring_cmd *cmd, int n)
{
	if (cmd->op == PW_ATON_PASSIVE)
		return;
	sender->queued += n;
	ring->queued += n;
}

/* end all commands queued at an interface that goes down or is removed */
static void flush_queue(struct pw_ring *ring, u32 interface)
{
	struct pw_ring_sender *sender = ring->sender[interface];
	struct pw_ring_cmd *cmd;

	if (!sender || !sender->head)
		return;
	future_remove(ring, sender);
	set_ready(ring, interface, false);
	while ((cmd = sender->head)) {
		sender->head = cmd->next;
		count_queued(ring, sender, cmd, -1);
		cmd->sender = NULL;
		cmd->interface = interface;
		cmd->err = PW_ATON_E_DOWN;
		cmd->done = max(ring->now, cmd->submit);
		cmd->wait = cmd->done - cmd->submit;
		cmd->ring_bits = 0;
		put_done(ring, cmd);
	}
}

static void issue_token(struct pw_ring *ring, u32 from, u64 at)
{
	ring->state = PW_RING_TOKEN;
	ring->tok_from = from;
	ring->tok_at = at;
	if (ring->engine->token)
		ring->engine->token(ring);
}

/*
 * The active monitor is the first interface that is up. Without one the ring is dark; the
 * first one of a dark ring issues a token one revolution later.
 */
static void elect_monitor(struct pw_ring *ring)
{
	ring->monitor = pw_ring_next_up(ring, 0);
	if (ring->monitor >= ring->n) {
		if (ring->state != PW_RING_DARK)
			ring->engine->wipe(ring);
		ring->state = PW_RING_DARK;
	} else if (ring->state == PW_RING_DARK) {
		issue_token(ring, ring->monitor, ring->now + ring->turn);
	}
}

static void apply_changes(struct pw_ring *ring)
{
	u64 bits;
	u32 w;

	if (!ring->changed)
		return;
	ring->changed = false;
	for (w = 0; w < pw_ring_words(ring->own); w++) {
		bits = ring->up[w] & ~ring->want[w];
		ring->up[w] = ring->want[w];
		for (; bits; bits &= bits - 1)
			flush_queue(ring, w * 64 + __ffs64(bits));
	}
	elect_monitor(ring);
}

static bool on_ring(const struct pw_ring *ring)
{
	return ring->flight || ring->state == PW_RING_ORPHAN;
}

static bool in_flight(const struct pw_ring *ring, const struct pw_ring_cmd *cmd)
{
	const struct pw_ring_packet *pkt;

	for (pkt = ring->flight; pkt; pkt = pkt->next)
		if (pkt->cmd == cmd)
			return true;
	return false;
}

/* a packet is back, or will not come back */
static void land(struct pw_ring *ring, struct pw_ring_packet *pkt)
{
	struct pw_ring_packet **p;

	for (p = &ring->flight; *p; p = &(*p)->next)
		if (*p == pkt) {
			*p = pkt->next;
			break;
		}
	if (ring->pkt == pkt)
		ring->pkt = NULL;
}

/* bits of a count in a BITSUM */
static u32 part_bits(const struct pw_ring *ring)
{
	if (ring->p.bitsum == PW_RING_BITSUM_FIT)
		return fls(ring->n) ?: 1;
	return ring->p.bitsum ?: PW_ATON_BITSUM_BITS;
}

/*
 * Interfaces were inserted or removed: compute the geometry, purge the ring and issue a
 * token. A SORT packet grows by an operand at each interface.
 */
static void rebuild(struct pw_ring *ring)
{
	u64 longest;
	u32 i;

	ring->n = ring->own;
	ring->nregs = ring->p.nregs;
	for (i = 0; i < ring->nblocks; i++) {
		ring->block[i]->first = ring->n;
		ring->n += ring->block[i]->count;
		ring->nregs = min(ring->nregs, ring->block[i]->nregs);
	}
	ring->latency = (u64)ring->n * (1 + ring->p.propagation);
	ring->turn = max_t(u64, ring->latency, PW_ATON_TOKEN);
	ring->pad = ring->turn - ring->latency;
	ring->fmt.part = part_bits(ring);
	longest = pw_aton_format_bits(ring->fmt, PW_ATON_SORT, ring->n, 0) +
		  (u64)ring->fmt.width * ring->n;
	longest = max(longest, pw_aton_format_bits(ring->fmt, PW_ATON_BITSUM, 0, 0));
	longest = max(longest, pw_aton_format_bits(ring->fmt, PW_ATON_TREE, 0, PW_ATON_HEIGHTS));
	longest = max(longest, pw_aton_format_bits(ring->fmt, PW_ATON_TREE, 0,
						   PW_TREE_NODES | PW_ATON_NODE_HEIGHTS));
	longest = max(longest, pw_aton_format_bits(ring->fmt, PW_ATON_PASSIVE,
						   ring->p.max_bytes, 0));
	ring->timeout = 3 * ring->turn + longest;
	ring->engine->wipe(ring);
	ring->state = PW_RING_DARK;
	ring->stats.purges++;
	elect_monitor(ring);
}

static void move_interface(struct pw_ring *ring, u32 to, u32 from)
{
	u32 r;

	for (r = 0; r < ring->p.nregs; r++) {
		u64 *bank = ring->operand + (size_t)r * ring->p.capacity;

		bank[to] = bank[from];
	}
	ring->addr[to] = ring->addr[from];
	ring->group[to] = ring->group[from];
	ring->sender[to] = ring->sender[from];
	if (ring->sender[to])
		ring->sender[to]->interface = to;
	pw_ring_put_bit(ring->up, to, pw_ring_bit(ring->up, from));
	pw_ring_put_bit(ring->want, to, pw_ring_bit(ring->want, from));
	pw_ring_put_bit(ring->mapped, to, pw_ring_bit(ring->mapped, from));
	pw_ring_put_bit(ring->ready, to, pw_ring_bit(ring->ready, from));
	pw_ring_put_bit(ring->mute, to, pw_ring_bit(ring->mute, from));
}

/**
 * pw_ring_attach - insert interfaces, up and with operands of zero
 * @ring: the ring
 * @pos: number of the first one; the numbers of interfaces from there on increase
 * @count: how many
 * @addr: address of the first; the others' follow
 * @group: group mask of each
 *
 * Insertion interrupts the ring: the active monitor purges it and issues a new token one
 * revolution later.
 *
 * Return: 0, -EINVAL, -ENOSPC, or -EBUSY while a packet is on the ring.
 */
int pw_ring_attach(struct pw_ring *ring, u32 pos, u32 count, u32 addr, u32 group)
{
	u32 i, r;

	if (pos > ring->own || !count || addr > PW_ATON_ADDR_MASK ||
	    count - 1 > PW_ATON_ADDR_MASK - addr)
		return -EINVAL;
	if (count > ring->p.capacity - ring->own)
		return -ENOSPC;
	if (on_ring(ring))
		return -EBUSY;
	for (i = ring->own; i-- > pos;)
		move_interface(ring, i + count, i);
	for (i = pos; i < pos + count; i++) {
		for (r = 0; r < ring->p.nregs; r++)
			ring->operand[(size_t)r * ring->p.capacity + i] = 0;
		ring->addr[i] = addr + (i - pos);
		ring->group[i] = group;
		ring->sender[i] = NULL;
		pw_ring_put_bit(ring->up, i, true);
		pw_ring_put_bit(ring->want, i, true);
		pw_ring_put_bit(ring->mapped, i, false);
		pw_ring_put_bit(ring->ready, i, false);
		pw_ring_put_bit(ring->mute, i, false);
	}
	ring->own += count;
	rebuild(ring);
	return 0;
}

static void standing_remove(struct pw_ring *ring, struct pw_ring_sender *sender)
{
	struct pw_ring_sender **p;

	for (p = &ring->standing; *p; p = &(*p)->next_standing)
		if (*p == sender) {
			*p = sender->next_standing;
			ring->nstanding--;
			break;
		}
	sender->standing = NULL;
}

static void unbind(struct pw_ring *ring, u32 interface)
{
	struct pw_ring_sender *sender = ring->sender[interface];

	if (!sender)
		return;
	flush_queue(ring, interface);
	standing_remove(ring, sender);
	ring->sender[interface] = NULL;
	pw_ring_put_bit(ring->mapped, interface, false);
}

/**
 * pw_ring_detach - remove interfaces
 * @ring: the ring
 * @pos: first one; the numbers of interfaces behind them decrease
 * @count: how many
 *
 * Commands queued at them end with PW_ATON_E_DOWN. The ring is purged.
 *
 * Return: 0, -EINVAL, or -EBUSY while a packet is on the ring.
 */
int pw_ring_detach(struct pw_ring *ring, u32 pos, u32 count)
{
	u32 i;

	if (!count || pos >= ring->own || count > ring->own - pos)
		return -EINVAL;
	if (on_ring(ring))
		return -EBUSY;
	for (i = pos; i < pos + count; i++)
		unbind(ring, i);
	for (i = pos + count; i < ring->own; i++)
		move_interface(ring, i - count, i);
	for (i = ring->own - count; i < ring->own; i++) {
		pw_ring_put_bit(ring->up, i, false);
		pw_ring_put_bit(ring->want, i, false);
		pw_ring_put_bit(ring->mapped, i, false);
		pw_ring_put_bit(ring->ready, i, false);
		pw_ring_put_bit(ring->mute, i, false);
		ring->sender[i] = NULL;
	}
	ring->own -= count;
	rebuild(ring);
	return 0;
}

/**
 * pw_ring_append - insert a block behind all other interfaces
 * @ring: the ring
 * @block: the block, the ring's until pw_ring_remove()
 *
 * Return: 0, -EINVAL, -ENOSPC, or -EBUSY while a packet is on the ring.
 */
int pw_ring_append(struct pw_ring *ring, struct pw_ring_block *block)
{
	u32 room = ring->engine->per_interface ? ring->p.capacity + ring->p.extra :
						 PW_ATON_MAX_INTERFACES;

	if (!block->count || !block->nregs || block->nregs > PW_ATON_REGS ||
	    block->addr > PW_ATON_ADDR_MASK || block->count - 1 > PW_ATON_ADDR_MASK - block->addr)
		return -EINVAL;
	/* the capacity for interfaces in no block is reserved, used or not */
	if (ring->nblocks == PW_RING_BLOCKS ||
	    block->count > room - ring->p.capacity - (ring->n - ring->own))
		return -ENOSPC;
	if (on_ring(ring))
		return -EBUSY;
	ring->block[ring->nblocks++] = block;
	rebuild(ring);
	return 0;
}

/**
 * pw_ring_remove - remove a block
 * @ring: the ring
 * @block: the block
 *
 * Return: 0, -EINVAL, or -EBUSY while a packet is on the ring.
 */
int pw_ring_remove(struct pw_ring *ring, struct pw_ring_block *block)
{
	u32 i;

	for (i = 0; i < ring->nblocks && ring->block[i] != block; i++)
		;
	if (i == ring->nblocks)
		return -EINVAL;
	if (on_ring(ring))
		return -EBUSY;
	ring->nblocks--;
	for (; i < ring->nblocks; i++)
		ring->block[i] = ring->block[i + 1];
	rebuild(ring);
	return 0;
}

/**
 * pw_ring_restart - interrupt the ring, and let its monitor issue a new token
 * @ring: the ring
 *
 * As pw_ring_break(), also if no packet is on the ring: where the token is from now on does not
 * depend on what was before.
 */
void pw_ring_restart(struct pw_ring *ring)
{
	struct pw_ring_sender *sender;
	struct pw_ring_packet *pkt;
	struct pw_ring_cmd *cmd;

	while ((pkt = ring->flight)) {
		cmd = pkt->cmd;
		sender = ring->sender[pkt->t];
		land(ring, pkt);
		if (cmd->standing) {
			sender->standing_after = pkt->start;
		} else {
			future_remove(ring, sender);
			count_queued(ring, sender, cmd, 1);
			cmd->sender = sender;
			cmd->next = sender->head;
			if (!sender->head)
				sender->tail = cmd;
			sender->head = cmd;
			file_head(ring, sender);
		}
	}
	ring->leaving = false;
	ring->pkt_flip = false;
	ring->pkt_stuck = false;
	ring->engine->wipe(ring);
	ring->state = PW_RING_DARK;
	elect_monitor(ring);
	apply_changes(ring);
}

/**
 * pw_ring_break - interrupt the ring; the packets on it are lost
 * @ring: the ring
 *
 * The command of each becomes the first one in the queue of its sender again and is sent with
 * the next token. This takes constant time (rtl: a few words per interface), however far the
 * packet has come. Afterwards no packet is on the ring.
 */
void pw_ring_break(struct pw_ring *ring)
{
	if (on_ring(ring))
		pw_ring_restart(ring);
}

/**
 * pw_ring_move - let a ring take the place of another
 * @to: an empty ring
 * @from: the ring whose time, interfaces, commands and counters it gets; must not be used
 *	afterwards
 *
 * Return: 0, or -ENOSPC if @to is too small; then nothing has changed.
 */
int pw_ring_move(struct pw_ring *to, struct pw_ring *from)
{
	u32 blocks = from->n - from->own;
	u32 i, r;

	if (to->p.capacity < from->own || to->p.nregs < from->p.nregs ||
	    (to->engine->per_interface && to->p.extra < blocks))
		return -ENOSPC;
	pw_ring_break(from);
	for (r = 0; r < from->p.nregs; r++)
		memcpy(to->operand + (size_t)r * to->p.capacity,
		       from->operand + (size_t)r * from->p.capacity, from->own * sizeof(u64));
	memcpy(to->addr, from->addr, from->own * sizeof(*to->addr));
	memcpy(to->group, from->group, from->own * sizeof(*to->group));
	memcpy(to->sender, from->sender, from->own * sizeof(*to->sender));
	for (i = 0; i < pw_ring_words(from->own); i++) {
		to->up[i] = from->up[i];
		to->want[i] = from->want[i];
		to->mapped[i] = from->mapped[i];
		to->ready[i] = from->ready[i];
		to->mute[i] = from->mute[i];
	}
	memcpy(to->block, from->block, from->nblocks * sizeof(*to->block));
	to->own = from->own;
	to->nblocks = from->nblocks;
	to->nready = from->nready;
	to->queued = from->queued;
	to->changed = from->changed;
	to->future = from->future;
	to->standing = from->standing;
	to->nstanding = from->nstanding;
	to->done = from->done;
	to->done_tail = from->done_tail;
	to->stats = from->stats;
	to->serial = from->serial;
	to->flip = from->flip;
	to->flip_hop = from->flip_hop;
	to->flip_bit = from->flip_bit;
	to->stuck = from->stuck;
	to->stuck_interface = from->stuck_interface;
	to->leave = from->leave;
	to->leave_bit = from->leave_bit;
	to->lose = from->lose;
	to->lose_at = from->lose_at;
	to->dup = from->dup;
	to->now = from->now;
	if (to->engine->start)
		to->engine->start(to, to->now);
	rebuild(to);
	return 0;
}

/**
 * pw_ring_bind - give an interface a sender, or take it away
 * @ring: the ring
 * @interface: the interface
 * @sender: sender, zero except for the members that the caller keeps; NULL: unbind
 *
 * Return: 0, -EINVAL, or -EBUSY if it has one, or has a packet on the ring.
 */
int pw_ring_bind(struct pw_ring *ring, u32 interface, struct pw_ring_sender *sender)
{
	if (interface >= ring->own)
		return -EINVAL;
	if (ring->sender[interface] && in_flight(ring, ring->sender[interface]->pkt.cmd))
		return -EBUSY;
	if (!sender) {
		unbind(ring, interface);
		return 0;
	}
	if (ring->sender[interface])
		return -EBUSY;
	sender->interface = interface;
	ring->sender[interface] = sender;
	pw_ring_put_bit(ring->mapped, interface, !!sender->operands);
	return 0;
}

/**
 * pw_ring_set_up - take an interface down (bypassed: it relays) or up
 * @ring: the ring
 * @interface: the interface
 * @up: which
 *
 * The bypass switches between packets: at once, or when the packet now on the
 * ring has ended. Only the T-interface of that packet may leave earlier, once it has
 * sent all and nothing has come back; its command then ends with PW_ATON_E_DOWN.
 *
 * Return: 0 or -EINVAL.
 */
int pw_ring_set_up(struct pw_ring *ring, u32 interface, bool up)
{
	if (interface >= ring->own)
		return -EINVAL;
	if (pw_ring_bit(ring->want, interface) == up)
		return 0;
	pw_ring_put_bit(ring->want, interface, up);
	ring->changed = true;
	if (ring->state == PW_RING_PACKET && ring->pkt->t == interface) {
		ring->leaving = !up;
		ring->leave_at = ring->now;
		ring->pkt->hold |= !up;
	}
	if (!on_ring(ring))
		apply_changes(ring);
	return 0;
}

/**
 * pw_ring_set_mute - let an interface take part in no command, or in all
 * @ring: the ring
 * @interface: the interface; one that was attached takes part
 * @mute: it may send, and is in no region, not even in that of its own commands; passive
 *	packets reach it
 *
 * Return: 0, -EINVAL, or -EBUSY while a packet is on the ring.
 */
int pw_ring_set_mute(struct pw_ring *ring, u32 interface, bool mute)
{
	if (interface >= ring->own)
		return -EINVAL;
	if (on_ring(ring))
		return -EBUSY;
	pw_ring_put_bit(ring->mute, interface, mute);
	return 0;
}

/**
 * pw_ring_interfaces - number of interfaces
 * @ring: the ring
 */
u32 pw_ring_interfaces(const struct pw_ring *ring)
{
	return ring->n;
}

static int check_cmd(const struct pw_ring *ring, u32 interface, const struct pw_ring_cmd *cmd)
{
	const u8 mods = PW_ATON_SIGNED | PW_ATON_COMPARAND | PW_ATON_PREFIX;
	const u8 *ops;
	u32 i, nops;

	if (interface >= ring->own || !ring->sender[interface] || cmd->reg >= ring->nregs ||
	    cmd->dst > PW_ATON_ADDR_MASK || cmd->mods & ~mods)
		return -EINVAL;
	if (cmd->mods & PW_ATON_PREFIX && (!cmd->op || cmd->op > PW_ATON_COUNT_LE))
		return -EINVAL;
	switch (cmd->op) {
	case PW_ATON_PASSIVE:
		if (cmd->len > ring->p.max_bytes || (cmd->len && !cmd->data))
			return -EMSGSIZE;
		break;
	case PW_ATON_SORT:
		if (!cmd->out)
			return -EINVAL;
		break;
	case PW_ATON_BITSUM:
		if (!cmd->parts)
			return -EINVAL;
		break;
	case PW_ATON_TREE:
		if (cmd->heights > (cmd->nodes ? PW_ATON_NODE_HEIGHTS : PW_ATON_HEIGHTS))
			return -EINVAL;
		ops = cmd->nodes ? cmd->nodes : cmd->ops;
		nops = cmd->nodes ? (1u << cmd->heights) - 1 : cmd->heights;
		for (i = 0; i < nops; i++)
			if (ops[i] < PW_ATON_ADD || ops[i] > PW_ATON_MIN)
				return -EINVAL;
		break;
	default:
		if (cmd->op > PW_ATON_COUNT_LE)
			return -EOPNOTSUPP;
	}
	if (!pw_ring_bit(ring->want, interface) || !pw_ring_bit(ring->up, interface))
		return -ENETDOWN;
	return 0;
}

/**
 * pw_ring_submit - queue a command at an interface
 * @ring: the ring
 * @interface: the T-interface; it must have a sender
 * @cmd: the command; it belongs to the ring until it is reaped or cancelled
 *
 * Return: 0, or -EINVAL, -EMSGSIZE, -EOPNOTSUPP, -ENETDOWN, or -EBUSY if too many are
 * queued.
 */
int pw_ring_submit(struct pw_ring *ring, u32 interface, struct pw_ring_cmd *cmd)
{
	int err = check_cmd(ring, interface, cmd);
	struct pw_ring_sender *sender;

	if (err)
		return err;
	sender = ring->sender[interface];
	if (cmd->op != PW_ATON_PASSIVE &&
	    ((ring->p.queue_sender && sender->queued >= ring->p.queue_sender) ||
	     (ring->p.queue_ring && ring->queued >= ring->p.queue_ring))) {
		ring->stats.refused++;
		return -EBUSY;
	}
	count_queued(ring, sender, cmd, 1);
	cmd->submit = max(cmd->when, ring->now);
	cmd->interface = interface;
	cmd->standing = false;
	cmd->on_done = false;
	cmd->runs = 0;
	cmd->sender = sender;
	cmd->next = NULL;
	if (sender->head) {
		sender->tail->next = cmd;
		sender->tail = cmd;
	} else {
		sender->head = cmd;
		sender->tail = cmd;
		file_head(ring, sender);
	}
	return 0;
}

/**
 * pw_ring_stand - install an interface's standing command
 * @ring: the ring
 * @interface: the interface; it must have a sender
 * @cmd: the command; it belongs to the ring until it is replaced; NULL: none
 *
 * The interface triggers it whenever it sees the token twice in a row, but no sooner than
 * @cmd->gap after the last time. It may be reaped each time that it completes.
 *
 * Return: 0, -EBUSY while the old one is on the ring, or as pw_ring_submit().
 */
int pw_ring_stand(struct pw_ring *ring, u32 interface, struct pw_ring_cmd *cmd)
{
	struct pw_ring_sender *sender;
	int err;

	if (interface >= ring->own || !ring->sender[interface])
		return -EINVAL;
	sender = ring->sender[interface];
	if (cmd) {
		err = check_cmd(ring, interface, cmd);
		if (err)
			return err;
	}
	if (sender->standing && in_flight(ring, sender->standing))
		return -EBUSY;
	standing_remove(ring, sender);
	if (!cmd)
		return 0;
	sender->standing = cmd;
	ring->nstanding++;
	cmd->submit = max(cmd->when, ring->now);
	cmd->interface = interface;
	cmd->standing = true;
	cmd->on_done = false;
	cmd->runs = 0;
	sender->standing_after = cmd->submit;
	sender->next_standing = ring->standing;
	ring->standing = sender;
	return 0;
}

/**
 * pw_ring_cancel - take back a queued command
 * @ring: the ring
 * @cmd: the command
 *
 * Return: 0: it belongs to the caller again; -EBUSY: it is on the ring and will end by
 * itself; -ENOENT: it has ended, or was not queued.
 */
int pw_ring_cancel(struct pw_ring *ring, struct pw_ring_cmd *cmd)
{
	struct pw_ring_sender *sender;
	struct pw_ring_cmd *c, *prev = NULL;

	if (in_flight(ring, cmd))
		return -EBUSY;
	sender = cmd->sender;
	for (c = sender ? sender->head : NULL; c && c != cmd; c = c->next)
		prev = c;
	if (!c)
		return -ENOENT;
	if (prev) {
		prev->next = c->next;
		if (sender->tail == c)
			sender->tail = prev;
	} else {
		future_remove(ring, sender);
		sender->head = c->next;
		file_head(ring, sender);
	}
	cmd->sender = NULL;
	count_queued(ring, sender, cmd, -1);
	return 0;
}

/**
 * pw_ring_fault - arm a fault
 * @ring: the ring
 * @fault: which, where, when; one of each kind may be armed
 *
 * Return: 0 or -EINVAL.
 */
int pw_ring_fault(struct pw_ring *ring, const struct pw_ring_fault *fault)
{
	switch (fault->kind) {
	case PW_FAULT_FLIP:
		ring->flip = true;
		ring->flip_hop = fault->hop;
		ring->flip_bit = fault->bit;
		return 0;
	case PW_FAULT_STUCK:
		/* interfaces of a block are always up */
		if (fault->hop >= ring->own && fault->hop < ring->n)
			return -EINVAL;
		ring->stuck = true;
		ring->stuck_interface = fault->hop;
		return 0;
	case PW_FAULT_LEAVE:
		ring->leave = true;
		ring->leave_bit = fault->bit;
		return 0;
	case PW_FAULT_LOSE:
		ring->lose = true;
		ring->lose_at = max(fault->at, ring->now);
		return 0;
	case PW_FAULT_DUP:
		ring->dup = true;
		return 0;
	}
	return -EINVAL;
}

/**
 * pw_ring_take - the queued command that an interface would start with a token
 * @ring: the ring
 * @interface: the interface, which sees a free token
 * @start: bit time at which the packet would start
 *
 * Return: the head of its queue if it is due at @start, else NULL.
 */
struct pw_ring_cmd *pw_ring_take(struct pw_ring *ring, u32 interface, u64 start)
{
	struct pw_ring_sender *sender = ring->sender[interface];

	if (!sender || !pw_ring_bit(ring->up, interface))
		return NULL;
	return sender->head && sender->head->submit <= start ? sender->head : NULL;
}

/* the head of a queue, which is in ring->future no longer, becomes a packet */
static void dequeue(struct pw_ring *ring, struct pw_ring_sender *sender)
{
	struct pw_ring_cmd *cmd = sender->head;

	sender->head = cmd->next;
	cmd->sender = NULL;
	count_queued(ring, sender, cmd, -1);
	file_head(ring, sender);
}

static void load_packet(struct pw_ring *ring, struct pw_ring_packet *pkt)
{
	struct pw_ring_cmd *cmd = pkt->cmd;
	bool is_signed = cmd->mods & PW_ATON_SIGNED;
	u64 mask = pw_aton_mask(ring->fmt.width);

	pkt->control = pw_aton_control(cmd);
	pkt->addr = ring->addr[pkt->t];
	pkt->in_region = cmd->op != PW_ATON_PASSIVE && !pw_ring_bit(ring->mute, pkt->t) &&
			 pw_aton_in_region(cmd->dst, pkt->addr, pw_ring_group(ring, pkt->t));
	pkt->x = pw_ring_fetch(ring, pkt->t, cmd->reg) & mask;
	pkt->counter = pkt->in_region;
	pkt->trailer = pkt->in_region ? PW_TRL_RECOGNISED : 0;
	pkt->v1 = pw_aton_identity(cmd->op, is_signed, ring->fmt.width);
	pkt->v2 = 0;
	switch (cmd->op) {
	case PW_ATON_PASSIVE:
		pkt->counter = cmd->len;
		break;
	case PW_ATON_COUNT_EQ:
	case PW_ATON_COUNT_LT:
	case PW_ATON_COUNT_LE:
		pkt->v1 = cmd->mods & PW_ATON_COMPARAND ? cmd->comparand & mask : pkt->x;
		if (pkt->in_region)
			pkt->v2 = pw_aton_relation(cmd->op, is_signed, ring->fmt.width, pkt->v1,
						   pkt->x);
		break;
	}
	if (pkt->in_region && cmd->op <= PW_ATON_MIN)
		pkt->v1 = pkt->x;
	if (pkt->in_region && (cmd->op == PW_ATON_MAX || cmd->op == PW_ATON_MIN))
		pkt->v2 = pkt->addr;
	if (cmd->op == PW_ATON_TREE && pkt->in_region && !cmd->heights)
		pkt->v1 = pkt->x;
	pkt->first = cmd->op >= PW_ATON_COUNT_EQ ? pkt->v2 : pkt->v1;
	pkt->bits = pw_aton_format_bits(ring->fmt, cmd->op, pkt->counter, pw_aton_heights(cmd));
}

/**
 * pw_ring_begin - an interface takes the token and starts its packet
 * @ring: the ring
 * @interface: the T-interface; it sends its queued command, else its standing one
 * @start: bit time at which the first symbol leaves it
 */
void pw_ring_begin(struct pw_ring *ring, u32 interface, u64 start)
{
	struct pw_ring_sender *sender = ring->sender[interface];
	struct pw_ring_packet *pkt = &sender->pkt;
	struct pw_ring_packet **last;
	struct pw_ring_cmd *cmd;

	cmd = pw_ring_take(ring, interface, start);
	if (cmd) {
		future_remove(ring, sender);
		ring->now = max(ring->now, start);
		dequeue(ring, sender);
	} else {
		cmd = sender->standing;
		cmd->submit = start;
		sender->standing_after = start + cmd->gap;
		ring->stats.standing++;
		ring->now = max(ring->now, start);
	}
	cmd->interface = interface;
	pkt->cmd = cmd;
	pkt->t = interface;
	pkt->start = start;
	pkt->next = NULL;
	/* what is on the ring has left the token behind it, so its time on the ring is known */
	pkt->clear_at = 0;
	for (last = &ring->flight; *last; last = &(*last)->next)
		pkt->clear_at = (*last)->start + (*last)->bits + ring->turn;
	*last = pkt;
	ring->pkt = pkt;
	load_packet(ring, pkt);
	sender->command = pkt->control;
	ring->state = PW_RING_PACKET;
	ring->serial++;
	ring->stats.packets++;

	ring->pkt_flip = ring->flip && ring->flip_hop < ring->n;
	ring->pkt_flip_hop = ring->flip_hop;
	ring->pkt_flip_bit = ring->flip_bit;
	ring->flip = false;
	ring->stats.flips += ring->pkt_flip;
	ring->pkt_stuck = ring->stuck && ring->stuck_interface != interface &&
			  ring->stuck_interface < ring->own &&
			  pw_ring_bit(ring->up, ring->stuck_interface);
	if (ring->pkt_stuck) {
		ring->stuck = false;
		ring->stats.stuck++;
		pw_ring_put_bit(ring->want, ring->stuck_interface, false);
		ring->changed = true;
	}
	ring->leaving = ring->leave;
	ring->leave_at = start + ring->leave_bit;
	if (ring->leave) {
		ring->leave = false;
		pw_ring_put_bit(ring->want, interface, false);
		ring->changed = true;
	}
	/*
	 * Only fill may follow a SORT, whose interfaces take their shift registers out of the path
	 * behind it. A bypass that is to switch needs a ring without packets.
	 */
	pkt->hold = ring->p.release == PW_RING_BACK || cmd->op == PW_ATON_SORT || ring->changed;
}

/**
 * pw_ring_may_leave - may the T-interface leave before its packet is back?
 * @ring: the ring
 * @when: result: bit time at which it leaves, if it may
 *
 * It may after its last symbol was sent, when no other packet is on the ring, and before the
 * first one returns, but never with a SORT packet, which may have become longer than the ring.
 */
bool pw_ring_may_leave(const struct pw_ring *ring, u64 *when)
{
	const struct pw_ring_packet *pkt = ring->pkt;

	*when = max(max(ring->leave_at, pkt->clear_at), pkt->start + pkt->bits);
	return ring->leaving && !ring->pkt_stuck && pkt->cmd->op != PW_ATON_SORT &&
	       *when < pkt->start + ring->turn;
}

/**
 * pw_ring_give_up - bit time at which the T-interface takes its packet for lost
 * @ring: the ring
 * @pkt: the packet
 */
u64 pw_ring_give_up(const struct pw_ring *ring, const struct pw_ring_packet *pkt)
{
	u64 grown = pkt->cmd->op == PW_ATON_SORT ? (u64)ring->fmt.width * ring->n : 0;

	return pkt->start + pkt->bits + grown + ring->turn + PW_ATON_DELIM;
}

/* an operand in a result of @cmd as its caller gets it */
static u64 extend(const struct pw_ring *ring, const struct pw_ring_cmd *cmd, u64 v)
{
	return pw_aton_extend(v, ring->fmt.width, cmd->mods & PW_ATON_SIGNED);
}

/**
 * pw_ring_latched - an interface has latched a partial result
 * @ring: the ring
 * @pkt: the packet
 * @interface: the interface, in no block
 * @latch: what it has latched, without the address of the T-interface
 * @when: bit time at which the packet has passed it
 */
void pw_ring_latched(struct pw_ring *ring, const struct pw_ring_packet *pkt, u32 interface,
		     struct pw_ring_latch *latch, u64 when)
{
	latch->src = pkt->addr;
	if (pkt->cmd->op < PW_ATON_COUNT_EQ) {
		latch->before = extend(ring, pkt->cmd, latch->before);
		latch->with = extend(ring, pkt->cmd, latch->with);
	}
	if (ring->p.latch)
		ring->p.latch(ring->p.ctx, ring->sender[interface], interface, pkt->cmd, latch,
			      when);
}

/* the T-interface has its packet back: it is the first one of the scan */
static void latch_first(struct pw_ring *ring, const struct pw_ring_packet *pkt, u64 when)
{
	struct pw_ring_latch latch = {
		.before = pw_aton_identity(pkt->cmd->op, pkt->cmd->mods & PW_ATON_SIGNED,
					   ring->fmt.width),
		.with = pkt->first,
	};

	if (pkt->in_region && pkt->cmd->mods & PW_ATON_PREFIX)
		pw_ring_latched(ring, pkt, pkt->t, &latch, when);
}

static void end_cmd(struct pw_ring *ring, struct pw_ring_packet *pkt, u8 err, u64 when)
{
	struct pw_ring_sender *sender = ring->sender[pkt->t];
	struct pw_ring_cmd *cmd = pkt->cmd;

	cmd->err = err;
	cmd->done = when;
	cmd->wait = pkt->start - cmd->submit + ring->pad;
	cmd->ring_bits = when - pkt->start - ring->pad;
	cmd->flags = 0;
	cmd->counter = 0;
	cmd->v1 = 0;
	cmd->v2 = 0;
	if (!err) {
		cmd->flags = (pkt->trailer & PW_TRL_OVERFLOW ? PW_ATON_F_OVERFLOW : 0) |
			     (pkt->trailer & PW_TRL_RECOGNISED ? PW_ATON_F_RECOGNISED : 0);
		cmd->counter = pkt->counter;
		cmd->v1 = extend(ring, cmd, pkt->v1);
		cmd->v2 = pkt->v2;
		if (cmd->op == PW_ATON_BITSUM)
			memset(cmd->parts + ring->fmt.width, 0,
			       (PW_ATON_PARTS - ring->fmt.width) * sizeof(*cmd->parts));
		sender->counter = pkt->counter;
		sender->v1 = cmd->v1;
		sender->v2 = pkt->v2;
		sender->ring_time = cmd->wait + cmd->ring_bits;
		latch_first(ring, pkt, when);
	}
	sender->status = err | (u32)cmd->flags << 8;
	ring->now = when;
	ring->stats.bits += when - max(pkt->start, ring->busy_to);
	ring->busy_to = when;
	land(ring, pkt);
	put_done(ring, cmd);
}

/**
 * pw_ring_reload - make a packet of the next command of its sender
 * @ring: the ring
 * @pkt: the last packet of the sender, which is back; its start is that of the new one
 * @cmd: head of the sender's queue, ADD to MIN, to the region that @pkt was for
 *
 * As pw_ring_begin() does it, without what is as it was. The command stays in the queue.
 */
void pw_ring_reload(const struct pw_ring *ring, struct pw_ring_packet *pkt,
		    struct pw_ring_cmd *cmd)
{
	u32 width = ring->fmt.width;

	pkt->cmd = cmd;
	pkt->counter = pkt->in_region;
	pkt->trailer = pkt->in_region ? PW_TRL_RECOGNISED : 0;
	pkt->v1 = pkt->in_region ?
		  pw_ring_fetch(ring, pkt->t, cmd->reg) & pw_aton_mask(width) :
		  pw_aton_identity(cmd->op, cmd->mods & PW_ATON_SIGNED, width);
	pkt->v2 = pkt->in_region && cmd->op >= PW_ATON_MAX ? pkt->addr : 0;
}

/**
 * pw_ring_again - an interface gets its token back, sends a packet, and has that back
 * @ring: the ring; nothing else is on it, no fault is armed, and no interface is to go up or down
 * @pkt: the packet, of pw_ring_reload(), with what came back at @pkt->end
 *
 * As pw_ring_begin() and pw_ring_end().
 */
void pw_ring_again(struct pw_ring *ring, struct pw_ring_packet *pkt)
{
	struct pw_ring_sender *sender = ring->sender[pkt->t];
	struct pw_ring_cmd *cmd = pkt->cmd;

	ring->now = pkt->start;
	dequeue(ring, sender);
	cmd->interface = pkt->t;
	pkt->control = pw_aton_control(cmd);
	sender->command = pkt->control;
	ring->serial++;
	ring->stats.packets++;
	end_cmd(ring, pkt, PW_ATON_OK, pkt->end);
	ring->tok_at = pkt->end;
}

/* release the token; an armed fault may make it vanish at once */
static void release(struct pw_ring *ring, u32 from, u64 when)
{
	issue_token(ring, from, when);
	if (!on_ring(ring))
		apply_changes(ring);
	if (ring->state == PW_RING_TOKEN && ring->lose && ring->lose_at <= when) {
		ring->lose_at = when;
		pw_ring_lose(ring);
	}
}

/**
 * pw_ring_lose - the free token vanishes
 * @ring: the ring; the token vanishes at ring->lose_at
 */
void pw_ring_lose(struct pw_ring *ring)
{
	ring->lose = false;
	ring->lost_at = ring->lose_at;
	ring->stats.tokens_lost++;
	ring->state = PW_RING_LOST;
	ring->engine->wipe(ring);
}

/**
 * pw_ring_end - a T-interface has its packet back, or gives up
 * @ring: the ring
 * @pkt: the packet; its counter, v1, v2 and trailer hold what came back
 * @err: enum pw_aton_error
 * @when: bit time; a T-interface that has kept the token releases it
 */
void pw_ring_end(struct pw_ring *ring, struct pw_ring_packet *pkt, u8 err, u64 when)
{
	bool has_token = ring->state == PW_RING_PACKET && pkt == ring->pkt;
	u32 t = pkt->t;

	end_cmd(ring, pkt, err, when);
	if (has_token) {
		if (err == PW_ATON_E_LOST)
			ring->engine->wipe(ring);
		release(ring, t, when);
		return;
	}
	ring->last_end = when;
	if (on_ring(ring))
		return;
	apply_changes(ring);
	if (ring->state == PW_RING_TOKEN && ring->lose && ring->lose_at <= when) {
		ring->lose_at = when;
		pw_ring_lose(ring);
	}
}

/**
 * pw_ring_pass_on - the T-interface appends the token to its packet
 * @ring: the ring; the packet is ring->pkt
 * @when: bit time at which the first symbol of the token leaves the T-interface
 *
 * If the token is lost, the active monitor waits from the end of the packet on.
 */
void pw_ring_pass_on(struct pw_ring *ring, u64 when)
{
	const struct pw_ring_packet *pkt = ring->pkt;

	ring->now = max(ring->now, when);
	if (!ring->lose || ring->lose_at > when) {
		issue_token(ring, pkt->t, when);
		return;
	}
	ring->lose = false;
	ring->stats.tokens_lost++;
	ring->state = PW_RING_LOST;
	/* it has seen the last symbol of the packet */
	ring->lost_at = when + pw_ring_dist(ring, pkt->t, ring->monitor) - 2;
}

/**
 * pw_ring_idle - the engine has nothing to do, or nothing by the time that it was given
 * @ring: the ring
 *
 * The token may be about to be taken when the last packet is back. It passes: what is
 * queued from now on, or may start only now, begins with its next bit time.
 */
void pw_ring_idle(struct pw_ring *ring)
{
	if (ring->last_end)
		ring->now = max(ring->now, ring->last_end + 1);
}

/**
 * pw_ring_abandon - the T-interface leaves while its packet circulates
 * @ring: the ring
 * @when: bit time
 */
void pw_ring_abandon(struct pw_ring *ring, u64 when)
{
	u32 t = ring->pkt->t;

	end_cmd(ring, ring->pkt, PW_ATON_E_DOWN, when);
	pw_ring_put_bit(ring->up, t, false);
	flush_queue(ring, t);
	ring->leaving = false;
	ring->state = PW_RING_ORPHAN;
	elect_monitor(ring);
	if (ring->state == PW_RING_DARK)
		apply_changes(ring);
}

/**
 * pw_ring_reissue - the active monitor issues a new token
 * @ring: the ring
 * @when: bit time at which its first symbol leaves the active monitor
 */
void pw_ring_reissue(struct pw_ring *ring, u64 when)
{
	if (ring->state == PW_RING_ORPHAN)
		ring->stats.orphans++;
	ring->now = max(ring->now, when);
	release(ring, ring->monitor, when);
}

/**
 * pw_ring_tap - switch the tap on or off
 * @ring: the ring
 * @mem: memory to work with, aligned for a u64; NULL: off
 * @size: bytes at @mem; packets that do not fit are not shown. rtl divides them among the
 *	interfaces.
 */
void pw_ring_tap(struct pw_ring *ring, void *mem, size_t size)
{
	ring->tap.mem = ring->p.tap ? mem : NULL;
	ring->tap.size = size;
	if (ring->tap.mem)
		ring->engine->tap_reset(ring);
}

/**
 * pw_ring_run - let the ring work
 * @ring: the ring
 * @until: last bit time at which a packet may start; one started is finished
 * @budget: limit of work. fast: visits of interfaces with a simple operation; other
 *	operations and every packet cost more. rtl: interfaces times bit times.
 *
 * Return: PW_RING_MORE if the budget ran out, else PW_RING_IDLE.
 */
enum pw_ring_progress pw_ring_run(struct pw_ring *ring, u64 until, u32 budget)
{
	return ring->engine->run(ring, until, budget);
}

/**
 * pw_ring_now - the ring's bit time
 * @ring: the ring
 */
u64 pw_ring_now(const struct pw_ring *ring)
{
	return ring->now;
}

/**
 * pw_ring_due - bit time at which there is something to send
 * @ring: the ring
 *
 * Return: now, or later if nothing is on the ring and each queue begins with a packet that is
 * not due.
 */
u64 pw_ring_due(const struct pw_ring *ring)
{
	if (ring->nready || on_ring(ring) || !ring->future)
		return ring->now;
	return max(ring->now, ring->future->head->submit);
}

/**
 * pw_ring_latency - bit times once around: n * (1 + propagation)
 * @ring: the ring
 */
u64 pw_ring_latency(const struct pw_ring *ring)
{
	return ring->latency;
}

/**
 * pw_ring_stats - counters
 * @ring: the ring
 */
const struct pw_ring_stats *pw_ring_stats(const struct pw_ring *ring)
{
	return &ring->stats;
}
