// SPDX-License-Identifier: GPL-2.0
/*
 * What libglex believes of another machine (libglex/verbs/wire.c): each word of what
 * was made well, changed; then anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../libglex/verbs/wire.h"

#define NIC	64u

static void check_at(int ok, const char *what)
{
	if (ok)
		return;
	printf("FAILED: %s\n", what);
	exit(1);
}

#define check(ok)	check_at(ok, #ok)

static const uint8_t secret[FAR_KEY] = { 1, 2, 3 }, other[FAR_KEY] = { 1, 2, 4 };

static uint64_t address(uint32_t nic, uint16_t num)
{
	const glex_ep_addr_t addr = { .nic_id = nic, .ep_num = num };

	return addr.v;
}

static struct wire_meeting meeting(const uint8_t *key)
{
	struct wire_meeting m = {
		.secret = key, .from = address(NIC, 1), .to = address(2 * NIC + 1, 2),
	};

	memset(m.asker, 5, sizeof(m.asker));
	memset(m.asked, 6, sizeof(m.asked));
	return m;
}

/* --- who connects */

static struct wire_hello hello_of(enum wire_stage stage, const struct wire_meeting *m)
{
	struct wire_hello hello = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = stage,
		.from = m->from, .to = m->to,
	};

	memcpy(hello.nonce, m->asker, sizeof(hello.nonce));
	check(wire_prove(&hello, m));
	return hello;
}

/* As the one who is asked sees it: he knows his own nonce. */
static enum wire_stage heard(const struct wire_hello *hello, size_t len)
{
	struct wire_meeting m = meeting(secret);

	m.from = 0;
	memset(m.asker, 0, sizeof(m.asker));
	return wire_hello_check(hello, len, &m);
}

static void hellos(void)
{
	struct wire_meeting m = meeting(secret), stranger = meeting(other);
	struct wire_hello first = hello_of(WIRE_HELLO, &m), bad;
	struct wire_hello good = hello_of(WIRE_PROOF, &m);
	size_t i;

	check(heard(&first, sizeof(first)) == WIRE_HELLO);
	check(heard(&good, sizeof(good)) == WIRE_PROOF);
	check(heard(&good, sizeof(good) + 1) == WIRE_PROOF);
	check(!heard(&good, sizeof(good) - 1));
	check(!heard(NULL, sizeof(good)));
	bad = hello_of(WIRE_PROOF, &stranger);
	check(heard(&bad, sizeof(bad)) == WIRE_HELLO);
	for (i = 0; i < 8 * sizeof(good); i++) {
		bad = good;
		((uint8_t *)&bad)[i / 8] ^= 1 << i % 8;
		check(heard(&bad, sizeof(bad)) != WIRE_PROOF);
	}
	/* The proof of one life is none for the next, nor for another endpoint. */
	m.asked[0] ^= 1;
	bad = hello_of(WIRE_PROOF, &m);
	check(heard(&bad, sizeof(bad)) == WIRE_HELLO);
	m = meeting(secret);
	m.from = m.to;
	bad = hello_of(WIRE_PROOF, &m);
	check(!heard(&bad, sizeof(bad)));
	m.from = address(UINT32_MAX, 1);
	bad = hello_of(WIRE_PROOF, &m);
	check(!heard(&bad, sizeof(bad)));
	bad = first;
	bad.version++;
	check(!heard(&bad, sizeof(bad)));
	bad = first;
	bad.magic++;
	check(!heard(&bad, sizeof(bad)));
	bad = first;
	bad.to++;
	check(!heard(&bad, sizeof(bad)));
	bad = first;
	bad.stage = WIRE_WELCOME;
	check(!heard(&bad, sizeof(bad)));
}

static struct wire_answer answer_of(enum wire_stage stage, const struct wire_meeting *m)
{
	struct wire_answer answer = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = stage,
		.key = 7, .rkey = 8, .table = 9,
	};

	memset(answer.nonce, 6, sizeof(answer.nonce));
	check(wire_welcome(&answer, m));
	return answer;
}

static enum wire_stage answered(const void *data, size_t len)
{
	struct wire_meeting m = meeting(secret);
	struct wire_answer answer;

	return wire_answer_check(data, len, &m, &answer);
}

static void answers(void)
{
	struct wire_meeting m = meeting(secret), stranger = meeting(other), learns = m;
	struct wire_answer good = answer_of(WIRE_WELCOME, &m), bad, copy;
	struct wire_answer nonce = answer_of(WIRE_CHALLENGE, &m);
	struct wire_hello proof = hello_of(WIRE_PROOF, &m);
	size_t i;

	memset(learns.asked, 0, sizeof(learns.asked));
	check(wire_answer_check(&nonce, sizeof(nonce), &learns, &copy) == WIRE_CHALLENGE);
	check(!memcmp(learns.asked, m.asked, sizeof(m.asked)));
	check(answered(&good, sizeof(good)) == WIRE_WELCOME);
	check(!answered(&good, sizeof(good) - 1));
	check(!answered(NULL, sizeof(good)));
	bad = answer_of(WIRE_WELCOME, &stranger);
	check(answered(&bad, sizeof(bad)) == WIRE_NOT_ME);
	for (i = 0; i < 8 * sizeof(good); i++) {
		bad = good;
		((uint8_t *)&bad)[i / 8] ^= 1 << i % 8;
		/* The nonce is of a challenge alone. */
		if (i / 8 < offsetof(struct wire_answer, nonce) ||
		    i / 8 >= offsetof(struct wire_answer, mac))
			check(answered(&bad, sizeof(bad)) != WIRE_WELCOME);
	}
	/* What somebody has been sent is no welcome for him. */
	bad = (struct wire_answer){
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .stage = WIRE_WELCOME,
	};
	memcpy(bad.mac, proof.mac, sizeof(bad.mac));
	check(answered(&bad, sizeof(bad)) == WIRE_NOT_ME);
	bad = nonce;
	bad.version++;
	check(answered(&bad, sizeof(bad)) == WIRE_NOT_ME);
	bad = nonce;
	bad.stage = WIRE_CROWDED;
	check(answered(&bad, sizeof(bad)) == WIRE_CROWDED);
	bad = nonce;
	bad.magic++;
	check(!answered(&bad, sizeof(bad)));
	bad = nonce;
	bad.stage = WIRE_HELLO;
	check(!answered(&bad, sizeof(bad)));
}

