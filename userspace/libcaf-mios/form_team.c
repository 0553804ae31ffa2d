// SPDX-License-Identifier: GPL-2.0
/*
 * Teams: what they share lies in the window, made by the first member; each
 * member has a view of its own.  The current ones of an image are a stack.
 */
#include <malloc.h>
#include <stdlib.h>

#include "caf.h"

/* Those who have said the same number; the seats are in the order of before. */
static struct caf_team_area *make_area(unsigned int slot)
{
	struct caf_team_area *old = caf_team->area, *area;
	uint64_t number = old->seats[caf_team->me].slot[slot];
	uint32_t i, n = 0;

	area = memalign(CAF_LINE, team_area_size(old->nr_seats));
	if (!area)
		return NULL;
	memset(area, 0, team_area_size(old->nr_seats));
	for (i = 0; i < old->nr_seats; i++)
		if (old->seats[i].slot[slot] == number)
			area->seats[n++].image = old->seats[i].image;
	area->nr_seats = n;
	team_find_first(area);
	return area;
}

/* The first of those who have said the same number as this image. */
static uint32_t first_alike(unsigned int slot)
{
	struct caf_seat *seats = caf_team->area->seats;
	uint32_t i;

	for (i = 0; seats[i].slot[slot] != seats[caf_team->me].slot[slot]; i++)
		;
	return i;
}

static void enter_area(struct caf_team *team, struct caf_team_area *area)
{
	team->area = area;
	while (area->seats[team->me].image != caf_self.number)
		team->me++;
}

void _gfortran_caf_form_team(int number, struct caf_team **out, int index)
{
	struct caf_report report = { .stat = NULL };
	struct caf_team *team = calloc(1, sizeof(*team));
	struct caf_team_area *area = NULL;
	unsigned int slot;
	uint32_t first;
	int stat;

	stat = team_exchange(caf_team, (uint64_t)number, &slot, false);
	first = first_alike(slot);
	if (!stat && first == caf_team->me)
		area = make_area(slot);
	if (!stat)
		stat = team_exchange(caf_team, (uint64_t)area, &slot, false);
	if (stat) {
		sync_end(caf_team, stat, &report);
		return;
	}
	area = (void *)caf_team->area->seats[first].slot[slot];
	if (!team || !area)
		caf_error(&report, 1, "no memory for a team");
	team->parent = caf_team;
	team->number = number;
	enter_area(team, area);
	*out = team;
}

static void meet(struct caf_team *team)
{
	sync_end(team, team_meet(team, NULL, false),
		 &(struct caf_report){ .stat = NULL });
}

void _gfortran_caf_change_team(struct caf_team **team, int selector)
{
	caf_team = *team;
	meet(caf_team);
}

void _gfortran_caf_end_team(struct caf_team **team)
{
	meet(caf_team);
	team_free_coarrays(caf_team);
	caf_team = caf_team->parent;
}

void _gfortran_caf_sync_team(struct caf_team **team, int unused)
{
	meet(*team);
}
