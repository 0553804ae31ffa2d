// SPDX-License-Identifier: GPL-2.0
/* Credit: whatever the peer says, nobody holds or sends more than a window. */
#include "fuzz.h"
#include "libmios/frames.h"

static unsigned char zeros[2 * MIOS_WINDOW];

/* It says a credit, of any length. */
static void take_credit(struct mios_source *s)
{
	uint32_t value[2] = { lot(2) ? lot(2 * MIOS_WINDOW) : lot(1u << 31) };
	size_t len = lot(8) ? sizeof(value[0]) : lot(sizeof(value));
	uint32_t before = s->credit;

	if (!source_credit(s, value, len))
		CHECK(len == sizeof(value[0]) &&
		      s->credit - before == value[0]);
	else
		CHECK(s->credit == before);
	CHECK(s->credit <= MIOS_WINDOW);
}

/* It sends data, as if it had any credit. */
static void take_data(struct mios_sink *s)
{
	uint32_t len = lot(4) ? lot(MIOS_FRAME_MAX) : lot(sizeof(zeros));
	uint32_t room = s->room;
	int err = sink_data(s, zeros, len);

	CHECK(!err == (len <= room));
	CHECK(s->buf.len <= MIOS_WINDOW && s->room <= MIOS_WINDOW);
}

void fuzz_flow(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct mios_source source;
	struct mios_sink sink;
	struct mios_link l;
	uint32_t i;

	CHECK(null >= 0 && zero >= 0 && !link_init(&l, null, MIOS_FRAME_MAX));
	source_init(&source, zero, 1);
	sink_init(&sink, null, 0);
	for (i = lot(12); i; i--) {
		switch (lot(5)) {
		case 0:
			take_credit(&source);
			break;
		case 1:
			take_data(&sink);
			break;
		case 2:
			CHECK(!source_pump(&source, &l));
			break;
		case 3:
			CHECK(!sink_pump(&sink, &l));
			CHECK(sink.room + sink.buf.len + sink.owed <=
			      MIOS_WINDOW);
			break;
		case 4:
			if (!lot(4))
				sink_close(&sink, &l);
		}
	}
	buffer_free(&sink.buf);
	link_close(&l);
	close(zero);
}
