// SPDX-License-Identifier: GPL-2.0
/*
 * The current team of an image, and who is in it.  Teams are made in form_team.c.
 */
#include "caf.h"

static struct caf_team first_team = { .number = -1 };

struct caf_team *caf_team = &first_team;

/* The first of each instance; ->image is there. */
void team_find_first(struct caf_team_area *area)
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
	team_find_first(first_team.area);
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
