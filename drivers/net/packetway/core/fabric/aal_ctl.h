/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States and delays of the controllers of an AAL unit.
 *
 * The values are the published state numbers. Traces and golden data contain them, so
 * they never change. Gaps are states of the published machine that are not known.
 * Every state takes one cycle unless its comment says otherwise. Controllers 6
 * (reception) and 9 (timers) have one state only and no enum.
 *
 * Documentation/networking/packetway-models.rst has the same tables with the functions
 * that carry them out.
 */
#ifndef PW_CORE_AAL_CTL_H
#define PW_CORE_AAL_CTL_H

#include "cell.h"

/* controller 0: host commands */
enum c0_state {
	C0_IDLE		= 0,	/* wait for busi */
	C0_DECODE	= 1,	/* choose the next state by cmd */
	C0_INIT		= 2,	/* init-send: first block of a message; waits for memory */
	C0_PUT		= 4,	/* any byte left to put? */
	C0_PUT_BLOCK	= 5,	/* new block if the last one is full; waits for memory */
	C0_PUT_BYTE	= 6,	/* bus to block */
	C0_PUT_STEP	= 7,	/* count the byte */
	C0_GET		= 17,	/* any byte left to get? */
	C0_GET_BLOCK	= 18,	/* next block if this one is read */
	C0_GET_BYTE	= 19,	/* block to bus */
	C0_GET_STEP	= 23,	/* count the byte */
	C0_WORD		= 24,	/* snd, rcv: shift a header word in; the fifth starts 1 or 8 */
	C0_DEST		= 25,	/* destination and communication type */
};

/* controller 1: message header and SAR headers */
enum c1_state {
	C1_IDLE		= 0,
	C1_NAME0	= 1,	/* message header, word by word: name ... */
	C1_NAME1	= 2,
	C1_NAME2	= 3,
	C1_INSTANCE	= 4,
	C1_ID		= 5,	/* ... identifier */
	C1_TYPE		= 6,	/* SAR header of a block: type and flag */
	C1_SQN		= 7,	/* sequence number */
	C1_PORTS	= 8,	/* source and destination */
	C1_NEXT		= 9,	/* next block; after the last one start controller 2 */
};

/* controller 2: ATM headers */
enum c2_state {
	C2_IDLE		= 0,	/* wait for controller 1; request the first path */
	C2_WAIT		= 1,	/* wait for the header from controller 4 */
	C2_NEXT		= 2,	/* next block; request its path */
	C2_WRITE	= 5,	/* header to block, which is ready then */
};

/* controller 3: paths for controllers 2 and 7 */
enum c3_state {
	C3_LOOK		= 0,	/* any request? */
	C3_ACK		= 1,	/* VPI for controller 7 */
	C3_DATA		= 2,	/* VPI for controller 2 */
	C3_BOTH		= 3,	/* two requests: controller 7 first */
};

/* controller 4: header word from VPI */
enum c4_state {
	C4_MAKE		= 0,	/* make one if there is a VPI */
	C4_DONE		= 1,	/* withdraw the valid bit */
};

/* controller 5: transmission */
enum c5_state {
	C5_LOOK		= 0,	/* acknowledgment first, else what block cursnd needs */
	C5_ACK_BEGIN	= 1,
	C5_ACK_SEND	= 2,	/* a byte in each cycle; again from byte 0 if refused */
	C5_ACK_END	= 3,
	C5_CELL_BEGIN	= 4,
	C5_CELL_SEND	= 5,	/* likewise */
	C5_CELL_END_TAIL = 6,	/* start the timer; back to the first block */
	C5_CELL_END	= 8,	/* start the timer; next block */
	C5_PASS_TAIL	= 9,	/* nothing to send here; back to the first block */
	C5_PASS		= 10,	/* nothing to send here; next block */
	C5_RELEASE	= 16,	/* acknowledged by all: release the block */
};

