// SPDX-License-Identifier: GPL-2.0
/*
 * What an instance remembers of names and files, as mios/memory/fs/dentry.c and
 * inode.c do: with a stamp, and with a sequence.  Whoever has changed whatever since,
 * as long as one of these holds a name leads to what it did, or is not there still,
 * and a file has the attributes that it had.
 */
#include "../../../mios/memory/fs/tx.h"
#include "../pool/explore.h"
#include "fstest.h"

#define FILES_		24	/* the first inodes */
#define DIRS		8	/* of these */

/* Names that the tests make, move and remove, or look for in vain. */
static const char * const names[] = {
	"a", "b", "bb", "d", "e", "f", "x", "sub", "link", "named", "device",
	"between", "next", "none", "quiet",
	"a name that is longer than a word or two",
};

#define NAMES		(sizeof(names) / sizeof(*names))

static struct {
	struct { u64 inode, stamp; int err; } name[DIRS][NAMES];
	struct mios_fs_attr attr[FILES_];
	u64 id[DIRS];
} known;

static int look(struct mios_fs *fs, u64 dir, u32 i, u64 *inode, u64 *stamp)
{
	const struct mios_fs_name name = fs_name(names[i]);
	int err = mios_fs_lookup(fs, dir, &name, inode, stamp);

	if (err)
		*inode = 0;
	return err;
}

void believed_take(struct mios_fs *fs)
{
	u64 dir, number;
	u32 i;

	memset(&known, 0, sizeof(known));
	for (dir = 1; dir < DIRS; dir++) {
		known.id[dir] = inode_at(fs, dir)->id;
		for (i = 0; i < NAMES; i++)
			known.name[dir][i].err =
				look(fs, dir, i, &known.name[dir][i].inode,
				     &known.name[dir][i].stamp);
	}
	for (number = 1; number < FILES_; number++)
		if (mios_fs_stat(fs, number, &known.attr[number]))
			known.attr[number].id = 0;
}

/* A directory that is another one by now is not open here: nobody asks. */
static unsigned long names_hold(struct mios_fs *fs, u64 dir)
{
	unsigned long nr = 0;
	u64 inode, stamp;
	int err;
	u32 i;

	for (i = 0; i < NAMES; i++) {
		if (!mios_fs_stamp_holds(fs, known.name[dir][i].stamp))
			continue;
		nr++;
		err = look(fs, dir, i, &inode, &stamp);
		/* believed: a name */
		CHECK(err == known.name[dir][i].err &&
		      inode == known.name[dir][i].inode);
		CHECK(stamp == known.name[dir][i].stamp);
	}
	return nr;
}

unsigned long believed_hold(struct mios_fs *fs)
{
	struct mios_fs_attr now;
	unsigned long nr = 0;
	u64 number;

	for (number = 1; number < DIRS; number++)
		if (known.id[number] && inode_at(fs, number)->id ==
					known.id[number])
			nr += names_hold(fs, number);
	for (number = 1; number < FILES_; number++) {
		if (!known.attr[number].id ||
		    mios_fs_sequence(fs, number) != known.attr[number].sequence)
			continue;
		/* believed: attributes */
		CHECK(!mios_fs_stat(fs, number, &now) &&
		      !memcmp(&now, &known.attr[number], sizeof(now)));
	}
	return nr;
}

void believed_hot(const struct mios_fs *fs)
{
	struct mios_fs_name name;
	u32 i;

	explore_hot(sequence_of_file(fs, MIOS_FS_ROOT));
	for (i = 0; i < 3; i++) {
		name = fs_name(names[i]);
		explore_hot(sequence_of_name(fs, mios_name_hash(fs, MIOS_FS_ROOT,
								&name)));
	}
}

/* Names in directories that nobody changes, as others come and go elsewhere. */
void test_believed(void)
{
	const u64 root = MIOS_FS_ROOT;
	unsigned long before, asked = 0, looked = 0;
	struct mios_fs *one, *two;
	struct mios_fs_place at;
	char name[16];
	struct world w;
	u64 dir, nr;
	u32 turn;

	world_make(&w);
	one = &w.fs[1];
	two = &w.fs[2];
	for (nr = 0; nr < 3; nr++) {
		snprintf(name, sizeof(name), "quiet %llu", nr);
		dir = fs_make(one, root, name, 0040755);
		fs_make(one, dir, "x", 0100644);
		fs_make(one, dir, "f", 0100644);
	}
	dir = fs_make(one, root, "busy", 0040755);
	for (turn = 0; turn < 1000; turn++) {
		believed_take(two);
		before = believed_hold(two);
		snprintf(name, sizeof(name), "%u", turn);
		fs_make(one, dir, name, 0100644);
		asked += before - believed_hold(two);
		if (turn & 1) {
			at = fs_place(one, dir, name);
			CHECK(!mios_fs_remove(one, &at, false, turn));
			CHECK(!fs_reap(one, at.file.inode));
		}
		looked += before;
	}
	printf("names that were asked for again: %lu of %lu\n", asked, looked);
	CHECK(looked && asked < looked / 500);
	WHOLE(one, 0);
	world_forget(&w);
}
