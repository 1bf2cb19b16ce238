// SPDX-License-Identifier: GPL-2.0
/*
 * What every file needs of a network namespace: where its state is, and which of its
 * objects wait to be freed.
 */
#include <linux/wait_bit.h>

#include "pw_priv.h"

unsigned int pw_net_id;

struct workqueue_struct *pw_wq;

/* a command that deletes waits no longer than this */
#define PW_DYING_WAIT	(5 * HZ)

static atomic_t *pw_dying(struct net *net)
{
	return &pw_net(net)->dying;
}

/* an object of the namespace is handed to the work item that frees it */
void pw_dying_add(struct net *net)
{
	atomic_inc(pw_dying(net));
}

/* it is freed; the namespace may be gone after this */
void pw_dying_del(struct net *net)
{
	atomic_t *dying = pw_dying(net);

	if (atomic_dec_and_test(dying))
		wake_up_var(dying);
}

/*
 * Wait until no object of the namespace waits to be freed. Others may keep deleting, and
 * generic netlink holds a lock of all families meanwhile, hence not for ever.
 */
void pw_dying_wait(struct net *net)
{
	wait_var_event_timeout(pw_dying(net), !atomic_read(pw_dying(net)), PW_DYING_WAIT);
}

/* the same for a namespace that goes away */
void pw_dying_net_exit(struct net *net)
{
	wait_var_event(pw_dying(net), !atomic_read(pw_dying(net)));
}
