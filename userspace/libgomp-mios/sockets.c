// SPDX-License-Identifier: GPL-2.0
/*
 * What a program does with a socket that another process of the team has, as
 * calls.c has it of descriptors.
 */
#include <sys/socket.h>
#include <sys/syscall.h>

#include "files.h"

ssize_t sendto(int fd, const void *p, size_t n, int flags,
	       const struct sockaddr *to, socklen_t size)
{
	if (files_here(fd))
		return REAL(sendto)(fd, p, n, flags, to, size);
	return ask_for(fd, (struct asked){ .number = SYS_sendto,
			   .args = { fd, (long)p, n, flags, (long)to, size },
			   .pieces = { { 1, GIVE, n }, { 4, GIVE, size } } });
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return sendto(fd, p, n, flags, NULL, 0);
}

ssize_t recvfrom(int fd, void *p, size_t n, int flags, struct sockaddr *from,
		 socklen_t *size)
{
	size_t room = size ? *size : 0;

	if (files_here(fd))
		return REAL(recvfrom)(fd, p, n, flags, from, size);
	return ask_for(fd, (struct asked){ .number = SYS_recvfrom,
			   .args = { fd, (long)p, n, flags, (long)from,
				     (long)size },
			   .pieces = { { 1, TAKE, n }, { 4, TAKE, room },
				       { 5, GIVE | TAKE, sizeof(*size) } } });
}

ssize_t recv(int fd, void *p, size_t n, int flags)
{
	return recvfrom(fd, p, n, flags, NULL, NULL);
}

/* As programs that are compiled with _FORTIFY_SOURCE call it. */
ssize_t __recv_chk(int fd, void *p, size_t n, size_t size, int flags)
{
	if (n > size)
		__builtin_trap();
	return recv(fd, p, n, flags);
}

int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	size_t room = size ? *size : 0;

	if (files_here(fd))
		return REAL(accept4)(fd, from, size, flags);
	return ask_for(fd, (struct asked){ .number = SYS_accept4,
			   .args = { fd, (long)from, (long)size, flags },
			   .pieces = { { 1, TAKE, room },
				       { 2, GIVE | TAKE, sizeof(*size) } } });
}

int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	return accept4(fd, from, size, 0);
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	if (files_here(fd))
		return REAL(connect)(fd, to, size);
	return ask_for(fd, (struct asked){ .number = SYS_connect,
			   .args = { fd, (long)to, size },
			   .pieces = { { 1, GIVE, size } } });
}

int shutdown(int fd, int how)
{
	if (files_here(fd))
		return REAL(shutdown)(fd, how);
	return ask_for(fd, (struct asked){ .number = SYS_shutdown,
			   .args = { fd, how } });
}

int setsockopt(int fd, int level, int name, const void *p, socklen_t size)
{
	if (files_here(fd))
		return REAL(setsockopt)(fd, level, name, p, size);
	return ask_for(fd, (struct asked){ .number = SYS_setsockopt,
			   .args = { fd, level, name, (long)p, size },
			   .pieces = { { 3, GIVE, size } } });
}

int getsockopt(int fd, int level, int name, void *p, socklen_t *size)
{
	if (files_here(fd))
		return REAL(getsockopt)(fd, level, name, p, size);
	return ask_for(fd, (struct asked){ .number = SYS_getsockopt,
			   .args = { fd, level, name, (long)p, (long)size },
			   .pieces = { { 3, TAKE, *size },
				       { 4, GIVE | TAKE, sizeof(*size) } } });
}
