// SPDX-License-Identifier: GPL-2.0
/*
 * Header, distances, pools, CPU lists, views, descriptors and lines of an area; the
 * channels are in check-channel.c.  See check.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

#include <linux/mios.h>

#define BEAT_MIN_MS	10
#define BEAT_MAX_MS	1000

void say(struct findings *f, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (f->nr < FINDINGS_MAX)
		vsnprintf(f->line[f->nr], FINDING_LEN, format, list);
	va_end(list);
	f->nr++;
}

bool is_dirty(const void *at, size_t size)
{
	const u8 *byte = at;

	while (size--)
		if (*byte++)
			return true;
	return false;
}

struct mios_view *view_of(const struct area_copy *c, u32 instance)
{
	return &mios_area_lines(c->area, &c->g, 0)->view[instance];
}

static u32 state_of(const struct area_copy *c, u32 instance)
{
	return view_of(c, instance)->stamp;
}

u32 incarnation_of(const struct area_copy *c, u32 instance)
{
	return view_of(c, instance)->stamp >> 32;
}

bool is_live(const struct area_copy *c, u32 instance)
{
	u32 state = state_of(c, instance);

	return (state == MIOS_STATE_UP || state == MIOS_STATE_STOPPING) &&
	       (!instance || view_of(c, instance)->ring == (s32)c->ring);
}

static bool has_cpus(const struct area_copy *c, u32 instance)
{
	u32 state = state_of(c, instance);

	return state != MIOS_STATE_DOWN && state != MIOS_STATE_HELD;
}

/* --- what is constant */

static void distances_check(const struct area_copy *c, struct findings *f)
{
	const struct mios_area_distances *d = c->area + MIOS_AREA_PAGE;
	u32 nr = c->g.nr;
	u32 i, j;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		for (j = 0; j < MIOS_AREA_INSTANCES; j++)
			if (i < nr && j < nr ? (d->from[i][j] < 10 ||
						d->from[i][j] != d->from[j][i]) :
			    d->from[i][j])
				say(f, "distance %u to %u: impossible (%u)", i,
				    j, d->from[i][j]);
}

static void pools_check(const struct area_copy *c, struct findings *f)
{
	const u8 *page = c->area + MIOS_AREA_POOLS_AT;
	struct mios_area_pools pools;
	u32 i;

	if (mios_pools_read(c->area, &pools) || pools.reserved)
		say(f, "pools: damaged");
	for (i = 0; c->ring && i < MIOS_AREA_INSTANCES; i++)
		if (pools.of[i].size)
			say(f, "pools: ring %u has one of node %u", c->ring, i);
	if (is_dirty(page + sizeof(pools), MIOS_AREA_PAGE - sizeof(pools)))
		say(f, "pools: something stands behind them");
}

static void nodes_check(const struct area_copy *c, struct findings *f)
{
	const u8 *page = c->area + MIOS_AREA_NODES_AT;
	struct mios_area_nodes nodes;
	u32 i;

	if (mios_nodes_read(c->area, &nodes))
		say(f, "nodes: damaged");
	for (i = 0; c->ring && i < MIOS_AREA_INSTANCES; i++)
		if (nodes.of[i].head)
			say(f, "nodes: ring %u has node %u", c->ring, i);
	if (is_dirty(page + sizeof(nodes), MIOS_AREA_PAGE - sizeof(nodes)))
		say(f, "nodes: something stands behind them");
}

static bool lists_overlap(const struct mios_area_cpus *a,
			  const struct mios_area_cpus *b)
{
	u32 i, j;

	for (i = 0; i < a->nr; i++)
		for (j = 0; j < b->nr; j++)
			if (a->apicid[i] == b->apicid[j])
				return true;
	return false;
}

