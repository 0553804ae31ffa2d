// SPDX-License-Identifier: GPL-2.0
/*
 * Setting a node up and taking it down.  Called by start.c, on the program's
 * first thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "layout.h"
#include "node.h"

/* A lease ends at the latest after so long, whatever a thread does. */
#define LEASE		10000000ULL
#define LINK_DELAY	300000ULL

static int engine_start(struct node *n, u32 pages)
{
	struct dsm_config c = {
		.nodes = n->nodes, .self = n->self, .cpus = THREADS_MAX,
		.protocol = DSM_WI, .order = n->transport.order,
		.pages = pages, .chunk = 1, .batch = 1, .run = 1,
		.requests = n->nodes * (THREADS_MAX + 1), .window = 2,
		.news = DSM_NEWS_MAX, .lease = LEASE,
	};
	struct dsm_set none;
	int err;

	if (getrandom(c.key, sizeof(c.key), 0) != sizeof(c.key))
		return -errno;
	n->dsm = malloc(dsm_size(&c));
	if (!n->dsm)
		return -ENOMEM;
	err = dsm_init(n->dsm, &c);
	if (err)
		return err;
	set_clear(&none);
	for (u32 page = LAYOUT_OWN; page < pages; page++)
		dsm_place(n->dsm, page, layout_home(pages, n->nodes, page,
						    page % n->nodes),
			  &none, DSM_MODE_WI);
	return 0;
}

static int link_start(struct node *n)
{
	u32 piece = n->transport.frame_max - sizeof(struct dsm_frame);
	int err;
	struct dsm_link_config c = {
		.nodes = n->nodes, .self = n->self, .life = n->transport.life[n->self],
		.window = n->transport.window,
		.frame_max = n->transport.frame_max,
		.message_max = DSM_FRAME_MAX, .page_bytes = DSM_PAGE_SIZE,
		.timeout = n->transport.timeout, .delay = LINK_DELAY,
	};

	n->pieces = (DSM_FRAME_MAX + piece - 1) / piece;
	c.frames = NODE_FRAMES * n->nodes * n->pieces;
	n->link = malloc(dsm_link_size(&c));
	err = n->link ? dsm_link_init(n->link, &c) : -ENOMEM;
	for (u16 i = 0; i < n->nodes && !err; i++)
		dsm_link_reset(n->link, i, n->transport.life[i]);
	return err;
}

/* The service takes no signal that is meant for the program. */
static int service_start(struct node *n)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&n->service, NULL, node_serve, n);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

int node_start(struct node *n, u32 pages)
{
	int err = window_open(&n->window, pages);

	if (err)
		return err;
	n->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = n->event < 0 ? -errno : engine_start(n, pages);
	if (!err)
		err = link_start(n);
	if (!err)
		err = service_start(n);
	if (err)
		fprintf(stderr, "mios-dsm: node %u cannot start: %s\n",
			n->self, strerror(-err));
	return err;
}

void node_finish(struct node *n)
{
	u64 one = 1;

	atomic_store(&n->leaving, true);
	if (write(n->event, &one, sizeof(one)) < 0)
		perror("mios-dsm: event");
	pthread_join(n->service, NULL);
	window_close(&n->window);
	close(n->event);
	free(n->link);
	free(n->dsm);
}
