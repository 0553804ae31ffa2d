// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that take two descriptors: where one process of the team has both, it does
 * it; else we copy, or say EXDEV, after which programs do so themselves.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

#define PIECE		(64ul << 10)

static bool are_together(int one, int other)
{
	return files_place(one) == files_place(other);
}

static bool are_here(int one, int other)
{
	return files_here(one) && files_here(other);
}

/* As much of it as there was; -1: not even that. */
static ssize_t write_all(int fd, const char *p, ssize_t n)
{
	ssize_t done = 0, part;

	while (done < n) {
		part = files_write(fd, p + done, n - done);
		if (part <= 0)
			return done ? done : -1;
		done += part;
	}
	return done;
}

/* What has been read but not written is to be read once more. */
static void go_back(int in, ssize_t n)
{
	int before = errno;

	files_lseek(in, -n, SEEK_CUR);
	errno = before;
}

/* A piece is as much as one call may give: the program asks again for more. */
static ssize_t copy_piece(int out, int in, off64_t *at, size_t n)
{
	size_t size = n < PIECE ? n : PIECE;
	char *piece = mios_omp_alloc(size);
	ssize_t got, done;

	if (!piece)
		return -1;
	got = at ? files_pread(in, piece, size, *at) :
		   files_read(in, piece, size);
	done = got > 0 ? write_all(out, piece, got) : got;
	if (done > 0 && at)
		*at += done;
	else if (!at && got > 0 && done < got)
		go_back(in, done < 0 ? got : got - done);
	mios_omp_free(piece);
	return done;
}

ssize_t sendfile64(int out, int in, off64_t *at, size_t n)
{
	if (are_here(out, in))
		return REAL(sendfile64)(out, in, at, n);
	if (!are_together(out, in))
		return copy_piece(out, in, at, n);
	return ask_for(out, (struct asked){ .number = SYS_sendfile,
			    .args = { out, in, (long)at, n },
			    .pieces = { { 2, GIVE | TAKE, sizeof(*at) } } });
}

ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
	return sendfile64(out, in, at, n);
}

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at,
			size_t n, unsigned int flags)
{
	if (are_here(in, out))
		return REAL(copy_file_range)(in, in_at, out, out_at, n, flags);
	if (!are_together(in, out)) {
		errno = EXDEV;
		return -1;
	}
	return ask_for(in, (struct asked){ .number = SYS_copy_file_range,
			   .args = { in, (long)in_at, out, (long)out_at, n,
				     flags },
			   .pieces = { { 1, GIVE | TAKE, sizeof(*in_at) },
				       { 3, GIVE | TAKE, sizeof(*out_at) } } });
}

/* A set of descriptors knows those of its own process. */
int epoll_ctl(int set, int what, int fd, struct epoll_event *e)
{
	if (are_here(set, fd))
		return REAL(epoll_ctl)(set, what, fd, e);
	if (!are_together(set, fd)) {
		errno = EXDEV;
		return -1;
	}
	return ask_for(set, (struct asked){ .number = SYS_epoll_ctl,
			    .args = { set, what, fd, (long)e },
			    .pieces = { { 3, GIVE, sizeof(*e) } } });
}

int epoll_wait(int set, struct epoll_event *all, int n, int ms)
{
	if (files_here(set))
		return REAL(epoll_wait)(set, all, n, ms);
	return ask_for(set, (struct asked){ .number = SYS_epoll_wait,
			    .args = { set, (long)all, n, ms },
			    .pieces = { { 1, GIVE | TAKE, n > 0 ?
					  n * sizeof(*all) : 0 } } });
}
