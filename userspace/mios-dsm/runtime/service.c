// SPDX-License-Identifier: GPL-2.0
/*
 * The service thread of a node: takes faults of the program and frames of the
 * peers to the engine, and tells it what time it is.  It never touches the
 * window itself, or it would wait for itself; nor takes a lock that the program
 * may hold when it stops at a page, as stderr has.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "dsm_node.h"
#include "seal.h"

#define TICK		1000000ULL	/* ns */
#define LOOK		50000ULL	/* while somebody waits for a thread */
/* After so long without anything it sleeps until something happens. */
#define QUIET		20000000ULL
/* Threads that have found no place wait so long, or until their page is here. */
#define LATE		10000000ULL

u64 node_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The page that a thread has stopped at, or is inside with. */
void node_fault(struct node *n, u16 cpu, u8 touch)
{
	struct dsm_event ev = {
		.type = DSM_EV_FAULT, .cpu = cpu, .touch = touch,
		.page = n->threads.thread[cpu].page,
	};

	node_step(n, &ev);
}

static void fault(struct node *n, const struct window_fault *f)
{
	struct dsm_event ev = { .page = f->page };
	int cpu = threads_find(&n->threads, f->tid, n->dsm);
	struct thread *t;
	bool fresh;

	if (cpu < 0) {
		/* It stops again when it is woken: at once would be for ever. */
		if (!n->late)
			n->late = n->now + LATE;
		return;
	}
	t = &n->threads.thread[cpu];
	thread_stop(t, f->page, f->write, n->now);
	ev.cpu = cpu;
	if (dsm_page_access(n->dsm, f->page) >= (f->write ? DSM_RW : DSM_RO)) {
		thread_place(t, false);
		node_resume(n, cpu);
		return;
	}
	fresh = thread_place(t, (n->causal && f->write) || stats_look(n, t));
	if (fresh && dsm_cpu_holds(n->dsm, cpu)) {
		ev.type = DSM_EV_RETIRED;
		node_step(n, &ev);
	}
	n->stats->reads += !f->write;
	n->stats->writes += f->write;
	if (!f->write || !store_ask(n, cpu))
		node_fault(n, cpu, f->write ? DSM_EXCLUSIVE : DSM_READ);
}

/* Threads that hold pages and have got on since: the pages may go. */
void threads_release(struct node *n)
{
	struct dsm_event ev = { .type = DSM_EV_RETIRED };
	bool held = false;

	for (u16 i = 0; i < THREADS_MAX; i++) {
		if (!n->threads.thread[i].tid || !dsm_cpu_holds(n->dsm, i))
			continue;
		ev.cpu = i;
		if (thread_moved(&n->threads.thread[i], n->now))
			node_step(n, &ev);
		else
			held = true;
	}
	n->contended = held;
}

static bool faults(struct node *n)
{
	struct window_fault f;
	bool any = false;

	if (n->late && n->now >= n->late) {
		n->late = 0;
		window_wake(&n->window, 0, n->window.pages);
	}
	while (node_has_room(n) && !evict_first(n) &&
	       window_fault(&n->window, &f)) {
		any = true;
		fault(n, &f);
	}
	return any;
}

/* Nobody needs us any more. */
static bool over(struct node *n)
{
	struct dsm_msg bye = { .type = NODE_BYE, .src = n->self };

	if (!atomic_load(&n->leaving))
		return false;
	for (u16 i = 0; i < n->nodes && !n->said_bye; i++)
		if (i != n->self && !set_has(&n->gone, i))
			node_send(n, i, &bye, NULL, 0, NULL);
	n->said_bye = true;
	for (u16 i = 0; i < n->nodes; i++)
		if (i != n->self && !set_has(&n->gone, i) &&
		    !set_has(&n->bye, i))
			return false;
	return peers_idle(n);
}

/* What came and was not taken. */
static void count_refused(struct node *n)
{
	const struct seal_counts *s = n->transport.seals;

	n->stats->refused = dsm_link_statistics(n->link)->refused +
		n->transport.refused;
	if (!s)
		return;
	n->stats->refused += s->refused + s->forged + s->replayed;
	n->stats->forged = s->forged;
	n->stats->replayed = s->replayed;
}

