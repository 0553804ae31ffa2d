// SPDX-License-Identifier: GPL-2.0
/*
 * Does each user pay for what he has made, in an image that is whole otherwise and
 * that nobody is changing?  Files and names to the last one; pages at least as many
 * as the records of the pool have of his files.
 */
#include "../../../mios/memory/fs/tx.h"
#include "check.h"

/* What there is of each user's. */
static struct mios_fs_share has[MIOS_FS_USERS];

static u32 payer_of(const struct mios_fs *fs, u64 inode)
{
	u64 payer = inode_at(fs, inode)->cut >> 32;

	return payer < MIOS_FS_USERS ? payer : 0;
}

static void count_files(const struct mios_fs *fs)
{
	u64 number = 0, mode;

	while ((number = mios_fs_inode_next(fs, number))) {
		mode = inode_at(fs, number)->mode;
		if (inode_at(fs, number)->id)
			has[payer_of(fs, number)].files +=
				is_directory(mode) || !nlink_of(mode) ? 1 :
				nlink_of(mode);
	}
}

static void count_pages(const struct mios_fs *fs)
{
	const struct mios_section *section = fs->pool->section;
	u32 s, i;

	for (s = 0; s < fs->pool->nr_sections; s++, section++)
		for (i = 0; i < section->nr_extents * MIOS_EXTENT_PAGES; i++)
			if ((section->page[i].word & 15) == MIOS_PAGE_KEPT)
				has[payer_of(fs, section->page[i].object >>
					     MIOS_FS_OBJECT_INODE)].pages++;
}

const char *fs_check_shares(const struct mios_fs *fs, u64 *excess)
{
	struct mios_fs_payer payer;
	u32 slot = 0, i;

	memset(has, 0, sizeof(has));
	*excess = 0;
	count_files(fs);
	count_pages(fs);
	has[0] = (struct mios_fs_share) { };
	while (mios_fs_payer_next(fs, &slot, &payer)) {
		if (payer.has.files != has[slot].files)
			return "files of a user";
		if (payer.has.pages < has[slot].pages)
			return "pages of a user";
		if (payer.has.pages - has[slot].pages > *excess)
			*excess = payer.has.pages - has[slot].pages;
		has[slot] = (struct mios_fs_share) { };
	}
	for (i = 0; i < MIOS_FS_USERS; i++)
		if (has[i].files || has[i].pages)
			return "files without a user";
	return NULL;
}

bool fs_sequences_are_even(const struct mios_fs *fs)
{
	const struct mios_fs_sequences *s = sequences_of(fs);
	u64 all = fs->super->sequence;
	u32 i;

	for (i = 0; i < MIOS_FS_GROUPS; i++)
		all |= s->name[i] | s->file[i];
	return !(all & 1);
}
