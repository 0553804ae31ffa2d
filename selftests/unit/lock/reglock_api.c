// SPDX-License-Identifier: GPL-2.0
/*
 * libmios-lock's register lock, alone and shared, once and in time.  In place of
 * /dev/mios_register is a file, whose register nobody takes by reading it: what is
 * in memory beside it has to keep others out.  lock/25-any has the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mios/register.h>

#include "../../../userspace/libmios-lock/mios_reglock.h"
#include "../test.h"

#define SEATS	2
#define PAGE	4096
#define SIZE	(sizeof(struct mios_register_header) +			\
		 SEATS * sizeof(struct mios_register_seat))

static char path[32];
static struct mios_reglock one, two;

static void make(void)
{
	const struct mios_register_header header = {
		.magic = MIOS_REGISTER_MAGIC,
		.version = MIOS_REGISTER_VERSION, .nr_seats = SEATS,
	};
	int fd;

	strcpy(path, "/tmp/reglock.XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, PAGE + SIZE));
	CHECK(pwrite(fd, &header, sizeof(header), PAGE) == sizeof(header));
	close(fd);
}

/* As the device has it for each who opens it. */
static void opens(struct mios_reglock *lock, unsigned int seat)
{
	const struct mios_register_info info = {
		.seat = seat, .epoch = 1, .at = PAGE / 2,
		.flush = PAGE / 2 + 4, .size = SIZE,
	};
	int fd = open(path, O_RDWR);

	CHECK(pwrite(fd, &info, sizeof(info), 0) == sizeof(info));
	close(fd);
	CHECK(!mios_reglock_open(lock, path));
}

int main(void)
{
	const struct timespec past = { 0, 0 }, never = { 0, 1000000000 };

	make();
	opens(&one, 0);
	opens(&two, 1);
	CHECK(mios_reglock_timedrdlock(&one, &never) == -EINVAL);
	CHECK(!mios_reglock_rdlock(&one));
	CHECK(mios_reglock_tryrdlock(&one) == -EDEADLK);
	CHECK(!mios_reglock_tryrdlock(&two));
	CHECK(mios_reglock_close(&two) == -EBUSY);
	CHECK(!mios_reglock_unlock(&two));
	CHECK(!mios_reglock_timedrdlock(&two, &past));
	CHECK(!mios_reglock_unlock(&two));
	CHECK(mios_reglock_trylock(&two) == -EBUSY);
	CHECK(mios_reglock_timedlock(&two, &past) == -ETIMEDOUT);
	CHECK(!mios_reglock_unlock(&one));
	CHECK(!mios_reglock_lock(&one));
	CHECK(mios_reglock_tryrdlock(&two) == -EBUSY);
	CHECK(mios_reglock_timedrdlock(&two, &past) == -ETIMEDOUT);
	CHECK(!mios_reglock_unlock(&one));
	CHECK(!mios_reglock_trylock(&two));
	CHECK(!mios_reglock_unlock(&two));
	CHECK(mios_reglock_unlock(&two) == -EPERM);
	CHECK(!mios_reglock_close(&one));
	CHECK(!mios_reglock_close(&two));
	unlink(path);
	return 0;
}
