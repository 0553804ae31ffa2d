// SPDX-License-Identifier: GPL-2.0
/*
 * The register lock for programs: /dev/mios_register maps the register, uncached,
 * and what stands beside it in memory.  Who waits looks a few times, then naps:
 * a register wakes nobody.  The kernel recovers what a dead process had.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../mios/reglock/register.h"
#include "life.h"
#include "mios_reglock.h"

#define PAGE		4096
#define NAP_NS		20000l
#define SECOND_NS	1000000000l

/* What is in a struct mios_reglock. */
struct view {
	struct mios_register reg;
	u8 *page;		/* the register's */
	struct timespec until;
	u32 at, flush;
	u32 pauses;
	int fd;
	u32 size;		/* of the memory beside it */
	bool timed;
};

static_assert(sizeof(struct view) <= sizeof(struct mios_reglock));

static struct view *view_of(struct mios_reglock *opaque)
{
	return (struct view *)opaque;
}

static u32 peek(const struct view *view, u32 at)
{
	return *(volatile u32 *)(view->page + at);
}

static u32 register_read(void *ctx)
{
	struct view *view = ctx;

	return peek(view, view->at);
}

/* The read behind it waits until the write is there. */
static void register_clear(void *ctx)
{
	struct view *view = ctx;

	*(volatile u32 *)(view->page + view->at) = 0;
	peek(view, view->flush);
}

static void pause_a_bit(void *ctx, u64 *word, u64 value)
{
	static const struct timespec nap = { 0, NAP_NS };
	struct view *view = ctx;

	if (++view->pauses % SPINS)
		__builtin_ia32_pause();
	else
		nanosleep(&nap, NULL);
}

static bool is_late(void *ctx)
{
	const struct view *view = ctx;
	struct timespec now;

	if (!view->timed)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > view->until.tv_sec ||
	       (now.tv_sec == view->until.tv_sec &&
		now.tv_nsec >= view->until.tv_nsec);
}

static const struct mios_register_ops ops = {
	.read = register_read, .clear = register_clear,
};

static const struct mios_lock_wait wait = {
	.pause = pause_a_bit, .late = is_late,
};

static int view_map(struct view *view, const struct mios_register_info *info)
{
	void *words;
	int err;

	if (info->at > PAGE - 4 || info->flush > PAGE - 4)
		return -EPROTO;
	view->at = info->at;
	view->flush = info->flush;
	view->size = info->size;
	view->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  view->fd, 0);
	if (view->page == MAP_FAILED)
		return -errno;
	words = mmap(NULL, view->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     view->fd, PAGE);
	if (words == MAP_FAILED) {
		err = -errno;
		munmap(view->page, PAGE);
		return err;
	}
	err = mios_register_attach(&view->reg, words, view->size, info->seat,
				   info->epoch);
	if (err) {
		munmap(words, view->size);
		munmap(view->page, PAGE);
	}
	return err;
}

int mios_reglock_open(struct mios_reglock *opaque, const char *path)
{
	struct view *view = view_of(opaque);
	struct mios_register_info info;
	int err = 0;

	memset(opaque, 0, sizeof(*opaque));
	view->fd = open(path ? path : MIOS_REGLOCK_PATH, O_RDWR | O_CLOEXEC);
	if (view->fd < 0)
		return -errno;
	if (read(view->fd, &info, sizeof(info)) != sizeof(info))
		err = -EPROTO;
	if (!err)
		err = view_map(view, &info);
	if (err) {
		close(view->fd);
		return err;
	}
	view->reg.ops = &ops;
	view->reg.wait = &wait;
	view->reg.ctx = view;
	return 0;
}

static bool has_it(const struct view *view)
{
	return view->reg.holds || view->reg.shares;
}

int mios_reglock_close(struct mios_reglock *opaque)
{
	struct view *view = view_of(opaque);

	if (has_it(view))
		return -EBUSY;
	munmap(view->reg.header, view->size);
	munmap(view->page, PAGE);
	close(view->fd);
	return 0;
}

static int lock(struct view *view, bool shared)
{
	if (has_it(view))
		return -EDEADLK;
	return shared ? mios_register_share(&view->reg) :
			mios_register_lock(&view->reg);
}

static int lock_for_ever(struct mios_reglock *opaque, bool shared)
{
	view_of(opaque)->timed = false;
	return lock(view_of(opaque), shared);
}

static int lock_until(struct mios_reglock *opaque, bool shared,
		      const struct timespec *until)
{
	if (until->tv_nsec < 0 || until->tv_nsec >= SECOND_NS)
		return -EINVAL;
	view_of(opaque)->timed = true;
	view_of(opaque)->until = *until;
	return lock(view_of(opaque), shared);
}

int mios_reglock_lock(struct mios_reglock *opaque)
{
	return lock_for_ever(opaque, false);
}

int mios_reglock_rdlock(struct mios_reglock *opaque)
{
	return lock_for_ever(opaque, true);
}

int mios_reglock_timedlock(struct mios_reglock *opaque,
			   const struct timespec *until)
{
	return lock_until(opaque, false, until);
}

int mios_reglock_timedrdlock(struct mios_reglock *opaque,
			     const struct timespec *until)
{
	return lock_until(opaque, true, until);
}

/* Late from the beginning: it looks once. */
int mios_reglock_tryrdlock(struct mios_reglock *opaque)
{
	static const struct timespec past = { 0, 0 };
	int err = lock_until(opaque, true, &past);

	return err == -ETIMEDOUT ? -EBUSY : err;
}

int mios_reglock_trylock(struct mios_reglock *opaque)
{
	struct view *view = view_of(opaque);

	return has_it(view) ? -EDEADLK : mios_register_try(&view->reg);
}

int mios_reglock_unlock(struct mios_reglock *opaque)
{
	return mios_register_unlock(&view_of(opaque)->reg);
}
