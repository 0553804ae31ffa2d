/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The image of miosfs: names and attributes of the files whose pages lie in
 * the pools.  It lies in whole extents of one pool, outlives all kernels, and
 * is written by all of them.  Its first extent:
 *
 *   super  | redo    | waiters | segments | lock  | locks of | parts  | keys  | ...
 *   1 page | records | 64 KiB  | 192 KiB  | 8 KiB | files    | 260    | 8 KiB |
 *          | 64 pages                             | 162 KiB  | KiB    |
 *
 *   ... buckets | sequences | inodes    | entries
 *       32 KiB  | 64 KiB    | 128 bytes | 128 bytes
 *
 * When inodes, entries or segments run out, another extent becomes a part of it,
 * for ever:
 *
 *   of inodes   inodes     of entries  buckets | entries     of segments  segments | columns
 *               16,384                 128 KiB | 15,360                   4,096    | 1 MiB
 *
 *   of users, once there is a share of each    3,968 users | columns, 1,984 KiB
 *
 * Nearly all words are changed under one lock (mios/lock.h), through the redo
 * record of who holds it, so that a death leaves all or nothing of a change.  The others are
 * changed by compare-and-exchange and say so.  Everything is a word of eight
 * bytes, or bytes of a name; what refers to something is its number, and a
 * reader checks it.
 */
#ifndef _MIOS_FS_LAYOUT_H
#define _MIOS_FS_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <mios/filelocks.h>
#include <mios/lock.h>

#define MIOS_FS_MAGIC		0x47414d4953464f4dULL
#define MIOS_FS_VERSION		14
#define MIOS_FS_INSTANCES	64u
#define MIOS_FS_NAME		255u
#define MIOS_FS_PAGE		4096u
#define MIOS_FS_BUCKETS		4096u	/* in the first extent */
#define MIOS_FS_ROOT		1u	/* inode number; 0 is none */
#define MIOS_FS_TYPE		0170000u	/* as in stat(2) */
#define MIOS_FS_DIRECTORY	0040000u
#define MIOS_FS_CHARACTERS	0020000u	/* devices */
#define MIOS_FS_BLOCKS		0060000u

/* ->object of the extents that the image lies in: the first, and each part. */
#define MIOS_FS_IMAGE		(~0ULL)
#define MIOS_FS_PART		(1ULL << 63)	/* | kind << 32 | which part */
#define MIOS_FS_PART_KIND	32

/*
 * The number of an inode or an entry: in which part it is, and from bit 0 on
 * where there.  Part 0 is in the first extent, and shorter.
 */
#define MIOS_FS_PART_SHIFT	14
#define MIOS_FS_PART_NUMBERS	(1u << MIOS_FS_PART_SHIFT)
#define MIOS_FS_PARTS		16384u	/* of each kind */

enum mios_fs_kind {
	MIOS_FS_INODES,
	MIOS_FS_ENTRIES,
	MIOS_FS_SEGMENTS_KIND,	/* see there: they are not counted like that */
	MIOS_FS_USERS_KIND,	/* nor are these: there is one part, or none */
	MIOS_FS_KINDS
};

/*
 * The lock, a queue: who changes something waits at the seat of the instance's
 * number; who recovers the dead at that plus MIOS_FS_INSTANCES, and not behind
 * tasks of its own instance.  A place for each.
 */
#define MIOS_FS_PLACES		(2 * MIOS_FS_INSTANCES)
#define MIOS_FS_LOCK_SIZE	(sizeof(struct mios_lock_header) + \
				 MIOS_FS_PLACES * MIOS_LOCK_LINE)

static_assert(MIOS_FS_PLACES <= MIOS_LOCK_PLACES_MAX);

/**
 * struct mios_fs_super - first page
 * @magic:	MIOS_FS_MAGIC, released last
 * @version:	MIOS_FS_VERSION
 * @size:	bytes of this structure
 * @self:	physical address of the image
 * @key:	of the hash of names: so nobody can have many in one bucket
 * @sequence:	of segments; see struct mios_fs_sequences
 * @next_id:	id of the next file; none ever comes back
 * @buckets:	that names are in: as linear hashing has it, they grow one by one
 * @names:	that there are
 * @last_segment: the last of the free ones
 * @table:	of each kind
 * @table.free:	first of the free ones, linked by ->next
 * @table.fresh: the first number that has never been used, nor any behind it
 * @table.parts: how many there are, part 0 included
 * @table.used:	numbers that are in use
 * @share_pages: no page is taken for a user's files while he has as many; 0: none
 * @share_files: nor is a file or name made; 0: none
 */
