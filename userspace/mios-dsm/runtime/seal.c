// SPDX-License-Identifier: GPL-2.0
/*
 * See seal.h.  The cipher is AES-128-GCM; its nonce is a frame's count, which a
 * session never uses twice.  A session is never begun twice either, though its
 * greetings may be replayed: its peer's number is known while it lasts, and when it
 * ends, because its place is taken, we draw another number ourselves.
 *
 * Of what has not been proved only the head and the session's number are read, to
 * know what it is to be proved by.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "seal.h"

#define NONCE		12
#define CIPHER_KEY	16
#define COUNTS		64	/* remembered, the newest among them */

static const u8 nobody[SEAL_NUMBER];

/* What an address is told of, once each. */
enum line { NO_KEY, A_KEY, OTHER_KEY, SPOILT, OTHER_VERSION };

static void say(struct seal *s, enum line line, const u8 *mac)
{
	static const char *const text[] = {
		[NO_KEY] = "speaks without a key, and is not heard: give it the key (--key) as well",
		[A_KEY] = "has a key, and we have none: give it to us (--key) as well",
		[OTHER_KEY] = "has another key than we, and is not heard",
		[SPOILT] = "sends what its seal does not fit to: somebody changes frames, or makes some",
		[OTHER_VERSION] = "speaks another version of this",
	};

	if (s->said >> line & 1)
		return;
	s->said |= 1u << line;
	/* No stream: a thread that stands at a page may have that. */
	dprintf(STDERR_FILENO, "mios-dsm: %02x:%02x:%02x:%02x:%02x:%02x %s\n",
		mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], text[line]);
}

static bool same(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, SEAL_NUMBER);
}

static bool draw(u8 *number)
{
	return getrandom(number, SEAL_NUMBER, 0) == SEAL_NUMBER;
}

/* HMAC-SHA256, 32 bytes. */
static bool prove(const u8 *key, const void *data, u32 len, u8 *to)
{
	return HMAC(EVP_sha256(), key, SEAL_KEY, data, len, to, NULL);
}

/* Of a greeting or statement, of which so much is covered. */
static bool tag_of(const struct seal *s, const u8 *mac, const void *bytes,
		   u32 len, u8 *tag)
{
	u8 all[ETHER_MAC + sizeof(struct seal_statement)], full[SEAL_KEY];

	memcpy(all, mac, ETHER_MAC);
	memcpy(all + ETHER_MAC, bytes, len);
	if (!prove(s->for_greetings, all, ETHER_MAC + len, full))
		return false;
	memcpy(tag, full, SEAL_TAG);
	return true;
}

static bool tag_fits(const struct seal *s, const u8 *mac, const void *bytes,
		     u32 len, const u8 *tag)
{
	u8 wanted[SEAL_TAG];

	return s->unchecked || (tag_of(s, mac, bytes, len, wanted) &&
		!CRYPTO_memcmp(wanted, tag, SEAL_TAG));
}

/* A cipher for one way, and the number by which its frames are known. */
static EVP_CIPHER_CTX *way(const struct seal *s, const u8 *from, const u8 *to,
			   u32 *number, int encipher)
{
	struct {
		u16 magic, cluster;
		u8 from[SEAL_NUMBER], to[SEAL_NUMBER];
	} of = { .magic = s->magic, .cluster = s->cluster };
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	u8 key[SEAL_KEY];

	memcpy(of.from, from, SEAL_NUMBER);
	memcpy(of.to, to, SEAL_NUMBER);
	if (!c || !prove(s->for_sessions, &of, sizeof(of), key) ||
	    !EVP_CipherInit_ex(c, EVP_aes_128_gcm(), NULL, key, NULL,
			       encipher)) {
		EVP_CIPHER_CTX_free(c);
		return NULL;
	}
	memcpy(number, key + CIPHER_KEY, sizeof(*number));
	OPENSSL_cleanse(key, sizeof(key));
	return c;
}

static void session_end(struct seal_session *f)
{
	EVP_CIPHER_CTX_free(f->in);
	EVP_CIPHER_CTX_free(f->out);
	memset(f, 0, sizeof(*f));
}

