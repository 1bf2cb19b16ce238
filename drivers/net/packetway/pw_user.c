// SPDX-License-Identifier: GPL-2.0
/*
 * A half-router in user space: a port of a SAN that a program has opened, like tun.
 *
 *   pw_half_to_peer, RRP for the half -> pw_user_take -> queue -> read()
 *   write() -> pw_half_send_as : its own messages, trusted as those of a half-router
 *	     -> pw_half_queue_peer -> pw_half_out : all others, to their place on the SAN
 *
 * To the SAN it is a router with one half. What a frame needs at the border is done here
 * (MTU, EI, hop trace, look-up, ERR); the program is the other side, and speaks RRP with the
 * nodes and half-routers of the SAN. A table that it writes to the address of its own
 * half is taken as one of the peer half: routes from this SAN. GVRT there asks for the
 * table of this SAN.
 *
 * The file and the half-router have a share of struct pw_user each. The file finds the
 * half-router under RCU or RTNL until that is deleted, by the file or by anything else.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rtnetlink.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pw_cdev.h"
#include "pw_router.h"
#include "pw_trunk.h"

#define PW_USER_ROOM	64	/* in front of a frame that is written */
#define PW_USER_PREFIX	4096	/* bytes of prefixes and options beside the data */

/* a frame for the program; consumed. False: it was dropped. BH off, RCU held */
static bool pw_user_take(struct pw_half *h, struct sk_buff *skb)
{
	struct pw_user *u = h->user;
	struct mem_cgroup *old;
	struct sk_buff *copy;

	if (READ_ONCE(u->gone)) {
		pw_half_drop(h, skb, PW_HALF_DROP_DOWN, 0);
		return false;
	}
	if (skb_queue_len_lockless(&u->queue) >= PW_USER_FRAMES ||
	    atomic_read(&u->bytes) >= PW_USER_BYTES) {
		pw_half_drop(h, skb, PW_HALF_DROP_FULL, 0);
		return false;
	}
	/* it may wait for long: charged to who made the SAN, and to no sender */
	old = pw_memcg_enter(h->san->memcg);
	copy = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	pw_memcg_leave(old);
	if (!copy) {
		pw_half_drop(h, skb, PW_HALF_DROP_NOMEM, 0);
		return false;
	}
	skb_orphan(copy);
	consume_skb(skb);
	atomic_add(copy->truesize, &u->bytes);
	skb_queue_tail(&u->queue, copy);
	wake_up_interruptible_poll(&u->wait, EPOLLIN | EPOLLRDNORM);
	return true;
}

/* the half-router is deleted; RTNL */
static void pw_user_detach(struct pw_user *u)
{
	RCU_INIT_POINTER(u->half, NULL);
	WRITE_ONCE(u->gone, true);
	wake_up_poll(&u->wait, EPOLLHUP | EPOLLERR);
}

static void pw_user_free(struct pw_user *u)
{
	skb_queue_purge(&u->queue);
	kfree(u);
}

static struct pw_user *pw_user_alloc(void)
{
	struct pw_user *u = kzalloc(sizeof(*u), PW_GFP);

	if (!u)
		return NULL;
	refcount_set(&u->users, 1);
	u->take = pw_user_take;
	u->detach = pw_user_detach;
	u->free = pw_user_free;
	skb_queue_head_init(&u->queue);
	init_waitqueue_head(&u->wait);
	return u;
}

/* --- read ------------------------------------------------------------------------ */

/* the next frame, if it fits @len: NULL, the frame or an ERR_PTR */
static struct sk_buff *pw_user_next(struct pw_user *u, size_t len)
{
	struct sk_buff *skb;

	spin_lock_bh(&u->queue.lock);
	skb = skb_peek(&u->queue);
	if (skb && u->head + skb->len > len)
		skb = ERR_PTR(-EMSGSIZE);
	else if (skb)
		__skb_unlink(skb, &u->queue);
	spin_unlock_bh(&u->queue.lock);
	if (!IS_ERR_OR_NULL(skb))
		atomic_sub(skb->truesize, &u->bytes);
	return skb;
}

static ssize_t pw_user_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct pw_user *u = file->private_data;
	struct packetway_half_head head = {};
	struct sk_buff *skb;
	ssize_t ret;

	for (;;) {
		if (READ_ONCE(u->gone))
			return -ENODEV;
		skb = pw_user_next(u, len);
		if (IS_ERR(skb))
			return PTR_ERR(skb);
		if (skb)
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_event_interruptible(u->wait, !skb_queue_empty_lockless(&u->queue) ||
					       READ_ONCE(u->gone));
		if (ret)
			return ret;
	}
	head.hops = pw_cb(skb)->hops;
	ret = u->head + skb->len;
	if ((u->head && copy_to_user(buf, &head, sizeof(head))) ||
	    copy_to_user(buf + u->head, skb->data, skb->len))
		ret = -EFAULT;
	consume_skb(skb);
	return ret;
}

/* --- write ----------------------------------------------------------------------- */

