// SPDX-License-Identifier: GPL-2.0
/*
 * The listings of mios trace, each in order of time, merged into one while they are
 * read: however long they are, an event of each is in memory.  Names and texts may
 * be anything that users like.  No locks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "libmios/libmios.h"
#include "trace.h"

#define COMM_WIDTH	16	/* in a line of tracefs */
#define TASK_WIDTH	15	/* in ours */

struct event {
	uint64_t tsc;
	int cpu;
	long pid;
	const char *task, *name, *text;
	size_t task_len, name_len;
};

/* A listing, its next event, and what has been read beyond that. */
struct source {
	const struct trace_file *from;
	char *now, *next;	/* the text of an event; NULL: there is none */
	struct event event;	/* in now */
	bool begun;		/* no head of the listing comes any more */
	uint64_t last;
};

/* "            task-PID     [CPU] flags  TIME: event: text" */
static bool event_parse(const char *line, struct event *e)
{
	const char *at = line + COMM_WIDTH;
	char *end;

	/* A name is shorter, so there is a blank before it. */
	if (strlen(line) < COMM_WIDTH + 1 || *line != ' ' || *at != '-')
		return false;
	e->task = line + strspn(line, " ");
	e->task_len = e->task < at ? at - e->task : 0;
	e->pid = strtol(at + 1, &end, 10);
	if (end == at + 1 || sscanf(end, " [%d]", &e->cpu) != 1)
		return false;
	at = strchr(end, ']') + 1;
	at += strspn(at, " ");
	at += strcspn(at, " ");
	e->tsc = strtoull(at, &end, 10);
	if (end == at || *end != ':' || end[1] != ' ')
		return false;
	e->name = end + 2;
	e->text = strstr(e->name, ": ");
	e->name_len = e->text ? (size_t)(e->text - e->name) : strlen(e->name);
	e->text = e->text ? e->text + 2 : "";
	return true;
}

/* What tracefs says between events, and what it begins with. */
static bool is_remark(const char *line, bool begun)
{
	unsigned long lost;
	int cpu, end = 0;

	if (sscanf(line, "CPU:%d [LOST %lu EVENTS]%n", &cpu, &lost, &end) == 2 ||
	    sscanf(line, "##### CPU %d buffer started ####%n", &cpu, &end) == 1)
		return end && !line[end];
	return !begun && *line == '#';
}

static char *joined(char *one, char *two)
{
	char *both;

	if (!one)
		return two;
	if (asprintf(&both, "%s\n%s", one, two) < 0)
		mios_die(MIOS_EXIT_FAILED, "trace: no memory left");
	free(one);
	free(two);
	return both;
}

/* A line without its end; NULL: there is no more, or not the whole of it. */
static char *read_line(FILE *file)
{
	char *line = NULL, *nul;
	size_t size = 0;
	ssize_t len = getline(&line, &size, file);

	if (len <= 0 || line[len - 1] != '\n') {
		free(line);
		return NULL;
	}
	line[--len] = '\0';
	while ((nul = memchr(line, '\0', len)))
		*nul = '?';
	return line;
}

/*
 * Reads to the beginning of the event after the next.  There may be newlines in a
 * task's name, so that its line has too few letters to be one, and in a text.
 */
static void read_event(struct source *s)
{
	char *line, *head = NULL;
	struct event e;

	free(s->now);
	s->now = s->next;
	s->next = NULL;
	while (!s->next && (line = read_line(s->from->file))) {
		if (is_remark(line, s->begun)) {
			free(line);
			continue;
		}
		s->begun = true;
		if (event_parse(line, &e)) {
			if (head)
				s->now = joined(s->now, head);
			head = NULL;
			s->next = line;
			continue;
		}
		head = joined(head, line);
		if (event_parse(head, &e)) {
			s->next = head;
			head = NULL;
		} else if (strlen(head) > COMM_WIDTH || *head != ' ') {
			s->now = joined(s->now, head);
			head = NULL;
		}
	}
	if (head)
		s->now = joined(s->now, head);
}

