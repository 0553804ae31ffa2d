// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that the last member has made, and what the others do with them: names,
 * and addresses of memory that are wrong, which are an error as they are on one
 * kernel.
 *   sockets MEMBERS
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static int members;

// What listens, and both ends of a connection to it.
struct connection {
	int server, client, peer;
	sockaddr_in name;
};

static bool is_last()
{
	return omp_get_thread_num() == members - 1;
}

static long open_server(connection *c)
{
	sockaddr_in any = {};

	any.sin_family = AF_INET;
	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->server = socket(AF_INET, SOCK_STREAM, 0);
	// Each instance has a loopback of its own.
	c->client = socket(AF_INET, SOCK_STREAM, 0);
	return bind(c->server, (sockaddr *)&any, sizeof(any)) != 0;
}

// By whoever: it works for a socket of any member.
static long open_connection(connection *c)
{
	socklen_t size = sizeof(c->name), room = 4;
	sockaddr_in peer = {};
	long wrong = 0;

	wrong += listen(c->server, 4) != 0;
	wrong += getsockname(c->server, (sockaddr *)&c->name, &size) != 0 ||
		 size != sizeof(c->name);
	if (connect(c->client, (sockaddr *)&c->name, size))
		return wrong + 1;
	// No more of a name than there is room for.
	peer.sin_addr.s_addr = 1;
	c->peer = accept(c->server, (sockaddr *)&peer, &room);
	wrong += c->peer < 0 || room != sizeof(peer) ||
		 peer.sin_addr.s_addr != 1 || peer.sin_family != AF_INET;
	return wrong;
}

static void names()
{
	connection c = {};
	sockaddr_in name = {};
	socklen_t size = sizeof(name);
	long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	{
		if (is_last())
			wrong += open_server(&c);
#pragma omp barrier
#pragma omp master
		wrong += open_connection(&c);
	}
	check(!wrong, "bind, listen, connect, accept");
#pragma omp parallel
	if (is_last())
		wrong += getpeername(c.client, (sockaddr *)&name, &size) != 0;
	check(!wrong && name.sin_port == c.name.sin_port && name.sin_port,
	      "getpeername");
	close(c.server);
	close(c.client);
	close(c.peer);
}

// What a short answer does not fill stays as it was.
static long keeps_the_rest(const int ends[2])
{
	// What a program maps shared is each process's own.
	char *p = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long wrong = p == MAP_FAILED;

	if (wrong)
		return wrong;
	memset(p, '#', 16);
	wrong += write(ends[1], "ab", 2) != 2;
	wrong += read(ends[0], p, 15) != 2 || memcmp(p, "ab####", 6);
	wrong += write(ends[0], "cd", 2) != 2;
	wrong += recv(ends[1], p + 4, 8, 0) != 2 || memcmp(p, "ab##cd####", 10);
	munmap(p, 4096);
	return wrong;
}

// Room for more than the window has, of which next to nothing is needed.
static long takes_much(int ends[2])
{
	size_t size = 3ul << 30;
	char *p = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED |
			       MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long wrong = 0;

	wrong += write(ends[1], "abcd", 4) != 4 || read(ends[0], p, size) != 4;
	wrong += write(ends[1], "efg", 3) != 3 ||
		 recv(ends[0], p + 4, size - 4, 0) != 3;
	wrong += memcmp(p, "abcdefg", 8) != 0;
	struct iovec two[] = { { p, 2 }, { p + 2, size - 2 } };
	wrong += write(ends[1], "hijk", 4) != 4 || readv(ends[0], two, 2) != 4 ||
		 memcmp(p, "hijkefg", 8);
	munmap(p, size);
	return wrong;
}

#define IS_EFAULT(CALL) (errno = 0, (CALL) != -1 || errno != EFAULT)

// No memory is at @p.
static long are_refused(int fd, void *p)
{
	char buffer[16] = "";
	socklen_t size = sizeof(buffer), *nowhere = (socklen_t *)p;
	sockaddr *name = (sockaddr *)buffer;
	long wrong = 0;

	wrong += IS_EFAULT(read(fd, p, 8));
	wrong += IS_EFAULT(write(fd, p, 8));
	wrong += IS_EFAULT(send(fd, p, 8, 0));
	wrong += IS_EFAULT(recv(fd, p, 8, 0));
	wrong += IS_EFAULT(getsockname(fd, name, nowhere));
	wrong += IS_EFAULT(getpeername(fd, name, nowhere));
	wrong += IS_EFAULT(getsockopt(fd, SOL_SOCKET, SO_TYPE, buffer,
				      nowhere));
	wrong += IS_EFAULT(getsockopt(fd, SOL_SOCKET, SO_TYPE, p, &size));
	wrong += IS_EFAULT(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, p, 4));
	return wrong;
}

static void addresses()
{
	int ends[2] = { -1, -1 }, type = 0;
	socklen_t size = sizeof(type);
	long wrong = 0;

#pragma omp parallel reduction(+ : wrong)
	if (is_last())
		wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0;
	// Something to be read, for those that would.
	check(!wrong && write(ends[1], "0123456789abcdef", 16) == 16,
	      "socketpair");
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	{
		wrong += are_refused(ends[0], (void *)16);
		wrong += are_refused(ends[0], NULL);
	}
	check(!wrong, "wrong addresses are refused");
	check(!getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &type, &size) &&
	      type == SOCK_STREAM && size == sizeof(type), "getsockopt");
	char rest[32];
	while (recv(ends[0], rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	wrong += keeps_the_rest(ends);
	check(!wrong, "what is not written stays");
#pragma omp parallel reduction(+ : wrong)
#pragma omp critical
	wrong += takes_much(ends);
	check(!wrong, "reads of gigabytes");
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	names();
	addresses();
	printf("%d members, all right\n", members);
	return 0;
}