static void cpus_check(const struct area_copy *c, struct findings *f)
{
	struct mios_area_cpus *a, *b;
	u32 i, j;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		a = mios_area_cpus(c->area, i);
		if (a->sequence & 1)
			say(f, "CPUs of %u: being changed for ever", i);
		if (a->nr > MIOS_AREA_CPUS || (i < c->g.nr && !a->nr) ||
		    (i >= c->g.nr && is_dirty(&a->nr, sizeof(*a) -
					      sizeof(a->sequence)))) {
			say(f, "CPUs of %u: impossible (%u)", i, a->nr);
			return;
		}
	}
	/* Those of a node that is down or held are instance 0's as well. */
	for (i = 0; i < c->g.nr; i++)
		for (j = i + 1; j < c->g.nr; j++) {
			a = mios_area_cpus(c->area, i);
			b = mios_area_cpus(c->area, j);
			if ((i || has_cpus(c, j)) && lists_overlap(a, b))
				say(f, "CPUs of %u: some are %u's", j, i);
		}
}

/* struct mios_log of asm/mios.h: what a survivor reads of instance 0. */
static void log_check(const struct area_copy *c, struct findings *f)
{
	const u8 *log = c->area + c->g.log;
	u32 words[4];

	memcpy(words, log, sizeof(words));
	if (memcmp(log, "MIOSLOG", 8) ||
	    words[2] != MIOS_AREA_LOG_SIZE - MIOS_AREA_PAGE)
		say(f, "log of 0: damaged (%u bytes)", words[2]);
	else if (!words[3])
		say(f, "log of 0: empty");
}

/* --- what instance 0 says */

static void view_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_view *v = view_of(c, i);
	u32 state = state_of(c, i);

	if (state > MIOS_STATE_HELD || v->ring < -1 ||
	    v->ring >= MIOS_MAX_RINGS || v->node >= MIOS_AREA_INSTANCES ||
	    v->nr_cpus > MIOS_AREA_CPUS || v->reserved)
		say(f, "view of %u: impossible (state %u, ring %d)", i, state,
		    v->ring);
	if (!i && (state != MIOS_STATE_UP || !incarnation_of(c, 0)))
		say(f, "view of 0: not up (%#llx)", v->stamp);
	if (i && state == MIOS_STATE_DOWN && v->ring != -1)
		say(f, "view of %u: down, but in ring %d", i, v->ring);
	if (state != MIOS_STATE_DOWN && !incarnation_of(c, i))
		say(f, "view of %u: no incarnation", i);
	if (!v->memory || !v->nr_cpus)
		say(f, "view of %u: no memory or CPUs", i);
	if (i && v->nr_cpus != mios_area_cpus(c->area, i)->nr)
		say(f, "view of %u: %u CPUs, %u listed", i, v->nr_cpus,
		    mios_area_cpus(c->area, i)->nr);
}

static void views_check(const struct area_copy *c, struct findings *f)
{
	u32 i;

	for (i = 0; i < MIOS_AREA_INSTANCES; i++)
		if (i < c->g.nr)
			view_check(c, i, f);
		else if (is_dirty(view_of(c, i), sizeof(struct mios_view)))
			say(f, "view of %u: there is no such instance", i);
}

/* --- what each says of itself */

/* The next higher one that is live, or the lowest. */
static u32 next_of(const struct area_copy *c, u32 instance)
{
	u32 step, i;

	for (step = 1; step < c->g.nr; step++) {
		i = (instance + step) % c->g.nr;
		if (is_live(c, i))
			return i;
	}
	return MIOS_NO_INSTANCE;
}

static void memory_check(const struct mios_desc_body *body, struct findings *f)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < body->nr_ranges; i++)
		bytes += body->memory[i].size;
	if (!bytes || bytes != body->memory_bytes)
		say(f, "descriptor of %u: memory does not add up (%llu of %llu)",
		    body->instance, bytes, body->memory_bytes);
}

static void live_desc_check(const struct area_copy *c,
			    const struct mios_desc_body *body,
			    struct findings *f)
{
	u32 i = body->instance;

	if (body->incarnation != incarnation_of(c, i))
		say(f, "descriptor of %u: incarnation %u, expected %u", i,
		    body->incarnation, incarnation_of(c, i));
	if (body->state != MIOS_DESC_UP && body->state != MIOS_DESC_STOPPING)
		say(f, "descriptor of %u: it has ended (%u)", i, body->state);
	if (body->next != next_of(c, i))
		say(f, "descriptor of %u: next is %d, expected %d", i,
		    body->next, next_of(c, i));
	if (body->node != view_of(c, i)->node)
		say(f, "descriptor of %u: on node %u", i, body->node);
	memory_check(body, f);
}

