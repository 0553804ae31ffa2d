// SPDX-License-Identifier: GPL-2.0
/*
 * Writes down how a run went, while it goes on and at its end.  Called by
 * cmd_run.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../../../libmios/cli.h"
#include "../../runtime/window_layout.h"
#include "../../runtime/dsm_window.h"
#include "record.h"
#include "symbols.h"

#define PAUSE	10		/* ms */

static uint64_t since(const struct stats_head *head)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec * 1000000000ULL + t.tv_nsec - head->begin) / 1000000;
}

void record_look(struct record *r, const struct stats_head *head, void *at)
{
	uint64_t ms = since(head);
	struct record_sample *s;

	if (ms < r->next)
		return;
	if (!r->pause)
		r->pause = PAUSE;
	if (r->samples == RECORD_SAMPLES) {
		for (int i = 0; i < RECORD_SAMPLES / 2; i++)
			r->sample[i] = r->sample[2 * i];
		r->samples /= 2;
		r->pause *= 2;
	}
	s = &r->sample[r->samples++];
	s->ms = ms;
	for (uint32_t i = head->first; i < head->end; i++)
		s->messages[i] = stats_node(at, i)->messages;
	r->next = ms + r->pause;
}

/* Which page, and what all nodes here say of it. */
struct hot {
	uint32_t page;
	uint64_t stops, us;
	uint32_t node;		/* who waits longest, */
	uint64_t most, pc;	/* and where */
};

static void hot_count(struct hot *h, const struct stats_head *head, void *at,
		      uint32_t page)
{
	*h = (struct hot){ .page = page };
	for (uint32_t i = head->first; i < head->end; i++) {
		const struct page_stats *p =
			stats_pages(at, i, head->pages) + page;

		h->stops += p->stops;
		h->us += p->us;
		if (p->us < h->most || !p->stops)
			continue;
		h->most = p->us;
		h->node = i;
		h->pc = p->pc;
	}
}

/* The hottest first; returns how many there are. */
static int hottest(struct hot *all, const struct stats_head *head, void *at)
{
	struct hot h;
	int count = 0, k;

	for (uint32_t page = 0; page < head->pages; page++) {
		hot_count(&h, head, at, page);
		if (!h.stops || (count == RECORD_PAGES &&
				 h.us <= all[count - 1].us))
			continue;
		k = count < RECORD_PAGES ? count++ : count - 1;
		for (; k && all[k - 1].us < h.us; k--)
			all[k] = all[k - 1];
		all[k] = h;
	}
	return count;
}

/* The arena that a page is in, as window_layout.h counts them. */
static uint32_t arena(const struct stats_head *head, uint32_t page)
{
	return (page - LAYOUT_OWN) / layout_arena(head->pages, head->nodes);
}

/* The root that points nearest before the page's end, in the same arena, or -1. */
static int root_of(const struct stats_head *head, void *at, uint32_t page,
		   uint64_t *begin)
{
	uint64_t end = WINDOW_AT + (page + 1ULL) * DSM_PAGE_SIZE;
	int root = -1;

	*begin = 0;
	for (uint32_t i = head->first; i < head->end; i++)
		for (int k = 0; k < STATS_ROOTS; k++) {
			uint64_t a = stats_node(at, i)->root[k];

			if (a < WINDOW_AT + LAYOUT_OWN * DSM_PAGE_SIZE ||
			    a >= end || a <= *begin ||
			    arena(head, (a - WINDOW_AT) / DSM_PAGE_SIZE) !=
			    arena(head, page))
				continue;
			*begin = a;
			root = k;
		}
	return root;
}

/* What lies there: the library's own, or what is behind a root. */
static void page_name(char *text, size_t room, const struct stats_head *head,
		      void *at, uint32_t page)
{
	static const char *const own[] = { "barrier: arrived",
		"barrier: round", "sum", "allocation", "roots" };
	uint64_t begin;
	int root;

	if (page < LAYOUT_LOCK) {
		snprintf(text, room, "%s", own[page]);
		return;
	}
	if (page < LAYOUT_OWN) {
		snprintf(text, room, "lock %u", page - LAYOUT_LOCK);
		return;
	}
	root = root_of(head, at, page, &begin);
	if (root >= 0)
		snprintf(text, room, "root %d, page %u", root,
			 page - (uint32_t)((begin - WINDOW_AT) / DSM_PAGE_SIZE));
	else if (arena(head, page) < head->nodes)
		snprintf(text, room, "begun at node %u", arena(head, page));
	else
		snprintf(text, room, "striped");
}

static void write_pages(FILE *f, const struct stats_head *head, void *at)
{
	struct hot all[RECORD_PAGES];
	int count = hottest(all, head, at);
	struct symbols symbols;
	char where[RECORD_NAME], name[RECORD_NAME];

	symbols_open(&symbols, stats_node(at, head->first)->exe);
	for (int i = 0; i < count; i++) {
		const struct hot *h = &all[i];

		page_name(name, sizeof(name), head, at, h->page);
		if (!symbols_name(&symbols,
				  h->pc - stats_node(at, h->node)->base,
				  where, sizeof(where)))
			snprintf(where, sizeof(where), "%#" PRIx64, h->pc);
		fprintf(f, "page %#" PRIx64 " %" PRIu64 " %" PRIu64
			" %u %s\t%s\n",
			(uint64_t)(WINDOW_AT + h->page * 1ULL * DSM_PAGE_SIZE),
			h->stops, h->us, h->node, where, name);
	}
	symbols_close(&symbols);
}

int record_write(const struct record *r, const char *path,
		 const struct stats_head *head, void *at, const char *program)
{
	FILE *f = fopen(path, "w");
	bool bad;

	if (!f)
		return cli_error("'%s': %s", path, strerror(errno));
	fprintf(f, "mios-dsm record %d\nrun %u %u %u %" PRIu64 " %s\n",
		RECORD_VERSION, head->first, head->end, head->protocol,
		since(head), program);
	for (uint32_t i = head->first; i < head->end; i++) {
		const struct node_stats *s = stats_node(at, i);

		fprintf(f, "node %u %" PRIu64 " %" PRIu64, i, s->messages,
			s->bytes);
		for (int k = 0; k < STATS_CAUSES; k++)
			fprintf(f, " %" PRIu64, s->cause[k]);
		fprintf(f, "\n");
	}
	for (int i = 0; i < r->samples; i++) {
		fprintf(f, "sample %" PRIu64, r->sample[i].ms);
		for (uint32_t k = head->first; k < head->end; k++)
			fprintf(f, " %" PRIu64, r->sample[i].messages[k]);
		fprintf(f, "\n");
	}
	write_pages(f, head, at);
	bad = ferror(f);
	if (fclose(f) || bad)
		return cli_error("'%s': cannot write: %s", path,
				 strerror(errno));
	return 0;
}
