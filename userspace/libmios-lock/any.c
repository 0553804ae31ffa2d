// SPDX-License-Identifier: GPL-2.0
/*
 * A lock by name.  Who makes its file says in it what the lock is, and everybody
 * else follows that: two that chose for themselves would not exclude each other.
 * The file gets its name when all is in it, so nobody finds half of one.
 */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seat.h"

#include "mios_anylock.h"
#include "mios_reglock.h"

#define ANY_MAGIC	0x594e414b434f4cULL	/* "LOCKANY" */
#define ANY_VERSION	1
#define ANY_SEATS	64u	/* no fewer */

enum any_kind { ANY_QUEUE, ANY_REGISTER, ANY_KINDS };

/**
 * struct any_header - begins the file; behind it lies the queue lock, if it is one
 * @magic:	ANY_MAGIC
 * @version:	ANY_VERSION
 * @kind:	enum any_kind
 * @pad:	a cache line
 */
struct any_header {
	u64 magic;
	u32 version;
	u32 kind;
	u64 pad[6];
};

static_assert(sizeof(struct any_header) == MIOS_LOCK_LINE);

/* What is in a struct mios_anylock; @header: mapped, @size bytes. */
struct any {
	struct any_header *header;
	size_t size;
	u32 kind;
	union {
		struct mios_lock_seat seat;
		struct mios_reglock reg;
	};
};

static_assert(sizeof(struct any) <= sizeof(struct mios_anylock));

static struct any *any_of(struct mios_anylock *opaque)
{
	return (struct any *)opaque;
}

static enum any_kind choose(unsigned int contenders)
{
	return contenders >= MIOS_ANYLOCK_REGISTER_FROM &&
	       contenders <= MIOS_ANYLOCK_REGISTER_TO &&
	       !access(MIOS_REGLOCK_PATH, R_OK | W_OK) ?
		ANY_REGISTER : ANY_QUEUE;
}

static int map(struct any *any, int fd)
{
	void *memory = mmap(NULL, any->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	any->header = memory;
	return 0;
}

static void unmap(struct any *any)
{
	munmap(any->header, any->size);
}

static int fill(struct any *any, u32 kind, u32 seats)
{
	*any->header = (struct any_header){
		.magic = ANY_MAGIC, .version = ANY_VERSION, .kind = kind,
	};
	return kind == ANY_REGISTER ? 0 :
		mios_lock_init(any->header + 1, any->size - sizeof(*any->header),
			       seats);
}

/* -EEXIST: somebody was faster. */
static int publish(struct any *any, int fd, const char *path, u32 kind,
		   u32 seats)
{
	char self[32];
	int err;

	if (ftruncate(fd, any->size))
		return -errno;
	err = map(any, fd);
	if (err)
		return err;
	err = fill(any, kind, seats);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (!err && linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
		err = -errno;
	unmap(any);
	return err;
}

static int make(const char *path, unsigned int contenders)
{
	enum any_kind kind = choose(contenders);
	struct any any = { .size = sizeof(struct any_header) };
	u32 seats = 2 * contenders;
	char folder[PATH_MAX];
	int fd, err;

	if (seats < ANY_SEATS)
		seats = ANY_SEATS;
	if (seats > MIOS_LOCK_SEATS)
		seats = MIOS_LOCK_SEATS;
	if (kind == ANY_QUEUE)
		any.size += mios_lock_size(seats);
	if (snprintf(folder, sizeof(folder), "%s", path) >= sizeof(folder))
		return -ENAMETOOLONG;
	fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = publish(&any, fd, path, kind, seats);
	close(fd);
	return err == -EEXIST ? 0 : err;
}

/* Others may write to it: its kind is read once. */
static int check(struct any *any)
{
	const struct any_header *header = any->header;

	if (READ_ONCE(header->magic) != ANY_MAGIC)
		return -EBADMSG;
	if (READ_ONCE(header->version) != ANY_VERSION)
		return -EPROTO;
	any->kind = READ_ONCE(header->kind);
	return any->kind < ANY_KINDS ? 0 : -EBADMSG;
}

static int see(struct any *any, int fd)
{
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return -errno;
	any->size = stat.st_size;
	if (any->size < sizeof(*any->header))
		return -EBADMSG;
	err = map(any, fd);
	if (err)
		return err;
	err = check(any);
	if (!err)
		err = any->kind == ANY_REGISTER ?
			mios_reglock_open(&any->reg, NULL) :
			mios_lock_attach(&any->seat, any->header + 1,
					 any->size - sizeof(*any->header));
	if (err)
		unmap(any);
	return err;
}

int mios_anylock_open(struct mios_anylock *opaque, const char *path,
		      unsigned int contenders)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), err;

	memset(opaque, 0, sizeof(*opaque));
	if (fd < 0 && errno == ENOENT) {
		err = make(path, contenders);
		if (err)
			return err;
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		return -errno;
	err = see(any_of(opaque), fd);
	close(fd);
	return err;
}

int mios_anylock_close(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);
	int err = any->kind == ANY_REGISTER ? mios_reglock_close(&any->reg) :
					      mios_lock_detach(&any->seat);

	if (!err)
		unmap(any);
	return err;
}

bool mios_anylock_is_register(const struct mios_anylock *opaque)
{
	return ((const struct any *)opaque)->kind == ANY_REGISTER;
}

int mios_anylock_lock(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ? mios_reglock_lock(&any->reg) :
					   mios_lock(&any->seat);
}

int mios_anylock_trylock(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ? mios_reglock_trylock(&any->reg) :
					   mios_trylock(&any->seat);
}

int mios_anylock_timedlock(struct mios_anylock *opaque,
			   const struct timespec *until)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ?
		mios_reglock_timedlock(&any->reg, until) :
		mios_timedlock(&any->seat, until);
}

int mios_anylock_rdlock(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ? mios_reglock_rdlock(&any->reg) :
					   mios_rdlock(&any->seat);
}

int mios_anylock_tryrdlock(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ? mios_reglock_tryrdlock(&any->reg) :
					   mios_tryrdlock(&any->seat);
}

int mios_anylock_timedrdlock(struct mios_anylock *opaque,
			     const struct timespec *until)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ?
		mios_reglock_timedrdlock(&any->reg, until) :
		mios_timedrdlock(&any->seat, until);
}

int mios_anylock_unlock(struct mios_anylock *opaque)
{
	struct any *any = any_of(opaque);

	return any->kind == ANY_REGISTER ? mios_reglock_unlock(&any->reg) :
					   mios_unlock(&any->seat);
}
