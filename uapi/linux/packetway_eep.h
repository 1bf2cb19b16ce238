/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Every code that packetway puts on a wire, in one table.
 *
 * An EEP message is
 *
 *	[L2RH or symbol]* header(16) [OH]* [data block] [OT]* TAIL(8)
 *
 * in 8-byte words, big-endian, most significant bit first:
 *
 *	header word 0	V(2) P(6) DT(24) TE(16) PT(16)
 *	header word 1	E(4) PL(3) DL(25) h(1) RZ(7) SA(24)
 *	L2RH		vv000000 10LLLLLL, L = 1..63 routing bytes, padding
 *	symbol		vv000000 1111 type(20) L, L data bytes, padding
 *	OH and OT	TCtttttt L, L data bytes, padding
 *	TAIL		error indication, 64 bits
 *
 * Kernel, tools, tests and dissectors take their numbers from here, so that a
 * code is changed in one place. Nothing but linux/types.h is needed.
 */
#ifndef _UAPI_LINUX_PACKETWAY_EEP_H
#define _UAPI_LINUX_PACKETWAY_EEP_H

#include <linux/types.h>

/* Sizes, offsets and masks of the message ---------------------------------- */

#define PW_EEP_WORD		8	/* everything comes in words of 8 bytes */
#define PW_EEP_HDR_LEN		16
#define PW_EEP_TAIL_LEN		8
#define PW_EEP_MIN_LEN		(PW_EEP_HDR_LEN + PW_EEP_TAIL_LEN)
#define PW_EEP_ALEN		3	/* bytes in an address */
#define PW_EEP_VERSION		0	/* the only version; others are refused */

/* byte offsets in the header */
#define PW_EEP_OFF_VP		0	/* V(2) P(6) */
#define PW_EEP_OFF_DT		1
#define PW_EEP_OFF_TE		4
#define PW_EEP_OFF_PT		6
#define PW_EEP_OFF_EPLDL	8	/* E(4) PL(3) DL(25), one 32-bit field */
#define PW_EEP_OFF_HRZ		12	/* h(1) RZ(7) */
#define PW_EEP_OFF_SA		13

#define PW_EEP_V_MASK		0xc0	/* in the byte at PW_EEP_OFF_VP */
#define PW_EEP_V_SHIFT		6
#define PW_EEP_P_MASK		0x3f
#define PW_EEP_P_MAX		63	/* 63 goes first, 0 last */
#define PW_EEP_E_MASK		0xf0000000U	/* in the field at PW_EEP_OFF_EPLDL */
#define PW_EEP_PL_MASK		0x0e000000U
#define PW_EEP_DL_MASK		0x01ffffffU
#define PW_EEP_E_SHIFT		28
#define PW_EEP_PL_SHIFT		25
#define PW_EEP_DL_MAX		0x01ffffffU	/* words */
#define PW_EEP_H		0x80	/* in the byte at PW_EEP_OFF_HRZ */
#define PW_EEP_RZ_MASK		0x7f

/* byte 1 of a message tells what it begins with */
#define PW_EEP_B1_PHYS_MASK	0x80	/* 0xxx: header, physical destination */
#define PW_EEP_B1_PHYS		0x00
#define PW_EEP_B1_L2RH_MASK	0xc0	/* 10xx: L2RH */
#define PW_EEP_B1_L2RH		0x80
#define PW_EEP_B1_RSVD_MASK	0xe0	/* 110x: reserved, an error */
#define PW_EEP_B1_RSVD		0xc0
#define PW_EEP_B1_TOP_MASK	0xf0
#define PW_EEP_B1_LOGICAL	0xe0	/* 1110: header, logical destination */
#define PW_EEP_B1_SYMBOL	0xf0	/* 1111: symbol */

#define PW_L2RH_HDR_LEN		2
#define PW_L2RH_LEN_MASK	0x3f
#define PW_L2RH_MAX		63	/* routing bytes; at least 1 */
#define PW_SYM_HDR_LEN		5
#define PW_SYM_TYPE_MASK	0x0fffffU
#define PW_SYM_MAX		255	/* data bytes */

/* optional headers and trailers */
#define PW_OPT_HDR_LEN		2
#define PW_OPT_T		0x80	/* mandatory: unknown type = do not process */
#define PW_OPT_C		0x40	/* last of its chain */
#define PW_OPT_TYPE_MASK	0x3f
#define PW_OPT_MAX		255	/* data bytes */

/* Addresses ---------------------------------------------------------------- */