static void desc_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_desc *desc = mios_area_desc(c->area, &c->g, i);
	struct mios_desc_body body;
	int err = mios_desc_read(desc, mios_area_cpus(c->area, i), &body,
				 c->ring, i);

	if (is_dirty(desc + 1, MIOS_AREA_PAGE - sizeof(*desc)))
		say(f, "descriptor of %u: something stands behind it", i);
	/* Instance 0 has wiped what it could not read. */
	if (err && (is_live(c, i) || is_dirty(desc, sizeof(*desc))))
		say(f, "descriptor of %u: damaged (error %d)", i, -err);
	else if (!err && is_live(c, i))
		live_desc_check(c, &body, f);
	/* It is buried when it has been fenced, which takes a moment. */
	else if (!err && state_of(c, i) != MIOS_STATE_FENCING &&
		 state_of(c, i) != MIOS_STATE_DEAD &&
		 (body.state == MIOS_DESC_UP ||
		  body.state == MIOS_DESC_STOPPING))
		say(f, "descriptor of %u: up, but it is not (incarnation %u)",
		    i, body.incarnation);
}

/* --- lines */

static void pending_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_lines *lines = mios_area_lines(c->area, &c->g, i);
	u64 known = ~0ULL >> (64 - c->g.nr) & ~(1ULL << i);
	u64 from;
	u32 bell, j;

	for (bell = 0; bell < MIOS_BELLS; bell++) {
		from = lines->pending[bell];
		if (from & ~known || (bell > MIOS_BELL_ECHO && from))
			say(f, "doorbells of %u: impossible (%#llx)", i, from);
		for (j = 0; is_live(c, i) && j < c->g.nr; j++)
			if (from & known & 1ULL << j && !is_live(c, j))
				say(f, "doorbells of %u: rung by %u, which is gone",
				    i, j);
	}
}

/* Instance 0 has lent memory of the others. */
static u64 memory_of(const struct area_copy *c, u32 instance)
{
	u64 bytes = view_of(c, instance)->memory;
	u32 i;

	for (i = 1; !instance && i < c->g.nr; i++)
		bytes += view_of(c, i)->memory;
	return bytes;
}

static void beat_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_beat *beat =
		&mios_area_lines(c->area, &c->g, i)->beat;

	if (beat->sequence & 1)
		say(f, "heartbeat of %u: being changed for ever", i);
	if (!beat->count || !beat->tsc || beat->interval_ms < BEAT_MIN_MS ||
	    beat->interval_ms > BEAT_MAX_MS)
		say(f, "heartbeat of %u: impossible (%llu, every %u ms)", i,
		    beat->count, beat->interval_ms);
	if (beat->memory_free > memory_of(c, i))
		say(f, "heartbeat of %u: more memory free than there is", i);
}

/* Deaths that were acknowledged, and echoes. */
static void acks_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_lines *lines = mios_area_lines(c->area, &c->g, i);
	u32 j;

	for (j = 0; j < MIOS_AREA_INSTANCES; j++) {
		u32 ack = lines->ack[j];
		u32 max = j < c->g.nr ? incarnation_of(c, j) : 0;

		if (ack > max || (ack && !i))
			say(f, "acknowledgement of %u by %u: impossible (incarnation %u)",
			    j, i, ack);
		if (i && j == i && is_live(c, i) && ack != max)
			say(f, "lines of %u: deaths are not waited for there (%u, expected %u)",
			    i, ack, max);
		if (i && j != i && j < c->g.nr && c->died & 1ULL << j &&
		    ack != max)
			say(f, "acknowledgement of %u by %u: missing (%u, expected %u)",
			    j, i, ack, max);
		if (j >= c->g.nr && (lines->echo_request[j] ||
				     lines->echo_reply[j]))
			say(f, "echo of %u to %u: there is no such instance", i,
			    j);
	}
}