/* controller 7: acknowledgments and reassembly */
enum c7_state {
	C7_LOOK		= 0,	/* release block iccurb, pass it or examine it */
	C7_TYPE		= 1,	/* read type and flag */
	C7_PORTS	= 2,	/* read number and ports; acknowledgment or data? */
	/* acknowledgment: find its send block */
	C7_SEARCH	= 3,	/* start at the first busy send block */
	C7_COMPARE	= 4,	/* is it this block? */
	C7_SEARCH_NEXT	= 5,
	C7_MISSING	= 6,	/* is the acknowledgment of that port missing? */
	C7_TAKE		= 7,	/* count it: one acknowledgment fewer is missing */
	C7_COUNT	= 8,	/* was it the last one? */
	C7_ACKED	= 9,	/* mark the send block for release */
	C7_HOLD		= 16,	/* PW_AAL_ACK_CYCLES cycles; then release an acknowledgment */
	/* data: build an acknowledgment */
	C7_ACK_TYPE	= 17,
	C7_ACK_SQN	= 18,
	C7_ACK_PORTS	= 19,	/* last field; request a path */
	C7_VPI_WAIT	= 20,	/* wait for the VPI from controller 3 */
	C7_VPI		= 23,	/* three cycles to put the VPI in */
	C7_VPI2		= 24,
	C7_VPI3		= 25,
	C7_ACK_HAND	= 26,	/* hand it to controller 5 once that has sent the last one */
	/* then the cell itself */
	C7_ORDER	= 27,	/* expected, ahead or duplicate? */
	C7_KEEP		= 28,	/* ahead: leave it where it is */
	C7_EXPECTED	= 29,	/* broadcast or point-to-point? */
	C7_STEP_ALL	= 30,	/* next expected number of the source, to several ports */
	C7_STEP_ONE	= 31,	/* the same, point-to-point */
	C7_FIRST	= 32,	/* first cell of a message? */
	C7_NEW		= 33,	/* new descriptor, four cycles */
	C7_NEW4		= 36,
	C7_APPEND	= 37,	/* append to a message, four cycles */
	C7_APPEND4	= 40,
	C7_LINKED	= 41,
	C7_COMMIT	= 42,	/* the block belongs to the message; is it complete? */
	C7_DUPLICATE	= 43,	/* release the block */
	C7_END		= 45,	/* middle cell: C7_HOLD, else C7_LOOK */
	C7_PASS		= 46,	/* block in a message: next one */
};

/* controller 8: message server */
enum c8_state {
	C8_IDLE		= 0,
	C8_START	= 1,	/* a receive request: first source */
	C8_SOURCE	= 2,	/* first message of the source */
	C8_ANY		= 3,	/* any complete message? */
	C8_MATCH	= 4,	/* does its header match? */
	C8_SERVED	= 5,	/* was it served to this instance before? */
	C8_MARK		= 6,	/* remember that it is served now */
	C8_GRANT	= 7,	/* position the reader, answer yes */
	C8_NEXT_MSG	= 12,
	C8_NEXT_SOURCE	= 13,
	C8_LAST		= 14,	/* all sources done? */
	C8_DENY		= 15,	/* answer no */
};

/* controller 10: obsolete messages */
enum c10_state {
	C10_START	= 0,	/* first source */
	C10_SOURCE	= 1,	/* all sources done? */
	C10_FIRST	= 2,	/* first message of the source */
	C10_EXPIRED	= 3,	/* has it expired? */
	C10_DROP	= 4,	/* drop it */
	C10_NEXT_MSG	= 18,
	C10_NEXT_SOURCE	= 19,
};

/* delays of the controllers in cycles; each is the number of states passed */
enum aal_cycles {
	/* controller 0: IDLE, DECODE, then INIT, WORD or DEST, or PUT or GET at its end */
	CYC_COMMAND	= 3,
	/* PUT, PUT_BLOCK, PUT_BYTE, PUT_STEP, and the same for GET */
	CYC_BYTE	= 4,
	CYC_WORD	= CYC_COMMAND + 4 * CYC_BYTE,
	/* from IDLE of a put to its first PUT_BLOCK: IDLE, DECODE, PUT */
	CYC_TO_BLOCK	= 3,
	/* set destination and five header words */
	CYC_HEADERS	= (1 + 5) * CYC_COMMAND,
	/* five header words of a request; controller 8 runs before 0, so one cycle later */
	CYC_REQUEST	= 5 * CYC_COMMAND + 1,

