// SPDX-License-Identifier: GPL-2.0
/*
 * What miosd reads from callers and from other instances, valid and then
 * mutated, under the sanitizers:
 *   wire [--seed N] [--rounds N]
 * Exit status 0: all right; 1: the line that failed has been printed; a
 * sanitizer that found something ends it with another one.
 */
#include <sys/socket.h>
#include <time.h>

#include "fuzz.h"

static uint64_t state;

uint32_t lot(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

void bytes_add(struct bytes *b, const void *data, size_t len)
{
	unsigned char *grown = malloc(b->len + len + !(b->len + len));

	CHECK(grown);
	if (b->len)
		memcpy(grown, b->at, b->len);
	if (len)
		memcpy(grown + b->len, data, len);
	free(b->at);
	b->at = grown;
	b->len += len;
}

void bytes_free(struct bytes *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

/* A value at which something might go wrong. */
static uint32_t odd_value(void)
{
	static const uint32_t odd[] = { 0, 1, 2, 7, 8, 9, 255, 256, 4095, 65535,
		65536, 65537, 131072, 262144, 262145, 4u << 20, 0x7fffffff,
		0x80000000, 0xfffffff8, 0xffffffff };

	return lot(4) ? odd[lot(sizeof(odd) / sizeof(odd[0]))] : lot(1 << 30);
}

static void cut(struct bytes *b, size_t len)
{
	struct bytes less = { 0 };

	bytes_add(&less, b->at, len);
	bytes_free(b);
	*b = less;
}

void mutate(struct bytes *b)
{
	uint32_t value = odd_value();
	size_t at = b->len ? lot(b->len) : 0;

	switch (lot(5)) {
	case 0:
		if (b->len)
			b->at[at] ^= 1 << lot(8);
		break;
	case 1:
	case 2:		/* heads come first and consist of such words */
		if (lot(2) && b->len >= 64)
			at = lot(64);
		at &= ~3;
		if (at + sizeof(value) <= b->len)
			memcpy(b->at + at, &value, sizeof(value));
		break;
	case 3:
		cut(b, at);
		break;
	case 4:
		bytes_add(b, &value, lot(sizeof(value)) + 1);
	}
}

void bytes_arrive(const struct bytes *b, int pair[2])
{
	int size = 4 << 20;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	CHECK(!b->len || send(pair[0], b->at, b->len, MSG_DONTWAIT) ==
			 (ssize_t)b->len);
	CHECK(!shutdown(pair[0], SHUT_WR));
}

int main(int argc, char **argv)
{
	unsigned long rounds = 20000, i;
	uint64_t seed = time(NULL);
	int word;

	for (word = 1; word + 1 < argc; word += 2) {
		if (!strcmp(argv[word], "--seed"))
			seed = strtoull(argv[word + 1], NULL, 0);
		else if (!strcmp(argv[word], "--rounds"))
			rounds = strtoul(argv[word + 1], NULL, 0);
		else
			break;
	}
	if (word != argc)
		return fprintf(stderr, "unknown: %s\n", argv[word]), 2;
	printf("seed %llu, %lu rounds\n", (unsigned long long)seed, rounds);
	state = seed;
	for (i = 0; i < rounds; i++) {
		fuzz_spec();
		fuzz_frames();
		fuzz_flow();
		fuzz_hello();
	}
	printf("ok\n");
	return 0;
}
