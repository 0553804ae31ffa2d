// SPDX-License-Identifier: GPL-2.0
/*
 * Coarrays come and go.  Each image allocates its part in its own heap, so that
 * it lies near to whoever uses it first, and tells the others of the team where
 * it is.  Allocatable components of coarrays concern nobody else: others find
 * them by the descriptor that lies in the coarray.
 */
#include <malloc.h>
#include <stdlib.h>
#include <sys/types.h>

#include "caf.h"

#define MAGIC	0x6b6f7463u
#define OBJECT	CAF_LINE	/* of a lock, an event */

static struct caf_token *tokens;	/* of coarrays and of components */

struct caf_token *token_of(void *token)
{
	struct caf_token *t = token;

	if (!window_holds(t) || t->magic != MAGIC)
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "this coarray has not been allocated");
	return t;
}

/* gfortran 12 takes an offset of a copy for that of a scalar complex coarray. */
char *token_at(void *token, uint32_t image, size_t offset)
{
	struct caf_token *t = token_of(token);
	char *at = t->at[image];

	if (!at)
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "image %u has no such coarray", image + 1);
	if (!window_holds(at + offset))
		caf_error(&(struct caf_report){ .stat = NULL }, 0,
			  "byte %zd of a coarray of %zu", (ssize_t)offset,
			  t->size);
	return at + offset;
}

static bool is_object(enum caf_register_type type)
{
	return type >= CAF_LOCK_STATIC && type <= CAF_EVENT_ALLOC;
}

/* A component may have been freed without us: then its descriptor says so. */
static bool is_there(const struct caf_token *t)
{
	return t->team || (t->desc && t->desc->base == t->own);
}

/*
 * Whatever is in a coarray is no coarray.  The compiler calls both alike where
 * an assignment allocates.
 */
static bool is_component(enum caf_register_type type, const void *token)
{
	struct caf_token *t;

	if (type >= CAF_COMPONENT_REGISTER)
		return true;
	for (t = tokens; t; t = t->next)
		if ((size_t)((char *)token - (char *)t->own) < t->size &&
		    is_there(t))
			return true;
	return false;
}

static void link_token(struct caf_token *t)
{
	t->next = tokens;
	tokens = t;
}

static void unlink_token(struct caf_token *t)
{
	struct caf_token **p = &tokens;

	while (*p && *p != t)
		p = &(*p)->next;
	if (*p)
		*p = t->next;
}

static struct caf_token *new_token(size_t size, enum caf_register_type type,
				   struct caf_desc *desc, uint32_t images)
{
	struct caf_token *t = calloc(1, sizeof(*t) + images * sizeof(*t->at));

	if (!t)
		return NULL;
	t->own = memalign(CAF_LINE, size ? size : 1);
	if (!t->own) {
		free(t);
		return NULL;
	}
	t->magic = MAGIC;
	t->type = type;
	t->size = size;
	t->desc = desc->rank > 0 ? desc : NULL;
	return t;
}

static void free_token(struct caf_token *t)
{
	if (!t)
		return;
	t->magic = 0;
	free(t->own);
	free(t);
}

static void register_component(size_t size, enum caf_register_type type,
			       void **token, struct caf_desc *desc,
			       const struct caf_report *report)
{
	struct caf_token *t = NULL;

	desc->base = NULL;
	*token = NULL;
	if (type != CAF_COMPONENT_REGISTER) {
		t = new_token(size, type, desc, 0);
		if (!t) {
			caf_error(report, 1, "no memory for a component");
			return;
		}
		link_token(t);
		desc->base = t->own;
		*token = t;
	}
	caf_ok(report);
}

/* Where it is on each image of the team; false: somebody has no memory. */
static bool take_places(struct caf_token *t, unsigned int slot)
{
	struct caf_seat *seats = caf_team->area->seats;
	bool all = true;
	uint32_t i;

	for (i = 0; i < team_size(caf_team); i++) {
		all = all && seats[i].slot[slot];
		if (t)
			t->at[seats[i].image] = (char *)seats[i].slot[slot];
	}
	return all;
}

static void register_coarray(size_t size, enum caf_register_type type,
			     void **token, struct caf_desc *desc,
			     const struct caf_report *report)
{
	struct caf_token *t;
	unsigned int slot;
	int stat;

	if (is_object(type))
		size *= OBJECT;
	t = new_token(size, type, desc, caf_self.window->nr_images);
	if (t && is_object(type))
		memset(t->own, 0, size);
	stat = team_exchange(caf_team, t ? (uint64_t)t->own : 0, &slot,
			     report->stat);
	if (stat || !take_places(t, slot)) {
		free_token(t);
		if (stat)
			sync_end(caf_team, stat, report);
		else
			caf_error(report, 1, "no memory for a coarray of %zu "
				  "bytes", size);
		return;
	}
	t->team = caf_team;
	link_token(t);
	desc->base = t->own;
	*token = t;
	caf_ok(report);
}

void _gfortran_caf_register(size_t size, enum caf_register_type type,
			    void **token, struct caf_desc *desc, int *stat,
			    char *text, size_t len)
{
	struct caf_report report = { stat, text, len };

	if (is_component(type, token))
		register_component(size, type, token, desc, &report);
	else
		register_coarray(size, type, token, desc, &report);
}

/* The compiler may have changed where it is, by realloc(). */
static void free_component(struct caf_token *t)
{
	if (t->desc) {
		t->own = t->desc->base;
		t->desc->base = NULL;
	}
	free_token(t);
}

void _gfortran_caf_deregister(void **token, enum caf_deregister_type type,
			      int *stat, char *text, size_t len)
{
	struct caf_report report = { stat, text, len };
	struct caf_token *t = *token;
	int status = 0;

	if (!window_holds(t) || t->magic != MAGIC) {
		caf_ok(&report);
		return;
	}
	*token = NULL;
	if (t->team) {
		/* Nobody uses it any more. */
		status = team_meet(caf_team, NULL, stat);
		unlink_token(t);
		free_token(t);
	} else {
		unlink_token(t);
		free_component(t);
	}
	sync_end(caf_team, status, &report);
}

/* At its end: what has been allocated in it is gone, as the program sees. */
void team_free_coarrays(struct caf_team *team)
{
	struct caf_token **p = &tokens, *t;

	while ((t = *p)) {
		if (t->team != team) {
			p = &t->next;
			continue;
		}
		*p = t->next;
		if (t->desc)
			t->desc->base = NULL;
		free_token(t);
	}
}
