// SPDX-License-Identifier: GPL-2.0
/*
 * Teams: what they share lies in the window, made by the first member; each
 * member has a view of its own.  The current ones of an image are a stack.
 */
#include <malloc.h>
#include <stdlib.h>

#include "caf.h"

static struct caf_team first_team = { .number = -1 };

struct caf_team *caf_team = &first_team;

size_t team_area_size(uint32_t seats)
{
	return sizeof(struct caf_team_area) + seats * sizeof(struct caf_seat);
}

/* The first of each instance; ->image is there. */
static void find_first(struct caf_team_area *area)
{
	uint32_t i, j;

	for (i = 0; i < area->nr_seats; i++) {
		for (j = 0; image_at(area->seats[j].image)->instance !=
			    image_at(area->seats[i].image)->instance; j++)
			;
		area->seats[i].first = j;
	}
}

/* All images have arrived, and all write the same. */
void team_first(void)
{
	struct caf_window *w = caf_self.window;
	uint32_t i;

	first_team.area = (void *)((char *)w + w->team_at);
	first_team.me = caf_self.number;
	first_team.area->nr_seats = w->nr_images;
	for (i = 0; i < w->nr_images; i++)
		first_team.area->seats[i].image = i;
	find_first(first_team.area);
}

/* An image index of the program. */
uint32_t team_member(const struct caf_team *team, int index)
{
	if (index < 1 || index > team_size(team))
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "there is no image %d: the team has %u", index,
			  team_size(team));
	return team->area->seats[index - 1].image;
}

/* Or 0, which is this image. */
uint32_t team_image(const struct caf_team *team, int index)
{
	return index ? team_member(team, index) : caf_self.number;
}

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
	find_first(area);
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

/* NULL: the current one. */
int _gfortran_caf_team_number(struct caf_team *team)
{
	return (team ? team : caf_team)->number;
}

struct caf_team *_gfortran_caf_get_team(int *level)
{
	return caf_team;
}

int _gfortran_caf_this_image(int distance)
{
	return caf_team->me + 1;
}

/* @failed: how many have (1), or have not (0); else all. */
int _gfortran_caf_num_images(int distance, int failed)
{
	uint32_t i, dead = 0;

	for (i = 0; i < team_size(caf_team) && failed >= 0; i++)
		dead += image_state(caf_team->area->seats[i].image) ==
			CAF_DEAD;
	return failed == 1 ? dead : team_size(caf_team) - dead;
}
