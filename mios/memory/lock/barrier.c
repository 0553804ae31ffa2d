// SPDX-License-Identifier: GPL-2.0
/*
 * A tree of counters that only grow: who brings one to a multiple of how many
 * arrive there in each round is the last of that round.  Nobody waits inside
 * the tree, all wait for ->done, each on a word of its own; who is told tells
 * some others.  Called by members; no lock; barrier.h says why the order is
 * right.
 */
#include "../../inject/inject.h"
#include "barrier.h"

MIOS_INJECT_UNIT(end_broken);
MIOS_INJECT_UNIT(early_end);
MIOS_INJECT_UNIT(no_second_look);
MIOS_INJECT_UNIT(tell_nobody);

static bool is_sane(u32 members, u32 fan)
{
	return members && members <= MIOS_BARRIER_MEMBERS && fan >= 2 &&
	       fan <= MIOS_BARRIER_FAN_MAX;
}

/* Nodes that so many, members or nodes, arrive at. */
static u32 level_nodes(u32 below, u32 fan)
{
	return (below + fan - 1) / fan;
}

static u32 tree_nodes(u32 members, u32 fan)
{
	u32 level = members, nr = 0;

	do {
		level = level_nodes(level, fan);
		nr += level;
	} while (level > 1);
	return nr;
}

size_t mios_barrier_bytes(u32 members, u32 fan)
{
	if (!is_sane(members, fan))
		return 0;
	return sizeof(struct mios_barrier_header) +
	       (tree_nodes(members, fan) + members) *
	       sizeof(struct mios_barrier_line);
}

int mios_barrier_format(void *memory, u32 members, u32 fan)
{
	struct mios_barrier_header *header = memory;

	if (!is_sane(members, fan) || (unsigned long)memory % MIOS_LOCK_LINE)
		return -EINVAL;
	memset(memory, 0, mios_barrier_bytes(members, fan));
	header->version = MIOS_BARRIER_VERSION;
	header->size = sizeof(*header);
	header->nr_members = members;
	header->fan = fan;
	/* All of it, before anybody takes it for a barrier. */
	smp_store_release(&header->magic, MIOS_BARRIER_MAGIC);
	return 0;
}

int mios_barrier_view(struct mios_barrier *barrier, void *memory, size_t size,
		      u32 member)
{
	struct mios_barrier_header *header = memory;
	u32 members, fan;

	if ((unsigned long)memory % MIOS_LOCK_LINE)
		return -EINVAL;
	if (size < sizeof(*header))
		return -EBADMSG;
	/* Its magic number came last. */
	if (smp_load_acquire(&header->magic) != MIOS_BARRIER_MAGIC)
		return -EBADMSG;
	if (header->version != MIOS_BARRIER_VERSION ||
	    header->size != sizeof(*header))
		return -EPROTO;
	members = READ_ONCE(header->nr_members);
	fan = READ_ONCE(header->fan);
	if (!is_sane(members, fan) || size < mios_barrier_bytes(members, fan))
		return -EBADMSG;
	if (member >= members)
		return -EINVAL;
	memset(barrier, 0, sizeof(*barrier));
	barrier->header = header;
	barrier->nr_members = members;
	barrier->fan = fan;
	barrier->nr_nodes = tree_nodes(members, fan);
	barrier->member = member;
	barrier->round = READ_ONCE(header->done) >> 1;
	return 0;
}

static struct mios_barrier_line *member_line(const struct mios_barrier *barrier,
					     u32 member)
{
	return &barrier->header->line[barrier->nr_nodes + member];
}

/* What it was before. */
static u64 count_up(u64 *word)
{
	u64 was = READ_ONCE(*word);

	while (!try_cmpxchg(word, &was, was + 1)) /* ARRIVE */
		;
	return was;
}

/* Look at ->done, as it has changed. */
static void member_go(const struct mios_barrier *barrier, u32 member)
{
	u64 *go = &member_line(barrier, member)->word;
	u64 was = READ_ONCE(*go);

	while (!try_cmpxchg(go, &was, (was | MIOS_BARRIER_SLEEPS) + 1)) /* GO */
		;
	if (was & MIOS_BARRIER_SLEEPS)
		barrier->wait->wake(barrier->ctx, go);
}

