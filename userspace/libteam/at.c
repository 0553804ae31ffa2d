// SPDX-License-Identifier: GPL-2.0
/*
 * Files by a folder's descriptor that another process of the team has: that one
 * does it, and so has what it opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

/* A call of a folder, a path in it and no other memory. */
static long ask_at(long number, int fd, const char *path, long a, long b, long c)
{
	return ask_for(fd, (struct asked){ .number = number,
			   .args = { fd, (long)path, a, b, c },
			   .pieces = { { 1, GIVE, text_size(path) } } });
}

int openat64(int fd, const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (files_here(fd))
		return REAL(openat64)(fd, path, flags, mode);
	return ask_at(SYS_openat, fd, path, flags, mode, 0);
}

int openat(int fd, const char *path, int flags, ...)
	__attribute__((alias("openat64")));

/* As programs that are compiled with _FORTIFY_SOURCE call them. */
int __openat64_2(int fd, const char *path, int flags)
{
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		__builtin_trap();
	return openat64(fd, path, flags, 0);
}

int __openat_2(int fd, const char *path, int flags)
{
	return __openat64_2(fd, path, flags);
}

int fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	if (files_here(fd))
		return REAL(fstatat64)(fd, path, st, flags);
	return ask_for(fd, (struct asked){ .number = SYS_newfstatat,
			   .args = { fd, (long)path, (long)st, flags },
			   .pieces = { { 1, GIVE, text_size(path) },
				       { 2, TAKE, sizeof(*st) } } });
}

int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return fstatat64(fd, path, (struct stat64 *)st, flags);
}

ssize_t readlinkat(int fd, const char *path, char *text, size_t n)
{
	if (files_here(fd))
		return REAL(readlinkat)(fd, path, text, n);
	return ask_for(fd, (struct asked){ .number = SYS_readlinkat,
			   .args = { fd, (long)path, (long)text, n },
			   .pieces = { { 1, GIVE, text_size(path) },
				       { 2, RESULT, n } } });
}

int faccessat(int fd, const char *path, int mode, int flags)
{
	if (files_here(fd))
		return REAL(faccessat)(fd, path, mode, flags);
	return ask_at(SYS_faccessat2, fd, path, mode, flags, 0);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	if (files_here(fd))
		return REAL(mkdirat)(fd, path, mode);
	return ask_at(SYS_mkdirat, fd, path, mode, 0, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	if (files_here(fd))
		return REAL(unlinkat)(fd, path, flags);
	return ask_at(SYS_unlinkat, fd, path, flags, 0, 0);
}

/* From a folder to one that another process has there is no way. */
int renameat2(int from_fd, const char *from, int to_fd, const char *to,
	      unsigned int flags)
{
	if (files_here(from_fd) && files_here(to_fd))
		return REAL(renameat2)(from_fd, from, to_fd, to, flags);
	if (files_place(from_fd) != files_place(to_fd)) {
		errno = EXDEV;
		return -1;
	}
	return ask_for(from_fd, (struct asked){ .number = SYS_renameat2,
				.args = { from_fd, (long)from, to_fd, (long)to,
					  flags },
				.pieces = { { 1, GIVE, text_size(from) },
					    { 3, GIVE, text_size(to) } } });
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return renameat2(from_fd, from, to_fd, to, 0);
}
