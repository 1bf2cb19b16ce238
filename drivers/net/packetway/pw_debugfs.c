// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: faults on purpose, seeded, so that a run with faults can be repeated.
 * No stable interface. One directory per SAN: packetway/san<ID> for those of the
 * initial namespace, packetway/net<INODE>-san<ID> for others.
 *
 *   fabric_fault	"DROP CORRUPT SEED": cells dropped and corrupted, each in
 *			parts per million, at every input unit
 *   frame_fault		"PORT": the lowest bit of the first data byte of the next frame
 *			to this port is inverted, once; not in messages of half-routers
 *   ring_fault		"flip HOP BIT", "stuck INTERFACE", "leave BITS", "lose", "dup":
 *			once, with the next ring packet or token
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/uaccess.h>

#include "pw_priv.h"

static struct dentry *pw_debugfs_root;

/* @text gets a line of user input; the number of bytes written, or an error */
static ssize_t pw_debugfs_line(char *text, size_t size, const char __user *buf, size_t len)
{
	if (len >= size)
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	text[len] = 0;
	return len;
}

static ssize_t pw_fabric_fault_write(struct file *file, const char __user *buf, size_t len,
				     loff_t *pos)
{
	struct pw_san *san = file->private_data;
	struct pw_fabric_faults f;
	char text[64];
	ssize_t n;

	n = pw_debugfs_line(text, sizeof(text), buf, len);
	if (n < 0)
		return n;
	if (sscanf(text, "%u %u %u", &f.drop, &f.corrupt, &f.seed) != 3 ||
	    f.drop > PW_FABRIC_FAULT_MAX || f.corrupt > PW_FABRIC_FAULT_MAX)
		return -EINVAL;
	/*
	 * Removing a SAN waits for writers of its files and holds RTNL: do not
	 * wait for RTNL here.
	 */
	if (!rtnl_trylock())
		return restart_syscall();
	san->fabric.fault = f;
	pw_engine_update(san);
	rtnl_unlock();
	return n;
}

static const struct file_operations pw_fabric_fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = pw_fabric_fault_write,
	.llseek = noop_llseek,
};

static ssize_t pw_frame_fault_write(struct file *file, const char __user *buf, size_t len,
				    loff_t *pos)
{
	struct pw_san *san = file->private_data;
	char text[16];
	ssize_t n;
	u32 port;

	n = pw_debugfs_line(text, sizeof(text), buf, len);
	if (n < 0)
		return n;
	if (kstrtou32(strim(text), 10, &port) || port >= san->nports)
		return -EINVAL;
	WRITE_ONCE(san->damage, port + 1);
	return n;
}

static const struct file_operations pw_frame_fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = pw_frame_fault_write,
	.llseek = noop_llseek,
};

static ssize_t pw_ring_fault_write(struct file *file, const char __user *buf, size_t len,
				   loff_t *pos)
{
	struct pw_san *san = file->private_data;
	struct pw_ring_fault fault = {};
	char text[64], what[8];
	u32 a = 0;
	u64 b = 0;
	ssize_t n;
	int err;

	n = pw_debugfs_line(text, sizeof(text), buf, len);
	if (n < 0)
		return n;
	if (sscanf(text, "%7s %u %llu", what, &a, &b) < 1)
		return -EINVAL;
	if (!strcmp(what, "flip")) {
		fault.kind = PW_FAULT_FLIP;
		fault.hop = a;
		fault.bit = b;
	} else if (!strcmp(what, "stuck")) {
		fault.kind = PW_FAULT_STUCK;
		fault.hop = a;
	} else if (!strcmp(what, "leave")) {
		fault.kind = PW_FAULT_LEAVE;
		fault.bit = a;
	} else if (!strcmp(what, "lose")) {
		fault.kind = PW_FAULT_LOSE;
	} else if (!strcmp(what, "dup")) {
		fault.kind = PW_FAULT_DUP;
	} else {
		return -EINVAL;
	}
	err = pw_aton_fault(san->aton, &fault);
	return err ?: n;
}

static const struct file_operations pw_ring_fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = pw_ring_fault_write,
	.llseek = noop_llseek,
};

/* the input units of a fabric */
struct pw_fabric_units {
	u32 bytes[PW_TOPO_RANKS];
	u8 stage[PW_TOPO_RANKS];
};

/* a line of those of one stage; false: there are none */
static bool pw_fabric_queues_line(struct seq_file *m, const struct pw_fabric_units *u, u32 n,
				  u32 stage)
{
	bool any = false;
	u32 i;

	for (i = 0; i < n; i++) {
		if (u->stage[i] != stage)
			continue;
		seq_printf(m, "%s%u", any ? " " : "", u->bytes[i]);
		any = true;
	}
	if (any)
		seq_putc(m, '\n');
	return any;
}

/* bytes that wait at the input units of the fabric, a line for each stage */
static int pw_fabric_queues_show(struct seq_file *m, void *v)
{
	struct pw_san *san = m->private;
	struct pw_fabric_units *u;
	struct pw_engine *eng;
	u32 n, i;

	u = kvzalloc(sizeof(*u), GFP_KERNEL);
	if (!u)
		return -ENOMEM;
	rcu_read_lock();
	eng = rcu_dereference(san->engine);
	n = eng->ops->queues ? eng->ops->queues(eng, u->bytes, u->stage) : 0;
	rcu_read_unlock();
	/* without a fabric, that of three stages is shown as empty */
	if (!n)
		for (n = 3 * san->nports, i = 0; i < n; i++)
			u->stage[i] = i / san->nports;
	for (i = 0; pw_fabric_queues_line(m, u, n, i); i++)
		;
	kvfree(u);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pw_fabric_queues);

void pw_debugfs_san_add(struct pw_san *san)
{
	char name[48];

	if (net_eq(san->net, &init_net))
		snprintf(name, sizeof(name), "san%u", san->id);
	else
		snprintf(name, sizeof(name), "net%u-san%u", san->net->ns.inum, san->id);
	san->debugfs = debugfs_create_dir(name, pw_debugfs_root);
	debugfs_create_file("fabric_fault", 0200, san->debugfs, san, &pw_fabric_fault_fops);
	debugfs_create_file("fabric_queues", 0400, san->debugfs, san, &pw_fabric_queues_fops);
	debugfs_create_file("frame_fault", 0200, san->debugfs, san, &pw_frame_fault_fops);
	debugfs_create_file("ring_fault", 0200, san->debugfs, san, &pw_ring_fault_fops);
}

void __init pw_debugfs_init(void)
{
	pw_debugfs_root = debugfs_create_dir(PACKETWAY_KIND, NULL);
}

void pw_debugfs_exit(void)
{
	debugfs_remove(pw_debugfs_root);
}
