/* SPDX-License-Identifier: GPL-2.0 */
/* checkpatch-ignore: SPACING (a type in a macro is taken for a factor) */
/*
 * The routines of libpwatm under their published names and with the published arguments, for
 * programs in that form:
 *
 *	atminitsend(dev)
 *	atmputnTYPE(dev, p, cnt)	atmgetnTYPE(dev, p, cnt)
 *	atmputbytes(dev, p, cnt)	atmgetbytes(dev, p, cnt)
 *	atmputstring(dev, p)		atmgetstring(dev, p)
 *	atmsnd(dev, table, name, instance, type)
 *	atmrcv(dev, type)		atmrcv(dev, table, type)
 *
 * TYPE is int, short, long, float, dfloat, cplx or dcplx. @dev is the record of the port, with
 * its locks: atmrcv() sets rlcked, and the caller clears it after the last get; atminitsend()
 * sets wlcked, and atmsnd() clears it.
 *
 * Not published, and therefore ours: the C types of the arguments, how a record and a table are
 * made (pwatm_record() here, atm_open() and struct atm_proc in pwatm.h), and what the
 * routines return: 0 or a negative errno. Where the published ones wait for a lock that only
 * the caller can clear, -EDEADLK. atmgetstring() has no size: @p must have room for the message.
 */
#ifndef PWATM_PUBLISHED_H
#define PWATM_PUBLISHED_H

#include <errno.h>

#include "pwatm.h"

/**
 * struct atmdev - record of a port
 * @unit: its device
 * @table: table that it was opened with
 * @wlcked: a message is being packed
 * @rlcked: a message was received; the caller clears it when it has taken all it wants
 */
struct atmdev {
	struct atm_dev *unit;
	const struct atm_proc *table;
	int wlcked;
	int rlcked;
};

/* the record of a device that atm_open() has opened with @table */
static inline struct atmdev pwatm_record(struct atm_dev *unit, const struct atm_proc *table)
{
	return (struct atmdev) { .unit = unit, .table = table };
}

static inline int atminitsend(struct atmdev *dev)
{
	int err = dev->wlcked || dev->rlcked ? -EDEADLK : atm_initsend(dev->unit);

	if (!err)
		dev->wlcked = 1;
	return err;
}

#define PWATM_PUT_GET_(name, type)							\
static inline int atmput##name(struct atmdev *dev, const type *p, int cnt)		\
{											\
	return atm_put##name(dev->unit, p, cnt);					\
}											\
static inline int atmget##name(struct atmdev *dev, type *p, int cnt)			\
{											\
	return atm_get##name(dev->unit, p, cnt);					\
}

PWATM_PUT_GET_(nshort, int16_t)
PWATM_PUT_GET_(nfloat, float)
PWATM_PUT_GET_(ndfloat, double)
PWATM_PUT_GET_(ncplx, atm_cplx)
PWATM_PUT_GET_(ndcplx, atm_dcplx)
PWATM_PUT_GET_(nint, int)
PWATM_PUT_GET_(bytes, void)

#undef PWATM_PUT_GET_

/* a long is one word of 32 bits in a message, whatever it is here */
static inline int atmputnlong(struct atmdev *dev, const long *p, int cnt)
{
	int32_t word;
	int i, err = 0;

	for (i = 0; i < cnt && !err; i++) {
		word = (int32_t)p[i];
		err = word == p[i] ? atm_putnlong(dev->unit, &word, 1) : -ERANGE;
	}
	return err;
}

static inline int atmgetnlong(struct atmdev *dev, long *p, int cnt)
{
	int32_t word;
	int i, err = 0;

	for (i = 0; i < cnt && !err; i++) {
		err = atm_getnlong(dev->unit, &word, 1);
		if (!err)
			p[i] = word;
	}
	return err;
}

static inline int atmputstring(struct atmdev *dev, const char *p)
{
	return atm_putstring(dev->unit, p);
}

static inline int atmgetstring(struct atmdev *dev, char *p)
{
	return atm_getstring(dev->unit, p, ATM_MSG_MAX);
}

/* @table: the one that all processes share */
static inline int atmsnd(struct atmdev *dev, const struct atm_proc *table, const char *name,
			 int instance, int type)
{
	int err = table != dev->table ? -EINVAL : atm_snd(dev->unit, name, instance, type);

	dev->wlcked = 0;
	return err;
}

static inline int pwatm_rcv_(struct atmdev *dev, const struct atm_proc *table, int type)
{
	int err;

	if (table != dev->table)
		return -EINVAL;
	if (dev->wlcked || dev->rlcked)
		return -EDEADLK;
	err = atm_rcv(dev->unit, type);
	if (!err)
		dev->rlcked = 1;
	return err;
}

/* printed with and without the table */
#define PWATM_RCV2_(dev, type)		pwatm_rcv_(dev, (dev)->table, type)
#define PWATM_RCV3_(dev, table, type)	pwatm_rcv_(dev, table, type)
#define PWATM_RCV_(a, b, c, name, ...)	name
#define atmrcv(...) PWATM_RCV_(__VA_ARGS__, PWATM_RCV3_, PWATM_RCV2_, 0)(__VA_ARGS__)

#endif