#define PW_ADDR_MASK		0xffffffU
#define PW_ADDR_UNDEF		0x000000U	/* SA only: not given */
#define PW_ADDR_PHYS_MIN	0x000001U
#define PW_ADDR_PHYS_MAX	0x7ffffdU
#define PW_ADDR_HEYYOU		0x7ffffeU	/* any node that receives it */
#define PW_ADDR_BROADCAST	0x7fffffU
#define PW_ADDR_PHYS_MASK	0x7fffffU
#define PW_ADDR_LOGICAL_MIN	0xe00000U
#define PW_ADDR_LOGICAL_MAX	0xefffffU
#define PW_ADDR_LOGICAL_MASK	0x0fffffU	/* the 20 bits of a logical address */

/* Packet types (PT) -------------------------------------------------------- */

enum pw_pt {
	PW_PT_RRP	= 1,
	PW_PT_EMBEDDED	= 2,	/* a PacketWay message: L3 to a midpoint, then L2 */
	PW_PT_MEM_READ	= 3,
	PW_PT_MEM_WRITE	= 4,
	PW_PT_IP	= 5,	/* the version nibble tells 4 from 6 */
	PW_PT_SNMP	= 6,
	PW_PT_ATM	= 7,
	PW_PT_ETHERNET	= 8,
	PW_PT_VME	= 9,
	PW_PT_USER_MIN	= 1024,
	PW_PT_ATON	= 1024,	/* ring packet, in a capture */
	PW_PT_ESP	= 1025,
	PW_PT_POETS	= 1026,
	PW_PT_ECHO	= 1027,
	PW_PT_REDUCE	= 1028,	/* between half-routers: reductions over rings */
	PW_PT_USER_MAX	= 2047,
	PW_PT_ERR	= 65535,
};

/* Packet type extensions (TE), by packet type ------------------------------ */

enum pw_te_rrp {		/* PT = PW_PT_RRP */
	PW_TE_GVL2	= 1,	/* ask for source routes to X */
	PW_TE_L2SR	= 2,	/* source routes, the answer to GVL2 */
	PW_TE_RDRC	= 3,	/* use that half-router instead */
	PW_TE_TELL	= 4,	/* ask for nodes of this description */
	PW_TE_INFO	= 5,	/* a node's description */
	PW_TE_HRTO	= 6,	/* ask for the half-router to X */
	PW_TE_WRU	= 7,	/* ask a node for its description */
	PW_TE_GVRT	= 8,	/* ask for the routing table */
	PW_TE_RTBL	= 9,	/* routing table, the answer to GVRT */
};

enum pw_te_err {		/* PT = PW_PT_ERR */
	PW_TE_ERR_UNK		= 1,	/* destination or record not known */
	PW_TE_ERR_HRDOWN	= 2,
	PW_TE_ERR_LINKDOWN	= 3,
	PW_TE_ERR_GENERAL	= 4,	/* carries the offending message */
	PW_TE_ERR_TOOBIG	= 5,	/* carries an MTUR */
	PW_TE_ERR_BADOPT	= 6,	/* unknown mandatory optional header */
	PW_TE_ERR_BADL2RH	= 7,	/* the SAN cannot use this L2RH */
};

enum pw_te_echo {		/* PT = PW_PT_ECHO */
	PW_TE_ECHO_REQUEST	= 1,
	PW_TE_ECHO_REPLY	= 2,
};

enum pw_te_reduce {		/* PT = PW_PT_REDUCE */
	PW_TE_REDUCE_ASK	= 1,
	PW_TE_REDUCE_ANSWER	= 2,
};

/* Endianness (E) ----------------------------------------------------------- */

#define PW_E_LITTLE		0x8	/* data block little-endian; clear: big-endian */
#define PW_E_SIZE_MASK		0x7	/* element size */

enum pw_e_size {
	PW_E_BYTES	= 0,	/* never swap */
	PW_E_16		= 1,
	PW_E_32		= 2,
	PW_E_64		= 3,
	PW_E_128	= 4,	/* 5..7 are illegal */
	PW_E_SIZE_MAX	= 4,
};

/* Optional headers (6-bit type), the OTs they announce have the same type -- */

enum pw_oh {
	PW_OH_CRC32	= 1,	/* CRC-32C of the data block, 4 bytes, in the OT */
	PW_OH_CRC64	= 2,	/* CRC-64/WE of the data block, 8 bytes, in the OT */
	PW_OH_TIMESTAMP	= 3,	/* nanoseconds, 8 bytes */
	PW_OH_HOPTRACE	= 4,	/* 4-byte slots, 0 = free, filled by routers if T = 0 */
};

#define PW_OH_CRC32_LEN		4
#define PW_OH_CRC64_LEN		8
#define PW_OH_TIMESTAMP_LEN	8
#define PW_OH_HOPTRACE_SLOT	4

/* Symbols (20-bit type) ---------------------------------------------------- */

