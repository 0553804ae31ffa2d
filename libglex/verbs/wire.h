/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two machines tell each other, and what of it is believed.  It is of x86 on both
 * sides, so words are as they lie in memory.
 *
 *	who asks			who is asked
 *	connects: HELLO		  --->
 *				  <---	refuses: CHALLENGE, with its nonce
 *	connects: PROOF, a nonce
 *	and a MAC over both	  --->	has he the key?
 *				  <---	accepts: WELCOME, where its table is, and a MAC
 *	then: writes and reads of memory, by the adapters alone, and
 *	struct wire_request	  --->
 *				  <---	struct wire_reply, one for each
 *
 * So no queue pair is ready before its owner has shown that he has the key: a number of
 * memory (rkey) can be guessed.
 */
#ifndef GLEX_WIRE_H
#define GLEX_WIRE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../far.h"

#define WIRE_MAGIC	0x58454c47u	/* "GLEX" */
#define WIRE_VERSION	1u
#define WIRE_BYTES	16u		/* of a nonce, and of a MAC */
#define WIRE_DATA	FAR_DATA

enum wire_stage {
	WIRE_HELLO = 1,
	WIRE_CHALLENGE,
	WIRE_PROOF,
	WIRE_WELCOME,
	WIRE_NOT_ME,
	WIRE_CROWDED,
};

/* Comes with a connection's request: at most 56 bytes may, on an InfiniBand. */
struct wire_hello {
	uint32_t magic;
	uint16_t version;
	uint16_t stage;
	uint64_t from;
	uint64_t to;
	uint8_t nonce[WIRE_BYTES];
	uint8_t mac[WIRE_BYTES];
};

/**
 * struct wire_answer - comes with its answer
 * @key:	of the endpoint
 * @rkey, @table: of its table of registered memory
 * @nonce:	of a CHALLENGE
 * @mac:	of a WELCOME
 */
struct wire_answer {
	uint32_t magic;
	uint16_t version;
	uint16_t stage;
	uint32_t key;
	uint32_t rkey;
	uint64_t table;
	uint8_t nonce[WIRE_BYTES];
	uint8_t mac[WIRE_BYTES];
};

static_assert(sizeof(struct wire_hello) == 56, "room in a request");
static_assert(sizeof(struct wire_answer) == 56, "layout");

/**
 * struct wire_entry - registered memory, in a table that others read
 * @sequence:	even and not 0: it is; a handle names one value of it
 * @flags:	enum glex_mem_flag
 * @rkey, @address, @length: where
 * @check:	of all that: it may be read while it changes
 */
struct wire_entry {
	uint32_t sequence;
	uint32_t flags;
	uint32_t rkey;
	uint32_t check;
	uint64_t address;
	uint64_t length;
};

static_assert(sizeof(struct wire_entry) == 32, "layout");

/* ALIVE: the adapter alone has been asked for a while. */
enum wire_kind { WIRE_PACKET = 1, WIRE_EVENT, WIRE_ALIVE };

struct wire_request {
	uint32_t kind;
	uint32_t sequence;
	uint32_t len;
	uint32_t reserved;
	uint8_t data[WIRE_DATA];
};

enum wire_status { WIRE_DONE = 1, WIRE_FULL };

struct wire_reply {
	uint32_t sequence;
	uint32_t status;
};

static_assert(sizeof(struct wire_request) == 144, "layout");
static_assert(sizeof(struct wire_reply) == 8, "layout");

/**
 * struct wire_meeting - what both sides of a connection have to agree on
 * @secret:	the key
 * @from, @to:	who asks, who is asked
 * @asker, @asked: their nonces
 */
struct wire_meeting {
	const uint8_t *secret;
	uint64_t from;
	uint64_t to;
	uint8_t asker[WIRE_BYTES];
	uint8_t asked[WIRE_BYTES];
};

/* The MAC is right once this has been called; false: it could not be made. */
bool wire_prove(struct wire_hello *hello, const struct wire_meeting *m);
bool wire_welcome(struct wire_answer *answer, const struct wire_meeting *m);

/*
 * The stage of what has come, HELLO or PROOF, and of whom (@m->from); a PROOF of who has
 * not the key, or over another nonce, is a HELLO.  0: it is nothing for @m->to, or from
 * itself.
 */
enum wire_stage wire_hello_check(const void *data, size_t len, struct wire_meeting *m);

/*
 * CHALLENGE (@m->asked is set), WELCOME, CROWDED or NOT_ME, which is also who has not the
 * key or is of another version; 0: it is none.
 */
enum wire_stage wire_answer_check(const void *data, size_t len, struct wire_meeting *m,
				  struct wire_answer *answer);

/* Copied first: @request is what is believed. */
bool wire_request_check(const void *data, size_t len, struct wire_request *request);
bool wire_reply_check(const void *data, size_t len, uint32_t sequence,
		      struct wire_reply *reply);

/* An entry's last word; whether it is whole; whether it allows that. */
uint32_t wire_entry_sum(const struct wire_entry *e);
bool wire_entry_whole(const struct wire_entry *e);
bool wire_entry_allows(const struct wire_entry *e, const struct far_move *m);

#endif /* GLEX_WIRE_H */
