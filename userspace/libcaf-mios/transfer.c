// SPDX-License-Identifier: GPL-2.0
/*
 * Get and put of coarrays and of their sections: loads and stores.
 */
#include "caf.h"

static bool has_ended(uint32_t image, int *stat)
{
	struct caf_report report = { .stat = stat };

	if (image_state(image) != CAF_DEAD) {
		caf_ok(&report);
		return false;
	}
	if (stat)
		caf_error(&report, CAF_STAT_FAILED, "image %u has failed",
			  image + 1);
	return stat;
}

/* One element, as it is: no more than a load and a store. */
static bool copy_element(void *to, const struct caf_desc *to_desc, int to_kind,
			 const void *from, const struct caf_desc *from_desc,
			 int from_kind)
{
	if (to_desc->rank || from_desc->rank || to_kind != from_kind ||
	    to_desc->type != from_desc->type ||
	    to_desc->elem_len != from_desc->elem_len)
		return false;
	switch (to_desc->elem_len) {
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	default:
		memmove(to, from, to_desc->elem_len);
	}
	return true;
}

/* The team that an image selector names, or the current one. */
static const struct caf_team *selected(struct caf_team **team)
{
	return team && *team ? *team : caf_team;
}

/* team_number= can name the current team, or by -1 the first one. */
static const struct caf_team *numbered(int number)
{
	const struct caf_team *team = caf_team;

	while (number == -1 && team->parent)
		team = team->parent;
	if (team->number != number)
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "team_number=%d is not the current team's", number);
	return team;
}

/* False: that image has failed, and *stat says so. */
bool image_selected(int index, struct caf_team **team, const int *number,
		    int *stat, uint32_t *image)
{
	*image = team_image(number ? numbered(*number) : selected(team), index);
	return !has_ended(*image, stat);
}

void _gfortran_caf_get(void *token, size_t offset, int index,
		       struct caf_desc *from, struct caf_vector *vectors,
		       struct caf_desc *to, int from_kind, int to_kind,
		       bool overlaps, int *stat)
{
	uint32_t image = team_image(caf_team, index);
	struct caf_section source, target;
	char *at;

	if (has_ended(image, stat))
		return;
	at = token_at(token, image, offset);
	if (copy_element(to->base, to, to_kind, at, from, from_kind))
		return;
	section_desc(&source, from, at, from_kind);
	section_vectors(&source, from, vectors);
	section_desc(&target, to, to->base, to_kind);
	section_copy(&target, &source, overlaps);
}

void _gfortran_caf_send(void *token, size_t offset, int index,
			struct caf_desc *to, struct caf_vector *vectors,
			struct caf_desc *from, int to_kind, int from_kind,
			bool overlaps, int *stat, struct caf_team **team)
{
	uint32_t image = team_image(selected(team), index);
	struct caf_section source, target;
	char *at;

	if (has_ended(image, stat))
		return;
	at = token_at(token, image, offset);
	if (copy_element(at, to, to_kind, from->base, from, from_kind))
		return;
	section_desc(&source, from, from->base, from_kind);
	section_desc(&target, to, at, to_kind);
	section_vectors(&target, to, vectors);
	section_copy(&target, &source, overlaps);
}

void _gfortran_caf_sendget(void *to_token, size_t to_offset, int to_index,
			   struct caf_desc *to, struct caf_vector *to_vectors,
			   void *from_token, size_t from_offset, int from_index,
			   struct caf_desc *from,
			   struct caf_vector *from_vectors, int to_kind,
			   int from_kind, bool overlaps, int *stat)
{
	uint32_t to_image = team_image(caf_team, to_index);
	uint32_t from_image = team_image(caf_team, from_index);
	struct caf_section source, target;

	if (has_ended(to_image, stat) || has_ended(from_image, stat))
		return;
	section_desc(&source, from,
		     token_at(from_token, from_image, from_offset), from_kind);
	section_vectors(&source, from, from_vectors);
	section_desc(&target, to, token_at(to_token, to_image, to_offset),
		     to_kind);
	section_vectors(&target, to, to_vectors);
	section_copy(&target, &source, overlaps);
}