/* a message to the half-router itself; RCU held */
static int pw_user_to_half(struct pw_half *h, struct sk_buff *skb, u32 sa, u16 pt, u16 te)
{
	/* the program answers RRP, but for what its other half says */
	if (pt == PW_PT_RRP || pt == PW_PT_ERR) {
		if (!h->user->peer || sa != h->user->peer || !pw_half_only(pt, te))
			return -EINVAL;
		pw_cb(skb)->flags = PW_CB_HALF;
	}
	pw_half_queue_peer(h, skb);
	return 0;
}

/* offset of the header, behind source routes and symbols; negative: there is none */
static int pw_user_header(const struct sk_buff *skb)
{
	struct pw_eep_view v;
	u32 need;
	int off;

	off = pw_eep_find_header(skb->data, skb->len, skb->len, 0, &need);
	if (off >= 0)
		return off;
	pw_eep_parse_head(skb->data, skb->len, skb->len, &v);
	return v.hdr_seen ? v.hdr_off : -EINVAL;
}

/*
 * where a frame that the program wrote goes, after @hops half-routers; consumed if 0 is
 * returned. BH off, RCU held
 */
static int pw_user_out(struct pw_half *h, struct sk_buff *skb, u8 hops)
{
	const u8 *hdr;
	u32 dt, sa;
	int off;

	/* also what its receiver answers with an error goes, but a header must be there */
	off = pw_user_header(skb);
	if (off < 0)
		return -EINVAL;
	hdr = skb->data + off;
	/* versions of the first word and of the header */
	if ((hdr[PW_EEP_OFF_VP] | skb->data[PW_EEP_OFF_VP]) & ~PW_EEP_P_MASK)
		return -EINVAL;
	dt = get_unaligned_be24(hdr + PW_EEP_OFF_DT);
	sa = get_unaligned_be24(hdr + PW_EEP_OFF_SA);
	*pw_cb(skb) = (struct pw_skb_cb) {
		.path = -1, .prio = hdr[PW_EEP_OFF_VP] & PW_EEP_P_MASK, .hops = hops,
	};
	skb->protocol = htons(ETH_P_PACKETWAY);
	if (dt == h->addr)
		return off ? -EINVAL :
		       pw_user_to_half(h, skb, sa, get_unaligned_be16(hdr + PW_EEP_OFF_PT),
				       get_unaligned_be16(hdr + PW_EEP_OFF_TE));
	if (atomic_read(&h->from_peer) >= PW_HALF_QUEUE_MAX || pw_half_busy(h))
		return -ENOBUFS;
	if (off || sa != h->addr) {
		pw_half_queue_peer(h, skb);
		return 0;
	}
	/* its own: neighbours believe it; as over a trunk, routes without it come first */
	if (dt == READ_ONCE(h->peer_addr) || pw_addr_kind(dt) == PW_ADDR_KIND_UNDEF)
		return -EINVAL;
	pw_half_send_as(h, skb, PW_CB_FAR);
	return 0;
}

/* what stands in front of a frame, if something does */
static int pw_user_get_head(const struct pw_user *u, const char __user *buf, size_t len,
			    struct packetway_half_head *head)
{
	if (!u->head)
		return 0;
	if (len < sizeof(*head))
		return -EINVAL;
	if (copy_from_user(head, buf, sizeof(*head)))
		return -EFAULT;
	if (head->hops > PW_HOPS_MAX ||
	    memchr_inv(head->__reserved, 0, sizeof(head->__reserved)))
		return -EINVAL;
	return 0;
}

static ssize_t pw_user_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct pw_user *u = file->private_data;
	struct packetway_half_head head = {};
	struct sk_buff *skb;
	struct pw_half *h;
	int err;

	if (READ_ONCE(u->gone))
		return -ENODEV;
	err = pw_user_get_head(u, buf, len, &head);
	if (err)
		return err;
	buf += u->head;
	len -= u->head;
	if (len < PW_EEP_MIN_LEN)
		return -EINVAL;
	if (len > PACKETWAY_MTU_MAX + PW_OVERHEAD + PW_USER_PREFIX)
		return -EMSGSIZE;
	skb = alloc_skb(PW_USER_ROOM + len, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!skb)
		return -ENOMEM;
	skb_reserve(skb, PW_USER_ROOM);
	if (copy_from_user(skb_put(skb, len), buf, len)) {
		kfree_skb(skb);
		return -EFAULT;
	}
	local_bh_disable();
	rcu_read_lock();
	h = rcu_dereference(u->half);
	err = h ? pw_user_out(h, skb, head.hops) : -ENODEV;
	rcu_read_unlock();
	local_bh_enable();
	if (!err)
		return u->head + len;
	kfree_skb(skb);
	return err;
}

static __poll_t pw_user_poll(struct file *file, struct poll_table_struct *wait)
{
	struct pw_user *u = file->private_data;

	poll_wait(file, &u->wait, wait);
	if (READ_ONCE(u->gone))
		return EPOLLHUP | EPOLLERR;
	return EPOLLOUT | EPOLLWRNORM |
	       (skb_queue_empty_lockless(&u->queue) ? 0 : EPOLLIN | EPOLLRDNORM);
}

/* --- life ------------------------------------------------------------------------ */

