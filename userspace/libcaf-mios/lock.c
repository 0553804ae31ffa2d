// SPDX-License-Identifier: GPL-2.0
/*
 * Locks and critical constructs: a word that says whose it is.  Whoever waits
 * says for which word, so that who unlocks it wakes those alone.  If the owner
 * has failed the lock is the next one's, who is told.
 */
#include "caf.h"

struct caf_lock {
	_Atomic uint32_t owner;		/* image number + 1, 0: open */
} __attribute__((aligned(CAF_LINE)));

struct attempt {
	struct caf_lock *lock;
	uint32_t before;		/* whose it was */
};

static bool owner_has(uint32_t owner, enum caf_state state)
{
	return owner && owner <= caf_self.window->nr_images &&
	       image_state(owner - 1) == state;
}

/* It is open, or its owner is dead. */
static bool try_lock(struct attempt *a)
{
	a->before = atomic_load(&a->lock->owner);
	return (!a->before || owner_has(a->before, CAF_DEAD)) &&
	       atomic_compare_exchange_strong(&a->lock->owner, &a->before,
					      caf_self.number + 1);
}

/* Nobody unlocks what an image has that has stopped. */
static bool lock_ends(void *ctx)
{
	struct attempt *a = ctx;

	return try_lock(a) || owner_has(a->before, CAF_STOPPED);
}

static void lock_error(const struct caf_report *report, uint32_t owner)
{
	if (owner == caf_self.number + 1)
		caf_error(report, CAF_STAT_LOCKED, "this image has the lock");
	else
		caf_error(report, CAF_STAT_STOPPED, "image %u has stopped with "
			  "the lock", owner);
}

/* Whoever had it may have left it half done; a critical construct cannot say. */
static void lock_taken(const struct caf_report *report,
		       const struct attempt *a, bool critical)
{
	if (a->before && !critical)
		caf_error(report, CAF_STAT_UNLOCKED_FAILED,
			  "image %u has failed with the lock", a->before);
	else
		caf_ok(report);
}

static struct caf_lock *lock_at(void *token, size_t index, int image)
{
	return (struct caf_lock *)token_at(token, team_image(caf_team, image),
					   index * sizeof(struct caf_lock));
}

void _gfortran_caf_lock(void *token, size_t index, int image, int *acquired,
			int *stat, char *text, size_t len)
{
	struct caf_report report = { stat, text, len };
	struct attempt a = { .lock = lock_at(token, index, image) };
	bool mine, taken;

	mine = atomic_load(&a.lock->owner) == caf_self.number + 1;
	if (acquired) {
		taken = !mine && try_lock(&a);
		*acquired = taken;
	} else {
		image_at(caf_self.number)->wants = a.lock;
		taken = !mine;
		if (taken)
			wait_until(lock_ends, &a);
		image_at(caf_self.number)->wants = NULL;
		taken = taken && !owner_has(a.before, CAF_STOPPED);
	}
	if (taken)
		lock_taken(&report, &a, token_of(token)->type == CAF_CRITICAL);
	else if (acquired)
		caf_ok(&report);
	else
		lock_error(&report, mine ? caf_self.number + 1 : a.before);
}

void _gfortran_caf_unlock(void *token, size_t index, int image, int *stat,
			  char *text, size_t len)
{
	struct caf_report report = { stat, text, len };
	struct caf_lock *lock = lock_at(token, index, image);
	uint32_t owner = caf_self.number + 1, i;

	if (!atomic_compare_exchange_strong(&lock->owner, &owner, 0)) {
		if (owner)
			caf_error(&report, CAF_STAT_LOCKED_OTHER_IMAGE,
				  "image %u has the lock", owner);
		else
			caf_error(&report, CAF_STAT_UNLOCKED,
				  "the lock is open");
		return;
	}
	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < caf_self.window->nr_images; i++)
		if (image_at(i)->wants == lock)
			bell_ring(i);
	caf_ok(&report);
}