struct mios_fs_super {
	__u64 magic;
	__u32 version;
	__u32 size;
	__u64 self;
	__u64 key[2];
	__u64 sequence;
	__u64 next_id;
	__u64 buckets;
	__u64 names;
	__u64 last_segment;
	struct mios_fs_table {
		__u64 free;
		__u64 fresh;
		__u64 parts;
		__u64 used;
	} table[MIOS_FS_KINDS];
	__u64 share_pages;
	__u64 share_files;
};

static_assert(offsetof(struct mios_fs_super, sequence) == 40);
static_assert(offsetof(struct mios_fs_super, share_pages) == 208);
static_assert(sizeof(struct mios_fs_super) == 224);

/*
 * How a reader knows that something is as it was: its sequence is.  Who holds the
 * lock makes it odd, changes what it stands for, and makes it even: the next one,
 * and none ever comes back.  What is in one group has one sequence.
 */
#define MIOS_FS_GROUP_BITS	12
#define MIOS_FS_GROUPS		(1u << MIOS_FS_GROUP_BITS)

/**
 * struct mios_fs_sequences - of names and files
 * @name:	of names, by the lower bits of their hash: so what is in one bucket is
 *		in one group, also after that has been split
 * @file:	of attributes, and of a directory's list of names, by the lower bits of
 *		the number of the inode
 */
struct mios_fs_sequences {
	__u64 name[MIOS_FS_GROUPS];
	__u64 file[MIOS_FS_GROUPS];
};

static_assert(MIOS_FS_BUCKETS % MIOS_FS_GROUPS == 0);
static_assert(offsetof(struct mios_fs_sequences, file) == 32768);
static_assert(sizeof(struct mios_fs_sequences) == 65536);

/*
 * One word of a change: what lies at @phys, an address, becomes @value; a sequence
 * becomes the next one.
 */
struct mios_fs_store {
	__u64 phys;
	__u64 value;
};

#define MIOS_FS_STORES		255u

/**
 * struct mios_fs_redo - a change, one record for each instance
 * @count:	entries of @store, released when they are complete; 0: none
 * @used:	pages that this instance has taken for files, less those that it has
 *		freed, whoever had taken them: the sum of all is what is used (it alone)
 * @store:	the change; may be carried out any number of times
 */
struct mios_fs_redo {
	__u64 count;
	__u64 used;
	struct mios_fs_store store[MIOS_FS_STORES];
};

static_assert(sizeof(struct mios_fs_redo) == MIOS_FS_PAGE);

/**
 * struct mios_fs_inode - a file
 * @id:		which file it is, 0: free
 * @mode:	type and permissions; the upper half: names that it has
 * @owner:	uid; the upper half: gid
 * @size:	bytes
 * @atime, @mtime, @ctime: ns
 * @parent:	of a directory: the one that it is in; of a file: which instance
 *		has made it, and from MIOS_FS_MAKER_EPOCH on in which epoch; the
 *		upper half: the file that has its extended attributes, 0: none; in
 *		that file: MIOS_FS_ATTRIBUTES_OF and whose they are
 * @next:	of a free one: the next free one; of a device file: which device, as
 *		the kernel's huge_encode_dev() has it; of any other: where its pages
 *		are to be, MIOS_FS_POLICY_* (whoever has it open)
 * @root:	physical address of the top page of its index, and in the low
 *		bits how many levels that has; 0: none (compare-and-exchange)
 * @open:	bit i: instance i has it open (atomic)
 * @pages:	that it has, those of its index not counted: counted before one is
 *		there, and taken off when it has gone, so that each death may leave
 *		it too large, never too small (atomic); of a directory: the name
 *		that has come into it last
 * @cut:	lower half, not 0: the pages from that number - 1 on are still to be
 *		removed; upper half: the user who pays for it, 0: nobody does
 * @hole:	not 0: pages that are being removed, from the lower half up to
 *		before the upper half (who is @cutter)
 * @left:	lower half, not 0: pages from that number - 1 on may lie beyond
 *		the end of the file, mapped by nobody; upper half: how often
 *		that has been said (compare-and-exchange)
 * @cutter:	bit 0: somebody removes pages; MIOS_FS_CUTTER_*: which instance,
 *		6 bits, in which epoch; all of them, since the file has no name and
 *		nobody has it open (compare-and-exchange)
 */
