// SPDX-License-Identifier: GPL-2.0
/*
 * The checker itself: a sound area of four instances, one of them dead and one
 * never born, has nothing wrong; with any one structure broken it has, and the
 * checker names the structure.  And bytes of any kind harm it not.
 */
#include <linux/mios.h>

#include "../../../mios/core/channel/garbage.h"
#include "model.h"

/* --- each structure broken */

static void break_header(struct model *m)
{
	((struct mios_area_header *)m->copy.area)->self++;
}

static void break_header_pad(struct model *m)
{
	((u8 *)m->copy.area)[100] = 1;
}

static void break_distances(struct model *m)
{
	((struct mios_area_distances *)(m->copy.area +
					MIOS_AREA_PAGE))->from[0][1] = 3;
}

static void break_pools(struct model *m)
{
	((u8 *)m->copy.area)[MIOS_AREA_POOLS_AT + 16]++;
}

static void break_pools_pad(struct model *m)
{
	((u8 *)m->copy.area)[MIOS_AREA_NODES_AT - 1] = 1;
}

static void break_nodes(struct model *m)
{
	((u8 *)m->copy.area)[MIOS_AREA_NODES_AT + 16]++;
}

static void break_nodes_pad(struct model *m)
{
	((u8 *)m->copy.area)[MIOS_AREA_BLOCKS_AT - 1] = 1;
}

static void break_host(struct model *m)
{
	mios_area_lines(m->copy.area, &m->copy.g, 0)->host = 1ULL << 32 | 1;
}

static void break_hang(struct model *m)
{
	mios_area_lines(m->copy.area, &m->copy.g, 0)->hang = 4;
}

static void break_log(struct model *m)
{
	((u8 *)m->copy.area)[m->copy.g.log + 9]++;
}

static void break_cpus(struct model *m)
{
	mios_area_cpus(m->copy.area, 1)->apicid[0] = 0;
}

static void break_cpus_sequence(struct model *m)
{
	mios_area_cpus(m->copy.area, 1)->sequence++;
}

static void break_cpus_number(struct model *m)
{
	mios_area_cpus(m->copy.area, 1)->nr = 300;
}

static void break_view(struct model *m)
{
	view_of(&m->copy, DEAD)->stamp |= MIOS_STATE_HELD + 1;
}

static void break_view_ring(struct model *m)
{
	view_of(&m->copy, DEAD)->ring = 0;
}

static void break_view_beyond(struct model *m)
{
	view_of(&m->copy, NR)->stamp = 1;
}

static void break_desc(struct model *m)
{
	mios_area_desc(m->copy.area, &m->copy.g, 1)->checksum++;
}

static void break_desc_sequence(struct model *m)
{
	mios_area_desc(m->copy.area, &m->copy.g, 1)->sequence++;
}

static void break_next(struct model *m)
{
	desc_make(m, 1, MIOS_DESC_UP, 1);
}

static void break_ended(struct model *m)
{
	desc_make(m, 1, MIOS_DESC_LEFT, 0);
}

static void break_risen(struct model *m)
{
	desc_make(m, DEAD, MIOS_DESC_UP, 0);
}

static void break_incarnation(struct model *m)
{
	view_of(&m->copy, 1)->stamp += 1ULL << 32;
}

static void break_pending(struct model *m)
{
	lines(m, 1)->pending[0] = 1 << DEAD;
}

static void break_beat(struct model *m)
{
	lines(m, 1)->beat.count--;
}

static void break_dead_beat(struct model *m)
{
	lines(m, DEAD)->beat.count++;
}

static void break_ack(struct model *m)
{
	lines(m, 1)->ack[DEAD]--;
}

static void break_attend(struct model *m)
{
	lines(m, 1)->ack[1] = 0;
}

static void break_ack_future(struct model *m)
{
	lines(m, 1)->ack[DEAD]++;
}

static void break_anchor(struct model *m)
{
	lines(m, 0)->anchor.tsc--;
}

static void break_pad(struct model *m)
{
	lines(m, 1)->pad_anchor[3] = 1;
}

static void break_foreign_view(struct model *m)
{
	lines(m, 1)->view[0].node = 1;
}

static void break_foreign_devices(struct model *m)
{
	lines(m, 1)->devices.reach = MIOS_REACH_PORTS;
}

static void break_held(struct model *m)
{
	lines(m, 1)->held.nr = 1;
}

static void break_devices(struct model *m)
{
	lines(m, 0)->devices.reach = MIOS_REACH_BEYOND + 1;
}

static void break_quiet(struct model *m)
{
	lines(m, 0)->devices.quiet = MIOS_QUIET_DONE;
}

static void break_left_open(struct model *m)
{
	mios_consumer_open(&m->c[DEAD][0][MIOS_CLASS_NET], incarnation(0),
			   incarnation(DEAD));
}

static void break_accept(struct model *m)
{
	chan(m, 0, 1)->accept++;
}

static void break_consumer(struct model *m)
{
	chan(m, 0, 1)->consumer--;
}

static void break_hello(struct model *m)
{
	chan(m, 0, 1)->hello++;
}

static void break_credit(struct model *m)
{
	chan(m, 0, 1)->credit += 9;
}

static void break_credit_session(struct model *m)
{
	chan(m, 0, 1)->credit += 1ULL << 32;
}

static void break_tail(struct model *m)
{
	chan(m, 0, 1)->tail += 100;
}

static void break_stamp(struct model *m)
{
	slot(m, 2)->stamp++;
}

