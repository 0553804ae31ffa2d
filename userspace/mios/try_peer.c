// SPDX-License-Identifier: GPL-2.0
/*
 * mios check --try: the other side, on the instance that is tried.  Answers wakes,
 * and has memory that is copied.  It ends by itself: the first process, initrd/try,
 * powers the instance off then.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "try.h"

/* FUTEX_WAIT returns at once where the word is not @value, and after @ms. */
int try_futex(uint32_t *word, int op, uint32_t value, unsigned int ms)
{
	const struct timespec limit = {
		.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L,
	};

	return syscall(SYS_futex, word, op, value, op == FUTEX_WAIT ? &limit :
		       NULL, NULL, 0);
}

/* Each number is answered once; nobody asks for long: it is over. */
static void answer(struct try_page *page)
{
	const int64_t end = mios_now_ms() + TRY_SECONDS * 1000;
	uint32_t last = 0, now;

	while (mios_now_ms() < end) {
		now = __atomic_load_n(&page->there, __ATOMIC_ACQUIRE);
		if (now == TRY_END)
			return;
		if (now == last) {
			try_futex(&page->there, FUTEX_WAIT, last, 1000);
			continue;
		}
		last = now;
		__atomic_store_n(&page->back, now, __ATOMIC_RELEASE);
		try_futex(&page->back, FUTEX_WAKE, 1, 0);
	}
}

int try_peer(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char *buffer = malloc(TRY_COPY);
	struct try_page *page;
	size_t i;

	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (fd < 0 || !buffer || page == MAP_FAILED)
		mios_die(MIOS_EXIT_FAILED, "check: %s: %m", path);
	for (i = 0; i < TRY_COPY; i++)
		buffer[i] = try_byte(i);
	page->pid = getpid();
	page->buffer = (uintptr_t)buffer;
	/* Whoever sees it sees the two words above. */
	__atomic_store_n(&page->ready, 1, __ATOMIC_RELEASE);
	try_futex(&page->ready, FUTEX_WAKE, 1, 0);
	answer(page);
	return MIOS_EXIT_OK;
}