struct mios_fs_inode {
	__u64 id;
	__u64 mode;
	__u64 owner;
	__u64 size;
	__u64 atime;
	__u64 mtime;
	__u64 ctime;
	__u64 parent;
	__u64 next;
	__u64 root;
	__u64 open;
	__u64 pages;
	__u64 cut;
	__u64 hole;
	__u64 left;
	__u64 cutter;
};

static_assert(sizeof(struct mios_fs_inode) == 128);

#define MIOS_FS_MAKER_EPOCH	8
#define MIOS_FS_CUTTER_OWNER	1
#define MIOS_FS_CUTTER_EPOCH	7
#define MIOS_FS_CUTTER_FREES	(1ULL << 63)

/*
 * Extended attributes of a file lie in a file of their own, whose only name is the
 * upper half of ->parent there: one behind the other, each at a multiple of eight
 * bytes.
 */
#define MIOS_FS_ATTRIBUTES	131072u	/* bytes of all that a file has */
#define MIOS_FS_ATTRIBUTES_OF	(1u << 31)

/**
 * struct mios_fs_attribute - one of them
 * @size:	bytes of the value, which follows the name
 * @length:	bytes of the name
 * @name:	without "user."
 */
struct mios_fs_attribute {
	__u32 size;
	__u32 length;
	__u8 name[];
};

static_assert(sizeof(struct mios_fs_attribute) == 8);

/* A policy: a mode, and from MIOS_FS_POLICY_NODES on a bit for each node. */
#define MIOS_FS_POLICY_MODE	7ull
#define MIOS_FS_POLICY_EAGER	8ull	/* pages at once, as far as it reaches */
#define MIOS_FS_POLICY_NODES	4
#define MIOS_FS_POLICY_MAX	60	/* nodes below this */

enum mios_fs_policy {
	MIOS_FS_DEFAULT = 0,	/* as who needs the page wishes */
	MIOS_FS_LOCAL,		/* on his node */
	MIOS_FS_PREFERRED,	/* on this one, if it has any left */
	MIOS_FS_BIND,		/* on these alone */
	MIOS_FS_INTERLEAVE,	/* in turn on these */
};

/*
 * An index page is 512 words: 0, or the physical address of a page of the
 * level below; level 1 refers to the pages of the file.
 */
#define MIOS_FS_FANOUT		512u
#define MIOS_FS_LEVELS		3u	/* 512 GiB */

/* ->object of a page: inode, level (0: of the file), and where in the file. */
#define MIOS_FS_OBJECT_LEVEL	32
#define MIOS_FS_OBJECT_INODE	36

#define MIOS_FS_ENTRY_NAME	80u
#define MIOS_FS_REST_NAME	120u

/**
 * struct mios_fs_entry - a name
 * @next:	the next of its bucket, or of the free ones; the upper half: the
 *		entry that has the rest of a long name
 * @parent:	number of its directory, 0: free; the upper half: bytes of the name
 * @inode:	what it names
 * @hash:	of directory and name
 * @born:	the directory's sequence when it had come into it
 * @beside:	in its directory: the one that came before it; the upper half: the
 *		one that came after it
 * @name:	how it begins; the last word is filled up with 0
 */
struct mios_fs_entry {
	__u64 next;
	__u64 parent;
	__u64 inode;
	__u64 hash;
	__u64 born;
	__u64 beside;
	__u8 name[MIOS_FS_ENTRY_NAME];
};

/**
 * struct mios_fs_rest - how a long name goes on, in the place of an entry
 * @next:	the next of the free ones; the upper half: where it goes on further
 * @name:	filled up with 0
 */
struct mios_fs_rest {
	__u64 next;
	__u8 name[MIOS_FS_REST_NAME];
};

