// SPDX-License-Identifier: GPL-2.0
/*
 * What comes from another machine is copied out of where an adapter may still write,
 * then checked here, then believed.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "wire.h"

/* --- who connects */

/* What a MAC is of: one for each way, so that none can be sent back. */
struct sealed {
	uint64_t stage;
	uint64_t from;
	uint64_t to;
	uint8_t asker[WIRE_BYTES];
	uint8_t asked[WIRE_BYTES];
	uint64_t table;
	uint32_t rkey;
	uint32_t key;
};

static bool mac_make(uint8_t mac[WIRE_BYTES], const struct wire_meeting *m,
		     enum wire_stage stage, const struct wire_answer *answer)
{
	uint8_t whole[EVP_MAX_MD_SIZE];
	struct sealed sealed = { .stage = stage, .from = m->from, .to = m->to };

	memcpy(sealed.asker, m->asker, WIRE_BYTES);
	memcpy(sealed.asked, m->asked, WIRE_BYTES);
	if (answer) {
		sealed.table = answer->table;
		sealed.rkey = answer->rkey;
		sealed.key = answer->key;
	}
	if (!HMAC(EVP_sha256(), m->secret, FAR_KEY, (const uint8_t *)&sealed,
		  sizeof(sealed), whole, NULL))
		return false;
	memcpy(mac, whole, WIRE_BYTES);
	return true;
}

bool wire_prove(struct wire_hello *hello, const struct wire_meeting *m)
{
	return mac_make(hello->mac, m, WIRE_PROOF, NULL);
}

bool wire_welcome(struct wire_answer *answer, const struct wire_meeting *m)
{
	return mac_make(answer->mac, m, WIRE_WELCOME, answer);
}

static bool is_address(uint64_t v)
{
	const glex_ep_addr_t addr = { .v = v };

	return !addr.resv && addr.nic_id < FAR_NICS;
}

enum wire_stage wire_hello_check(const void *data, size_t len, struct wire_meeting *m)
{
	struct wire_hello hello;
	uint8_t mac[WIRE_BYTES];

	/* Some fabrics tell of all the room that there is, not of what was sent. */
	if (!data || len < sizeof(hello))
		return 0;
	memcpy(&hello, data, sizeof(hello));
	if (hello.magic != WIRE_MAGIC || hello.version != WIRE_VERSION ||
	    hello.to != m->to || hello.from == m->to || !is_address(hello.from))
		return 0;
	m->from = hello.from;
	if (hello.stage == WIRE_HELLO)
		return WIRE_HELLO;
	if (hello.stage != WIRE_PROOF)
		return 0;
	memcpy(m->asker, hello.nonce, WIRE_BYTES);
	if (!mac_make(mac, m, WIRE_PROOF, NULL) ||
	    CRYPTO_memcmp(mac, hello.mac, WIRE_BYTES))
		return WIRE_HELLO;
	return WIRE_PROOF;
}

enum wire_stage wire_answer_check(const void *data, size_t len, struct wire_meeting *m,
				  struct wire_answer *answer)
{
	uint8_t mac[WIRE_BYTES];

	if (!data || len < sizeof(*answer))
		return 0;
	memcpy(answer, data, sizeof(*answer));
	if (answer->magic != WIRE_MAGIC)
		return 0;
	if (answer->version != WIRE_VERSION)
		return WIRE_NOT_ME;
	switch (answer->stage) {
	case WIRE_CHALLENGE:
		memcpy(m->asked, answer->nonce, WIRE_BYTES);
		return WIRE_CHALLENGE;
	case WIRE_WELCOME:
		if (!mac_make(mac, m, WIRE_WELCOME, answer) ||
		    CRYPTO_memcmp(mac, answer->mac, WIRE_BYTES))
			return WIRE_NOT_ME;
		return WIRE_WELCOME;
	case WIRE_NOT_ME:
	case WIRE_CROWDED:
		return answer->stage;
	default:
		return 0;
	}
}

/* --- who has connected */

bool wire_request_check(const void *data, size_t len, struct wire_request *request)
{
	uint64_t cookie;

	if (len != sizeof(*request))
		return false;
	memcpy(request, data, sizeof(*request));
	if (request->kind == WIRE_PACKET)
		return request->len <= WIRE_DATA;
	if (request->kind == WIRE_ALIVE)
		return !request->len;
	if (request->kind != WIRE_EVENT || request->len != sizeof(glex_event_t))
		return false;
	/* That of an event whose second half is 0 nobody could see. */
	memcpy(&cookie, request->data + sizeof(cookie), sizeof(cookie));
	return cookie;
}

bool wire_reply_check(const void *data, size_t len, uint32_t sequence,
		      struct wire_reply *reply)
{
	if (len != sizeof(*reply))
		return false;
	memcpy(reply, data, sizeof(*reply));
	return reply->sequence == sequence &&
	       (reply->status == WIRE_DONE || reply->status == WIRE_FULL);
}

/* --- its table */

uint32_t wire_entry_sum(const struct wire_entry *e)
{
	const uint64_t word[] = { (uint64_t)e->sequence << 32 | e->flags, e->rkey,
				  e->address, e->length };
	uint64_t sum = WIRE_MAGIC;
	uint32_t i;

	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		sum = (sum ^ word[i]) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 32;
	}
	return sum;
}

bool wire_entry_whole(const struct wire_entry *e)
{
	return e->check == wire_entry_sum(e);
}

bool wire_entry_allows(const struct wire_entry *e, const struct far_move *m)
{
	uint32_t right = m->type == GLEX_RDMA_TYPE_GET ? GLEX_MEM_READ : GLEX_MEM_WRITE;

	return e->sequence && !(e->sequence & 1) && e->sequence == m->mh.att_index &&
	       e->flags & right && m->offset <= e->length &&
	       m->len <= e->length - m->offset && e->address + e->length >= e->address;
}
