/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libpwatm: message passing between named processes over a SAN's stations, with
 * the routines of the published machine: pack a message, send it to a process by
 * name and instance, receive by type, unpack.
 *
 * All processes of a program share a table of (name, instance); entry i sits at
 * port i modulo the number of ports. A message is one EEP frame. The table index
 * of the destination and the type travel in PT and TE of its header, which takes
 * the place of the 20-byte message header of the published machine, so that a
 * message of N bytes costs what it cost there.
 *
 * Values are big-endian: short 2 bytes; int, long, float 4; double and complex 8;
 * double complex 16. Functions return 0 or a negative errno.
 */
#ifndef PWATM_H
#define PWATM_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ATM_ALL		(-1)	/* instance: every process of that name, on all ports */
#define ATM_TYPE_MAX	65535
#define ATM_PROCS_MAX	512
#define ATM_NAMES_MAX	256
#define ATM_MSG_MAX	65528

typedef float complex atm_cplx;
typedef double complex atm_dcplx;

struct atm_proc {
	char name[12];
	int instance;
};

struct atm_dev;

/*
 * @stations: a name with one %u for the port, "s%u"; @ports of them; @bias: address
 * of port 0 less one. @self: the caller's index in @table, which must stay.
 */
int atm_open(struct atm_dev **dev, const char *stations, unsigned int ports, uint32_t bias,
	     const struct atm_proc *table, int procs, int self);
void atm_close(struct atm_dev *dev);

int atm_initsend(struct atm_dev *dev);
int atm_putnint(struct atm_dev *dev, const int32_t *p, int n);
int atm_putnshort(struct atm_dev *dev, const int16_t *p, int n);
int atm_putnlong(struct atm_dev *dev, const int32_t *p, int n);
int atm_putnfloat(struct atm_dev *dev, const float *p, int n);
int atm_putndfloat(struct atm_dev *dev, const double *p, int n);
int atm_putncplx(struct atm_dev *dev, const atm_cplx *p, int n);
int atm_putndcplx(struct atm_dev *dev, const atm_dcplx *p, int n);
int atm_putbytes(struct atm_dev *dev, const void *p, int n);
int atm_putstring(struct atm_dev *dev, const char *s);

/* to every process @name if @instance is ATM_ALL; @type 0..ATM_TYPE_MAX */
int atm_snd(struct atm_dev *dev, const char *name, int instance, int type);
/* the same, arriving at the fabric at @ns of a frozen or idle SAN's virtual time */
int atm_snd_at(struct atm_dev *dev, const char *name, int instance, int type, uint64_t ns);

/* waits for the next message of @type; others stay for later */
int atm_rcv(struct atm_dev *dev, int type);
/* the same, -ETIMEDOUT after @ms; -1 waits for ever */
int atm_rcv_wait(struct atm_dev *dev, int type, int ms);

/* -ENODATA if the message has less; strings -EOVERFLOW if @size is too small */
int atm_getnint(struct atm_dev *dev, int32_t *p, int n);
int atm_getnshort(struct atm_dev *dev, int16_t *p, int n);
int atm_getnlong(struct atm_dev *dev, int32_t *p, int n);
int atm_getnfloat(struct atm_dev *dev, float *p, int n);
int atm_getndfloat(struct atm_dev *dev, double *p, int n);
int atm_getncplx(struct atm_dev *dev, atm_cplx *p, int n);
int atm_getndcplx(struct atm_dev *dev, atm_dcplx *p, int n);
int atm_getbytes(struct atm_dev *dev, void *p, int n);
int atm_getstring(struct atm_dev *dev, char *s, int size);

/* of the message received last: bytes not yet taken, delivery in virtual time, sender's address */
int atm_left(const struct atm_dev *dev);
uint64_t atm_time(const struct atm_dev *dev);
uint32_t atm_source(const struct atm_dev *dev);

/*
 * In virtual time (`pwctl virtual`) a process is charged what sending a message of N bytes
 * costs the published host library, 21 + 19 (N div 4) + [r > 0](3 + 4r) cycles, r = N mod 4;
 * gets are in the delay of the message. @on 0: nothing is charged. @word_ns: what the host
 * program takes besides, per word of a message sent or received.
 */
void atm_charge(struct atm_dev *dev, int on, uint64_t word_ns);
/* bits per second of the links, 8 * 10^9 unless set: a cycle is a byte of a link */
void atm_rate(struct atm_dev *dev, uint64_t rate);
/* 1: the clocks of this program are virtual */
int atm_virtual(void);

/*
 * The communication log: one line per operation with its cycle. Made before fork, shared by
 * all processes of a program; @size: lines at most. A program notes the operations that it
 * wants to see; @dst: instance or ATM_ALL.
 */
struct atm_log;
struct atm_log *atm_log_new(struct atm_dev *dev, unsigned int size);
void atm_log(struct atm_dev *dev, struct atm_log *log);
void atm_note(struct atm_dev *dev, int send, int type, int dst);
void atm_note_at(struct atm_dev *dev, int send, int type, int dst, uint64_t ns);
uint64_t atm_now(const struct atm_dev *dev);
/* sort it by cycle, process, operation; how many operations there are, then one of them */
unsigned int atm_log_sort(struct atm_log *log);
struct atm_op {
	uint64_t ns;		/* since the log was made */
	int self;		/* index in the table */
	int send, type, dst;
};

void atm_log_op(const struct atm_log *log, unsigned int i, struct atm_op *op);
/* sorted, to @file; @rate: bits per second of a link */
int atm_log_write(struct atm_log *log, const struct atm_proc *table, uint64_t rate, FILE *file);
void atm_log_free(struct atm_log *log);

#endif