static_assert(sizeof(struct mios_fs_entry) == 128);
static_assert(sizeof(struct mios_fs_rest) == 128);
static_assert(MIOS_FS_ENTRY_NAME + 2 * MIOS_FS_REST_NAME >= MIOS_FS_NAME);

/*
 * Waiters: a column for each instance, which it alone writes: how many of its
 * tasks are about to wait, or wait, on a futex of this image.  A futex belongs
 * to an entry by its key, which is @sequence, @page (its place in the file, in
 * pages) and @offset (in that page, in bytes):
 *
 *   ((sequence ^ (page << 10 | offset >> 2) * MIX) * MIX) >> 56	mod 2^64
 *
 * @sequence is the number of the image's extent, by physical address, and the
 * file's id; with bit 63 it is a futex that other instances know.
 */
#define MIOS_FS_WAITERS		256u	/* entries of a column, 4 bytes each */
#define MIOS_FS_WAITERS_MIX	0x61c8864680b583ebULL
#define MIOS_FS_SEQUENCE_IMAGE	40
#define MIOS_FS_SEQUENCE_SHARED	(1ULL << 63)

/*
 * Segments of System V shared memory: each is a file, whose only name is the
 * segment.  The first ones lie in the first extent, the others in parts.  The id
 * of segment i is
 *
 *   sequence << 16 | i / MIOS_FS_SEGMENT_INDICES << 15 |
 *   (1 << 15) - 1 - i % MIOS_FS_SEGMENT_INDICES
 *
 * so that its lower 15 bits are an index that Linux does not give out, which counts
 * from 0 on, and to 4,095 unless somebody says more.
 */
#define MIOS_FS_SEGMENTS	32768u
#define MIOS_FS_FIRST_SEGMENTS	512u
#define MIOS_FS_PART_SEGMENTS	4096u
#define MIOS_FS_SEGMENT_SHIFT	15
#define MIOS_FS_SEGMENT_INDICES	28672u
#define MIOS_FS_SEQUENCES	0x8000u
#define MIOS_FS_SEGMENT_DEST	01000u	/* gone when nobody has it attached */
#define MIOS_FS_KEYS		1024u	/* chains of segments that have a key */

/**
 * struct mios_fs_segment - a segment
 * @inode:	of its file, 0: free
 * @key:	its key; the upper half: its sequence, or that of the last one
 * @mode:	permissions, and MIOS_FS_SEGMENT_DEST
 * @owner:	uid; the upper half: gid
 * @creator:	the same, of who has made it
 * @size:	bytes that were asked for
 * @atime, @dtime, @ctime: s: attached, detached (whoever does it), changed
 * @pids:	of who has made it; the upper half: of who has attached or
 *		detached it last (whoever does it)
 * @freeing:	not 0 while it is freed (who holds the lock)
 * @next:	number of the next of its chain, or of the free ones, plus 1; 0: none
 * @reserved:	0
 */
struct mios_fs_segment {
	__u64 inode;
	__u64 key;
	__u64 mode;
	__u64 owner;
	__u64 creator;
	__u64 size;
	__u64 atime;
	__u64 dtime;
	__u64 ctime;
	__u64 pids;
	__u64 freeing;
	__u64 next;
	__u64 reserved[4];
};

static_assert(sizeof(struct mios_fs_segment) == 128);

/*
 * Behind them a column for each instance, which it alone writes, until it is
 * dead: how often its tasks have each attached, 4 bytes each.
 */

/*
 * Users that have made files: a slot for each, found by a hash of the uid.  Slot 0 is
 * nobody's, slot 1 that of all together for whom there was no other one.
 */
#define MIOS_FS_USERS		3968u
#define MIOS_FS_USER_OTHERS	1u

/**
 * struct mios_fs_user - who pays for files
 * @uid:	his, plus 1; 0: there has been none; of the others: all ones
 * @files:	that he pays for, and names of them beyond the first of each; 0: the
 *		slot may become another user's
 */
struct mios_fs_user {
	__u64 uid;
	__u64 files;
};

static_assert(sizeof(struct mios_fs_user) == 16);

