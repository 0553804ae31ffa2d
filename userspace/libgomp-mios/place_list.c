// SPDX-License-Identifier: GPL-2.0
/*
 * Places as numbers, in OMP_PLACES:
 *
 *	list	= ["!"] places {"," ["!"] places}
 *	places	= "{" numbers {"," numbers} "}" [":" COUNT [":" STRIDE]]
 *	numbers	= ["!"] NUMBER [":" COUNT [":" STRIDE]]
 *
 * What follows "!" is taken out of what stands before it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "places.h"

struct reader {
	const char *at;
	uint32_t members;		/* numbers are below this */
	bool wrong;
};

static bool next_is(struct reader *r, char c)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static void demand(struct reader *r, bool good)
{
	r->wrong |= !good;
}

/* What is far from any number of a member is as wrong as what is none. */
static long read_number(struct reader *r)
{
	char *end;
	long n = strtol(r->at, &end, 10);

	demand(r, end != r->at && labs(n) <= OMP_MAX_MEMBERS);
	r->at = end;
	return r->wrong ? 0 : n;
}

/* [":" COUNT [":" STRIDE]] */
static long read_count(struct reader *r, long *stride)
{
	long count = 1;

	*stride = 1;
	if (next_is(r, ':')) {
		count = read_number(r);
		demand(r, count > 0);
		if (next_is(r, ':'))
			*stride = read_number(r);
	}
	return count;
}

static void add(struct reader *r, struct place *place, long number)
{
	demand(r, number >= 0 && number < r->members);
	if (!r->wrong)
		place_add(place, number);
}

static void take_out(struct reader *r, struct place *place, long number)
{
	struct place before = *place;
	uint32_t i;

	demand(r, number >= 0 && number < r->members);
	memset(place, 0, sizeof(*place));
	for (i = 0; i < r->members; i++)
		if (i != number && place_has(&before, i))
			place_add(place, i);
}

static void read_place(struct reader *r, struct place *place)
{
	long number, count, stride;
	bool out;

	memset(place, 0, sizeof(*place));
	demand(r, next_is(r, '{'));
	do {
		out = next_is(r, '!');
		number = read_number(r);
		count = read_count(r, &stride);
		for (; count > 0 && !r->wrong; count--, number += stride)
			if (out)
				take_out(r, place, number);
			else
				add(r, place, number);
	} while (!r->wrong && next_is(r, ','));
	demand(r, next_is(r, '}'));
}

static void shift(struct reader *r, const struct place *from, long by,
		  struct place *to)
{
	uint32_t i;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < r->members; i++)
		if (place_has(from, i))
			add(r, to, i + by);
}

static int place_find(const struct place *places, int nr, const struct place *place)
{
	int i = 0;

	while (i < nr && memcmp(&places[i], place, sizeof(*place)))
		i++;
	return i;
}

/* One more place, or one less, if there is such a one. */
static int place_enlist(struct reader *r, struct place *places, int nr, bool out,
			const struct place *place)
{
	int at = place_find(places, nr, place);

	if (!out) {
		demand(r, nr < OMP_MAX_MEMBERS);
		if (!r->wrong)
			places[nr++] = *place;
	} else if (at < nr) {
		nr--;
		memmove(&places[at], &places[at + 1], (nr - at) * sizeof(*place));
	}
	return nr;
}

/* Into @places, which has room for as many as there may be members; 0: no list. */
int place_list_read(const char *text, uint32_t members, struct place *places)
{
	struct reader r = { .at = text, .members = members };
	long count, stride, i;
	struct place first, next;
	bool out;
	int nr = 0;

	do {
		out = next_is(&r, '!');
		read_place(&r, &first);
		count = read_count(&r, &stride);
		for (i = 0; i < count && !r.wrong; i++) {
			shift(&r, &first, i * stride, &next);
			nr = place_enlist(&r, places, nr, out, &next);
		}
	} while (!r.wrong && next_is(&r, ','));
	demand(&r, next_is(&r, '\0'));
	return r.wrong ? 0 : nr;
}

/* GOMP_CPU_AFFINITY: 0-3:2 5, each a place of its own; 0: no such list. */
int place_cpus_read(const char *text, uint32_t members, struct place *places)
{
	struct reader r = { .at = text, .members = members };
	long number, last, stride;
	int nr = 0;

	do {
		number = read_number(&r);
		last = next_is(&r, '-') ? read_number(&r) : number;
		stride = next_is(&r, ':') ? read_number(&r) : 1;
		demand(&r, stride > 0 && last >= number);
		for (; number <= last && !r.wrong; number += stride) {
			demand(&r, nr < OMP_MAX_MEMBERS);
			if (r.wrong)
				break;
			memset(&places[nr], 0, sizeof(*places));
			add(&r, &places[nr++], number);
		}
	} while (!r.wrong && (next_is(&r, ',') || *r.at));
	return r.wrong ? 0 : nr;
}

/* 0:2,4 */
void place_say(const struct place *place, FILE *out)
{
	const char *comma = "";
	uint32_t i, first;

	for (i = 0; i < OMP_MAX_MEMBERS; i++) {
		if (!place_has(place, i))
			continue;
		for (first = i; i + 1 < OMP_MAX_MEMBERS &&
		     place_has(place, i + 1); i++)
			;
		fprintf(out, first == i ? "%s%u" : "%s%u:%u", comma, first,
			i - first + 1);
		comma = ",";
	}
}
