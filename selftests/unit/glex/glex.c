// SPDX-License-Identifier: GPL-2.0
/*
 * libglex's queues under what no well-behaved program does.
 *
 *	glex claim		a writer dies with a slot claimed, and its number is
 *				another's by then: what others have sent comes
 *	glex next		an endpoint is ended, or its process killed, and its
 *				number is another's at once: what is sent comes there
 *	glex taken		what somebody else has made of that name is a number that
 *				is taken, and no error
 *	glex scribble SEED	a peer writes anything over an endpoint's file, while its
 *				owner and those who send to it go on: nobody crashes
 *	glex port COUNT		what comes from other machines is put into a queue by a
 *				thread of its own, while its owner sends to himself: all
 *				comes, in order of each
 *	glex threads COUNT	four send at once, and the owner waits for them: all comes,
 *				in order of each (built with ThreadSanitizer, too)
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../libglex/internal.h"

#define SENDERS	4

static glex_device_handle_t dev;
/* Two numbers from here on are ours, whoever else runs it as this user. */
static uint32_t first;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	printf("FAILED: %s\n", what);
	exit(1);
}

static glex_ep_handle_t endpoint(uint32_t num, uint32_t capacity)
{
	struct glex_ep_attr attr = {
		.num = num, .mpq_capacity = capacity, .eq_capacity = capacity,
	};
	glex_ep_handle_t ep;

	check(!glex_create_ep(dev, &attr, &ep), "an endpoint");
	return ep;
}

static glex_ret_t send_word(glex_ep_handle_t from, glex_ep_addr_t to, uint64_t word)
{
	struct glex_imm_mp_req req = {
		.rmt_ep_addr = to, .data = &word, .len = sizeof(word),
	};

	return glex_send_imm_mp(from, &req, NULL);
}

static uint64_t word_of(glex_ep_handle_t ep, int32_t timeout)
{
	uint64_t words[MP_DATA / 8] = { 0 };
	glex_ep_addr_t from;
	uint32_t len;

	check(!glex_receive_mp(ep, timeout, &from, words, &len), "a packet");
	return words[0];
}

/* --- claim */

static void die_claimed(glex_ep_addr_t to)
{
	glex_ep_handle_t ep = endpoint(first + 1, 16);
	struct peer *peer = peer_get(ep, to);
	uint64_t position;

	check(!send_word(ep, to, 1), "the first is sent");
	check(!!queue_claim(&ep->writer, &peer->file, &peer->file.mps, &position),
	      "a slot");
	_exit(0);
}

static void claim(void)
{
	glex_ep_handle_t own = endpoint(first, 16), other;
	pid_t child = fork();

	if (!child)
		die_claimed(own->addr);
	waitpid(child, NULL, 0);
	other = endpoint(first + 1, 16);
	check(!send_word(other, own->addr, 2), "another sends");
	check(word_of(own, 0) == 1, "the first has come");
	check(word_of(own, 5000) == 2, "what came behind the claim");
	glex_destroy_ep(other);
	glex_destroy_ep(own);
}

/* --- next */

static void sleeps(int told)
{
	endpoint(first, 1024);
	check(write(told, "", 1) == 1, "it tells");
	for (;;)
		pause();
}

/* One of a smaller file: who sends has the larger one mapped. */
static void comes_to_next(glex_ep_handle_t other, glex_ep_addr_t to)
{
	glex_ep_handle_t own = endpoint(first, 16);

	check(!send_word(other, to, 2), "it is sent to the next one");
	check(word_of(own, 0) == 2, "it has come to the next one");
	glex_destroy_ep(own);
}

static void next(void)
{
	glex_ep_handle_t own = endpoint(first, 1024), other = endpoint(first + 1, 16);
	glex_ep_addr_t to = own->addr;
	int told[2];
	pid_t child;
	char byte;

	check(!send_word(other, to, 1), "it is open");
	glex_destroy_ep(own);
	comes_to_next(other, to);
	check(!pipe(told), "a pipe");
	child = fork();
	if (!child)
		sleeps(told[1]);
	check(read(told[0], &byte, 1) == 1 && !send_word(other, to, 1), "it is open");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	comes_to_next(other, to);
	glex_destroy_ep(other);
}

/* --- taken */

static glex_ret_t first_is(void)
{
	struct glex_ep_attr attr = { .num = first };
	glex_ep_handle_t ep;
	glex_ret_t ret = glex_create_ep(dev, &attr, &ep);

	if (!ret)
		glex_destroy_ep(ep);
	return ret;
}