enum pw_sym {
	PW_SYM_NOP	= 1,	/* padding */
	PW_SYM_TRACE	= 2,	/* trace this message */
	PW_SYM_PRIO	= 3,	/* priority override, 1 byte */
};

/* RRP: records, address types, capabilities -------------------------------- */

#define PW_RRP_HDR_LEN		8	/* RTyp(8) PL(8) RL(16) and four bytes by type */
#define PW_RRP_OFF_RTYP		0
#define PW_RRP_OFF_PL		1
#define PW_RRP_OFF_RL		2	/* words after the header word */
#define PW_RRP_OFF_BODY		4
#define PW_RRP_RL_MAX		0xffff
#define PW_RRP_Q_BEST		0
#define PW_RRP_Q_WORST		0xffff
#define PW_RRP_MTU_UNLIMITED	0

enum pw_rrp_rtyp {		/* never overlaps enum pw_rrp_at */
	PW_RRP_ADDR	= 0x11,
	PW_RRP_NAME	= 0x12,
	PW_RRP_CAPA	= 0x13,
	PW_RRP_LADR	= 0x14,	/* logical addresses */
	PW_RRP_SRQR	= 0x15,	/* source route and quality */
	PW_RRP_MTUR	= 0x16,
	PW_RRP_RCVF	= 0x17,	/* received-from set */
	PW_RRP_RTHD	= 0x18,	/* routing-table header */
};

enum pw_rrp_at {
	PW_RRP_AT_SINGLE	= 1,
	PW_RRP_AT_MIN		= 2,	/* of a range, inclusive; PW_RRP_AT_MAX follows */
	PW_RRP_AT_MAX		= 3,
	PW_RRP_AT_VALUE		= 4,	/* PW_RRP_AT_MASK follows */
	PW_RRP_AT_MASK		= 5,
};

enum pw_capa {
	PW_CAPA_COMPUTE		= 1,	/* general computing node */
	PW_CAPA_ROUTER		= 2,	/* parameters: addresses of its SANs, 3 bytes each */
	PW_CAPA_SERVER		= 3,	/* PacketWay server */
	PW_CAPA_MULTICAST	= 4,	/* multicast server */
	PW_CAPA_NFS		= 5,
	PW_CAPA_PAGING		= 6,
	PW_CAPA_FLOAT_DSP	= 7,	/* parameters: word sizes */
	PW_CAPA_FIXED_DSP	= 8,	/* parameters: word sizes */
	PW_CAPA_PRINTER		= 9,
	PW_CAPA_ATON		= 64,	/* parameters: operand registers */
	PW_CAPA_ESP		= 65,	/* parameters: store entries */
	PW_CAPA_POETS		= 66,	/* parameters: devices */
	PW_CAPA_TABLES		= 67,	/* among half-routers: the tables that one gives */
	PW_CAPA_SAN		= 255,
};

/* Link layer --------------------------------------------------------------- */

#define PW_LINK_MYRINET_TYPE	0x0300
#define PW_LINK_ETHERTYPE	0x88b5	/* local experimental, for trunks */

/* ESP ---------------------------------------------------------------------- */

#define PW_ESP_LOC_MASK		0xf0	/* in the control byte: where to execute */
#define PW_ESP_LOC_SHIFT	4
#define PW_ESP_REFLECT		0x08
#define PW_ESP_ERROR		0x04
#define PW_ESP_EXEC_ON_REFLECT	0x02
#define PW_ESP_EXECUTE		0x01

enum pw_esp_loc {
	PW_ESP_LOC_ANY		= 0,
	PW_ESP_LOC_ROUTERS	= 1,
	PW_ESP_LOC_ENDS		= 2,
};

enum pw_esp_opcode {
	PW_ESP_COUNT	= 1,
	PW_ESP_COMPARE	= 2,
	PW_ESP_COLLECT	= 3,
	PW_ESP_RCHLD	= 4,
	PW_ESP_RCOLLECT	= 5,
};

enum pw_esp_rel {		/* COMPARE: op(stored, carried) */
	PW_ESP_REL_LT	= 1,
	PW_ESP_REL_LE	= 2,
	PW_ESP_REL_EQ	= 3,
	PW_ESP_REL_NE	= 4,
	PW_ESP_REL_GE	= 5,
	PW_ESP_REL_GT	= 6,
};

enum pw_esp_op {		/* COLLECT and RCOLLECT */
	PW_ESP_OP_ADD	= 1,
	PW_ESP_OP_AND	= 2,
	PW_ESP_OP_OR	= 3,
	PW_ESP_OP_MAX	= 4,
	PW_ESP_OP_MIN	= 5,
	PW_ESP_OP_XOR	= 6,
};