static struct seal_session *session_at(struct seal *s, const u8 *mac)
{
	for (u32 i = 0; i < SEAL_SESSIONS; i++)
		if (s->session[i].used &&
		    !memcmp(s->session[i].mac, mac, ETHER_MAC))
			return &s->session[i];
	return NULL;
}

/* That of an earlier life there, a free place, or the one not heard of longest. */
static struct seal_session *session_place(struct seal *s, const u8 *mac)
{
	struct seal_session *f = session_at(s, mac);

	if (f)
		return f;
	f = s->session;
	for (u32 i = 1; i < SEAL_SESSIONS; i++)
		if (s->session[i].heard < f->heard)
			f = &s->session[i];
	return f;
}

/* True: from now on frames can go both ways. */
static bool session_begin(struct seal *s, const struct seal_greeting *g,
			  const u8 *mac)
{
	struct seal_session *f = session_place(s, mac);
	bool had = f->used;

	session_end(f);
	memcpy(f->mac, mac, ETHER_MAC);
	memcpy(f->birth, g->birth, SEAL_NUMBER);
	memcpy(f->ours, s->ours, SEAL_NUMBER);
	memcpy(f->theirs, g->ours, SEAL_NUMBER);
	f->out = way(s, f->ours, f->theirs, &f->number_out, 1);
	f->in = way(s, f->theirs, f->ours, &f->number_in, 0);
	f->used = f->out && f->in;
	f->seen = 1;		/* counts begin with 1 */
	f->heard = ++s->clock;
	/* What began the one that is over begins it no more. */
	if ((had && !draw(s->ours)) || !f->used) {
		session_end(f);
		return false;
	}
	s->news = true;
	return true;
}

/* To all if mac is NULL. */
static void greet(struct seal *s, const u8 *mac, enum seal_what what,
		  const u8 *ours, const u8 *yours)
{
	struct seal_greeting g = {
		.head = { .magic = s->magic, .version = SEAL_VERSION,
			  .what = what, .cluster = s->cluster },
	};

	memcpy(g.birth, s->birth, SEAL_NUMBER);
	memcpy(g.ours, ours, SEAL_NUMBER);
	memcpy(g.yours, yours, SEAL_NUMBER);
	if (tag_of(s, s->mac, &g, offsetof(struct seal_greeting, tag), g.tag))
		s->put(s->arg, mac, &g, sizeof(g));
}

/*
 * Whoever asks is answered, and nothing is kept of that: it may be a replay.  Who
 * has heard our number lives now.  An answer is confirmed though we know its sender:
 * he may have missed that.
 */
static void greeting_take(struct seal *s, const struct seal_greeting *g,
			  const u8 *mac)
{
	struct seal_session *f = session_at(s, mac);
	bool known = f && same(f->theirs, g->ours);
	u8 ours[SEAL_NUMBER];

	memcpy(ours, known ? f->ours : s->ours, SEAL_NUMBER);
	if (g->head.what == SEAL_ASK)
		greet(s, mac, SEAL_ANSWER, ours, g->ours);
	else if (!same(g->yours, ours))
		s->counts.refused++;
	else if ((known || session_begin(s, g, mac)) &&
		 g->head.what == SEAL_ANSWER)
		greet(s, mac, SEAL_CONFIRM, ours, g->ours);
}

static void greeting(struct seal *s, const void *frame, u32 len, const u8 *mac)
{
	struct seal_greeting g;

	if (len < sizeof(g)) {
		s->counts.refused++;
		return;
	}
	memcpy(&g, frame, sizeof(g));
	/* Our own, sent back to us, would be a session with ourselves. */
	if (!memcmp(mac, s->mac, ETHER_MAC)) {
		s->counts.replayed++;
	} else if (!tag_fits(s, mac, &g, offsetof(struct seal_greeting, tag),
			     g.tag)) {
		s->counts.forged++;
		say(s, OTHER_KEY, mac);
	} else {
		greeting_take(s, &g, mac);
	}
}

