// SPDX-License-Identifier: GPL-2.0
/* How the sound area of model.h is made: one instance dead, one never born. */
#include <linux/mios.h>

#include "model.h"

void desc_make(const struct model *m, u32 i, u32 state, u32 next)
{
	struct mios_desc_body body = {
		.instance = i, .incarnation = incarnation(i), .state = state,
		.node = i, .next = next, .nr_cpus = 1, .nr_ranges = 1,
		.area_version = MIOS_AREA_VERSION, .memory_bytes = 4096,
		.doorbell_apicid = i, .doorbell_vector = MIOS_DOORBELL_VECTOR,
		.apicid = { i }, .memory = { { i << 20, 4096 } },
	};

	mios_desc_write(mios_area_desc(m->copy.area, &m->copy.g, i), &body);
}

static void instance_make(const struct model *m, u32 i)
{
	struct mios_beat beat = { .count = 5, .tsc = 1, .interval_ms = 100 };
	struct mios_area_cpus cpus = { .nr = 1, .apicid = { i } };
	struct mios_view *view = view_of(&m->copy, i);

	mios_seq_write((u32 *)mios_area_cpus(m->copy.area, i), (u32 *)&cpus,
		       sizeof(cpus));
	*view = (struct mios_view){
		.stamp = MIOS_STATE_DOWN, .memory = 4096, .ring = -1,
		.node = i, .nr_cpus = 1,
	};
	if (i == UNBORN)
		return;
	view->stamp = (u64)incarnation(i) << 32;
	desc_make(m, i, i == DEAD ? MIOS_DESC_DEAD : MIOS_DESC_UP, !i);
	mios_seq_write((u32 *)&lines(m, i)->beat, (u32 *)&beat, sizeof(beat));
	if (i == DEAD)
		return;
	view->stamp |= MIOS_STATE_UP;
	view->ring = i ? 0 : -1;
	if (!i)
		return;
	lines(m, i)->ack[i] = incarnation(i);
	lines(m, i)->ack[DEAD] = incarnation(DEAD);
}

static void ends_init(struct model *m, u32 from, u32 to, u32 class)
{
	struct mios_chan *chan = mios_area_chan(m->copy.area, &m->copy.g, to,
						from, class);

	mios_producer_init(&m->p[from][to][class], chan,
			   &m->copy.g.shape[class]);
	mios_consumer_init(&m->c[from][to][class], chan,
			   &m->copy.g.shape[class]);
	if (from == UNBORN || to == UNBORN)
		return;
	mios_producer_open(&m->p[from][to][class], incarnation(from),
			   incarnation(to));
	mios_consumer_open(&m->c[from][to][class], incarnation(to),
			   incarnation(from));
	mios_producer_write(&m->p[from][to][class],
			    class * MIOS_TYPES_PER_CLASS + 2, "abc", 3);
	if (from == DEAD)
		mios_consumer_close(&m->c[from][to][class]);
}

/* A long message that is read, two that are not. */
static void traffic(struct model *m)
{
	struct mios_producer *p = &m->p[0][1][MIOS_CLASS_CONTROL];
	struct mios_consumer *c = &m->c[0][1][MIOS_CLASS_CONTROL];
	struct mios_message message;
	char text[800] = "long";

	CHECK(mios_consumer_peek(c, &message) == 1);
	mios_consumer_pop(c, &message);
	mios_consumer_flush(c);
	CHECK(mios_producer_write(p, 2, text, sizeof(text)) >= 0);
	CHECK(mios_producer_write(p, 3, text, 0) >= 0);
}

static void log_make(const struct model *m)
{
	u32 words[] = { MIOS_AREA_LOG_SIZE - MIOS_AREA_PAGE, 5 };
	u8 *log = m->copy.area + m->copy.g.log;

	memcpy(log, "MIOSLOG", 8);
	memcpy(log + 8, words, sizeof(words));
}

void model_make(struct model *m)
{
	static const struct mios_range pools[MIOS_AREA_INSTANCES];
	static struct mios_area_nodes nodes;
	struct mios_area_header *header;
	struct mios_area_distances *d;
	u32 i, j, class;

	memset(m, 0, sizeof(*m));
	CHECK(!mios_geometry(&m->copy.g, NR, MIOS_NET_SLOTS_MIN));
	m->copy.size = m->copy.g.area_size;
	m->copy.died = 1ULL << DEAD;
	m->copy.area = aligned_alloc(4096, m->copy.size);
	m->then = aligned_alloc(4096, m->copy.size);
	CHECK(m->copy.area && m->then);
	memset(m->copy.area, 0, m->copy.size);
	header = m->copy.area;
	*header = (struct mios_area_header){
		.magic = MIOS_AREA_MAGIC, .version = MIOS_AREA_VERSION,
		.size = sizeof(*header), .self = 0x1000000, .nr = NR,
		.area_size = m->copy.size, .net_slots = MIOS_NET_SLOTS_MIN,
	};
	mios_pools_write(m->copy.area, pools);
	mios_nodes_write(m->copy.area, &nodes);
	d = m->copy.area + MIOS_AREA_PAGE;
	for (i = 0; i < NR; i++) {
		instance_make(m, i);
		for (j = 0; j < NR; j++) {
			d->from[i][j] = i == j ? 10 : 20;
			for (class = 0; class < MIOS_CLASSES && i != j; class++)
				ends_init(m, i, j, class);
		}
	}
	lines(m, 0)->anchor.tsc = 7;
	lines(m, 0)->anchor.mult = 7;
	traffic(m);
	log_make(m);
	/* Heartbeats go on, but that of the dead. */
	memcpy(m->then, m->copy.area, m->copy.size);
	for (i = 0; i < DEAD; i++)
		lines(m, i)->beat.count++;
	lines(m, 0)->anchor.tsc++;
	m->copy.before = m->then;
}

void model_free(struct model *m)
{
	free(m->copy.area);
	free(m->then);
}
