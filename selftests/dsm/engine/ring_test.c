// SPDX-License-Identifier: GPL-2.0
/*
 * Rings between processes, by hand: what a peer that keeps no rule can write into
 * them, who is woken, frames of all lengths between two processes that sleep, and
 * what a peer has written before it died.  Run by dsm/64-memory, with sanitizers,
 * and with rules taken out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../userspace/mios-dsm/runtime/shm_ring.h"
#include "../../../userspace/mios-dsm/tools/connections.h"

#define FRAMES	20000
#define LATE	30000		/* ms; a wake that is lost */

#define CHECK(c) do { \
	if (!(c)) { \
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #c); \
		_exit(1); \
	} \
} while (0)

static u32 lots = 1;

static u32 lot(u32 n)
{
	lots = lots * 1103515245 + 12345;
	return (lots >> 8) % n;
}

static struct ring *fresh(void)
{
	static struct ring r;

	memset(&r, 0, sizeof(r));
	return &r;
}

/* Frames as long as the room come out as they went in, over the end as well. */
static void keeps_frames(void)
{
	static u8 in[5000], *out;
	struct ring *r = fresh();
	u32 tail = -4096u, head = tail, sent = 0, got = 0, len;

	r->tail = r->head = tail;
	out = malloc(sizeof(in));
	while (got < 5000) {
		len = 1 + sent * 7 % sizeof(in);
		memset(in, sent, len);
		if (sent < 5000 && ring_put(r, &tail, in, len)) {
			sent++;
			continue;
		}
		while (ring_get(r, &head, out, 1 + got * 7 % sizeof(in)) > 0) {
			len = 1 + got * 7 % sizeof(in);
			for (u32 i = 0; i < len; i++)
				CHECK(out[i] == (u8)got);
			got++;
		}
		CHECK(got == sent);
	}
	free(out);
}

/* What a peer may write where it likes. */
static void believes_nothing(void)
{
	static u8 byte[8];
	struct ring *r = fresh();
	u32 tail = 0, head = 0, len;
	u8 *out = malloc(100);

	/* A receiver that says it has read what was never sent. */
	r->head = 8;
	CHECK(!ring_put(r, &tail, byte, 1) && !tail);
	r->head = -RING_BYTES - 8;
	CHECK(!ring_put(r, &tail, byte, 1));
	r->head = -RING_BYTES + 8;
	CHECK(!ring_put(r, &tail, byte, 5) && ring_put(r, &tail, byte, 4));
	/* Lengths that are none, too long, beyond what was sent. */
	for (int i = 0; i < 5; i++) {
		len = (const u32[]){ 0, 101, 64, ~0u, 1u << 31 }[i];
		r = fresh();
		head = 0;
		memcpy(r->byte, &len, sizeof(len));
		r->tail = i < 2 ? 256 : 64;
		CHECK(ring_get(r, &head, out, 100) == -EPROTO);
		CHECK(head == r->tail && r->head == head);
		CHECK(!ring_get(r, &head, out, 100));
	}
	/* Ends that are none. */
	r = fresh();
	head = 0;
	len = 4;
	memcpy(r->byte, &len, sizeof(len));
	r->tail = 7;
	CHECK(!ring_get(r, &head, out, 100) && !head);
	r->tail = RING_BYTES + 8;
	CHECK(ring_get(r, &head, out, 100) == -EPROTO && head == RING_BYTES + 8);
	r->tail = 3;
	CHECK(ring_get(r, &head, out, 100) == -EPROTO && head % 8 == 0);
	free(out);
}

/* Whatever is there: no byte beside ring and frame is touched. */
static void stands_noise(void)
{
	struct ring *r = malloc(sizeof(*r));
	u32 head = 0, tail = 0;
	u8 *out = malloc(100);

	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 200000; i++) {
		u32 *at = (u32 *)(r->byte + lot(RING_BYTES / 8) * 8);

		*at = lot(2) ? lot(120) : lot(1u << 24) << lot(16);
		if (lot(4))
			memcpy(r->byte + head % RING_BYTES, at, sizeof(*at));
		r->tail = lot(3) ? head + lot(400) : lot(1u << 24) << lot(16);
		r->head = lot(3) ? tail - lot(400) : lot(1u << 24) << lot(16);
		CHECK(ring_get(r, &head, out, 100) <= 100);
		ring_put(r, &tail, out, lot(101));
	}
	free(r);
	free(out);
}