/* --- who has connected */

static void requests(void)
{
	struct wire_request r = { .kind = WIRE_PACKET, .len = WIRE_DATA }, copy;
	struct wire_reply reply = { .sequence = 5, .status = WIRE_FULL }, got;

	check(wire_request_check(&r, sizeof(r), &copy));
	check(!wire_request_check(&r, sizeof(r) - 1, &copy));
	check(!wire_request_check(&r, 0, &copy));
	r.len = WIRE_DATA + 1;
	check(!wire_request_check(&r, sizeof(r), &copy));
	r.len = sizeof(glex_event_t);
	r.kind = WIRE_EVENT;
	check(!wire_request_check(&r, sizeof(r), &copy));
	r.data[8] = 1;
	check(wire_request_check(&r, sizeof(r), &copy));
	r.len--;
	check(!wire_request_check(&r, sizeof(r), &copy));
	r.len++;
	r.kind = WIRE_ALIVE;
	check(!wire_request_check(&r, sizeof(r), &copy));
	r.len = 0;
	check(wire_request_check(&r, sizeof(r), &copy));
	r.len = sizeof(glex_event_t);
	r.kind = 4;
	check(!wire_request_check(&r, sizeof(r), &copy));

	check(wire_reply_check(&reply, sizeof(reply), 5, &got));
	check(!wire_reply_check(&reply, sizeof(reply), 6, &got));
	check(!wire_reply_check(&reply, sizeof(reply) - 1, 5, &got));
	reply.status = 3;
	check(!wire_reply_check(&reply, sizeof(reply), 5, &got));
	reply.status = 0;
	check(!wire_reply_check(&reply, sizeof(reply), 5, &got));
}

static bool allows(struct wire_entry e, struct far_move m)
{
	return wire_entry_allows(&e, &m);
}

static void entries(void)
{
	struct wire_entry e = {
		.sequence = 4, .flags = GLEX_MEM_READ, .rkey = 9,
		.address = 4096, .length = 100,
	}, bad;
	struct far_move get = {
		.type = GLEX_RDMA_TYPE_GET, .mh.att_index = 4, .offset = 90, .len = 10,
	}, m = get;
	size_t i;

	e.check = wire_entry_sum(&e);
	check(wire_entry_whole(&e));
	for (i = 0; i < 8 * sizeof(e); i++) {
		bad = e;
		((uint8_t *)&bad)[i / 8] ^= 1 << i % 8;
		check(!wire_entry_whole(&bad));
	}
	check(allows(e, get));
	m.len = 11;
	check(!allows(e, m));
	m = get;
	m.offset = UINT32_MAX;
	check(!allows(e, m));
	m = get;
	m.type = GLEX_RDMA_TYPE_PUT;
	check(!allows(e, m));
	m = get;
	m.mh.att_index = 6;
	check(!allows(e, m));
	bad = e;
	bad.sequence = m.mh.att_index = 5;
	check(!allows(bad, m));
	bad.sequence = m.mh.att_index = 0;
	check(!allows(bad, m));
	bad = e;
	bad.address = UINT64_MAX - 50;
	check(!allows(bad, get));
}

/* --- anything: nothing is read or written that is not theirs */

static void anything(unsigned int seed, uint32_t rounds)
{
	struct wire_meeting m = meeting(secret);
	struct wire_request request;
	struct wire_answer answer;
	struct wire_reply reply;
	struct wire_entry entry;
	uint8_t *data;
	size_t len, i;

	srand(seed);
	while (rounds--) {
		len = rand() % 200;
		data = malloc(len);	/* no byte behind it */
		for (i = 0; i < len; i++)
			data[i] = rand() % 4 ? rand() % 4 : rand();
		check(wire_hello_check(data, len, &m) != WIRE_PROOF);
		check(wire_answer_check(data, len, &m, &answer) != WIRE_WELCOME);
		if (wire_request_check(data, len, &request))
			check(request.len <= WIRE_DATA);
		wire_reply_check(data, len, rand(), &reply);
		if (len >= sizeof(entry)) {
			memcpy(&entry, data, sizeof(entry));
			check(!wire_entry_whole(&entry));
		}
		free(data);
	}
}

int main(int argc, char **argv)
{
	hellos();
	answers();
	requests();
	entries();
	anything(argc > 1 ? atoi(argv[1]) : 1, 20000);
	puts("ok");
	return 0;
}
