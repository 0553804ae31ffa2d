// SPDX-License-Identifier: GPL-2.0
/*
 * Locks of files at random, beside a model that knows of each owner and each
 * byte whether he has it: the table says the same after every step.
 */
#include "../../../mios/memory/fs/tx.h"
#include "fstest.h"

#define FILES		3
#define FIRST		1	/* instance; 0 recovers the others */
#define INSTANCES	3
#define OWNERS		3	/* of each: one of each kind */
#define ALL		(INSTANCES * OWNERS)
#define BYTES		40	/* the last stands for all that come after it */
#define EXCL		MIOS_FS_FILELOCK_EXCLUSIVE
#define SOUND		1024	/* steps from one look at the whole to the next */

enum { NONE, SHARED, EXCLUSIVE };

/* Owner 0 calls flock(), 1 is a process, and 2 an open file description. */
static const u32 kinds[OWNERS] = {
	MIOS_FS_FILELOCK_FLOCK, MIOS_FS_FILELOCK_POSIX, MIOS_FS_FILELOCK_OFD,
};

/**
 * struct step - what somebody does
 * @file:	to which file
 * @by:		who: his place in the model
 * @fs:		his instance's view
 * @first, @last: of the model's bytes
 * @how:	SHARED or EXCLUSIVE
 */
struct step {
	u32 file;
	u32 by;
	struct mios_fs *fs;
	u32 first;
	u32 last;
	u8 how;
};

static struct world w;
static u64 file[FILES];
static u8 model[FILES][ALL][BYTES];
static u64 seed;

static u32 random_below(u32 end)
{
	return test_random(&seed) % end;
}

static struct mios_fs_lock_wish wish_of(const struct step *s)
{
	return (struct mios_fs_lock_wish) {
		.inode = file[s->file],
		.id = inode_at(&w.fs[0], file[s->file])->id,
		.kind = kinds[s->by % OWNERS], .exclusive = s->how == EXCLUSIVE,
		/* In all instances the same. */
		.owner = s->by % OWNERS, .first = s->first,
		.last = s->last == BYTES - 1 ? ~0ull : s->last,
	};
}

static bool conflict(u8 a, u8 b)
{
	return a && b && (a == EXCLUSIVE || b == EXCLUSIVE);
}

/* Do two owners know of each other? */
static bool meet(u32 a, u32 b)
{
	return a != b && !(a % OWNERS) == !(b % OWNERS);
}

/* Does an owner have what is in the way of a step? */
static bool hinders(const struct step *s, u32 owner)
{
	u32 i;

	if (!meet(s->by, owner))
		return false;
	for (i = s->first; i <= s->last; i++)
		if (conflict(model[s->file][owner][i], s->how))
			return true;
	return false;
}

static bool is_hindered(const struct step *s)
{
	u32 i;

	for (i = 0; i < ALL; i++)
		if (hinders(s, i))
			return true;
	return false;
}

static void model_set(const struct step *s, u8 value)
{
	memset(&model[s->file][s->by][s->first], value, s->last - s->first + 1);
}

static void take(const struct step *s)
{
	struct mios_fs_lock_wish wish = wish_of(s);
	bool hindered = is_hindered(s);
	int err = mios_fs_lock_take(s->fs, &wish, false);

	CHECK(!wish.tell);
	if (hindered) {
		CHECK(err == -EAGAIN);
		if (!(s->by % OWNERS))
			model_set(s, NONE);
		return;
	}
	while (err == MIOS_FS_LOCK_MORE)
		err = mios_fs_lock_trim(s->fs, &wish);
	CHECK(!err);
	model_set(s, s->how);
}

static void drop(const struct step *s)
{
	struct mios_fs_lock_wish wish = wish_of(s);
	int err;

	do {
		err = mios_fs_lock_drop(s->fs, &wish);
	} while (err == MIOS_FS_LOCK_MORE);
	CHECK(!err);
	model_set(s, NONE);
}

static void test(const struct step *s)
{
	const struct mios_fs_lock_wish wish = wish_of(s);
	struct mios_fs_lock_wish other;
	int found = mios_fs_lock_test(s->fs, &wish, &other);
	u32 owner;

	CHECK(found == is_hindered(s));
	if (!found)
		return;
	owner = (other.instance - FIRST) * OWNERS + other.owner;
	CHECK(owner < ALL && other.kind == kinds[owner % OWNERS]);
	CHECK(hinders(s, owner));
}