/* An end, of a life with which there is a session. */
static const void *statement(struct seal *s, const void *frame, u32 *len,
			     const u8 *mac)
{
	static struct seal_statement t;
	const struct seal_session *f = session_at(s, mac);

	if (*len < sizeof(t) || s->magic != SEAL_NODE) {
		s->counts.refused++;
		return NULL;
	}
	memcpy(&t, frame, sizeof(t));
	if (!tag_fits(s, mac, &t, offsetof(struct seal_statement, tag),
		      t.tag)) {
		s->counts.forged++;
		say(s, SPOILT, mac);
		return NULL;
	}
	if (!f || !same(f->birth, t.birth) || t.note.what != ETHER_END) {
		s->counts.refused++;
		return NULL;
	}
	*len = sizeof(t.note);
	return &t.note;
}

/* in and out may not overlap; true: it is sealed, or it is what was sealed. */
static bool cipher(EVP_CIPHER_CTX *c, const struct seal_frame *h, const u8 *in,
		   u8 *out, u8 *tag, bool encipher)
{
	u8 nonce[NONCE] = { };
	int n;

	memcpy(nonce, h->count, sizeof(h->count));
	if (EVP_CipherInit_ex(c, NULL, NULL, NULL, nonce, -1) != 1 ||
	    EVP_CipherUpdate(c, NULL, &n, (const u8 *)h, sizeof(*h)) != 1 ||
	    EVP_CipherUpdate(c, out, &n, in, h->head.len) != 1)
		return false;
	if (!encipher)
		return EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG,
					   tag) == 1 &&
			EVP_CipherFinal_ex(c, out, &n) == 1;
	return EVP_CipherFinal_ex(c, out, &n) == 1 &&
		EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG,
				    tag) == 1;
}

/* Has it not come before?  What is older than the bits is taken for that. */
static bool count_fresh(const struct seal_session *f, u64 count)
{
	return count > f->newest || (f->newest - count < COUNTS &&
				     !(f->seen >> (f->newest - count) & 1));
}

static void count_take(struct seal_session *f, u64 count)
{
	u64 ahead = count > f->newest ? count - f->newest : 0;

	if (ahead) {
		f->seen = ahead < COUNTS ? f->seen << ahead : 0;
		f->newest = count;
	}
	if (f->newest - count < COUNTS)
		f->seen |= 1ULL << (f->newest - count);
}

static const void *unseal(struct seal *s, const u8 *frame, u32 *len,
			  const u8 *mac)
{
	static u8 inside[DSM_FRAME_MAX];
	struct seal_session *f = session_at(s, mac);
	struct seal_frame h = { };
	u8 tag[SEAL_TAG];
	u64 count;

	memcpy(&h, frame, *len < sizeof(h) ? *len : sizeof(h));
	if (*len < SEAL_ADDS || h.head.len > *len - SEAL_ADDS ||
	    h.head.len > sizeof(inside) || !f || h.session != f->number_in) {
		s->counts.refused++;
		return NULL;
	}
	memcpy(&count, h.count, sizeof(count));
	if (!count_fresh(f, count) && !s->unchecked) {
		s->counts.replayed++;
		return NULL;
	}
	memcpy(tag, frame + sizeof(h) + h.head.len, SEAL_TAG);
	if (!cipher(f->in, &h, frame + sizeof(h), inside, tag, false) &&
	    !s->unchecked) {
		s->counts.forged++;
		say(s, SPOILT, mac);
		return NULL;
	}
	count_take(f, count);
	f->heard = ++s->clock;
	*len = h.head.len;
	return inside;
}

static bool sealed(u16 magic)
{
	return magic == SEAL_RUN || magic == SEAL_NODE;
}

/* What has no seal, or one that we cannot open without a key. */
static const void *bare(struct seal *s, const void *frame, u32 len,
			const u8 *mac)
{
	struct ether_note m = { };

	memcpy(&m, frame, len < sizeof(m) ? len : sizeof(m));
	if (!s->on && sealed(m.magic)) {
		struct seal_head h;

		memcpy(&h, &m, sizeof(h));
		s->counts.refused++;
		if (h.magic == s->magic && h.cluster == s->cluster)
			say(s, A_KEY, mac);
		return NULL;
	}
	if (!s->on || s->unchecked)
		return frame;
	s->counts.forged++;
	if (m.magic == ETHER_MAGIC && m.cluster == s->cluster)
		say(s, NO_KEY, mac);
	return NULL;
}