static void break_slot_old(struct model *m)
{
	slot(m, 1)->incarnation--;
}

static void break_slot_type(struct model *m)
{
	slot(m, 1)->type = MIOS_MSG_FRAME;
}

static void break_slot_length(struct model *m)
{
	slot(m, 2)->length--;
}

static void break_slot_total(struct model *m)
{
	slot(m, 1)->total = 0x7fffffff;
}

static const struct {
	void (*fn)(struct model *m);
	const char *says;
} breaks[] = {
	{ break_header, "header: damaged" },
	{ break_header_pad, "header: something stands behind it" },
	{ break_distances, "distance 0 to 1" },
	{ break_pools, "pools: damaged" },
	{ break_pools_pad, "pools: something" },
	{ break_nodes, "nodes: damaged" },
	{ break_nodes_pad, "nodes: something" },
	{ break_hang, "lines of 0: impossible policy" },
	{ break_host, "lines of 0: there is a successor" },
	{ break_log, "log of 0: damaged" },
	{ break_cpus, "CPUs of 1: some are 0's" },
	{ break_cpus_sequence, "CPUs of 1: being changed" },
	{ break_cpus_number, "CPUs of 1: impossible" },
	{ break_view, "view of 2: impossible" },
	{ break_view_ring, "view of 2: down, but in ring 0" },
	{ break_view_beyond, "view of 4" },
	{ break_desc, "descriptor of 1: damaged" },
	{ break_desc_sequence, "descriptor of 1: damaged" },
	{ break_next, "descriptor of 1: next is 1" },
	{ break_ended, "descriptor of 1: it has ended" },
	{ break_risen, "descriptor of 2: up, but it is not" },
	{ break_incarnation, "descriptor of 1: incarnation 5, expected 6" },
	{ break_pending, "doorbells of 1: rung by 2, which is gone" },
	{ break_beat, "heartbeat of 1: stands still" },
	{ break_dead_beat, "heartbeat of 2: goes on though it is dead" },
	{ break_ack, "acknowledgement of 2 by 1: missing" },
	{ break_attend, "lines of 1: deaths are not waited for there" },
	{ break_ack_future, "acknowledgement of 2 by 1: impossible" },
	{ break_anchor, "clock of 0: stands still" },
	{ break_pad, "lines of 1: something" },
	{ break_foreign_view, "lines of 1: it has views" },
	{ break_foreign_devices, "lines of 1: it has devices" },
	{ break_held, "lines of 1: it has impossible functions" },
	{ break_devices, "devices of 0: impossible" },
	{ break_quiet, "devices of 0: they are turned off" },
	{ break_left_open, "net channel 2 to 0: open, but 2 is gone" },
	{ break_accept, "control channel 0 to 1: open to incarnation 2" },
	{ break_consumer, "control channel 0 to 1: read by" },
	{ break_hello, "control channel 0 to 1: a new session" },
	{ break_credit, "control channel 0 to 1: more is written" },
	{ break_credit_session, "control channel 0 to 1: slots of another" },
	{ break_tail, "control channel 0 to 1: more is written" },
	{ break_stamp, "control channel 0 to 1: a slot is not" },
	{ break_slot_old, "control channel 0 to 1: a slot is not" },
	{ break_slot_type, "control channel 0 to 1: a slot is not" },
	{ break_slot_length, "control channel 0 to 1: a slot is not" },
	{ break_slot_total, "control channel 0 to 1: too long" },
};

static bool says(const struct findings *f, const char *words)
{
	u32 i;

	for (i = 0; i < f->nr && i < FINDINGS_MAX; i++)
		if (!strncmp(f->line[i], words, strlen(words)))
			return true;
	return false;
}

static void broken(u32 i)
{
	struct findings f = {};
	struct model m;

	model_make(&m);
	breaks[i].fn(&m);
	area_check(&m.copy, &f);
	if (!says(&f, breaks[i].says)) {
		fprintf(stderr, "the checker does not say '%s', but %u lines: %s\n",
			breaks[i].says, f.nr, f.nr ? f.line[0] : "");
		exit(1);
	}
	model_free(&m);
}

/* Garbage upon garbage: every access is watched by the sanitizers. */
static void harmless(u64 seed)
{
	struct mios_desc_body body;
	struct findings f;
	struct mios_geometry g;
	struct model m;
	u32 noticed = 0;
	u32 i;

	model_make(&m);
	g = m.copy.g;		/* what the checker finds is garbage, too */
	for (i = 0; i < 3000; i++) {
		mios_garbage_round(m.copy.area, &g, &seed, &body);
		if (i % 8 == 0)
			((struct mios_area_header *)m.copy.area)->magic =
				MIOS_AREA_MAGIC;
		memset(&f, 0, sizeof(f));
		area_check(&m.copy, &f);
		noticed += f.nr != 0;
		if (i % 100)
			continue;
		model_free(&m);
		model_make(&m);
	}
	model_free(&m);
	/* Not all: nobody minds an old slot, or what the dead have left. */
	CHECK(noticed > 2000);
}

void test_checker(u64 seed)
{
	struct findings f = {};
	struct model m;
	u32 i;

	model_make(&m);
	area_check(&m.copy, &f);
	if (f.nr) {
		fprintf(stderr, "a sound area, but: %s\n", f.line[0]);
		exit(1);
	}
	model_free(&m);
	for (i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++)
		broken(i);
	harmless(seed);
}