/*
 * Tags from here on are no state: a node has these values of its own. COMPARE and COLLECT (valTag)
 * read them and store nothing; an instruction that would write one, or names one that is not
 * known, is aborted. With PW_ESP_TAG_NAMED the value, at most 2^40 - 1, is in the
 * upper 40 bits, and the address of the node in the lower 24.
 */
#define PW_ESP_TAG_NODE		0xffffffffffffff00ULL
#define PW_ESP_TAG_NAMED	0x80

enum {
	PW_ESP_TAG_QUEUE	= 1,	/* frames that its port has in the SAN */
	PW_ESP_TAG_RATE		= 2,	/* bits per second of its SAN's links; untimed: all ones */
	PW_ESP_TAG_MTU		= 3,
	PW_ESP_TAG_TIME		= 4,	/* virtual time of its SAN, ns; untimed: 0 */
	PW_ESP_TAG_BYTES	= 5,	/* bytes of the frames of PW_ESP_TAG_QUEUE */
};

/* POETS: swAddr and pinAddr are little-endian 32-bit fields ---------------- */

#define PW_POETS_FLIT			16
#define PW_POETS_MAX_FLITS		4
#define PW_POETS_HDR_LEN		8
#define PW_POETS_MAX_PAYLOAD		56

#define PW_POETS_DEVICE_MASK		0x0000ffffU	/* swAddr */
#define PW_POETS_OPCODE_MASK		0x00ff0000U
#define PW_POETS_TASK_MASK		0x3f000000U
#define PW_POETS_CNC			0x40000000U
#define PW_POETS_MOTHERSHIP		0x80000000U
#define PW_POETS_DEVICE_SHIFT		0
#define PW_POETS_OPCODE_SHIFT		16
#define PW_POETS_TASK_SHIFT		24
#define PW_POETS_PIN_MASK		0x000000ffU	/* pinAddr */
#define PW_POETS_EDGE_MASK		0xffffff00U
#define PW_POETS_PIN_SHIFT		0
#define PW_POETS_EDGE_SHIFT		8
#define PW_POETS_DEVICE_BROADCAST	0xffff

enum pw_poets_opcode {		/* only with CNC set */
	PW_POETS_OP_NOP		= 0x00,
	PW_POETS_OP_APP_MIN	= 0x01,	/* a device's OnCtl handler */
	PW_POETS_OP_APP_MAX	= 0xef,
	PW_POETS_OP_RSVD_MIN	= 0xf0,
	PW_POETS_OP_RSVD_MAX	= 0xf9,
	PW_POETS_OP_IMPL	= 0xfa,	/* implicit supervisor handler */
	PW_POETS_OP_INSTR	= 0xfb,	/* instrumentation */
	PW_POETS_OP_LOG		= 0xfc,
	PW_POETS_OP_BARRIER	= 0xfd,
	PW_POETS_OP_STOP	= 0xfe,
	PW_POETS_OP_KILL	= 0xff,
};

enum pw_poets_kind {		/* (mothership, CNC) */
	PW_POETS_KIND_DEVICE		= 0,
	PW_POETS_KIND_CONTROL		= 1,
	PW_POETS_KIND_EXTERNAL		= 2,
	PW_POETS_KIND_SUPERVISOR	= 3,	/* device must be 0 */
};

#define PW_POETS_SW_TO_SUPERVISOR	0xc0fa0000U	/* whole swAddr values */
#define PW_POETS_SW_INSTR		0xc0fb0000U
#define PW_POETS_SW_LOG			0xc0fc0000U
#define PW_POETS_SW_BARRIER_REACHED	0xc0fd0000U
#define PW_POETS_SW_BARRIER_RELEASE	0x40fdffffU
#define PW_POETS_SW_STOP		0x40feffffU
#define PW_POETS_SW_SUPERVISOR_BCAST	0x00faffffU
#define PW_POETS_SW_SUPERVISOR_REPLY	0x00fa0000U	/* or-ed into the device's swAddr */

/* ATON opcodes ------------------------------------------------------------- */

enum pw_aton_opcode {
	PW_ATON_OP_ADD		= 1,
	PW_ATON_OP_AND		= 2,
	PW_ATON_OP_OR		= 3,
	PW_ATON_OP_MAX		= 4,
	PW_ATON_OP_MIN		= 5,
	PW_ATON_OP_COUNT_EQ	= 6,
	PW_ATON_OP_COUNT_LT	= 7,
	PW_ATON_OP_COUNT_LE	= 8,
	PW_ATON_OP_SORT		= 16,
	PW_ATON_OP_BITSUM	= 17,	/* majority's first message */
	PW_ATON_OP_TREE		= 18,
};

#endif /* _UAPI_LINUX_PACKETWAY_EEP_H */
