/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session of a trunk: which packets of the other end count.
 *
 * An end numbers its packets by (session, sequence number). The session is a random
 * number; an end draws a new one when it is made and whenever it gives the other end
 * up. The sequence number never goes back, also not with a new session: no pair, and
 * so no nonce, is used twice.
 *
 * An end takes a session of the other end on when a hello of that session echoes the
 * challenge that is out. The challenge is a random number that serves once: it is
 * replaced when a session is taken on and when one is given up. Of a session that was
 * taken on only packets count that were sent after that hello. So in every
 * establishment an end receives only what was sent after this establishment began:
 * packets recorded before an outage, a re-creation or a reboot are refused, those of
 * a session that is still in use after the outage as well. A window of sequence
 * numbers lets every packet in once.
 *
 * A hello of a session that is not in use may be a recorded one. Its challenge is kept
 * among a few others and echoed in turn, so that recorded hellos, however many, cannot
 * keep the live one from its answer. It changes nothing else.
 *
 * The caller authenticates packets before they come here, draws random numbers, holds
 * a lock and knows the time (in ticks of its own, which may wrap).
 */
#ifndef PW_CORE_TRUNK_SESSION_H
#define PW_CORE_TRUNK_SESSION_H

#include "pw_os.h"

#define PW_TRUNK_WINDOW		1024	/* sequence numbers */
#define PW_TRUNK_ASKERS		16	/* challenges of sessions not in use */

/**
 * struct pw_trunk_session - one end of a trunk
 * @session: own session
 * @challenge: own challenge, not answered yet
 * @peer_session: session of the other end that is in use, 0: none
 * @peer_challenge: its challenge, echoed by hellos
 * @peer_seq: highest sequence number received in it
 * @heard: time of the last packet of it
 * @seen: received numbers of the window that ends with @peer_seq
 * @asker: challenges of other sessions that wait for an echo, 0: free
 * @turn: where the search for the next of them begins
 * @asked: the last hello was for one of them
 * @up: a session is in use
 */
struct pw_trunk_session {
	u64 session;
	u64 challenge;
	u64 peer_session;
	u64 peer_challenge;
	u64 peer_seq;
	u32 heard;
	u64 seen[PW_TRUNK_WINDOW / 64];
	u64 asker[PW_TRUNK_ASKERS];
	u32 turn;
	bool asked;
	bool up;
};

/* how a packet that was received relates to the session in use */
enum pw_trunk_verdict {
	PW_TRUNK_V_FRESH,	/* of the session in use, for the first time */
	PW_TRUNK_V_REPLAY,	/* of the session in use, not for the first time */
	PW_TRUNK_V_OTHER,	/* of another session */
	PW_TRUNK_V_OWN,		/* sent by this end: reflected */
};

/**
 * struct pw_trunk_hello - what a hello says about sessions
 * @session: session that it is of
 * @seq: its sequence number
 * @challenge: challenge of its sender
 * @echo: challenge that its sender heard
 */
struct pw_trunk_hello {
	u64 session;
	u64 seq;
	u64 challenge;
	u64 echo;
};

/* What a hello leads to */
enum pw_trunk_heard {
	PW_TRUNK_HEARD,		/* nothing new */
	PW_TRUNK_HEARD_ASKS,	/* its challenge waits for an echo */
	PW_TRUNK_HEARD_NEW,	/* its session is in use from now on */
};

void pw_trunk_session_init(struct pw_trunk_session *s, u64 session, u64 challenge);
void pw_trunk_session_end(struct pw_trunk_session *s, u64 session, u64 challenge);
enum pw_trunk_verdict pw_trunk_session_check(struct pw_trunk_session *s, u64 session, u64 seq,
					     u32 now);
enum pw_trunk_heard pw_trunk_session_hear(struct pw_trunk_session *s,
					  const struct pw_trunk_hello *h, u64 next, u32 now);
u64 pw_trunk_session_echo(struct pw_trunk_session *s);
bool pw_trunk_session_waits(const struct pw_trunk_session *s);

/* Has nothing been heard for @limit ticks? */
static inline bool pw_trunk_session_silent(const struct pw_trunk_session *s, u32 now, u32 limit)
{
	return s->up && (s32)(now - s->heard) > (s32)limit;
}

#endif /* PW_CORE_TRUNK_SESSION_H */
