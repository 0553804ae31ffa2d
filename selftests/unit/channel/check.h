/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The checker: walks every structure of a copy of a ring area and names each
 * that is not what it must be while nobody comes or goes.  Used on the area of
 * a running machine (area-check.c) and on its own test (checked.c).
 */
#ifndef _CHECK_H
#define _CHECK_H

#include "../../../mios/core/channel/layout.h"

#define FINDINGS_MAX	64
#define FINDING_LEN	160

/**
 * struct findings - what is wrong, a line each: "where: what (figures)"
 * @nr:		how many, of which the first FINDINGS_MAX are kept
 * @line:	they
 */
struct findings {
	u32 nr;
	char line[FINDINGS_MAX][FINDING_LEN];
};

/**
 * struct area_copy - an area as it was at one moment, more or less
 * @area:	the bytes, aligned to a page
 * @size:	how many
 * @g:		where things are in it, filled in by area_check()
 * @before:	another copy, made some heartbeats earlier, or NULL
 * @ring:	which ring it serves
 * @died:	a bit for each instance whose death all others that are up
 *		have lived to see
 * @littered:	slots that nobody uses may hold garbage
 */
struct area_copy {
	void *area;
	u64 size;
	struct mios_geometry g;
	void *before;
	u32 ring;
	u64 died;
	bool littered;
};

/* Adds to @f what is wrong. */
void area_check(struct area_copy *copy, struct findings *f);

/* check-channel.c: the channels, when everything else has been looked at. */
void channels_check(const struct area_copy *copy, struct findings *f);

/* Instance 0's view of an instance, whether it runs in this ring, as what. */
struct mios_view *view_of(const struct area_copy *copy, u32 instance);
bool is_live(const struct area_copy *copy, u32 instance);
u32 incarnation_of(const struct area_copy *copy, u32 instance);

__attribute__((format(printf, 2, 3)))
void say(struct findings *f, const char *format, ...);

/* Are @size bytes at @at other than 0? */
bool is_dirty(const void *at, size_t size);

#endif /* _CHECK_H */
