// SPDX-License-Identifier: GPL-2.0
/*
 * What a program does with a descriptor that another process of the team has, as
 * that one does it.  Called instead of libc's, which do the work where it is
 * ours.  C++'s files and Fortran's units come here, too; C's streams by streams.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "files.h"

ssize_t read(int fd, void *p, size_t n)
{
	if (files_here(fd))
		return REAL(read)(fd, p, n);
	return ask_for(fd, (struct asked){ .number = SYS_read, .args = { fd, (long)p, n },
			   .pieces = { { 1, RESULT | PART, n } } });
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (files_here(fd))
		return REAL(write)(fd, p, n);
	return ask_for(fd, (struct asked){ .number = SYS_write, .args = { fd, (long)p, n },
			   .pieces = { { 1, GIVE | PART, n } } });
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
	if (files_here(fd))
		return REAL(pread64)(fd, p, n, at);
	return ask_for(fd, (struct asked){ .number = SYS_pread64, .args = { fd, (long)p, n, at },
			   .pieces = { { 1, RESULT | PART, n } } });
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	if (files_here(fd))
		return REAL(pwrite64)(fd, p, n, at);
	return ask_for(fd, (struct asked){ .number = SYS_pwrite64, .args = { fd, (long)p, n, at },
			   .pieces = { { 1, GIVE | PART, n } } });
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

/* Of the window, for all of them or less; NULL and errno. */
static void *room_for_pieces(const struct iovec *v, int count, size_t *size)
{
	ssize_t room = pieces_size(v, count);

	if (room < 0)
		return NULL;
	*size = room;
	return room_for_part(size);
}

/*
 * In one call, so that nobody else's comes in between: at the file's own place, or
 * @at another.
 */
static ssize_t read_whole(int fd, const struct iovec *v, int count,
			  const off64_t *at)
{
	ssize_t done = -1;
	size_t size;
	char *all = room_for_pieces(v, count, &size);

	if (!all)
		return -1;
	done = at ? pread64(fd, all, size, *at) : read(fd, all, size);
	if (done > 0 && !pieces_scatter(v, count, all, done)) {
		errno = EFAULT;
		done = -1;
	}
	mios_omp_free(all);
	return done;
}

static ssize_t write_whole(int fd, const struct iovec *v, int count,
			   const off64_t *at)
{
	ssize_t done = -1;
	size_t size;
	char *all = room_for_pieces(v, count, &size);

	if (!all)
		return -1;
	if (pieces_gather(all, v, count, size))
		done = at ? pwrite64(fd, all, size, *at) : write(fd, all, size);
	else
		errno = EFAULT;
	mios_omp_free(all);
	return done;
}

ssize_t readv(int fd, const struct iovec *v, int count)
{
	return files_here(fd) ? REAL(readv)(fd, v, count) :
	       read_whole(fd, v, count, NULL);
}

ssize_t writev(int fd, const struct iovec *v, int count)
{
	return files_here(fd) ? REAL(writev)(fd, v, count) :
	       write_whole(fd, v, count, NULL);
}

ssize_t preadv64(int fd, const struct iovec *v, int count, off64_t at)
{
	return files_here(fd) ? REAL(preadv64)(fd, v, count, at) :
	       read_whole(fd, v, count, &at);
}

ssize_t pwritev64(int fd, const struct iovec *v, int count, off64_t at)
{
	return files_here(fd) ? REAL(pwritev64)(fd, v, count, at) :
	       write_whole(fd, v, count, &at);
}

ssize_t preadv(int fd, const struct iovec *v, int count, off_t at)
{
	return preadv64(fd, v, count, at);
}