const void *seal_take(struct seal *s, const void *frame, u32 *len,
		      const u8 *mac)
{
	struct seal_head h = { };

	memcpy(&h, frame, *len < sizeof(h) ? *len : sizeof(h));
	if (!s->on || !sealed(h.magic))
		return bare(s, frame, *len, mac);
	/* Said to the other process of this machine, or among others on the wire. */
	if (h.magic != s->magic || h.cluster != s->cluster)
		return NULL;
	if (h.version != SEAL_VERSION) {
		s->counts.refused++;
		say(s, OTHER_VERSION, mac);
		return NULL;
	}
	if (h.what == SEAL_FRAME)
		return unseal(s, frame, len, mac);
	if (h.what == SEAL_STATEMENT)
		return statement(s, frame, len, mac);
	if (h.what <= SEAL_CONFIRM)
		greeting(s, frame, *len, mac);
	else
		s->counts.refused++;
	return NULL;
}

static void send_to(struct seal *s, struct seal_session *f, const void *frame,
		    u32 len)
{
	static u8 bytes[SEAL_MAX];	/* under the caller's lock */
	struct seal_frame h = {
		.head = { .magic = s->magic, .version = SEAL_VERSION,
			  .what = SEAL_FRAME, .cluster = s->cluster,
			  .len = len },
		.session = f->number_out,
	};

	f->sent++;
	memcpy(h.count, &f->sent, sizeof(h.count));
	memcpy(bytes, &h, sizeof(h));
	if (cipher(f->out, &h, frame, bytes + sizeof(h), bytes + sizeof(h) + len,
		   true))
		s->put(s->arg, f->mac, bytes, len + SEAL_ADDS);
}

void seal_send(struct seal *s, const u8 *mac, const void *frame, u32 len)
{
	struct seal_session *f = s->on && mac ? session_at(s, mac) : NULL;

	if (!s->on) {
		s->put(s->arg, mac, frame, len);
	} else if (mac) {
		if (f && len <= DSM_FRAME_MAX)
			send_to(s, f, frame, len);
	} else {
		for (u32 i = 0; i < SEAL_SESSIONS; i++)
			if (s->session[i].used)
				send_to(s, &s->session[i], frame, len);
		greet(s, NULL, SEAL_ASK, s->ours, nobody);
	}
}

void seal_state(struct seal *s, const struct ether_note *end)
{
	struct seal_statement t = {
		.head = { .magic = SEAL_NODE, .version = SEAL_VERSION,
			  .what = SEAL_STATEMENT, .cluster = s->cluster,
			  .len = sizeof(*end) },
		.note = *end,
	};

	if (!s->on) {
		s->put(s->arg, NULL, end, sizeof(*end));
		return;
	}
	memcpy(t.birth, s->birth, SEAL_NUMBER);
	if (tag_of(s, s->mac, &t, offsetof(struct seal_statement, tag), t.tag))
		s->put(s->arg, NULL, &t, sizeof(t));
}

int seal_open(struct seal *s, u16 magic, u16 cluster, const u8 *mac,
	      const struct seal_secret *secret)
{
	bool good;

	s->on = secret;
	s->magic = magic;
	s->cluster = cluster;
	memcpy(s->mac, mac, ETHER_MAC);
	if (!secret)
		return 0;
	memcpy(s->birth, secret->birth, SEAL_NUMBER);
	/* At exit it would be taken from under the service thread. */
	good = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT |
				   OPENSSL_INIT_NO_LOAD_CONFIG, NULL) &&
		draw(s->ours) &&
		prove(secret->key, "mios-dsm greetings", 18, s->for_greetings) &&
		prove(secret->key, "mios-dsm sessions", 17, s->for_sessions);
	if (!good)
		dprintf(STDERR_FILENO, "mios-dsm: libcrypto cannot be used\n");
	return good ? 0 : -ENOSYS;
}

void seal_close(struct seal *s)
{
	for (u32 i = 0; i < SEAL_SESSIONS; i++)
		session_end(&s->session[i]);
	OPENSSL_cleanse(s->for_greetings, SEAL_KEY);
	OPENSSL_cleanse(s->for_sessions, SEAL_KEY);
}
