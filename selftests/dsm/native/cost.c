// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: cost [NODE [INTERFACE]].  What node 0, or that one, waits for: a page fetched,
 * a page written that the next node owns, one that all nodes have, 50 stores on
 * ten of those; beside exchanges of frames of the same length, alone, by a pair of
 * sockets, by rings in memory, and, with an interface, between the two nodes by a
 * packet socket; and beside a fault that a thread of the same process serves, with
 * no engine and no peer.  Prints the least and the median, in ns, and of faults what
 * all threads of the process had of a CPU for each.  Not a test: the host may be
 * busy.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "shm_ring.h"
#include "trial.h"
#include "dsm_window.h"

#define PAGES	100
#define REQUEST	44
#define ANSWER	(PAGE + 100)
#define EACH	5		/* stores in a row, too few to take a page */
#define ROW	10		/* pages that they go to */
#define RAW_TYPE	0x88b6	/* beside ours, for experiments, too */
#define PIECE	1480

static uint64_t taken[PAGES];

static int less(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void say(const char *what)
{
	qsort(taken, PAGES, sizeof(*taken), less);
	printf("%s: least %lu, median %lu\n", what, taken[0],
	       taken[PAGES / 2]);
}

/* Another process answers each request with so many bytes. */
static void raw(int answer, const char *what)
{
	static char buffer[ANSWER];
	int fd[2];

	demand(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), "sockets");
	if (!fork()) {
		close(fd[0]);
		while (recv(fd[1], buffer, ANSWER, 0) > 0)
			if (send(fd[1], buffer, answer, 0) < 0)
				break;
		_exit(0);
	}
	close(fd[1]);
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		demand(send(fd[0], buffer, REQUEST, 0) == REQUEST &&
		       recv(fd[0], buffer, ANSWER, 0) == answer, "exchange");
		taken[i] = now_ns() - begin;
	}
	close(fd[0]);
	say(what);
}

/* One end of two rings, which sleeps when there is nothing. */
struct end {
	struct ring *in, *out;
	uint32_t head, tail;
	int event, peer;	/* wakes us, and the other one */
};

static int ring_next(struct end *e, void *frame)
{
	struct pollfd p = { .fd = e->event, .events = POLLIN };
	uint64_t count;
	int n;

	while (!(n = ring_get(e->in, &e->head, frame, ANSWER))) {
		if (!ring_doze(e->in, e->head))
			poll(&p, 1, -1);
		ring_up(e->in);
		if (read(e->event, &count, sizeof(count)) < 0)
			continue;
	}
	return n;
}

static void ring_say(struct end *e, const void *frame, int len)
{
	const uint64_t one = 1;

	demand(ring_put(e->out, &e->tail, frame, len), "room in a ring");
	if (ring_sleeper(e->out))
		demand(write(e->peer, &one, sizeof(one)) > 0, "wake");
}

static void raw_rings(int answer, const char *what)
{
	static char buffer[ANSWER];
	struct ring *r = mmap(NULL, 2 * sizeof(*r), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct end here = { r, r + 1, 0, 0, eventfd(0, EFD_NONBLOCK),
			    eventfd(0, EFD_NONBLOCK) };
	struct end there = { r + 1, r, 0, 0, here.peer, here.event };

	demand(r != MAP_FAILED, "rings");
	if (!fork()) {
		for (int i = 0; i < PAGES && ring_next(&there, buffer) > 0; i++)
			ring_say(&there, buffer, answer);
		_exit(0);
	}
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		ring_say(&here, buffer, REQUEST);
		demand(ring_next(&here, buffer) == answer, "exchange");
		taken[i] = now_ns() - begin;
	}
	say(what);
}

/* A packet socket of its own on the interface; to all. */
static int wire_open(const char *interface, struct sockaddr_ll *to)
{
	const struct timeval limit = { .tv_sec = 1 };
	int fd = socket(AF_PACKET, SOCK_DGRAM, 0), on = 1;

	*to = (struct sockaddr_ll){ .sll_family = AF_PACKET,
				    .sll_protocol = htons(RAW_TYPE),
				    .sll_ifindex = if_nametoindex(interface),
				    .sll_halen = 6 };
	demand(fd >= 0 && !bind(fd, (struct sockaddr *)to, sizeof(*to)) &&
	       !setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
			   sizeof(on)) &&
	       !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)),
	       "packet socket");
	memset(to->sll_addr, 0xff, 6);
	return fd;
}

