// SPDX-License-Identifier: GPL-2.0
/* The session of a trunk; the rules are in trunk_session.h. */
#include "trunk_session.h"

/**
 * pw_trunk_session_init - an end that has heard nothing
 * @s: the end
 * @session: random, not 0
 * @challenge: random, not 0
 */
void pw_trunk_session_init(struct pw_trunk_session *s, u64 session, u64 challenge)
{
	memset(s, 0, sizeof(*s));
	s->session = session;
	s->challenge = challenge;
}

/**
 * pw_trunk_session_end - end the session with the other end
 * @s: session of this end
 * @session: own session from now on: random, not 0
 * @challenge: own challenge from now on: random, not 0
 *
 * Nothing that was sent until now is received later. The other end's challenge is
 * still echoed: that end may not have noticed.
 */
void pw_trunk_session_end(struct pw_trunk_session *s, u64 session, u64 challenge)
{
	s->up = false;
	s->peer_session = 0;
	s->session = session;
	s->challenge = challenge;
}

/* Is this number new in the session in use? If so, mark it as received. */
static bool pw_trunk_session_fresh(struct pw_trunk_session *s, u64 seq)
{
	u64 *word = &s->seen[seq / 64 % ARRAY_SIZE(s->seen)], i;

	if (seq > s->peer_seq) {
		if (seq - s->peer_seq >= PW_TRUNK_WINDOW)
			memset(s->seen, 0, sizeof(s->seen));
		else
			/* no <=: the last number of all would be no end */
			for (i = s->peer_seq + 1; i != seq + 1; i++)
				s->seen[i / 64 % ARRAY_SIZE(s->seen)] &= ~BIT_ULL(i % 64);
		s->peer_seq = seq;
	} else if (s->peer_seq - seq >= PW_TRUNK_WINDOW) {
		return false;
	}
	if (*word & BIT_ULL(seq % 64))
		return false;
	*word |= BIT_ULL(seq % 64);
	return true;
}

/**
 * pw_trunk_session_check - judge an authentic packet
 * @s: session of this end
 * @session: session of the packet
 * @seq: its sequence number
 * @now: the time
 *
 * Return: what it is. Only what is PW_TRUNK_V_FRESH counts; a hello that is
 * PW_TRUNK_V_OTHER may begin a session, see pw_trunk_session_hear().
 */
enum pw_trunk_verdict pw_trunk_session_check(struct pw_trunk_session *s, u64 session, u64 seq,
					     u32 now)
{
	if (session == s->session)
		return PW_TRUNK_V_OWN;
	if (!s->up || session != s->peer_session)
		return PW_TRUNK_V_OTHER;
	if (!pw_trunk_session_fresh(s, seq))
		return PW_TRUNK_V_REPLAY;
	s->heard = now;
	return PW_TRUNK_V_FRESH;
}

/* keep a challenge until it is echoed; if all places are taken, replace a random one */
static bool pw_trunk_session_ask(struct pw_trunk_session *s, u64 challenge, u32 chance)
{
	u32 i, place = chance % PW_TRUNK_ASKERS;

	if (!challenge)
		return false;
	for (i = 0; i < PW_TRUNK_ASKERS; i++) {
		if (s->asker[i] == challenge)
			return true;
		if (!s->asker[i])
			place = i;
	}
	s->asker[place] = challenge;
	return true;
}

/**
 * pw_trunk_session_hear - process an authentic hello
 * @s: session of this end
 * @h: the hello; pw_trunk_session_check() found it fresh or of another session
 * @next: random, not 0: the own challenge if the present one is used up by this hello
 * @now: the time
 *
 * Return: what it leads to.
 */
enum pw_trunk_heard pw_trunk_session_hear(struct pw_trunk_session *s,
					  const struct pw_trunk_hello *h, u64 next, u32 now)
{
	if (s->up && h->session == s->peer_session) {
		s->peer_challenge = h->challenge;
		return PW_TRUNK_HEARD;
	}
	if (!h->session || h->session == s->session)
		return PW_TRUNK_HEARD;
	if (h->echo != s->challenge)
		return pw_trunk_session_ask(s, h->challenge, next) ? PW_TRUNK_HEARD_ASKS :
		       PW_TRUNK_HEARD;
	s->peer_session = h->session;
	s->peer_challenge = h->challenge;
	s->peer_seq = h->seq;
	/* what was sent before this hello does not count */
	memset(s->seen, 0xff, sizeof(s->seen));
	s->challenge = next;
	s->heard = now;
	s->up = true;
	return PW_TRUNK_HEARD_NEW;
}

/**
 * pw_trunk_session_echo - the challenge that the next hello echoes
 * @s: the end
 *
 * The session in use, or the last one that was, and those that ask take turns.
 *
 * Return: the challenge, 0: none was heard.
 */
u64 pw_trunk_session_echo(struct pw_trunk_session *s)
{
	u64 challenge;
	u32 i, k;

	if (!s->asked || !s->peer_challenge) {
		for (i = 0; i < PW_TRUNK_ASKERS; i++) {
			k = (s->turn + i) % PW_TRUNK_ASKERS;
			challenge = s->asker[k];
			if (!challenge)
				continue;
			s->asker[k] = 0;
			s->turn = k + 1;
			s->asked = true;
			return challenge;
		}
	}
	s->asked = false;
	return s->peer_challenge;
}

/**
 * pw_trunk_session_waits - does a challenge wait for an echo?
 * @s: the end
 *
 * Return: whether one does.
 */
bool pw_trunk_session_waits(const struct pw_trunk_session *s)
{
	u32 i;

	for (i = 0; i < PW_TRUNK_ASKERS; i++)
		if (s->asker[i])
			return true;
	return false;
}
