// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: what a process does that may be killed at any time: it boots the
 * part, and measures what goes there and back.  Its files lie in memory that only it
 * has mounted.  What it has loaded and booted its parent takes out again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "boot.h"
#include "libmios/libmios.h"
#include "try.h"

#define HERE		"/tmp"		/* ours alone lies over everybody's */
#define INITRD		HERE "/initrd"
#define POOL_DIR	HERE "/mios"
#define DEBUG_DIR	HERE "/debug"
#define INIT		"/usr/lib/mios/initrd-try"
#define TIMEOUT		45		/* to the ring, seconds */
#define SPAN_NS		5000000000ULL	/* of all tries of one kind */
#define WAIT_MS		5000		/* for one answer */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int failed(const char *what)
{
	mios_error("mios", "check: %s: %m", what);
	return MIOS_EXIT_FAILED;
}

static int mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", HERE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=700") ||
	    mkdir(POOL_DIR, 0700) || mkdir(DEBUG_DIR, 0700))
		return failed("a place for its files");
	return 0;
}

/* Formatted in any case: it is no pool that anybody has had. */
static struct try_page *page_make(void)
{
	struct try_page *page;
	int fd;

	if (mount("mios", POOL_DIR, "miosfs", MS_NOSUID | MS_NODEV, "format"))
		return NULL;
	fd = open(POOL_DIR "/" TRY_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return NULL;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sum_up(struct try_sample *sample, uint64_t *ns, size_t nr)
{
	qsort(ns, nr, sizeof(*ns), compare);
	*sample = (struct try_sample){
		nr, ns[0], ns[nr / 2], ns[nr * 99 / 100], ns[nr - 1]
	};
}

static void once(struct try_sample *sample, double seconds)
{
	*sample = (struct try_sample){ .count = 1, .median = seconds * 1e9 };
}

static int boot(struct try_found *found)
{
	char release[sizeof(((struct utsname *)0)->release)];
	const struct boot_options options = {
		.initrd = INITRD, .append = "mios.successor=0",
		.init = "busybox", .root = "none", .timeout = TIMEOUT,
	};
	char * const initrd[] = { "mios-initrd", "--output", INITRD, "--init", INIT,
				  "--kernel-version", release, NULL };
	struct boot_plan *plan;
	struct boot_times times;
	struct utsname uts;
	int ret;

	uname(&uts);
	strcpy(release, uts.release);
	if (!boot_run(initrd)) {
		mios_error("mios", "check: there is no initrd to boot with");
		return MIOS_EXIT_FAILED;
	}
	plan = boot_plan_make(&options);
	boot_plan_check(plan, 1ULL << TRY_NODE);
	ret = boot_bare(plan, TRY_NODE, &times);
	if (ret)
		return ret;
	once(&found->sample[TRY_TAKE], times.take);
	once(&found->sample[TRY_LOAD], times.load);
	once(&found->sample[TRY_BOOT], times.start);
	return 0;
}

static int await_peer(struct try_page *page)
{
	const int64_t end = mios_now_ms() + TIMEOUT * 1000;
	struct mios_instance inst;

	while (!__atomic_load_n(&page->ready, __ATOMIC_ACQUIRE)) {
		try_futex(&page->ready, FUTEX_WAIT, 0, 200);
		if (mios_instance_read(TRY_NODE, &inst) ||
		    inst.state != MIOS_STATE_UP || mios_now_ms() > end) {
			mios_error("mios", "check: instance %d has joined, but its "
				   "first program has not answered", TRY_NODE);
			return MIOS_EXIT_FAILED;
		}
	}
	return 0;
}

/* By the kernels alone: the other one's interrupt handler answers. */
static int doorbells(struct try_sample *sample)
{
	unsigned int bad;
	char line[128] = "";
	int fd, ret;

	if (mount("debugfs", DEBUG_DIR, "debugfs", 0, NULL))
		return failed("debugfs, by which doorbells are counted");
	fd = open(DEBUG_DIR "/mios/probe", O_RDWR | O_CLOEXEC);
	snprintf(line, sizeof(line), "doorbell %d %d", TRY_NODE, TRY_TRIES);
	if (fd < 0 || write(fd, line, strlen(line)) < 0 ||
	    pread(fd, line, sizeof(line) - 1, 0) <= 0)
		return failed("doorbells");
	close(fd);
	ret = sscanf(line, "%*s %*u %lu %u %lu %lu %lu %lu", &sample->count, &bad,
		     &sample->min, &sample->median, &sample->p99, &sample->max);
	if (ret == 6 && !bad)
		return 0;
	mios_error("mios", "check: of %lu doorbells %u were not answered",
		   sample->count, bad);
	sample->count = 0;
	return MIOS_EXIT_FAILED;
}

static int wake(struct try_page *page, uint32_t number)
{
	const int64_t end = mios_now_ms() + WAIT_MS;
	uint32_t back;

	__atomic_store_n(&page->there, number, __ATOMIC_RELEASE);
	try_futex(&page->there, FUTEX_WAKE, 1, 0);
	while ((back = __atomic_load_n(&page->back, __ATOMIC_ACQUIRE)) != number) {
		if (mios_now_ms() > end) {
			mios_error("mios", "check: wake %u across instances was not "
				   "answered within %d s", number, WAIT_MS / 1000);
			return MIOS_EXIT_FAILED;
		}
		try_futex(&page->back, FUTEX_WAIT, back, 200);
	}
	return 0;
}

static int wakes(struct try_page *page, struct try_sample *sample)
{
	static uint64_t ns[TRY_TRIES];
	const uint64_t began = now_ns();
	uint64_t start;
	int i;

	for (i = 0; i < TRY_TRIES && now_ns() - began < SPAN_NS; i++) {
		start = now_ns();
		if (wake(page, i + 1))
			return MIOS_EXIT_FAILED;
		ns[i] = now_ns() - start;
	}
	sum_up(sample, ns, i);
	return 0;
}

/* The kernels do it; each time it is looked at what has come. */
static int copies(const struct try_page *page, struct try_sample *sample)
{
	static unsigned char to[TRY_COPY];
	static uint64_t ns[TRY_TRIES];
	const struct iovec here = { to, sizeof(to) };
	const struct iovec there = { (void *)(uintptr_t)page->buffer, sizeof(to) };
	const pid_t pid = page->pid;
	const uint64_t began = now_ns();
	uint64_t start;
	size_t at;
	int i;

	for (i = 0; i < TRY_TRIES && now_ns() - began < SPAN_NS; i++) {
		memset(to, 0xff, sizeof(to));
		start = now_ns();
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != TRY_COPY)
			return failed("a copy from a process of the instance");
		ns[i] = now_ns() - start;
		for (at = 0; at < sizeof(to); at++)
			if (to[at] != try_byte(at))
				break;
		if (at < sizeof(to)) {
			mios_error("mios", "check: copy %d has a wrong byte at %zu", i,
				   at);
			return MIOS_EXIT_FAILED;
		}
	}
	sum_up(sample, ns, i);
	return 0;
}

/* What it has said last, while there is somebody who has it. */
static void log_tail(void)
{
	char number[12];
	char * const log[] = { "mios", "log", "--lines=5", number, NULL };

	snprintf(number, sizeof(number), "%d", TRY_NODE);
	fflush(stdout);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		boot_run(log);
}

int try_work(const struct try_place *place, struct try_found *found)
{
	struct try_page *page;
	int ret;

	if (mounts() || !try_load(place))
		return MIOS_EXIT_FAILED;
	page = page_make();
	if (!page)
		return failed("a file that both instances share");
	ret = boot(found) || await_peer(page) ||
	      doorbells(&found->sample[TRY_BELL]) ||
	      wakes(page, &found->sample[TRY_WAKE]) ||
	      copies(page, &found->sample[TRY_COPIED]);
	if (ret)
		log_tail();
	__atomic_store_n(&page->there, TRY_END, __ATOMIC_RELEASE);
	try_futex(&page->there, FUTEX_WAKE, 1, 0);
	return ret ? MIOS_EXIT_FAILED : MIOS_EXIT_OK;
}