static int pw_user_get(struct pw_user *u, struct packetway_half_get *g)
{
	struct pw_half *h;
	int err = -ENODEV;

	if (g->flags)
		return -EINVAL;
	rcu_read_lock();
	h = rcu_dereference(u->half);
	if (h) {
		*g = (struct packetway_half_get) {
			.size = g->size,
			.out_san = h->san->id,
			.out_bias = h->san->bias,
			.out_ports = h->san->nports,
			.out_port = h->port,
			.out_addr = h->addr,
			.out_peer = u->peer,
			.out_mtu = READ_ONCE(h->mtu),
			.out_queued = skb_queue_len_lockless(&u->queue),
		};
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

static long pw_user_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct pw_ioctl_size size = PW_IOCTL_SIZE(packetway_half_get, out_queued);
	struct packetway_half_get g;
	u32 usize;
	int err;

	if (pw_ioctl_nr(cmd, PACKETWAY_IOCNR_HALF_GET, 1) < 0)
		return -ENOTTY;
	err = pw_ioctl_get(arg, &size, &g, &usize);
	if (!err)
		err = pw_user_get(file->private_data, &g);
	return err ?: pw_ioctl_put(arg, &size, &g, usize);
}

static int pw_user_release(struct inode *inode, struct file *file)
{
	struct pw_user *u = file->private_data;
	struct pw_half *h;

	rtnl_lock();
	h = rtnl_dereference(u->half);
	if (h) {
		pw_router_notify(h->router, true);
		pw_router_destroy(h->router);
	}
	rtnl_unlock();
	pw_user_put(u);
	return 0;
}

static const struct file_operations pw_user_fops = {
	.owner = THIS_MODULE,
	.release = pw_user_release,
	.read = pw_user_read,
	.write = pw_user_write,
	.poll = pw_user_poll,
	.unlocked_ioctl = pw_user_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static bool pw_user_open_ok(const struct packetway_half_open *o)
{
	return !(o->flags & ~(PACKETWAY_HALF_NONBLOCK | PACKETWAY_HALF_HEAD)) && !o->__reserved &&
	       o->san <= PACKETWAY_SAN_MAX && o->quality <= U16_MAX &&
	       (o->port == PACKETWAY_HALF_ANY_PORT || o->port < PACKETWAY_PORTS_MAX) &&
	       (!o->mtu || (o->mtu >= PACKETWAY_MTU_MIN && o->mtu <= PACKETWAY_MTU_MAX)) &&
	       (!o->peer || pw_addr_kind(o->peer) == PW_ADDR_KIND_PHYS) &&
	       o->name[0] && strnlen(o->name, sizeof(o->name)) < sizeof(o->name);
}

/* the router at its port; RTNL */
static int pw_user_publish(struct net *net, struct pw_user *u, const struct packetway_half_open *o)
{
	struct pw_half_config conf[2] = {
		{ .port = o->port, .mtu = o->mtu, .quality = o->quality ? o->quality : PW_LINK_Q,
		  .user = u },
	};
	struct pw_router *r;
	int port;

	conf[0].san = pw_san_get(net, o->san, NULL);
	if (IS_ERR(conf[0].san))
		return PTR_ERR(conf[0].san);
	port = conf[0].port;
	if (o->port == PACKETWAY_HALF_ANY_PORT)
		port = pw_san_port_find(conf[0].san, NULL);
	if (port >= 0 && o->peer && pw_san_port_of(conf[0].san, o->peer) >= 0)
		port = -ERANGE;
	if (port < 0) {
		pw_san_put(conf[0].san);
		return port;
	}
	conf[0].port = port;
	u->peer = o->peer;
	r = pw_router_create(net, o->name, conf, NULL, NULL);
	if (IS_ERR(r)) {
		pw_san_put(conf[0].san);
		return PTR_ERR(r);
	}
	pw_router_notify(r, false);
	return 0;
}

/* PACKETWAY_IOC_HALF_OPEN: the descriptor or a negative errno */
int pw_ioc_half_open(struct pw_file *pf, void *arg)
{
	struct net *net = current->nsproxy->net_ns;
	struct packetway_half_open *o = arg;
	int flags = O_RDWR | O_CLOEXEC;
	struct pw_user *u;
	struct file *file;
	int fd, err;

	if (!pw_user_open_ok(o))
		return -EINVAL;
	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (o->flags & PACKETWAY_HALF_NONBLOCK)
		flags |= O_NONBLOCK;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	u = pw_user_alloc();
	if (!u) {
		err = -ENOMEM;
		goto err_fd;
	}
	if (o->flags & PACKETWAY_HALF_HEAD)
		u->head = sizeof(struct packetway_half_head);
	file = anon_inode_getfile("[packetway-half]", &pw_user_fops, u, flags);
	if (IS_ERR(file)) {
		pw_user_put(u);
		err = PTR_ERR(file);
		goto err_fd;
	}
	rtnl_lock();
	err = pw_user_publish(net, u, o);
	rtnl_unlock();
	if (err) {
		fput(file);
		goto err_fd;
	}
	fd_install(fd, file);
	return fd;

err_fd:
	put_unused_fd(fd);
	return err;
}
