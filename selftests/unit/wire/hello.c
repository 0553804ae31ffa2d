// SPDX-License-Identifier: GPL-2.0
/*
 * What one miosd says to another before anything is done for it.  The key and
 * the numbers that each side chooses are known here, so all that a peer would
 * say can be written beforehand, with a proof that fits or does not.
 */
#include <sys/random.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "libmios/key.h"

static const unsigned char the_key[MIOS_KEY_LEN] = { 1, 2, 3 };
static const uint8_t zero_nonce[MIOS_NONCE_LEN];

int mios_key_read(unsigned char key[MIOS_KEY_LEN])
{
	memcpy(key, the_key, sizeof(the_key));
	return 0;
}

const char *mios_key_error(int err)
{
	(void)err;
	return "";
}

/* The linker puts it in the place of getrandom(). */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	(void)flags;
	memset(buf, 0, len);
	return len;
}

static struct mios_hello any_hello(void)
{
	struct mios_hello h = {
		.magic = MIOS_PROTO_MAGIC, .version = MIOS_PROTO_VERSION,
		.op = MIOS_OP_EXEC, .uid = lot(3000), .gid = lot(3000),
		.nr_groups = lot(40), .nr_limits = lot(MIOS_MAX_LIMITS + 4),
		.cpus = lot(4), .nice = (int)lot(44) - 22,
	};

	return h;
}

/* With its lists and, first or last of all, the proof. */
static void add_hello(struct bytes *b, bool proof_first)
{
	struct mios_limits limits[MIOS_MAX_LIMITS + 4];
	struct mios_hello h = any_hello();
	uint8_t code[MIOS_CODE_LEN];
	uint32_t groups[40], i;

	memset(limits, 5, sizeof(limits));
	memset(groups, 7, sizeof(groups));
	bytes_add(b, &h, sizeof(h));
	bytes_add(b, groups, h.nr_groups * sizeof(groups[0]));
	bytes_add(b, limits, h.nr_limits * sizeof(limits[0]));
	for (i = lot(3); proof_first && i; i--)
		mutate(b);
	CHECK(!auth_code(the_key, 'c', zero_nonce, b->at, b->len, code));
	bytes_add(b, code, sizeof(code));
	for (i = 1 + lot(3); !proof_first && i; i--)
		mutate(b);
}

/* Both lists are where the hello says, no longer than is allowed. */
static void look(const struct caller *c)
{
	uint64_t sum = 0;
	uint32_t i;

	CHECK(c->hello.nr_groups <= MIOS_MAX_GROUPS);
	CHECK(c->hello.nr_limits <= MIOS_MAX_LIMITS);
	CHECK(c->hello.nice >= -20 && c->hello.nice <= 19);
	for (i = 0; i < c->hello.nr_groups; i++)
		sum += c->groups[i];
	for (i = 0; i < c->hello.nr_limits; i++)
		sum += c->limits[i].group;
	CHECK(sum || (!c->hello.nr_groups && !c->hello.nr_limits));
}

/* What is accepted must be what was proved, to the byte. */
static void called(void)
{
	struct caller *c = malloc(sizeof(*c));
	struct bytes b = { 0 };
	bool proved = lot(2);
	uint8_t code[MIOS_CODE_LEN];
	int pair[2];
	size_t said;

	CHECK(c);
	add_hello(&b, proved);
	bytes_arrive(&b, pair);
	if (!hello_receive(pair[1], c)) {
		look(c);
		said = sizeof(c->hello) + 4 * c->hello.nr_groups +
		       sizeof(c->limits[0]) * c->hello.nr_limits;
		CHECK(said + MIOS_CODE_LEN <= b.len);
		CHECK(!auth_code(the_key, 'c', zero_nonce, b.at, said, code));
		CHECK(!memcmp(code, b.at + said, sizeof(code)));
	}
	close(pair[0]);
	close(pair[1]);
	free(c->groups);
	free(c);
	bytes_free(&b);
}

/* Only who has the key, and this version, is told what the user wants. */
static void caller(void)
{
	struct mios_challenge challenge = { .magic = MIOS_PROTO_MAGIC,
					    .version = MIOS_PROTO_VERSION };
	uint8_t code[MIOS_CODE_LEN];
	struct bytes b = { 0 };
	struct caller c = { .hello = any_hello() };
	uint32_t i = lot(3);
	bool valid = !i;
	char why[256];
	int pair[2], err;

	c.hello.nr_groups = 0;
	c.hello.nr_limits = 0;
	CHECK(!auth_code(the_key, 's', zero_nonce, NULL, 0, code));
	bytes_add(&b, &challenge, sizeof(challenge));
	bytes_add(&b, code, sizeof(code));
	while (i--)
		mutate(&b);
	bytes_arrive(&b, pair);
	err = hello_send(pair[1], 1, &c, why, sizeof(why));
	CHECK(!err || !valid);
	CHECK(memchr(why, '\0', sizeof(why)));
	if (!err)
		CHECK(b.len >= sizeof(challenge) + sizeof(code) &&
		      !memcmp(b.at + sizeof(challenge), code, sizeof(code)));
	close(pair[0]);
	close(pair[1]);
	bytes_free(&b);
}

void fuzz_hello(void)
{
	called();
	caller();
}
