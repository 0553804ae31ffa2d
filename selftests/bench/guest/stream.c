// SPDX-License-Identifier: GPL-2.0
/*
 * TCP between two machines, as netperf has it:
 *   stream serve PORT		answers any number of the two below
 *   stream rr HOST PORT MS	one byte there and back, for so long
 *				prints "rr COUNT MEDIAN_NS P99_NS"
 *   stream send HOST PORT MS	bytes in one direction, for so long
 *				prints "send BYTES NS", until the last is read
 * No thread, no lock: one process per connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "now.h"

#define SAMPLES		100000
#define CHUNK		65536
#define CONNECT_TRIES	100

static char buffer[CHUNK];
static uint64_t ns[SAMPLES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* One connection: its first byte says what it wants. */
static void answer(int fd)
{
	char kind;
	ssize_t n;

	no_delay(fd);
	if (read(fd, &kind, 1) != 1)
		return;
	do {
		n = read(fd, buffer, sizeof(buffer));
		if (n > 0 && kind == 'r' && write(fd, buffer, n) != n)
			return;
	} while (n > 0);
	if (!n && kind == 's' && write(fd, "e", 1) != 1)
		return;
}

static int serve(int port)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 8))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int one = accept(fd, NULL, NULL);

		if (one < 0)
			die("accept");
		if (!fork()) {
			close(fd);
			answer(one);
			_exit(0);
		}
		close(one);
	}
}

static int connect_to(const char *host, int port, char kind)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port) };
	int tries, fd;

	if (inet_pton(AF_INET, host, &to.sin_addr) != 1)
		exit(2);
	for (tries = 0; tries < CONNECT_TRIES; tries++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, (struct sockaddr *)&to, sizeof(to))) {
			no_delay(fd);
			if (write(fd, &kind, 1) != 1)
				die("write");
			return fd;
		}
		close(fd);
		usleep(50000);
	}
	die("connect");
	return -1;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void request_response(int fd, uint64_t span)
{
	uint64_t end = now_ns() + span;
	int count = 0;

	while (count < SAMPLES) {
		uint64_t start = now_ns();

		if (start > end)
			break;
		if (write(fd, "x", 1) != 1 || read(fd, buffer, 1) != 1)
			die("rr");
		ns[count++] = now_ns() - start;
	}
	if (!count)
		exit(1);
	qsort(ns, count, sizeof(*ns), compare);
	printf("rr %d %llu %llu\n", count,
	       (unsigned long long)ns[count / 2],
	       (unsigned long long)ns[(uint64_t)count * 99 / 100]);
}

static void send_bytes(int fd, uint64_t span)
{
	uint64_t start = now_ns(), bytes = 0;

	while (now_ns() - start < span) {
		ssize_t n = write(fd, buffer, sizeof(buffer));

		if (n < 0)
			die("write");
		bytes += n;
	}
	shutdown(fd, SHUT_WR);
	if (read(fd, buffer, 1) != 1)	/* the other side has read it all */
		die("read");
	printf("send %llu %llu\n", (unsigned long long)bytes,
	       (unsigned long long)(now_ns() - start));
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(atoi(argv[2]));
	if (argc != 5)
		return 2;
	if (!strcmp(argv[1], "rr"))
		request_response(connect_to(argv[2], atoi(argv[3]), 'r'),
				 atoi(argv[4]) * 1000000ull);
	else if (!strcmp(argv[1], "send"))
		send_bytes(connect_to(argv[2], atoi(argv[3]), 's'),
			   atoi(argv[4]) * 1000000ull);
	else
		return 2;
	return 0;
}