/* Asks, or answers, with frames of 1,500 bytes at most. */
static void raw_wire(const char *interface, bool asks, int answer,
		     const char *what)
{
	static char buffer[ANSWER];
	struct sockaddr_ll to;
	int fd = wire_open(interface, &to), got, n;

	demand(!mios_dsm_barrier(), "barrier");
	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		if (asks)
			sendto(fd, buffer, REQUEST, 0, (struct sockaddr *)&to,
			       sizeof(to));
		for (got = 0; got < (asks ? answer : REQUEST); got += n) {
			n = recv(fd, buffer, ANSWER, 0);
			demand(n > 0, "a frame of the exchange");
		}
		for (int at = 0; !asks && at < answer; at += PIECE)
			sendto(fd, buffer, answer - at < PIECE ? answer - at :
			       PIECE, 0, (struct sockaddr *)&to, sizeof(to));
		taken[i] = now_ns() - begin;
	}
	close(fd);
	if (asks)
		say(what);
	demand(!mios_dsm_barrier(), "barrier");
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void touch(volatile char *page, bool write, const char *what)
{
	uint64_t cpu = cpu_ns();

	for (int i = 0; i < PAGES; i++) {
		uint64_t begin = now_ns();

		if (write)
			page[i * PAGE] = 1;
		else
			(void)page[i * PAGE];
		taken[i] = now_ns() - begin;
	}
	cpu = (cpu_ns() - cpu) / PAGES;
	say(what);
	printf("%s, CPU: %lu\n", what, cpu);
}

/* Lets whoever stops go on, with the calls that a node makes. */
static void *serve(void *window)
{
	struct window *w = window;
	struct pollfd p = { .fd = w->uffd, .events = POLLIN };
	struct window_fault f = { };

	while (f.page != PAGES - 1) {
		demand(poll(&p, 1, -1) > 0, "a fault");
		w->readable = true;
		while (window_fault(w, &f))
			demand(!window_grant(w, f.page, DSM_RW), "a page");
	}
	return NULL;
}

/* In a child, as there is room for a window where no node's is. */
static void raw_fault(void)
{
	struct window w;
	pthread_t thread;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		demand(!window_open(&w, PAGES, false) &&
		       !pthread_create(&thread, NULL, serve, &w), "a window");
		touch((char *)w.base, true, "fault served by a thread");
		fflush(stdout);
		_exit(0);
	}
	demand(waitpid(child, NULL, 0) == child, "a child");
}

/* All nodes have the pages; by updates they still have them afterwards. */
static void stores(volatile char *page)
{
	for (int i = 0; i < PAGES / ROW; i++) {
		uint64_t begin = now_ns();

		for (int k = 0; k < EACH * ROW; k++)
			page[(i * ROW + k % ROW) * PAGE + k] = 1;
		taken[i] = (now_ns() - begin) / (EACH * ROW);
	}
	for (int i = PAGES / ROW; i < PAGES; i++)
		taken[i] = taken[i % (PAGES / ROW)];
	say("one of 50 stores");
}

int main(int argc, char **argv)
{
	int self = argc > 1 ? atoi(argv[1]) : 0;
	char *read, *written, *both, *row, *again;
	int next;

	demand(!mios_dsm_start() && mios_dsm_nodes() > 1, "two nodes at least");
	next = (self + 1) % mios_dsm_nodes();
	read = common(0, PAGES * PAGE, next);
	written = common(1, PAGES * PAGE, next);
	both = common(2, PAGES * PAGE, next);
	row = common(3, PAGES * PAGE, next);
	again = common(4, PAGES * PAGE, next);
	for (int i = 0; i < PAGES; i++) {
		(void)((volatile char *)both)[i * PAGE];
		(void)((volatile char *)row)[i * PAGE];
	}
	demand(!mios_dsm_barrier(), "barrier");
	/* All have seen it, and its owner has written it since. */
	if (mios_dsm_node() != next)
		for (int i = 0; i < PAGES; i++)
			(void)((volatile char *)again)[i * PAGE];
	demand(!mios_dsm_barrier(), "barrier");
	if (mios_dsm_node() == next)
		for (int i = 0; i < PAGES; i++)
			((volatile char *)again)[i * PAGE] = 1;
	demand(!mios_dsm_barrier(), "barrier");
	if (argc > 2) {
		raw_wire(argv[2], mios_dsm_node() == self, ANSWER,
			 "exchange of frames on the wire");
		raw_wire(argv[2], mios_dsm_node() == self, REQUEST,
			 "exchange without a page on the wire");
	}
	if (mios_dsm_node() == self) {
		raw_rings(ANSWER, "exchange of frames by rings");
		raw_rings(REQUEST, "exchange without a page by rings");
		raw(ANSWER, "exchange of frames");
		raw(REQUEST, "exchange without a page");
		raw_fault();
		touch(read, false, "page fetched");
		touch(again, false, "page fetched again");
		touch(written, true, "page written, nobody has a copy");
		touch(both, true, "page written, all have a copy");
		stores(row);
	}
	demand(!mios_dsm_barrier() && !mios_dsm_finish(), "finish");
	return 0;
}
