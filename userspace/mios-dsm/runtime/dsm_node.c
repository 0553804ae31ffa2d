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

#include "window_layout.h"
#include "dsm_node.h"

/* A lease ends at the latest after so long, whatever a thread does. */
#define LEASE		10000000ULL
#define LINK_DELAY	300000ULL
/* Write-update: stores in a row that take a page, numbers that are remembered, */
#define RUN		16
#define MERGE		4096
#define LOG		128	/* stores, of all nodes */
#define FLIGHT		1024	/* updates kept for pages on their way here */

/* What protocols with updates need besides. */
static int updates_start(struct node *n)
{
	if (n->protocol == DSM_WI)
		return 0;
	n->causal = causal_new(n->nodes, n->self,
			       n->window.knobs & WINDOW_UNHELD);
	if (!n->causal)
		return -ENOMEM;
	return n->window.own ? 0 : stores_start(n);
}

static int engine_start(struct node *n, u32 pages)
{
	u8 mode = n->protocol == DSM_WI ? DSM_MODE_WI : DSM_MODE_MW;
	struct dsm_config c = {
		.nodes = n->nodes, .self = n->self, .cpus = THREADS_MAX,
		.life = n->transport.lists[n->self] / 2,
		.protocol = n->protocol, .mode = mode,
		.order = n->causal ? DSM_ORDER_CAUSAL : n->transport.order,
		.pages = pages, .chunk = 1, .batch = DSM_BATCH_MAX,
		.run = n->adapts ? ADAPT_RUN : RUN,
		.requests = n->nodes * (THREADS_MAX + 1),
		.window = n->protocol == DSM_WUSEQ ? LOG : MERGE,
		.inflight = FLIGHT, .probowners = DSM_PROBOWNER_MAX,
		.lease = LEASE,
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
	/* Refused to one that comes back, which has none. */
	for (u32 page = LAYOUT_OWN; page < pages; page++)
		dsm_place(n->dsm, page, layout_home(pages, n->nodes, page,
						    page % n->nodes),
			  &none, mode);
	if (!n->adapts)
		return 0;
	n->adapt = malloc(adapt_size(pages));
	if (!n->adapt)
		return -ENOMEM;
	adapt_init(n->adapt, n->dsm, &c);
	return 0;
}

static int link_start(struct node *n)
{
	int err;
	struct dsm_link_config c = {
		.nodes = n->nodes, .self = n->self, .life = n->transport.lives[n->self],
		.window = n->transport.window,
		.frame_max = n->transport.frame_max,
		.message_max = DSM_FRAME_MAX, .apart = true,
		.page_bytes = DSM_PAGE_SIZE,
		.timeout = n->transport.timeout, .delay = LINK_DELAY,
	};

	n->pieces = node_pieces(n->transport.frame_max);
	c.frames = node_frames(n->nodes, n->pieces);
	n->link = malloc(dsm_link_size(&c));
	err = n->link ? dsm_link_init(n->link, &c) : -ENOMEM;
	for (u16 i = 0; i < n->nodes && !err; i++)
		dsm_link_reset(n->link, i, n->transport.lives[i]);
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

int node_start(struct node *n, u32 pages, u32 resident, bool own)
{
	int err = window_open(&n->window, pages, own);

	if (err)
		return err;
	n->window.limit = resident;
	n->hand = LAYOUT_OWN;
	pthread_mutex_init(&n->lock, NULL);
	n->event = n->transport.event;
	if (n->event < 0)
		n->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = n->event < 0 ? -errno : updates_start(n);
	if (!err)
		err = engine_start(n, pages);
	if (!err)
		err = link_start(n);
	if (!err && own)
		err = own_start();
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
	free(n->adapt);
	free(n->dsm);
	causal_free(n->causal);
}
