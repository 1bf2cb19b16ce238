/* SPDX-License-Identifier: GPL-2.0 */
/* pwmodel fabric --processes: several processes at a port. */
#ifndef PWMODEL_PROCS_H
#define PWMODEL_PROCS_H

#include "pw_os.h"
#include "fabric/fabric.h"

/* the table of processes: port,name,instance */
void pwm_procs_read(const char *path, u32 ports);
/* the fabric has those of the table */
void pwm_procs_open(struct pw_fabric *f);
/* name, instance and type of a message in row @row; @dst: as for pw_fabric_send() */
void pwm_procs_to(struct pw_fabric_to *to, char *const *col, size_t row, int dst,
		  const struct pw_topo_conn *conn);
/* ops->served */
void pwm_procs_served(void *ctx, u16 dst, const u8 *name, u32 instance, u64 cookie, u64 cycle);

/* who has read a message, and when; in the order in which they did */
struct pwm_read {
	u64 msg, cycle;
	u16 port;
	char name[PW_FABRIC_NAME + 1];
	u32 instance;
};

/* those of message @msg, which is not less than that of the call before; *n: how many */
const struct pwm_read *pwm_procs_reads(size_t msg, size_t *n);
void pwm_procs_close(void);

#endif
