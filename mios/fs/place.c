// SPDX-License-Identifier: GPL-2.0
/*
 * Where a new page comes from: a section of the pool lies in each node, and
 * who needs a page first takes it from his own node's; when that is full, from
 * the next in distance.  Called by page.c; no lock but the caller's, whose
 * cursors are in use.
 */
#include "tx.h"

/* A section that was full is not looked at again for so many pages. */
#define REST	64

static int section_try(struct mios_fs *fs, struct mios_cursor *cursor,
		       bool hard, struct mios_page *page)
{
	int err;

	if (hard)
		return mios_pool_alloc(fs->pool, cursor, page);
	if (cursor->rest) {
		cursor->rest--;
		return -ENOMEM;
	}
	err = mios_pool_alloc_easy(fs->pool, cursor, page);
	if (err == -ENOMEM)
		cursor->rest = REST;
	return err;
}

/* @hard: every page is looked at, before all of it is said to be full. */
static int sections_try(struct mios_fs *fs, struct mios_cursor *cursor,
			bool hard, struct mios_page *page)
{
	u32 nr = fs->pool->nr_sections;
	int err = -ENOMEM;
	u32 i;

	for (i = 0; i < nr && err == -ENOMEM; i++) {
		cursor[fs->near[i]].section = fs->near[i];
		err = section_try(fs, &cursor[fs->near[i]], hard, page);
	}
	return err;
}

/* @cursor: one for each section. */
int mios_page_place(struct mios_fs *fs, struct mios_cursor *cursor,
		    struct mios_page *page)
{
	int err = -ENOMEM;

	if (fs->pool->nr_sections > 1)
		err = sections_try(fs, cursor, false, page);
	return err == -ENOMEM ? sections_try(fs, cursor, true, page) : err;
}
