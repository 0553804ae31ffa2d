// SPDX-License-Identifier: GPL-2.0
/*
 * What a program does with a descriptor that another process of the team has, as
 * that one does it.  Called instead of libc's, which do the work where it is
 * ours.  C++'s files and Fortran's units come here, too; C's streams by streams.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "files.h"

ssize_t read(int fd, void *p, size_t n)
{
	if (files_here(fd))
		return REAL(read)(fd, p, n);
	return ask_for(fd, (struct asked){ .number = SYS_read, .args = { fd, (long)p, n },
			   .pieces = { { 1, TAKE, n } } });
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (files_here(fd))
		return REAL(write)(fd, p, n);
	return ask_for(fd, (struct asked){ .number = SYS_write, .args = { fd, (long)p, n },
			   .pieces = { { 1, GIVE, n } } });
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	if (files_here(fd))
		return REAL(pread64)(fd, p, n, at);
	return ask_for(fd, (struct asked){ .number = SYS_pread64, .args = { fd, (long)p, n, at },
			   .pieces = { { 1, TAKE, n } } });
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	if (files_here(fd))
		return REAL(pwrite64)(fd, p, n, at);
	return ask_for(fd, (struct asked){ .number = SYS_pwrite64, .args = { fd, (long)p, n, at },
			   .pieces = { { 1, GIVE, n } } });
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return pread64(fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return pwrite64(fd, p, n, at);
}

/* As programs that are compiled with _FORTIFY_SOURCE call them. */
ssize_t __read_chk(int fd, void *p, size_t n, size_t size)
{
	if (n > size)
		abort();
	return read(fd, p, n);
}

ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t size)
{
	if (n > size)
		abort();
	return pread64(fd, p, n, at);
}

ssize_t __pread64_chk(int fd, void *p, size_t n, off64_t at, size_t size)
{
	return __pread_chk(fd, p, n, at, size);
}

/* In one call, so that nobody else's comes in between. */
static ssize_t whole(int fd, const struct iovec *v, int count, bool in)
{
	ssize_t done = -1, size = 0, at = 0, part;
	char *all;
	int i;

	if (count < 0 || count > IOV_MAX) {
		errno = EINVAL;
		return -1;
	}
	for (i = 0; i < count; i++)
		size += v[i].iov_len;
	all = mios_omp_alloc(size);
	if (!all)
		return -1;
	for (i = 0; i < count && !in; at += v[i].iov_len, i++)
		memcpy(all + at, v[i].iov_base, v[i].iov_len);
	done = in ? read(fd, all, size) : write(fd, all, size);
	for (i = 0, at = 0; i < count && in && at < done; at += part, i++) {
		part = done - at < v[i].iov_len ? done - at : v[i].iov_len;
		memcpy(v[i].iov_base, all + at, part);
	}
	free(all);
	return done;
}

ssize_t readv(int fd, const struct iovec *v, int count)
{
	return files_here(fd) ? REAL(readv)(fd, v, count) :
	       whole(fd, v, count, true);
}

ssize_t writev(int fd, const struct iovec *v, int count)
{
	return files_here(fd) ? REAL(writev)(fd, v, count) :
	       whole(fd, v, count, false);
}

off64_t lseek64(int fd, off64_t at, int from)
{
	if (files_here(fd))
		return REAL(lseek64)(fd, at, from);
	return ask_for(fd, (struct asked){ .number = SYS_lseek, .args = { fd, at, from } });
}

off_t lseek(int fd, off_t at, int from)
{
	return lseek64(fd, at, from);
}