	/* controller 1: NAME0 ... ID once; TYPE, SQN, PORTS, NEXT for each cell */
	CYC_C1_MSG	= 5,
	CYC_C1_CELL	= 4,

	/* controllers 2 and 7 run after 3, which therefore sees a request a cycle later */
	CYC_SEE		= 1,
	/* LOOK, then ACK or DATA */
	CYC_GRANT	= 1,
	/* BOTH between them */
	CYC_GRANT_BOTH	= CYC_GRANT + 1,
	/* LOOK again in the cycle after a grant */
	CYC_AGAIN	= 1,
	/* controller 4 makes the header, controller 2 sees it in WAIT, then WRITE */
	CYC_GRANT_WRITE	= 3,
	/* VPI_WAIT sees the VPI, VPI, VPI2, VPI3, then ACK_HAND */
	CYC_GRANT_HAND	= 5,

	/* controllers 2 to 4, each cell: request, SEE, GRANT, WRITE */
	CYC_C2_CELL	= 1 + CYC_SEE + CYC_GRANT + CYC_GRANT_WRITE,

	/* controller 5: LOOK, BEGIN, byte 0 in buf; a cycle later it is on the link */
	CYC_C5_FETCH	= 2,
	CYC_C5_LINK	= CYC_C5_FETCH + 1,
	/* byte 0 on the link to the last byte in buf; END in the next cycle */
	CYC_C5_LAST	= PW_BMX_CELL - 2,
	CYC_C5_END	= CYC_C5_LAST + 1,
	/* LOOK, BEGIN, a cycle for each byte, END */
	CYC_C5_CELL	= 2 + PW_BMX_CELL + 1,
	/* LOOK, PASS */
	CYC_C5_PASS	= 2,

	/* controller 7: LOOK, PASS */
	CYC_C7_PASS	= 2,
	/* LOOK, TYPE, PORTS, then what the cell is for */
	CYC_C7_READ	= 3,
	/* kept block: ORDER, KEEP in addition */
	CYC_C7_KEPT	= CYC_C7_READ + 2,
	/* LOOK to ACK_PORTS, with ACK_TYPE and ACK_SQN in between */
	CYC_C7_ASK	= CYC_C7_READ + 2,
	/* COMPARE, SEARCH_NEXT */
	CYC_C7_SEARCH	= 2,
	/* COMPARE to TAKE: MISSING in between */
	CYC_C7_TAKE	= 2,
	/* TAKE to ACKED: COUNT in between */
	CYC_C7_ACKED	= 2,
	/* ORDER to COMMIT: EXPECTED, STEP, FIRST, four of NEW or APPEND, LINKED */
	CYC_C7_COMMIT	= 9,
	/* COMMIT to LOOK: END in between */
	CYC_C7_END	= 2,
	/* new data cell, LOOK to COMMIT: path, ACK_HAND, ORDER and on to COMMIT inclusive */
	CYC_C7_CELL	= CYC_C7_ASK + CYC_SEE + CYC_GRANT + CYC_GRANT_HAND + 1 + CYC_C7_COMMIT + 1,

	/* controller 8, source without messages: SOURCE, ANY, NEXT_SOURCE, LAST */
	CYC_C8_SOURCE	= 4,
	/* first message of source 0: START, SOURCE, ANY, MATCH, SERVED, MARK, GRANT */
	CYC_C8_GRANT	= 7,

	/* controller 10, source without messages: SOURCE, FIRST, EXPIRED, NEXT_SOURCE */
	CYC_C10_SOURCE	= 4,
	/* message that is kept: EXPIRED, NEXT_MSG */
	CYC_C10_MSG	= 2,
	/* START, and the SOURCE that finds no source left */
	CYC_C10_TURN	= 2,
};

#endif /* PW_CORE_AAL_CTL_H */
