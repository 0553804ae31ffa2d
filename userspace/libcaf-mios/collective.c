// SPDX-License-Identifier: GPL-2.0
/*
 * Collective subroutines.  Each image packs its part into the window; the first
 * of an instance makes one of those there, then of those of all instances, and
 * the others take it from the first of theirs.  All first ones go through the
 * instances in one order, so that all get the same bits.
 */
#include <malloc.h>
#include <stdlib.h>

#include "collective.h"

struct collective {
	const struct reduction *r;
	size_t count, bytes;
	char *mine;			/* the instance's, in its first one */
	char *result;
	unsigned int slot;
};

static char *slot_of(struct caf_team *team, uint32_t seat, unsigned int slot)
{
	return (char *)team->area->seats[seat].slot[slot];
}

/* Those of this instance, in the order of their numbers. */
static void reduce_instance(struct caf_team *team, void *ctx)
{
	struct collective *c = ctx;
	struct caf_seat *seats = team->area->seats;
	uint32_t i;

	for (i = team->me + 1; i < team_size(team); i++)
		if (seats[i].first == team->me)
			c->r->combine(c->r, c->mine, slot_of(team, i, c->slot),
				      c->count);
	seats[team->me].result = c->result;
}

static void reduce_all(struct caf_team *team, void *ctx)
{
	struct collective *c = ctx;
	struct caf_seat *seats = team->area->seats;
	uint32_t i;

	memcpy(c->result, slot_of(team, 0, c->slot), c->bytes);
	for (i = 1; i < team_size(team); i++)
		if (seats[i].first == i)
			c->r->combine(c->r, c->result,
				      slot_of(team, i, c->slot), c->count);
}

static void pack(char *to, struct caf_section *from)
{
	struct caf_section packed;

	section_scalar(&packed, to, from->elem_len, from->type, from->kind);
	section_dim(&packed, section_count(from), from->elem_len);
	section_copy(&packed, from, false);
}

static void unpack(struct caf_section *to, char *from)
{
	struct caf_section packed;

	section_scalar(&packed, from, to->elem_len, to->type, to->kind);
	section_dim(&packed, section_count(to), to->elem_len);
	section_copy(to, &packed, false);
}

static int reduce(struct caf_team *team, struct collective *c,
		  struct caf_section *s, int result_image, bool patient)
{
	struct meeting_hooks hooks = { reduce_instance, reduce_all, c };
	struct caf_seat *seats = team->area->seats;
	int stat;

	pack(c->mine, s);
	c->slot = team->exchanges++ & 1;
	seats[team->me].slot[c->slot] = (uint64_t)c->mine;
	stat = team_meet(team, &hooks, patient);
	if (stat)
		return stat;
	if (!result_image || result_image == team->me + 1)
		unpack(s, seats[seats[team->me].first].result);
	return team_meet(team, NULL, patient);	/* all have it */
}

/* What is in flight while somebody dies may be in use: it stays. */
void collective_reduce(struct caf_desc *a, const struct reduction *r,
		       int result_image, const struct caf_report *report)
{
	struct collective c = { .r = r };
	struct caf_section s;
	int stat;

	if (result_image)		/* or all get it */
		team_member(caf_team, result_image);
	section_desc(&s, a, a->base, 0);
	c.count = section_count(&s);
	c.bytes = c.count * s.elem_len;
	c.mine = memalign(CAF_LINE, c.bytes + 1);
	c.result = memalign(CAF_LINE, c.bytes + 1);
	if (!c.mine || !c.result)
		caf_die("no memory for a reduction of %zu bytes", c.bytes);
	stat = reduce(caf_team, &c, &s, result_image, report->stat);
	if (!stat) {
		free(c.mine);
		free(c.result);
	}
	sync_end(caf_team, stat, report);
}

static int broadcast(struct caf_team *team, struct caf_section *s, int source,
		     char *memory, bool patient)
{
	unsigned int slot;
	int stat;

	if (memory)
		pack(memory, s);
	stat = team_exchange(team, (uint64_t)memory, &slot, patient);
	if (stat)
		return stat;
	if (!memory)
		unpack(s, slot_of(team, source - 1, slot));
	return team_meet(team, NULL, patient);
}

void _gfortran_caf_co_broadcast(struct caf_desc *a, int source, int *stat,
				char *text, size_t len)
{
	bool mine = team_member(caf_team, source) == caf_self.number;
	struct caf_section s;
	char *memory = NULL;
	int status;

	/* In those of components the compiler leaves it open. */
	a->span = a->elem_len;
	section_desc(&s, a, a->base, 0);
	if (mine) {
		memory = malloc(section_count(&s) * s.elem_len + 1);
		if (!memory)
			caf_die("no memory for a broadcast");
	}
	status = broadcast(caf_team, &s, source, memory, stat);
	if (!status)
		free(memory);
	sync_end(caf_team, status, &(struct caf_report){ stat, text, len });
}
