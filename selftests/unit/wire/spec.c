// SPDX-License-Identifier: GPL-2.0
/* What to run: the frame that a user writes. */
#include "fuzz.h"

static void add_strings(struct bytes *b, uint32_t count)
{
	char word[64];
	uint32_t len;

	while (count--) {
		len = lot(sizeof(word));
		memset(word, 'a' + lot(26), len);
		word[len] = '\0';
		bytes_add(b, word, len + 1);
	}
}

static size_t length(char **list, uint32_t count)
{
	size_t sum = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		sum += strlen(list[i]) + 1;
	CHECK(!list[count]);
	return sum;
}

void fuzz_spec(void)
{
	struct mios_spec head = { .argc = 1 + lot(5), .envc = lot(5) };
	struct bytes b = { 0 };
	size_t nr = head.argc + head.envc + 2;
	struct spec spec;
	char **words;
	uint32_t i = lot(4);
	bool valid = !i;
	int err;

	bytes_add(&b, &head, sizeof(head));
	add_strings(&b, 1 + head.argc + head.envc);
	while (i--)
		mutate(&b);
	words = malloc(nr * sizeof(*words));
	CHECK(words);
	err = spec_parse(&spec, (char *)b.at, b.len, words, nr);
	CHECK(!err || !valid);
	if (!err)	/* all bytes are accounted for, and none twice */
		CHECK(sizeof(head) + strlen(spec.cwd) + 1 +
		      length(spec.argv, spec.head.argc) +
		      length(spec.envp, spec.head.envc) == b.len);
	free(words);
	bytes_free(&b);
}