/* A text with a newline can look like an event, but hardly in its order. */
static void check_order(struct source *s, int *status)
{
	if (s->event.tsc < s->last && s->last != UINT64_MAX) {
		mios_error("mios", "trace: events of instance %d are not in order: "
			   "what a user has written may look like one",
			   s->from->instance);
		*status = MIOS_EXIT_FAILED;
		s->last = UINT64_MAX;	/* said */
	} else if (s->event.tsc > s->last) {
		s->last = s->event.tsc;
	}
}

/* Its next event within the span, if it has one. */
static void advance(struct source *s, const struct trace_span *span, int *status)
{
	do {
		read_event(s);
		if (s->now && event_parse(s->now, &s->event))
			check_order(s, status);
	} while (s->now && (s->event.tsc < span->begin ||
			    s->event.tsc > span->end));
}

/* How many were lost, in the first line; and the first event. */
static void begin(struct source *s, const struct trace_file *from,
		  const struct trace_span *span, int *status)
{
	char *line = read_line(from->file);
	uint64_t lost;

	*s = (struct source){ .from = from };
	if (line && sscanf(line, "lost %" SCNu64, &lost) == 1 && lost)
		mios_error("mios", "trace: instance %d has lost %" PRIu64
			   " events: ask for fewer, or a larger --buffer",
			   from->instance, lost);
	if (!from->whole)
		mios_error("mios", "trace: instance %d: its last events are "
			   "missing", from->instance);
	free(line);
	read_event(s);
	if (s->now) {		/* before the first event */
		mios_error("mios", "trace: instance %d says '%.60s'",
			   from->instance, s->now);
		*status = MIOS_EXIT_FAILED;
	}
	advance(s, span, status);
}

static void print_text(const struct source *s, double us)
{
	const struct event *e = &s->event;

	printf("%14.3f %2d %2d %7ld ", us, s->from->instance, e->cpu, e->pid);
	mios_put_visible(e->task, e->task_len);
	printf("%*s ", e->task_len < TASK_WIDTH ?
	       (int)(TASK_WIDTH - e->task_len) : 0, "");
	mios_put_visible(e->name, e->name_len);
	printf(": ");
	mios_put_visible(e->text, strlen(e->text));
	putchar('\n');
}

static void print_member(const char *name, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		mios_die(MIOS_EXIT_FAILED, "trace: no memory left");
	printf(", \"%s\": ", name);
	json_string(copy);
	free(copy);
}

static void print_json(const struct source *s, double us, bool first)
{
	const struct event *e = &s->event;

	printf("%s\n      {\"us\": %.3f, \"instance\": %d, \"cpu\": %d, \"pid\": %ld",
	       first ? "" : ",", us, s->from->instance, e->cpu, e->pid);
	print_member("task", e->task, e->task_len);
	print_member("event", e->name, e->name_len);
	print_member("text", e->text, strlen(e->text));
	putchar('}');
}

/* The one whose next event is the oldest; NULL: there are no more. */
static struct source *oldest(struct source *sources, unsigned int nr)
{
	struct source *best = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (sources[i].now &&
		    (!best || sources[i].event.tsc < best->event.tsc))
			best = &sources[i];
	return best;
}

void trace_list(const struct trace_file *files, unsigned int nr,
		const struct trace_span *span, bool json, int *status)
{
	static struct source sources[MIOS_MAX_INSTANCES];
	struct source *s;
	bool first = true;
	unsigned int i;

	for (i = 0; i < nr; i++)
		begin(&sources[i], &files[i], span, status);
	if (json) {
		json_begin();
		printf(",\n   \"events\": [");
	}
	while ((s = oldest(sources, nr))) {
		const double us = (s->event.tsc - span->begin) / span->rate;

		if (json)
			print_json(s, us, first);
		else
			print_text(s, us);
		first = false;
		advance(s, span, status);
	}
	if (json) {
		printf("\n   ]");
		json_end();
	}
	mios_flush_stdout();
}
