// SPDX-License-Identifier: GPL-2.0
/* Frames as they come in, in pieces of any size. */
#include "fuzz.h"
#include "libmios/frames.h"

#define LONGEST	1000

/* Now and then one that is too long. */
static uint32_t add_frames(struct bytes *b, bool *valid)
{
	unsigned char data[2 * LONGEST];
	uint32_t count = lot(6), i;

	memset(data, 'x', sizeof(data));
	for (i = 0; i < count; i++) {
		struct mios_frame f = {
			.len = lot(LONGEST + 1),
			.type = 1 + lot(MIOS_FRAME_TASK),
			.stream = lot(3),
		};

		if (!lot(20)) {
			f.len = LONGEST + 1 + lot(LONGEST);
			*valid = false;
		}
		bytes_add(b, &f, sizeof(f));
		bytes_add(b, data, f.len);
	}
	return count;
}

/* Read every byte of it. */
static void look(const void *data, size_t len)
{
	struct bytes copy = { 0 };

	bytes_add(&copy, data, len);
	bytes_free(&copy);
}

/* All frames that are there; the bytes they take, or -EPROTO. */
static long take_frames(struct mios_link *l, uint32_t *count)
{
	struct mios_frame f;
	const void *data;
	long bytes = 0;
	int ret;

	while ((ret = link_next(l, &f, &data)) > 0) {
		CHECK(f.len <= LONGEST && f.stream <= 2);
		look(data, f.len);
		bytes += sizeof(f) + f.len;
		++*count;
	}
	return ret ? ret : bytes;
}

void fuzz_frames(void)
{
	uint32_t count, got = 0, i = lot(4);
	size_t at, part, bytes = 0;
	struct bytes b = { 0 };
	struct mios_link l;
	bool valid = !i;
	long ret = 0;

	count = add_frames(&b, &valid);
	while (i--)
		mutate(&b);
	CHECK(!link_init(&l, open("/dev/null", O_RDWR | O_CLOEXEC), LONGEST));
	for (at = 0; at < b.len && ret >= 0; at += part) {
		part = 1 + lot(b.len - at);
		CHECK(!buffer_add(&l.in, b.at + at, part));
		ret = take_frames(&l, &got);
		bytes += ret > 0 ? ret : 0;
	}
	CHECK(bytes <= b.len && (ret >= 0 || ret == -EPROTO));
	if (valid)
		CHECK(got == count && bytes == b.len);
	link_close(&l);
	bytes_free(&b);
}
