// SPDX-License-Identifier: GPL-2.0
/*
 * What cannot be done with a descriptor that another process of the team has: it is
 * EBADF, as of one that is not open, and a line says why.  What can be is in calls.c.
 * Calls that are not here, and are as seldom, are EBADF by the kernel.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "files.h"

#define LINES	10	/* of each process; who goes on all the same has read them */

/* Does another process have it?  Then errno, and a line. */
static bool elsewhere(const char *call, int fd)
{
	static _Atomic int said;

	if (files_here(fd))
		return false;
	if (atomic_fetch_add(&said, 1) < LINES)
		dprintf(STDERR_FILENO, "mios: omp: %s(): descriptor %d was opened by a "
			"thread of process %u of the team, and others can only read, "
			"write and close it: call it there\n", call, fd,
			files_place(fd));
	errno = EBADF;
	return true;
}

/* --- sockets --- */

ssize_t sendto(int fd, const void *p, size_t n, int flags,
	       const struct sockaddr *to, socklen_t size)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(sendto)(fd, p, n, flags, to, size);
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return elsewhere(__func__, fd) ? -1 : REAL(send)(fd, p, n, flags);
}

ssize_t recvfrom(int fd, void *p, size_t n, int flags, struct sockaddr *from,
		 socklen_t *size)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(recvfrom)(fd, p, n, flags, from, size);
}

ssize_t recv(int fd, void *p, size_t n, int flags)
{
	return elsewhere(__func__, fd) ? -1 : REAL(recv)(fd, p, n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return elsewhere(__func__, fd) ? -1 : REAL(sendmsg)(fd, m, flags);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	return elsewhere(__func__, fd) ? -1 : REAL(recvmsg)(fd, m, flags);
}

int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(accept4)(fd, from, size, flags);
}

int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	return elsewhere(__func__, fd) ? -1 : REAL(accept)(fd, from, size);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	return elsewhere(__func__, fd) ? -1 : REAL(connect)(fd, to, size);
}

int bind(int fd, const struct sockaddr *name, socklen_t size)
{
	return elsewhere(__func__, fd) ? -1 : REAL(bind)(fd, name, size);
}

int listen(int fd, int most)
{
	return elsewhere(__func__, fd) ? -1 : REAL(listen)(fd, most);
}

int shutdown(int fd, int how)
{
	return elsewhere(__func__, fd) ? -1 : REAL(shutdown)(fd, how);
}

int setsockopt(int fd, int level, int name, const void *p, socklen_t size)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(setsockopt)(fd, level, name, p, size);
}

int getsockopt(int fd, int level, int name, void *p, socklen_t *size)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(getsockopt)(fd, level, name, p, size);
}

/* --- waiting: of a list one is enough --- */

static bool polls_elsewhere(const char *call, const struct pollfd *p, nfds_t n)
{
	nfds_t i;

	for (i = 0; p && i < n; i++)
		if (p[i].fd >= 0 && elsewhere(call, p[i].fd))
			return true;
	return false;
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	return polls_elsewhere(__func__, p, n) ? -1 : REAL(poll)(p, n, ms);
}

int ppoll(struct pollfd *p, nfds_t n, const struct timespec *t,
	  const sigset_t *mask)
{
	return polls_elsewhere(__func__, p, n) ? -1 :
	       REAL(ppoll)(p, n, t, mask);
}

static bool selects_elsewhere(const char *call, int end, const fd_set *in,
			      const fd_set *out, const fd_set *other)
{
	int fd;

	for (fd = 0; fd < end && fd < FD_SETSIZE; fd++)
		if (((in && FD_ISSET(fd, in)) || (out && FD_ISSET(fd, out)) ||
		     (other && FD_ISSET(fd, other))) && elsewhere(call, fd))
			return true;
	return false;
}

int select(int end, fd_set *in, fd_set *out, fd_set *other, struct timeval *t)
{
	return selects_elsewhere(__func__, end, in, out, other) ? -1 :
	       REAL(select)(end, in, out, other, t);
}

int pselect(int end, fd_set *in, fd_set *out, fd_set *other,
	    const struct timespec *t, const sigset_t *mask)
{
	return selects_elsewhere(__func__, end, in, out, other) ? -1 :
	       REAL(pselect)(end, in, out, other, t, mask);
}

int epoll_ctl(int set, int what, int fd, struct epoll_event *e)
{
	return elsewhere(__func__, set) || elsewhere(__func__, fd) ? -1 :
	       REAL(epoll_ctl)(set, what, fd, e);
}

int epoll_wait(int set, struct epoll_event *all, int n, int ms)
{
	return elsewhere(__func__, set) ? -1 : REAL(epoll_wait)(set, all, n, ms);
}

/* --- from one to another --- */

ssize_t sendfile64(int out, int in, off64_t *at, size_t n)
{
	return elsewhere("sendfile", out) || elsewhere("sendfile", in) ? -1 :
	       REAL(sendfile64)(out, in, at, n);
}

ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
	return sendfile64(out, in, at, n);
}

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at,
			size_t n, unsigned int flags)
{
	return elsewhere(__func__, in) || elsewhere(__func__, out) ? -1 :
	       REAL(copy_file_range)(in, in_at, out, out_at, n, flags);
}

/* --- files by their folder; what stands there instead is no folder, but a file --- */

int openat64(int fd, const char *path, int flags, ...)
{
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return elsewhere("openat", fd) ? -1 :
	       REAL(openat64)(fd, path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
	__attribute__((alias("openat64")));

int fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	return elsewhere("fstatat", fd) ? -1 :
	       REAL(fstatat64)(fd, path, st, flags);
}

int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return fstatat64(fd, path, (struct stat64 *)st, flags);
}

int statx(int fd, const char *path, int flags, unsigned int mask,
	  struct statx *st)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(statx)(fd, path, flags, mask, st);
}

int faccessat(int fd, const char *path, int mode, int flags)
{
	return elsewhere(__func__, fd) ? -1 :
	       REAL(faccessat)(fd, path, mode, flags);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	return elsewhere(__func__, fd) ? -1 : REAL(mkdirat)(fd, path, mode);
}

int unlinkat(int fd, const char *path, int flags)
{
	return elsewhere(__func__, fd) ? -1 : REAL(unlinkat)(fd, path, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return elsewhere(__func__, from_fd) || elsewhere(__func__, to_fd) ? -1 :
	       REAL(renameat)(from_fd, from, to_fd, to);
}

/* What opendir() has given lies in the heap of all; libc looks at errno alone. */
struct dirent64 *readdir64(DIR *dir)
{
	return elsewhere("readdir", dirfd(dir)) ? NULL : REAL(readdir64)(dir);
}

struct dirent *readdir(DIR *dir)
{
	return (struct dirent *)readdir64(dir);
}

int closedir(DIR *dir)
{
	return elsewhere(__func__, dirfd(dir)) ? -1 : REAL(closedir)(dir);
}
