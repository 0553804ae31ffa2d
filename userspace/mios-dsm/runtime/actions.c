// SPDX-License-Identifier: GPL-2.0
/*
 * One event for the engine, and what it asks for, done in order before the next
 * event.  On the service thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "window_layout.h"
#include "dsm_node.h"

#define LOSSY	23

static struct dsm_actions actions;

void node_give_up(const char *what, int err)
{
	dprintf(STDERR_FILENO, "mios-dsm: %s: %s\n", what, strerror(-err));
	abort();
}

/* One frame in so many is lost on a lossy wire; the link sends it again. */
static bool lost(const struct node *n)
{
	static u32 frames;

	return n->window.knobs & WINDOW_LOSSY && ++frames % LOSSY == 0;
}

void node_transmit(struct node *n, const struct dsm_link_out *out)
{
	for (u32 i = 0; i < out->sends; i++)
		if (!lost(n))
			n->transport.send(&n->transport, out->send[i].to,
					  out->send[i].frame, out->send[i].len);
	if (out->sends && n->transport.flush)
		n->transport.flush(&n->transport);
}

void node_send(struct node *n, u16 to, const struct dsm_msg *m,
		     const void *body, u16 len, const void *page)
{
	struct dsm_link_out out;
	int err = dsm_link_send(n->link, to, m, body, len, page, n->now, &out);

	if (err)
		node_give_up("a message finds no room", err);
	n->stats->messages++;
	n->stats->pages += !!page;
	node_transmit(n, &out);
}

/* The receivers of all are counted before the first can act upon it. */
static void send_all(struct node *n, const struct dsm_action *a)
{
	static u8 stamped[CAUSAL_STAMP_MAX + DSM_BODY_MAX];
	const void *page = NULL;
	u32 len = 0;
	u16 to;

	if (a->msg.flags & DSM_F_DATA)
		page = window_bytes(&n->window, a->msg.page);
	if (n->causal)
		len = causal_stamp(n->causal, &a->to, stamped);
	memcpy(stamped + len, actions.body + a->body, a->len);
	set_for_each(to, &a->to)
		node_send(n, to, &a->msg, stamped, len + a->len, page);
}

/* A thread goes on; what it may do with its page it can do now. */
void node_resume(struct node *n, u16 cpu)
{
	struct thread *t = &n->threads.thread[cpu];
	int err;

	if (thread_tell(t, GO_RETRY) || !t->stopped)
		return;
	stats_stall(n, t, t->write ? STATS_WRITE : STATS_READ);
	thread_wake(t, n->now);
	err = window_grant(&n->window, t->page,
			   dsm_page_access(n->dsm, t->page));
	if (err)
		node_give_up("a page cannot be mapped", err);
	thread_release(t, GO_RETRY);
}

/*
 * What the library keeps in a page that is lost is of no use any more, but its
 * calls end with an error, not with a signal: they look whether a node has died
 * before they believe what they have read.
 */
void node_lose(struct node *n, u32 page, pid_t tid)
{
	if (!layout_own(page)) {
		window_lost(&n->window, page, tid);
		return;
	}
	if (window_access(&n->window, page, DSM_RW))
		node_give_up("a page cannot be mapped", -ENOMEM);
	window_wake(&n->window, page, 1);
}

static void lose(struct node *n, u16 cpu)
{
	struct thread *t = &n->threads.thread[cpu];

	if (thread_tell(t, GO_LOST) || !t->stopped)
		return;
	thread_wake(t, n->now);
	node_lose(n, t->page, t->tid);
	thread_release(t, layout_own(t->page) ? GO_RETRY : GO_LOST);
}

/* Less at once; more when a thread needs it. */
static void reduce(struct node *n, const struct dsm_action *a)
{
	int err = 0;

	if (a->access < n->window.mapped[a->page])
		err = window_access(&n->window, a->page, a->access);
	if (err)
		node_give_up("a page cannot be protected", err);
}

static void act(struct node *n, const struct dsm_action *a)
{
	switch (a->type) {
	case DSM_ACT_ACCESS:
		reduce(n, a);
		break;
	case DSM_ACT_SEND:
		send_all(n, a);
		break;
	case DSM_ACT_INSTALL:
		window_install(&n->window, a->page, n->incoming);
		break;
	case DSM_ACT_APPLY:
		window_apply(&n->window, a->page, a->word, a->mask, a->value);
		break;
	case DSM_ACT_DONE:
		thread_tell(&n->threads.thread[a->cpu], GO_DONE);
		break;
	case DSM_ACT_RETRY:
		node_resume(n, a->cpu);
		break;
	case DSM_ACT_EVICTED:
		window_drop(&n->window, a->page);
		n->stats->evicted++;
		n->vain = 0;
		break;
	case DSM_ACT_ERROR:
		lose(n, a->cpu);
		break;
	case DSM_ACT_LOST:
		n->stats->lost++;
		break;
	case DSM_ACT_AGAIN:
		n->more = true;
		break;
	}
}

void node_step(struct node *n, struct dsm_event *ev)
{
	ev->now = n->now;
	ev->tx_full = n->causal && !node_has_room(n);
	adapt_step(n->adapt, n->dsm, ev, &actions);
	for (u32 i = 0; i < actions.count; i++)
		act(n, &actions.act[i]);
}