/*
 * Behind them a column for each instance, 8 bytes for each user: the pages, those of
 * indices too, that it has taken for his files, less those that it has freed, as
 * ->used of a redo record (it alone; and, while he has no file, who has the lock).
 * Each death may leave the sum too large, never too small.
 */
static_assert(MIOS_FS_USERS * (sizeof(struct mios_fs_user) +
			       MIOS_FS_INSTANCES * 8) <= 2u << 20);

#define MIOS_FS_REDO_AT		MIOS_FS_PAGE
#define MIOS_FS_WAITERS_AT	((1 + MIOS_FS_INSTANCES) * MIOS_FS_PAGE)
#define MIOS_FS_SEGMENTS_AT	(MIOS_FS_WAITERS_AT + \
				 MIOS_FS_INSTANCES * MIOS_FS_WAITERS * 4)
#define MIOS_FS_ATTACHED_AT	(MIOS_FS_SEGMENTS_AT + \
				 MIOS_FS_FIRST_SEGMENTS * \
				 sizeof(struct mios_fs_segment))
#define MIOS_FS_LOCK_AT		(MIOS_FS_ATTACHED_AT + MIOS_FS_INSTANCES * \
				 MIOS_FS_FIRST_SEGMENTS * 4)
#define MIOS_FS_FILELOCKS_AT	(MIOS_FS_LOCK_AT + MIOS_FS_LOCK_SIZE)
/* Which extent each part is: section << 32 | extent; 0: none. */
#define MIOS_FS_PARTS_AT	((MIOS_FS_FILELOCKS_AT + \
				  sizeof(struct mios_fs_filelocks) + \
				  MIOS_FS_PAGE - 1) & ~(MIOS_FS_PAGE - 1ul))
/* Of segments there are a few; that of users is in the same page. */
#define MIOS_FS_KEYS_AT		(MIOS_FS_PARTS_AT + \
				 MIOS_FS_SEGMENTS_KIND * MIOS_FS_PARTS * 8 + \
				 MIOS_FS_PAGE)
#define MIOS_FS_USERS_PART_AT	(MIOS_FS_KEYS_AT - MIOS_FS_PAGE / 2)
#define MIOS_FS_BUCKETS_AT	(MIOS_FS_KEYS_AT + MIOS_FS_KEYS * 8)
#define MIOS_FS_SEQUENCES_AT	(MIOS_FS_BUCKETS_AT + MIOS_FS_BUCKETS * 8)
#define MIOS_FS_INODES_AT	(MIOS_FS_SEQUENCES_AT + \
				 sizeof(struct mios_fs_sequences))
#define MIOS_FS_FIRST		3984u	/* numbers of part 0 of each kind */
#define MIOS_FS_ENTRIES_AT	(MIOS_FS_INODES_AT + MIOS_FS_FIRST * \
				 sizeof(struct mios_fs_inode))
#define MIOS_FS_IMAGE_END	(MIOS_FS_ENTRIES_AT + MIOS_FS_FIRST * \
				 sizeof(struct mios_fs_entry))

/* Of the other parts of entries the first ones are buckets: as many as numbers. */
#define MIOS_FS_PART_BUCKETS	MIOS_FS_PART_NUMBERS
#define MIOS_FS_PART_ENTRIES_AT	(MIOS_FS_PART_BUCKETS * 8 / \
				 sizeof(struct mios_fs_entry))

static_assert(MIOS_FS_WAITERS_AT == 266240);
static_assert(MIOS_FS_SEGMENTS_AT == 331776);
static_assert(MIOS_FS_LOCK_AT == 528384);
static_assert(MIOS_FS_FILELOCKS_AT == 536704);
static_assert(MIOS_FS_PARTS_AT == 704512);
static_assert(MIOS_FS_USERS_PART_AT == 968704);
static_assert(MIOS_FS_KEYS_AT == 970752);
static_assert(MIOS_FS_BUCKETS_AT == 978944);
static_assert(MIOS_FS_SEQUENCES_AT == 1011712);
static_assert(MIOS_FS_INODES_AT == 1077248);
static_assert(MIOS_FS_IMAGE_END == 2u << 20);
static_assert(MIOS_FS_PART_ENTRIES_AT == 1024);

#endif /* _MIOS_FS_LAYOUT_H */