/* All that an instance has goes; it boots again. */
static void die(u32 instance)
{
	struct mios_fs *fs = &w.fs[instance];
	u32 i;

	CHECK(!fs_recover(&w.fs[0], instance, w.pool[instance].epoch));
	for (i = 0; i < FILES; i++)
		memset(model[i][(instance - FIRST) * OWNERS], NONE,
		       OWNERS * BYTES);
	w.pool[instance].epoch++;
	CHECK(!mios_fs_attach(fs, &w.pool[instance],
			      mios_pool_memory(&w.pool[instance], w.image),
			      w.image, w.parts[instance]));
	world_locks(&w);
}

static void record_read(u8 (*said)[BYTES], const struct mios_fs_filelock *lock)
{
	u32 owner = ((lock->who & 0xff) - FIRST) * OWNERS + lock->owner;
	u32 flags = lock->file >> 32;
	u64 i;

	CHECK(owner < ALL && lock->owner < OWNERS);
	CHECK((flags & ~EXCL) == kinds[lock->owner]);
	CHECK(lock->last < BYTES - 1 || lock->last == ~0ull);
	for (i = lock->first; i <= lock->last && i < BYTES; i++) {
		CHECK(said[owner][i] == NONE);
		said[owner][i] = flags & EXCL ? EXCLUSIVE : SHARED;
	}
}

/* What the table says of a file, from its layout alone. */
static void table_read(u8 (*said)[BYTES], u64 inode)
{
	const struct mios_fs_filelocks *table = filelocks_of(&w.fs[0]);
	u64 at = table->chain[inode % MIOS_FS_FILELOCK_CHAINS];

	memset(said, NONE, ALL * BYTES);
	for (; at; at = table->lock[at].next)
		if ((u32)table->lock[at].file == inode)
			record_read(said, &table->lock[at]);
}

static void nobody_is_in_the_way(u8 (*said)[BYTES])
{
	u32 a, b, i;

	for (a = 0; a < ALL; a++)
		for (b = a + 1; b < ALL; b++)
			for (i = 0; meet(a, b) && i < BYTES; i++)
				CHECK(!conflict(said[a][i], said[b][i]));
}

static void compare(void)
{
	u8 said[ALL][BYTES];
	u32 i;

	for (i = 0; i < FILES; i++) {
		table_read(said, file[i]);
		CHECK(!memcmp(said, model[i], sizeof(said)));
		nobody_is_in_the_way(said);
	}
}

static struct step step_make(void)
{
	struct step s = {
		.file = random_below(FILES), .by = random_below(ALL),
		.first = random_below(BYTES), .how = SHARED,
	};

	s.fs = &w.fs[FIRST + s.by / OWNERS];
	s.last = s.first;
	if (!random_below(4))
		s.how = EXCLUSIVE;
	/* Few are long: there are to be many pieces. */
	if (!random_below(4))
		s.last += random_below(BYTES - s.first);
	if (s.by % OWNERS == 0 || !random_below(64)) {
		s.first = 0;
		s.last = BYTES - 1;
	}
	return s;
}

static void one_step(void)
{
	struct step s = step_make();
	u32 what = random_below(512);

	if (!what)
		die(FIRST + random_below(INSTANCES));
	else if (what < 128)
		drop(&s);
	else if (what < 192)
		test(&s);
	else
		take(&s);
	compare();
}

void test_filelocks_random(u64 from, unsigned long steps)
{
	unsigned long i;
	char name[2] = "a";

	seed = from;
	memset(model, NONE, sizeof(model));
	world_make(&w);
	for (i = 0; i < FILES; i++, name[0]++)
		file[i] = fs_make(&w.fs[0], MIOS_FS_ROOT, name, 0100644);
	for (i = 0; i < steps; i++) {
		one_step();
		if (i % SOUND == 0)
			WHOLE(&w.fs[0], 0);
	}
	WHOLE(&w.fs[0], 0);
	world_forget(&w);
}