ssize_t pwritev(int fd, const struct iovec *v, int count, off_t at)
{
	return pwritev64(fd, v, count, at);
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

int fstat64(int fd, struct stat64 *st)
{
	if (files_here(fd))
		return REAL(fstat64)(fd, st);
	return ask_for(fd, (struct asked){ .number = SYS_fstat, .args = { fd, (long)st },
			   .pieces = { { 1, TAKE, sizeof(*st) } } });
}

int fstat(int fd, struct stat *st)
{
	return fstat64(fd, (struct stat64 *)st);
}

/* Of programs that were linked with glibc 2.32 or older. */
int __fxstat64(int version, int fd, struct stat64 *st)
{
	return fstat64(fd, st);
}

int __fxstat(int version, int fd, struct stat *st)
{
	return fstat(fd, st);
}

int fsync(int fd)
{
	if (files_here(fd))
		return REAL(fsync)(fd);
	return ask_for(fd, (struct asked){ .number = SYS_fsync, .args = { fd } });
}

int fdatasync(int fd)
{
	if (files_here(fd))
		return REAL(fdatasync)(fd);
	return ask_for(fd, (struct asked){ .number = SYS_fdatasync, .args = { fd } });
}

int ftruncate64(int fd, off64_t n)
{
	if (files_here(fd))
		return REAL(ftruncate64)(fd, n);
	return ask_for(fd, (struct asked){ .number = SYS_ftruncate, .args = { fd, n } });
}

int flock(int fd, int how)
{
	if (files_here(fd))
		return REAL(flock)(fd, how);
	return ask_for(fd, (struct asked){ .number = SYS_flock, .args = { fd, how } });
}

int fchmod(int fd, mode_t mode)
{
	if (files_here(fd))
		return REAL(fchmod)(fd, mode);
	return ask_for(fd, (struct asked){ .number = SYS_fchmod, .args = { fd, mode } });
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	if (files_here(fd))
		return REAL(fchown)(fd, uid, gid);
	return ask_for(fd, (struct asked){ .number = SYS_fchown, .args = { fd, uid, gid } });
}

/* As utimensat(), without a path. */
int futimens(int fd, const struct timespec times[2])
{
	if (files_here(fd))
		return REAL(futimens)(fd, times);
	return ask_for(fd, (struct asked){ .number = SYS_utimensat,
			   .args = { fd, 0, (long)times },
			   .pieces = { { 2, GIVE, 2 * sizeof(*times) } } });
}

int fstatfs64(int fd, struct statfs64 *st)
{
	if (files_here(fd))
		return REAL(fstatfs64)(fd, st);
	return ask_for(fd, (struct asked){ .number = SYS_fstatfs, .args = { fd, (long)st },
			   .pieces = { { 1, TAKE, sizeof(*st) } } });
}

int fstatfs(int fd, struct statfs *st)
{
	return fstatfs64(fd, (struct statfs64 *)st);
}

int fallocate64(int fd, int mode, off64_t at, off64_t n)
{
	if (files_here(fd))
		return REAL(fallocate64)(fd, mode, at, n);
	return ask_for(fd, (struct asked){ .number = SYS_fallocate,
			   .args = { fd, mode, at, n } });
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
	return fallocate64(fd, mode, at, n);
}

/* Libc writes where the file system cannot.  This and the next: an error's number. */
static long do_allocate(const long *a)
{
	return REAL(posix_fallocate64)(a[0], a[1], a[2]);
}

int posix_fallocate64(int fd, off64_t at, off64_t n)
{
	long error = ask_to_run(files_place(fd), do_allocate,
				(struct asked){ .args = { fd, at, n } });

	return error < 0 ? errno : error;
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	return posix_fallocate64(fd, at, n);
}

int posix_fadvise64(int fd, off64_t at, off64_t n, int advice)
{
	if (files_here(fd))
		return REAL(posix_fadvise64)(fd, at, n, advice);
	return ask_for(fd, (struct asked){ .number = SYS_fadvise64,
			   .args = { fd, at, n, advice } }) ? errno : 0;
}

int posix_fadvise(int fd, off_t at, off_t n, int advice)
{
	return posix_fadvise64(fd, at, n, advice);
}

int dup(int fd)
{
	if (files_here(fd))
		return REAL(dup)(fd);
	return ask_for(fd, (struct asked){ .number = SYS_dup, .args = { fd } });
}

int ftruncate(int fd, off_t n)
{
	return ftruncate64(fd, n);
}

int close(int fd)
{
	files_moved(fd);
	if (files_here(fd))
		return REAL(close)(fd);
	return ask_for(fd, (struct asked){ .number = SYS_close, .args = { fd } });
}

/* To a descriptor of another process nothing can be moved but what it has. */
int dup3(int from, int to, int flags)
{
	unsigned int place = files_place(from);

	files_moved(to);
	if (place == files_place(to) && !files_here(from))
		return ask(place, (struct asked){ .number = SYS_dup3,
				   .args = { from, to, flags } });
	if (place == files_place(to))
		return REAL(dup3)(from, to, flags);
	errno = EXDEV;
	return -1;
}

int dup2(int from, int to)
{
	if (from == to)
		return fcntl(from, F_GETFD) < 0 ? -1 : to;
	return dup3(from, to, 0);
}

int fcntl64(int fd, int what, ...)
{
	size_t size = what == F_GETLK || what == F_SETLK || what == F_SETLKW ||
		      what == F_OFD_GETLK || what == F_OFD_SETLK ||
		      what == F_OFD_SETLKW ? sizeof(struct flock) : 0;
	va_list args;
	long arg;

	va_start(args, what);
	arg = va_arg(args, long);
	va_end(args);
	if (files_here(fd))
		return REAL(fcntl64)(fd, what, arg);
	return ask_for(fd, (struct asked){ .number = SYS_fcntl, .args = { fd, what, arg },
			   .pieces = { { 2, GIVE | TAKE, size } } });
}

int fcntl(int fd, int what, ...) __attribute__((alias("fcntl64")));

/* How much an argument points to older ones do not say. */
static size_t ioctl_size(unsigned long what)
{
	switch (what) {
	case TCGETS:
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return 36;	/* as the kernel has it */
	case TIOCGWINSZ:
	case TIOCSWINSZ:
		return sizeof(struct winsize);
	case FIONREAD:
	case FIONBIO:
		return sizeof(int);
	default:
		return _IOC_DIR(what) ? _IOC_SIZE(what) : 0;
	}
}

int ioctl(int fd, unsigned long what, ...)
{
	va_list args;
	long arg;

	va_start(args, what);
	arg = va_arg(args, long);
	va_end(args);
	if (files_here(fd))
		return REAL(ioctl)(fd, what, arg);
	return ask_for(fd, (struct asked){ .number = SYS_ioctl, .args = { fd, what, arg },
			   .pieces = { { 2, GIVE | TAKE, ioctl_size(what) } } });
}

int isatty(int fd)
{
	char settings[36];

	return !ioctl(fd, TCGETS, settings);
}

/* For other files here, whatever the program has by these names. */
ssize_t files_read(int fd, void *p, size_t n)
	__attribute__((alias("read"), copy(read)));
ssize_t files_write(int fd, const void *p, size_t n)
	__attribute__((alias("write"), copy(write)));
off64_t files_lseek(int fd, off64_t at, int from)
	__attribute__((alias("lseek64"), copy(lseek64)));
int files_fstat(int fd, struct stat64 *st)
	__attribute__((alias("fstat64"), copy(fstat64)));
int files_close(int fd)
	__attribute__((alias("close"), copy(close)));