static void taken(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/glex-%u-0-%u", getuid(), first);
	check(!symlink("/dev/null", path), "a link");
	check(first_is() == GLEX_NO_EP_RESOURCE, "a link is in the way");
	unlink(path);
	if (!getuid()) {
		check(!mknod(path, S_IFREG | 0666, 0) && !chown(path, 65534, 65534),
		      "another user's file");
		check(first_is() == GLEX_NO_EP_RESOURCE, "it is in the way");
		unlink(path);
	}
	check(!first_is(), "nothing is in the way");
}

/* --- scribble */

static void scribble(unsigned int seed)
{
	glex_ep_handle_t own = endpoint(first, 64), other = endpoint(first + 1, 64);
	uint64_t words[MP_DATA / 8];
	glex_ep_addr_t from;
	glex_event_t *event;
	void *data;
	uint32_t len, i;

	srand(seed);
	check(!send_word(other, own->addr, 1), "it is open");
	for (i = 0; i < 200000; i++) {
		size_t at = rand() % (own->file.size / 8) * 8;

		*(volatile uint64_t *)((char *)own->file.header + at) =
			(uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ rand();
		send_word(other, own->addr, i);
		if (!glex_receive_mp(own, 0, &from, words, &len))
			check(len <= MP_DATA, "a length");
		if (!glex_probe_next_mp(own, &from, &data, &len))
			check(len <= MP_DATA, "a length");
		glex_probe_next_event(own, &event);
		if (!(i % 16)) {
			glex_discard_probed_mp(own);
			glex_discard_probed_event(own);
		}
	}
	glex_destroy_ep(other);
	glex_destroy_ep(own);
}

/* --- port */

static uint64_t count;

static void *comes_from_afar(void *arg)
{
	const glex_ep_addr_t far = { .nic_id = NICS + 1, .ep_num = 9 };
	glex_ep_handle_t ep = arg;
	uint64_t i;

	for (i = 0; i < count; i++)
		while (mp_put(&ep->port, &ep->file, far, &i, sizeof(i)))
			usleep(10);
	return NULL;
}

static void port(void)
{
	glex_ep_handle_t own = endpoint(first, 16);
	uint64_t next[2] = { 0 }, sent = 0, words[MP_DATA / 8];
	glex_ep_addr_t from;
	pthread_t thread;
	uint32_t len;

	pthread_create(&thread, NULL, comes_from_afar, own);
	while (next[0] < count || next[1] < count) {
		if (sent < count && !send_word(own, own->addr, sent))
			sent++;
		if (glex_receive_mp(own, sent < count ? 0 : 1000, &from, words, &len))
			continue;
		check(words[0] == next[from.v != own->addr.v]++, "in order");
	}
	pthread_join(thread, NULL);
	glex_destroy_ep(own);
}

/* --- threads */

static glex_ep_addr_t meeting;

static void *sends(void *arg)
{
	glex_ep_handle_t ep = endpoint(GLEX_ANY_EP_NUM, 16);
	uint64_t i;

	for (i = 0; i < count; i++)
		while (send_word(ep, meeting, (uint64_t)arg << 32 | i) == GLEX_BUSY)
			usleep(10);
	glex_destroy_ep(ep);
	return NULL;
}

static void threads(void)
{
	glex_ep_handle_t own = endpoint(first, 64);
	uint64_t next[SENDERS] = { 0 }, i, word;
	pthread_t thread[SENDERS];

	meeting = own->addr;
	for (i = 0; i < SENDERS; i++)
		pthread_create(&thread[i], NULL, sends, (void *)i);
	for (i = 0; i < SENDERS * count; i++) {
		word = word_of(own, 10000);
		check(word >> 32 < SENDERS, "whose it is");
		check((uint32_t)word == next[word >> 32]++, "in order");
	}
	for (i = 0; i < SENDERS; i++)
		pthread_join(thread[i], NULL);
	glex_destroy_ep(own);
}

int main(int argc, char **argv)
{
	check(argc > 1 && !glex_open_device(0, &dev), "a device");
	first = getpid() % 32767 * 2;
	if (!strcmp(argv[1], "claim")) {
		claim();
	} else if (!strcmp(argv[1], "next")) {
		next();
	} else if (!strcmp(argv[1], "taken")) {
		taken();
	} else if (argc > 2 && !strcmp(argv[1], "scribble")) {
		scribble(atoi(argv[2]));
	} else if (argc > 2 && !strcmp(argv[1], "port")) {
		count = atoi(argv[2]);
		port();
	} else if (argc > 2) {
		count = atoi(argv[2]);
		threads();
	}
	puts("ok");
	return 0;
}