/* A round that has broken before is not over, and never will be. */
static void round_end(const struct mios_barrier *barrier, u64 value)
{
	struct mios_barrier_header *header = barrier->header;
	u64 done = (barrier->round - 1) << 1;

	WRITE_ONCE(header->result, value);
	if (inject_end_broken)
		WRITE_ONCE(header->done, barrier->round << 1);
	else if (!try_cmpxchg(&header->done, &done, barrier->round << 1)) /* DONE */
		return;
	member_go(barrier, 0);
}

/* What the first of these lines, up to @nr, make together. */
static u64 lines_reduce(const struct mios_barrier_line *line, u32 nr,
			mios_reduce reduce)
{
	u64 value = READ_ONCE(line[0].value);
	u32 i;

	for (i = 1; i < nr && reduce; i++)
		value = reduce(value, READ_ONCE(line[i].value));
	return value;
}

/* From the own leaf up, as far as it is the last. */
static void arrive(const struct mios_barrier *barrier, mios_reduce reduce)
{
	struct mios_barrier_line *below = member_line(barrier, 0);
	struct mios_barrier_line *level = barrier->header->line, *node;
	u32 nr_below = barrier->nr_members, at = barrier->member, first, nr;
	u64 value;

	for (;;) {
		first = at - at % barrier->fan;
		nr = nr_below - first < barrier->fan ? nr_below - first :
						       barrier->fan;
		at /= barrier->fan;
		node = &level[at];
		if (count_up(&node->word) + 1 != barrier->round * nr &&
		    !inject_early_end)
			return;
		value = lines_reduce(below + first, nr, reduce);
		nr_below = level_nodes(nr_below, barrier->fan);
		if (nr_below == 1)
			return round_end(barrier, value);
		WRITE_ONCE(node->value, value);
		below = level;
		level += nr_below;
	}
}

static int leave(struct mios_barrier *barrier, u64 *value)
{
	u32 child = barrier->member * barrier->fan + 1, i;

	for (i = 0; i < barrier->fan && child + i < barrier->nr_members; i++)
		member_go(barrier, child + i);
	barrier->arrived = false;
	if (value)
		*value = READ_ONCE(barrier->header->result);
	return 0;
}

static int look(struct mios_barrier *barrier, u64 *value)
{
	u64 done = smp_load_acquire(&barrier->header->done); /* DONE */

	if (done >> 1 >= barrier->round)
		return leave(barrier, value);
	return done & MIOS_BARRIER_BROKEN ? -EHOSTDOWN : -EINPROGRESS;
}

static int wait_for_all(struct mios_barrier *barrier, u64 *value)
{
	const struct mios_lock_wait *wait = barrier->wait;
	u64 *go = &member_line(barrier, barrier->member)->word, was;
	u32 looks;
	int err;

	for (looks = 0;; looks++) {
		was = READ_ONCE(*go);
		if (looks >= wait->spins && !(was & MIOS_BARRIER_SLEEPS)) {
			if (!try_cmpxchg(go, &was, was | MIOS_BARRIER_SLEEPS))
				continue;
			was |= MIOS_BARRIER_SLEEPS;
		}
		if (!inject_no_second_look ||
		    !(was & MIOS_BARRIER_SLEEPS)) {
			err = look(barrier, value); /* GO */
			if (err != -EINPROGRESS)
				return err;
		}
		if (looks < wait->spins) {
			wait->pause(barrier->ctx, go, was);
			continue;
		}
		if (wait->late(barrier->ctx))
			return -ETIMEDOUT;
		wait->sleep(barrier->ctx, go, was);
	}
}

int mios_barrier_meet(struct mios_barrier *barrier, u64 *value,
		      mios_reduce reduce)
{
	if (!barrier->arrived) {
		barrier->round++;
		barrier->arrived = true;
		WRITE_ONCE(member_line(barrier, barrier->member)->value,
			   value ? *value : 0);
		arrive(barrier, reduce);
	}
	return wait_for_all(barrier, value);
}

void mios_barrier_break(struct mios_barrier *barrier)
{
	u64 done = READ_ONCE(barrier->header->done);
	u32 i;

	while (!try_cmpxchg(&barrier->header->done, &done, /* DONE */
			    done | MIOS_BARRIER_BROKEN))
		;
	/* The dead may have told some, or nobody, and woken nobody. */
	for (i = 0; i < barrier->nr_members; i++) {
		if (inject_tell_nobody)
			return;
		member_go(barrier, i);
		barrier->wait->wake(barrier->ctx,
				    &member_line(barrier, i)->word);
	}
}
