// SPDX-License-Identifier: GPL-2.0
/*
 * What works for a descriptor of one's own process alone: for another one's it is
 * EBADF, and never something else's answer.
 *   elsewhere MEMBERS FOLDER
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "check.h"
#include "members.h"

static int calls;
static bool apart;	// the last one is in another process

// What each call has come to: refused where the descriptor is another's, and only there.
static void one(bool refused, const char *what)
{
	calls++;
	check(refused == apart, what);
}

#define ONE(CALL) one((errno = 0, (CALL) == -1 && errno == EBADF), #CALL)

// Both ends of a connection, a socket that has none, all of the last member.
static int ends[2], server, top, file, set;
static DIR *folder;

static void open_all(const char *path)
{
	struct sockaddr_in any = {};

	any.sin_family = AF_INET;
	server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	check(!bind(server, (sockaddr *)&any, sizeof(any)) &&
	      !socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "sockets");
	top = open(path, O_RDONLY | O_DIRECTORY);
	file = openat(top, "file", O_RDWR | O_CREAT, 0600);
	check(pwrite(file, "abcd", 4, 0) == 4, "a file");
	set = epoll_create1(0);
	folder = opendir(path);
}

static void sockets()
{
	struct sockaddr_storage name;
	socklen_t size = sizeof(int);
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr m = {};
	int value = 1;

	m.msg_iov = &part;
	m.msg_iovlen = 1;
	memset(&name, 0, sizeof(name));
	ONE(send(ends[0], "x", 1, 0));
	ONE(recv(ends[1], &byte, 1, MSG_DONTWAIT));
	ONE(sendto(ends[0], "x", 1, 0, NULL, 0));
	ONE(recvfrom(ends[1], &byte, 1, MSG_DONTWAIT, NULL, NULL));
	ONE(sendmsg(ends[0], &m, 0));
	ONE(recvmsg(ends[1], &m, MSG_DONTWAIT));
	ONE(bind(server, (sockaddr *)&name, 2));
	ONE(connect(server, (sockaddr *)&name, 2));
	ONE(listen(server, 4));
	ONE(accept(server, NULL, NULL));
	ONE(accept4(server, NULL, NULL, 0));
	ONE(setsockopt(server, SOL_SOCKET, SO_KEEPALIVE, &value, sizeof(value)));
	ONE(getsockopt(server, SOL_SOCKET, SO_KEEPALIVE, &value, &size));
	ONE(shutdown(ends[0], SHUT_RD));
}

static void waits()
{
	struct pollfd p = { ends[0], POLLOUT, 0 };
	struct timespec now = {};
	struct timeval soon = {};
	struct epoll_event e = {};
	fd_set out;

	FD_ZERO(&out);
	FD_SET(ends[0], &out);
	ONE(poll(&p, 1, 0));
	ONE(ppoll(&p, 1, &now, NULL));
	if (ends[0] < FD_SETSIZE) {
		ONE(select(ends[0] + 1, NULL, &out, NULL, &soon));
		ONE(pselect(ends[0] + 1, NULL, &out, NULL, &now, NULL));
	}
	ONE(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &e));
	ONE(epoll_wait(set, &e, 1, 0));
}

static void folders()
{
	struct statx more;
	struct stat st;
	off_t at = 0;
	off64_t from = 0, to = 8;

	ONE(openat(top, "file", O_RDWR));
	ONE(fstatat(top, "", &st, AT_EMPTY_PATH));
	ONE(statx(top, "", AT_EMPTY_PATH, STATX_SIZE, &more));
	ONE(faccessat(top, "file", R_OK, 0));
	ONE(mkdirat(top, "deeper", 0700));
	ONE(renameat(top, "deeper", top, "other"));
	ONE(unlinkat(top, "other", AT_REMOVEDIR));
	ONE(sendfile(ends[0], file, &at, 1));
	ONE(copy_file_range(file, &from, file, &to, 2, 0));
	errno = 0;
	one(!readdir(folder) && errno == EBADF, "readdir");
	ONE(closedir(folder));
}

int main(int argc, char **argv)
{
	members = atoi(argv[1]);
	std::string first = process(), last;
#pragma omp parallel
	if (is_last()) {
		last = process();
		open_all(argv[2]);
	}
	apart = first != last;
	sockets();
	waits();
	folders();
	// What a member can do with its own it can.
#pragma omp parallel
	if (is_last() && apart) {
		apart = false;
		sockets();
		waits();
		folders();
	}
	check(calls >= 29, "calls");
	printf("%d members, all right\n", members);
	return 0;
}