static void pads_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_lines *lines = mios_area_lines(c->area, &c->g, i);
	struct mios_held held;

	if (is_dirty(lines->pad_anchor, sizeof(lines->pad_anchor)) ||
	    is_dirty(lines + 1, MIOS_AREA_PAGE - sizeof(*lines)))
		say(f, "lines of %u: something stands between them", i);
	if (i && is_dirty(lines->view, sizeof(lines->view)))
		say(f, "lines of %u: it has views", i);
	if (i && is_dirty(&lines->anchor, sizeof(lines->anchor)))
		say(f, "lines of %u: it has a clock", i);
	if (!i && (lines->anchor.sequence & 1 || !lines->anchor.tsc ||
		   !lines->anchor.mult || lines->anchor.reserved))
		say(f, "clock of 0: impossible");
	if (mios_held_read(&lines->held, &held) || (!i && held.nr))
		say(f, "lines of %u: it has impossible functions", i);
	if (i && is_dirty(&lines->devices, sizeof(lines->devices)))
		say(f, "lines of %u: it has devices", i);
	if (!i && (lines->devices.reach > MIOS_REACH_BEYOND ||
		   lines->devices.reserved))
		say(f, "devices of 0: impossible");
	/* Only of a dead one somebody turns them off. */
	if (!i && is_live(c, 0) && lines->devices.quiet)
		say(f, "devices of 0: they are turned off");
	if ((i || is_live(c, 0)) && lines->host)
		say(f, "lines of %u: there is a successor (%#llx)", i,
		    lines->host);
	if (lines->hang && (i || (u32)lines->hang > 3))
		say(f, "lines of %u: impossible policy (%#llx)", i,
		    lines->hang);
}

static void lines_check(const struct area_copy *c, u32 i, struct findings *f)
{
	pending_check(c, i, f);
	if (!is_live(c, i))
		return;
	beat_check(c, i, f);
	acks_check(c, i, f);
	pads_check(c, i, f);
}

/* --- who moves and who does not */

static void motion_check(const struct area_copy *c, u32 i, struct findings *f)
{
	const struct mios_lines *now = mios_area_lines(c->area, &c->g, i);
	const struct mios_lines *then = mios_area_lines(c->before, &c->g, i);
	u32 state = state_of(c, i);
	bool still = now->beat.count == then->beat.count;

	if (is_live(c, i) && still)
		say(f, "heartbeat of %u: stands still (%llu)", i,
		    now->beat.count);
	if (!i && now->anchor.tsc == then->anchor.tsc)
		say(f, "clock of 0: stands still");
	if (state != MIOS_STATE_DEAD && state != MIOS_STATE_HELD &&
	    state != MIOS_STATE_DOWN)
		return;
	if (!still)
		say(f, "heartbeat of %u: goes on though it is dead (%llu)", i,
		    now->beat.count);
	if (memcmp(now->ack, then->ack, sizeof(*now) -
		   offsetof(struct mios_lines, ack)))
		say(f, "lines of %u: change though it is dead", i);
}

void area_check(struct area_copy *c, struct findings *f)
{
	const struct mios_area_header *header = c->area;
	u32 i;

	if (mios_header_check(header, header->self, c->size, c->ring, &c->g) ||
	    header->area_size != c->size || header->reserved ||
	    !header->self || header->self % MIOS_AREA_PAGE) {
		say(f, "header: damaged");
		return;
	}
	if (is_dirty(header + 1, MIOS_AREA_PAGE - sizeof(*header)))
		say(f, "header: something stands behind it");
	distances_check(c, f);
	pools_check(c, f);
	nodes_check(c, f);
	log_check(c, f);
	views_check(c, f);
	cpus_check(c, f);
	for (i = 0; i < c->g.nr; i++) {
		desc_check(c, i, f);
		lines_check(c, i, f);
		if (c->before && !memcmp(c->before, c->area, sizeof(*header)))
			motion_check(c, i, f);
	}
	channels_check(c, f);
}