static void tick(struct node *n)
{
	const struct dsm_link_stats *l = dsm_link_statistics(n->link);
	struct dsm_event ev = { .type = DSM_EV_TICK };
	struct dsm_link_out out;
	int silent;

	n->ticked = n->now;
	n->counting = stats_census(n);
	node_step(n, &ev);
	if (n->adapt && node_has_room(n) &&
	    adapt_wish(n->adapt, n->dsm, &ev))
		node_step(n, &ev);
	n->stats->emulated = dsm_statistics(n->dsm)->emulated;
	n->stats->resident = n->window.resident;
	n->stats->most = n->window.most;
	n->stats->updates = dsm_statistics(n->dsm)->sent[DSM_UPD];
	dsm_link_tick(n->link, n->now, &out);
	peers_take(n, &out);
	peers_deliver(n);
	n->stats->frames = l->frames;
	n->stats->bytes = l->bytes;
	n->stats->again = l->again;
	count_refused(n);
	if (!n->transport.tick)
		return;
	silent = n->transport.tick(&n->transport, n->now, &n->gone);
	if (silent < 0)
		return;
	/* It needs nothing more of us, nor we of it. */
	if (n->said_bye && set_has(&n->bye, silent)) {
		peers_gone(n, silent);
		return;
	}
	dprintf(STDERR_FILENO, "mios-dsm: node %u: nothing from node %d for %llu s\n",
		n->self, silent, TRANSPORT_SILENCE / 1000000000);
	abort();
}

static bool holding(const struct node *n)
{
	for (u16 i = 0; i < THREADS_MAX; i++)
		if (n->threads.thread[i].tid && dsm_cpu_holds(n->dsm, i))
			return true;
	return false;
}

static void await(struct node *n)
{
	struct pollfd p[TRANSPORT_FDS + 2] = {
		{ .fd = n->window.uffd, .events = POLLIN },
		{ .fd = n->event, .events = POLLIN },
	};
	struct timespec t = { .tv_nsec = n->contended ? LOOK : TICK };
	bool quiet = n->now - n->active > QUIET && peers_idle(n) && !holding(n);
	u64 count, pause = n->transport.pause;
	nfds_t fds = n->transport.fds + 2;

	for (u32 i = 0; i < n->transport.fds; i++)
		p[i + 2] = (struct pollfd){ .fd = n->transport.fd[i],
					    .events = POLLIN };
	if (n->more && node_has_room(n))
		t.tv_nsec = 0;
	quiet &= !n->more && !n->asked && !evict_wanted(n) && !n->counting &&
		!n->late;
	if (quiet)
		t = (struct timespec){ .tv_sec = pause / 1000000000 };
	n->asleep = quiet;
	if (n->transport.doze && n->transport.doze(&n->transport, true)) {
		t = (struct timespec){ };
		quiet = false;
	}
	pthread_mutex_unlock(&n->lock);
	ppoll(p, fds, quiet && !pause ? NULL : &t, NULL);
	pthread_mutex_lock(&n->lock);
	n->asleep = false;
	if (n->transport.doze)
		n->transport.doze(&n->transport, false);
	n->window.readable |= p[0].revents;
	n->transport.ready = 0;
	for (u32 i = 0; i < n->transport.fds; i++)
		n->transport.ready |= (u32)!!p[i + 2].revents << i;
	if (p[1].revents && read(n->event, &count, sizeof(count)) < 0)
		return;
}

void *node_serve(void *node)
{
	struct dsm_event again = { .type = DSM_EV_AGAIN };
	struct node *n = node;

	n->backlog_end = &n->backlog;
	pthread_mutex_lock(&n->lock);
	n->now = n->active = node_clock();
	peers_begin(n);
	while (!over(n)) {
		await(n);
		n->now = node_clock();
		if (faults(n) | peers_receive(n))
			n->active = n->now;
		if (n->more && node_has_room(n)) {
			n->more = false;
			node_step(n, &again);
		}
		if (n->asked)
			stores_overdue(n);
		if (n->contended)
			threads_release(n);
		if (evict_wanted(n))
			evict_some(n);
		if (n->now - n->ticked >= TICK)
			tick(n);
	}
	tick(n);
	stats_end(n);
	pthread_mutex_unlock(&n->lock);
	return NULL;
}
