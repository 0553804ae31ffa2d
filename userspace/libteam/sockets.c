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
			   .pieces = { { 1, GIVE | PART, n }, { 4, GIVE, size } } });
}

ssize_t send(int fd, const void *p, size_t n, int flags)
{
	return sendto(fd, p, n, flags, NULL, 0);
}

/* What @size says; 0, if it is nowhere, which asking finds out again. */
static socklen_t room_of(const socklen_t *size)
{
	socklen_t room;

	return size && memory_read(&room, size, sizeof(room)) ? room : 0;
}

ssize_t recvfrom(int fd, void *p, size_t n, int flags, struct sockaddr *from,
		 socklen_t *size)
{
	if (files_here(fd))
		return REAL(recvfrom)(fd, p, n, flags, from, size);
	return ask_for(fd, (struct asked){ .number = SYS_recvfrom,
			   .args = { fd, (long)p, n, flags, (long)from,
				     (long)size },
			   .pieces = { { 1, RESULT | PART, n },
				       { 4, GIVE | TAKE, room_of(size) },
				       { 5, GIVE | TAKE, sizeof(*size) } } });
}

ssize_t recv(int fd, void *p, size_t n, int flags)
{
	return recvfrom(fd, p, n, flags, NULL, NULL);
}

/* As programs that are compiled with _FORTIFY_SOURCE call them. */
ssize_t __recv_chk(int fd, void *p, size_t n, size_t size, int flags)
{
	if (n > size)
		__builtin_trap();
	return recv(fd, p, n, flags);
}

ssize_t __recvfrom_chk(int fd, void *p, size_t n, size_t size, int flags,
		       struct sockaddr *from, socklen_t *from_size)
{
	if (n > size)
		__builtin_trap();
	return recvfrom(fd, p, n, flags, from, from_size);
}

/* Those that give an address: @number(@fd, @address, @size, @flags). */
static int ask_address(long number, int fd, struct sockaddr *address,
		       socklen_t *size, int flags)
{
	return ask_for(fd, (struct asked){ .number = number,
			   .args = { fd, (long)address, (long)size, flags },
			   .pieces = { { 1, GIVE | TAKE, room_of(size) },
				       { 2, GIVE | TAKE, sizeof(*size) } } });
}

int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	if (files_here(fd))
		return REAL(accept4)(fd, from, size, flags);
	return ask_address(SYS_accept4, fd, from, size, flags);
}

int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	return accept4(fd, from, size, 0);
}

int getsockname(int fd, struct sockaddr *name, socklen_t *size)
{
	if (files_here(fd))
		return REAL(getsockname)(fd, name, size);
	return ask_address(SYS_getsockname, fd, name, size, 0);
}

int getpeername(int fd, struct sockaddr *name, socklen_t *size)
{
	if (files_here(fd))
		return REAL(getpeername)(fd, name, size);
	return ask_address(SYS_getpeername, fd, name, size, 0);
}

/* Those that are told one. */
static int ask_at(long number, int fd, const struct sockaddr *address,
		  socklen_t size)
{
	return ask_for(fd, (struct asked){ .number = number,
			   .args = { fd, (long)address, size },
			   .pieces = { { 1, GIVE, size } } });
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	if (files_here(fd))
		return REAL(connect)(fd, to, size);
	return ask_at(SYS_connect, fd, to, size);
}

int bind(int fd, const struct sockaddr *name, socklen_t size)
{
	if (files_here(fd))
		return REAL(bind)(fd, name, size);
	return ask_at(SYS_bind, fd, name, size);
}

int listen(int fd, int most)
{
	if (files_here(fd))
		return REAL(listen)(fd, most);
	return ask_for(fd, (struct asked){ .number = SYS_listen,
			   .args = { fd, most } });
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
			   .pieces = { { 3, GIVE | TAKE, room_of(size) },
				       { 4, GIVE | TAKE, sizeof(*size) } } });
}
