/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames that nobody without the key can make, change or read.  A process that is
 * on the wire draws a number.  Two that have shown each other, by the key, that
 * they have heard the other one's number have a session: a cipher's key for each
 * way, made of the key and both numbers, and a count in each frame.  So what was
 * recorded fits to no other run, and to its own one once.
 *
 *	A                                       B
 *	 ---- ask: a, who is there? ---------->   to all, again and again
 *	 <--- answer: b, I have heard a -------
 *	 ---- confirm: a, I have heard b ----->   A: B lives; begins the session
 *	 <=== sealed frames, counted =========>   B: A lives; begins the session
 *
 * Each of these may be lost: who asks again is answered and confirms again.
 * Such greetings, and statements (below), carry an HMAC of all that they say and of
 * their sender's address.  Without a key frames go as they are.
 *
 * Used by ethernet.c in a node, on the service thread but for seal_send(), and by
 * mios-dsm run.  docs/dsm.md, "Who may join", has why.
 */
#ifndef SEAL_H
#define SEAL_H

#include <openssl/types.h>

#include "ether.h"
#include "../../../mios/dsm/dsm_link.h"

#define SEAL_VERSION	1
#define SEAL_KEY	32
#define SEAL_NUMBER	16
#define SEAL_TAG	16

/* Who talks: one mios-dsm run with others, or one node with others. */
#define SEAL_RUN	0xd53c
#define SEAL_NODE	0xd53d

enum seal_what {
	SEAL_ASK,
	SEAL_ANSWER,
	SEAL_CONFIRM,
	SEAL_FRAME,
	SEAL_STATEMENT,		/* of mios-dsm run to nodes: this life is over */
	SEAL_WHATS,
};

/* In x86's byte order; covered by what proves the frame. */
struct seal_head {
	u16 magic;
	u8 version;
	u8 what;
	u16 cluster;
	u16 len;		/* bytes that are sealed in */
};

/* What is sealed in follows, enciphered, and the tag. */
struct seal_frame {
	struct seal_head head;
	u32 session;		/* of this way */
	u32 count[2];		/* frames before this one, and this one */
};

struct seal_greeting {
	struct seal_head head;
	u8 birth[SEAL_NUMBER];	/* of the run that started the process */
	u8 ours[SEAL_NUMBER];	/* drawn by the process */
	u8 yours[SEAL_NUMBER];	/* heard of the receiver; zeros in an ask */
	u8 tag[SEAL_TAG];
};

/*
 * True for ever, as no number is drawn twice: so it needs no session, which
 * mios-dsm run has not with the nodes of others.
 */
struct seal_statement {
	struct seal_head head;
	u8 birth[SEAL_NUMBER];
	struct ether_note note;
	u8 tag[SEAL_TAG];
};

static_assert(sizeof(struct seal_frame) == 20, "around a frame");
static_assert(sizeof(struct seal_greeting) == 72, "greeting");
static_assert(sizeof(struct seal_statement) == 112, "statement");

/* What it adds to a frame, and the longest. */
#define SEAL_ADDS	(sizeof(struct seal_frame) + SEAL_TAG)
#define SEAL_MAX	(DSM_FRAME_MAX + SEAL_ADDS)

#define SEAL_SESSIONS	32

struct seal_session {
	bool used;
	u8 mac[ETHER_MAC];
	u8 birth[SEAL_NUMBER];
	u8 ours[SEAL_NUMBER], theirs[SEAL_NUMBER];
	u32 number_in, number_out;
	EVP_CIPHER_CTX *in, *out;
	u64 sent;		/* frames */
	u64 newest;		/* count that has come, */
	u64 seen;		/* of it and those before, a bit each */
	u64 heard;		/* when, by seal.clock */
};

struct seal_counts {
	u64 refused;		/* of another session or version */
	u64 forged;		/* without a seal, or one that does not fit */
	u64 replayed;		/* counted already, or too late to know */
};

/* What mios-dsm run hands to the node that it starts, in a file without a name. */
struct seal_secret {
	u8 key[SEAL_KEY];
	u8 birth[SEAL_NUMBER];
};

struct seal {
	bool on;		/* there is a key */
	bool unchecked;		/* a rule to break: whatever comes is taken */
	bool news;		/* a session has begun; the caller takes it back */
	u16 magic, cluster;
	u8 mac[ETHER_MAC];
	u8 for_greetings[SEAL_KEY], for_sessions[SEAL_KEY];
	u8 birth[SEAL_NUMBER], ours[SEAL_NUMBER];
	struct seal_session session[SEAL_SESSIONS];
	u64 clock;
	struct seal_counts counts;
	u32 said;		/* lines that are not said again, a bit each */
	/* Sends it or loses it; to all if mac is NULL. */
	void (*put)(void *arg, const u8 *mac, const void *frame, u32 len);
	void *arg;
};

/*
 * magic: who we are, at this address; secret: NULL, without a key.  put and arg are
 * the caller's to set, all else is set here.  0, or -errno after a line.
 */
int seal_open(struct seal *s, u16 magic, u16 cluster, const u8 *mac,
	      const struct seal_secret *secret);
void seal_close(struct seal *s);
/*
 * To one, if there is a session with it, which allocates nothing, as a signal's
 * handler may send; or, if mac is NULL, to all of those, and a greeting to whoever
 * else is there.
 */
void seal_send(struct seal *s, const u8 *mac, const void *frame, u32 len);
/*
 * What is in a frame that has come from that address, or NULL.  It stays until the
 * next call.  Greetings are answered here.
 */
const void *seal_take(struct seal *s, const void *frame, u32 *len,
		      const u8 *mac);
/* From mios-dsm run to the nodes of all others, by the address of its own. */
void seal_state(struct seal *s, const struct ether_note *end);

#endif /* SEAL_H */
