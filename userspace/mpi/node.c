// SPDX-License-Identifier: GPL-2.0
/*
 * UCX asks /proc/sys/kernel/random/boot_id whether another process is on the same
 * node, and may share memory with it.  Ranks on instances that share /dev/shm are on
 * one node (peers.c): they all read the same boot_id.  Nobody else sees this.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define TEXT_SIZE	512

typedef int (*open_fn)(const char *path, int flags, ...);

/* The file that says that instance 0 shares: made when the ring's memory was. */
#define RING		"/mios/.shm/0"

static uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 29;
}

/* A file that only its reader has. */
static int file_of(const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create("mios", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (pwrite(fd, text, len, 0) == len)
		return fd;
	close(fd);
	return -1;
}

/* Of the ring, and of the time that it has been there; -1: there is none. */
static int boot_id(void)
{
	uint64_t high, low;
	char text[TEXT_SIZE];
	struct stat st;

	if (stat(RING, &st))
		return -1;
	high = mix(mix(mix(0, st.st_ino), st.st_mtim.tv_sec), st.st_mtim.tv_nsec);
	low = mix(high, st.st_mtim.tv_sec);
	snprintf(text, sizeof(text), "%08x-%04x-%04x-%04x-%012llx\n",
		 (uint32_t)(high >> 32), (uint32_t)(high >> 16) & 0xffff,
		 (uint32_t)high & 0xffff, (uint32_t)(low >> 48),
		 (unsigned long long)low & 0xffffffffffffull);
	return file_of(text);
}

static int open_as(const char *path, int flags, mode_t mode)
{
	open_fn real = (open_fn)dlsym(RTLD_NEXT, "open");
	int fd = -1;

	if (path && !(flags & O_ACCMODE) && !strcmp(path, BOOT_ID))
		fd = boot_id();
	return fd < 0 ? real(path, flags, mode) : fd;
}

/* The third argument is there if a file may be made: nothing else looks at it. */
static mode_t mode_of(int flags, va_list more)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ?
	       va_arg(more, mode_t) : 0;
}

__attribute__((visibility("default")))
int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	return open_as(path, flags, mode);
}

/* The same on this machine; programs call either. */
__attribute__((visibility("default"), alias("open")))
int open64(const char *path, int flags, ...);