static void wakes_sleepers(void)
{
	struct ring *r = fresh();
	u32 tail = 0, head = 0;
	u8 byte[8];

	CHECK(!ring_doze(r, head));
	CHECK(ring_put(r, &tail, "one", 3));
	CHECK(ring_sleeper(r) && !ring_sleeper(r));
	CHECK(ring_doze(r, head));
	ring_up(r);
	CHECK(!ring_sleeper(r));
	CHECK(ring_get(r, &head, byte, 8) == 3 && !ring_doze(r, head));
}

/* Sleeps until there is a frame. */
static int receive(struct transport *t, const void **frame)
{
	struct pollfd p[2] = { { .fd = t->event, .events = POLLIN } };
	u64 count;
	u16 from;
	int n;

	while (!(n = t->receive(t, 1 - t->self, &from, frame))) {
		p[1] = (struct pollfd){ .fd = t->fd[1 - t->self],
					.events = POLLIN };
		if (!t->doze(t, true))
			CHECK(poll(p, 2, LATE) > 0);
		t->doze(t, false);
		t->ready = p[1].revents ? 1u << (1 - t->self) : 0;
		if (p[0].revents)
			CHECK(read(t->event, &count, sizeof(count)) > 0);
	}
	return n;
}

/* Answers what it gets; a child of its own, so that there are two processes. */
static void echo(struct connections *c)
{
	struct transport t;
	const void *frame;
	static u8 last[5000];
	int n;

	CHECK(!transport_local(&t, 2, 1, c->to[1]));
	close(c->to[0][1].socket);
	for (int i = 0; i < FRAMES; i++) {
		n = receive(&t, &frame);
		CHECK(n > 0);
		t.send(&t, 0, frame, n);
	}
	/* No more room than that; and then it ends. */
	for (int i = 0; i < 40; i++)
		t.send(&t, 0, last, sizeof(last));
	_exit(0);
}

static void between_processes(void)
{
	static u8 frame[5000];
	const void *back;
	struct transport t;
	struct connections c;
	pid_t child;
	u16 from;
	u32 len;
	int n = 0;

	connections_clear(&c);
	CHECK(!connections_make(&c, 2, true));
	child = fork();
	if (!child)
		echo(&c);
	CHECK(!transport_local(&t, 2, 0, c.to[0]));
	close(c.to[1][0].socket);
	for (int i = 0; i < FRAMES; i++) {
		len = 4 + lot(i % 10 ? 60 : 4990);
		memset(frame, i, len);
		t.send(&t, 1, frame, len);
		CHECK(receive(&t, &back) == (int)len);
		CHECK(!memcmp(frame, back, len));
	}
	CHECK(waitpid(child, NULL, 0) == child);
	t.ready = 2;
	while (t.receive(&t, 1, &from, &back) == 5000)
		n++;
	CHECK(n == RING_BYTES / 5008 && t.fd[1] == -1 && !t.refused);
	t.send(&t, 1, frame, 4);
}

/* Nobody can make it shorter; another size or version is no ring. */
static void is_a_ring(void)
{
	int fd = ring_make(), other = memfd_create("other", MFD_ALLOW_SEALING);
	u32 head[2];

	CHECK(fd >= 0 && ftruncate(fd, 4096) && ring_open(fd));
	CHECK(pread(fd, head, sizeof(head), 0) == sizeof(head));
	CHECK(!ftruncate(other, sizeof(struct ring_pair)));
	CHECK(pwrite(other, head, sizeof(head), 0) == sizeof(head));
	CHECK(!ring_open(other));
	CHECK(!fcntl(other, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW |
		     F_SEAL_SEAL) && ring_open(other));
	head[1]++;
	CHECK(pwrite(other, head, sizeof(head), 0) == sizeof(head));
	CHECK(!ring_open(other));
	close(fd);
	close(other);
}

int main(void)
{
	keeps_frames();
	believes_nothing();
	stands_noise();
	wakes_sleepers();
	is_a_ring();
	between_processes();
	return 0;
}
