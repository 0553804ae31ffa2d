// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a record as one HTML file that needs nothing else: what threads waited
 * for, messages over time, the hottest pages.  Called by cmd_report.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "../../runtime/window_layout.h"
#include "record.h"

#define WIDTH	640
#define LEFT	70
#define BAR	22
#define HEIGHT	220

static const char *const cause_name[STATS_CAUSES] = { "page fetched",
	"page taken to write", "store emulated", "barrier", "lock" };
static const char *const colour[] = { "#1b6ca8", "#c0392b", "#27825a",
	"#b9770e", "#8e44ad", "#5d6d7e" };
#define COLOURS	(sizeof(colour) / sizeof(*colour))

struct page {
	char at[24], where[RECORD_NAME], name[RECORD_NAME];
	uint64_t stops, us;
	unsigned int node;
};

struct report {
	unsigned int first, end, protocol;
	uint64_t ms;
	char program[RECORD_NAME];
	uint64_t messages[STATS_NODES], bytes[STATS_NODES];
	uint64_t cause[STATS_NODES][STATS_CAUSES];
	struct record_sample sample[RECORD_SAMPLES];
	struct page page[RECORD_PAGES];
	int samples, pages;
};

/* Whatever a name holds, it is text. */
static void text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
			fprintf(f, "&#%d;", *s);
		else if (*s >= ' ')
			fputc(*s, f);
	}
}

static bool node_parse(struct report *r, const char *line)
{
	unsigned int i;
	int n;

	if (sscanf(line, "%u%n", &i, &n) != 1 || i >= STATS_NODES)
		return false;
	line += n;
	if (sscanf(line, "%" SCNu64 "%" SCNu64 "%n", &r->messages[i],
		   &r->bytes[i], &n) != 2)
		return false;
	for (int k = 0; k < STATS_CAUSES; k++) {
		line += n;
		if (sscanf(line, "%" SCNu64 "%n", &r->cause[i][k], &n) != 1)
			return false;
	}
	return true;
}

static bool sample_parse(struct report *r, const char *line)
{
	struct record_sample *s = &r->sample[r->samples];
	int n;

	if (r->samples == RECORD_SAMPLES ||
	    sscanf(line, "%" SCNu64 "%n", &s->ms, &n) != 1)
		return false;
	for (unsigned int i = r->first; i < r->end; i++) {
		line += n;
		if (sscanf(line, "%" SCNu64 "%n", &s->messages[i], &n) != 1)
			return false;
	}
	r->samples++;
	return true;
}

static bool page_parse(struct report *r, const char *line)
{
	struct page *p = &r->page[r->pages];

	if (r->pages == RECORD_PAGES ||
	    sscanf(line, "%23s %" SCNu64 " %" SCNu64 " %u %119[^\t]\t%119[^\n]",
		   p->at, &p->stops, &p->us, &p->node, p->where, p->name) != 6)
		return false;
	r->pages++;
	return true;
}

static bool line_parse(struct report *r, const char *line)
{
	if (!strncmp(line, "run ", 4))
		return sscanf(line + 4, "%u %u %u %" SCNu64 " %119[^\n]",
			      &r->first, &r->end, &r->protocol, &r->ms,
			      r->program) == 5 && r->first < r->end &&
			r->end <= STATS_NODES && r->protocol <= LAYOUT_AUTO;
	if (!r->end)
		return false;	/* the run comes first */
	if (!strncmp(line, "node ", 5))
		return node_parse(r, line + 5);
	if (!strncmp(line, "sample ", 7))
		return sample_parse(r, line + 7);
	return !strncmp(line, "page ", 5) && page_parse(r, line + 5);
}

static int parse(struct report *r, const char *path)
{
	FILE *f = fopen(path, "r");
	int version, number = 1;
	char line[4096];
	bool good;

	if (!f)
		return cli_error("'%s': %s", path, strerror(errno));
	good = fgets(line, sizeof(line), f) &&
		sscanf(line, "mios-dsm record %d", &version) == 1 &&
		version == RECORD_VERSION;
	while (good && fgets(line, sizeof(line), f)) {
		number++;
		good = line_parse(r, line);
	}
	good &= r->end != 0;
	fclose(f);
	return good ? 0 : cli_error("'%s', line %d: not what mios-dsm run --record writes",
				    path, number);
}

static void causes(FILE *f, const struct report *r)
{
	unsigned int nodes = r->end - r->first, y = 0;
	uint64_t most = 1;

	for (unsigned int i = r->first; i < r->end; i++) {
		uint64_t sum = 0;

		for (int k = 0; k < STATS_CAUSES; k++)
			sum += r->cause[i][k];
		if (sum > most)
			most = sum;
	}
	fprintf(f, "<h2>What threads waited for</h2>\n<p>");
	for (int k = 0; k < STATS_CAUSES; k++)
		fprintf(f, "<span style=\"color:%s\">&#9632;</span> %s &#160; ",
			colour[k], cause_name[k]);
	fprintf(f, "</p>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" font-size=\"12\">\n",
		WIDTH + LEFT + 90, nodes * BAR);
	for (unsigned int i = r->first; i < r->end; i++, y += BAR) {
		double x = LEFT, sum = 0;

		fprintf(f, "<text x=\"0\" y=\"%u\">node %u</text>", y + 15, i);
		for (int k = 0; k < STATS_CAUSES; k++) {
			double w = (double)r->cause[i][k] / most * WIDTH;

			fprintf(f, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s: %.1f ms</title></rect>",
				x, y, w, BAR - 4, colour[k], cause_name[k],
				r->cause[i][k] / 1e6);
			x += w;
			sum += r->cause[i][k];
		}
		fprintf(f, "<text x=\"%.1f\" y=\"%u\">%.1f ms</text>\n", x + 6,
			y + 15, sum / 1e6);
	}
	fprintf(f, "</svg>\n");
}

/* Messages of a node between two samples, for each second. */
static double rate(const struct report *r, int i, unsigned int node)
{
	const struct record_sample *a = &r->sample[i - 1], *b = &r->sample[i];

	if (b->ms <= a->ms || b->messages[node] < a->messages[node])
		return 0;
	return (b->messages[node] - a->messages[node]) * 1000.0 /
		(b->ms - a->ms);
}

static void messages(FILE *f, const struct report *r)
{
	double most = 1, ms = r->ms ? r->ms : 1;

	for (int i = 1; i < r->samples; i++)
		for (unsigned int k = r->first; k < r->end; k++)
			if (rate(r, i, k) > most)
				most = rate(r, i, k);
	fprintf(f, "<h2>Messages a second</h2>\n<p>");
	for (unsigned int k = r->first; k < r->end; k++)
		fprintf(f, "<span style=\"color:%s\">&#9632;</span> node %u &#160; ",
			colour[k % COLOURS], k);
	fprintf(f, "</p>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-size=\"12\">\n<text x=\"0\" y=\"12\">%.0f</text><text x=\"0\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\">%.2f s</text>\n",
		WIDTH + LEFT + 90, HEIGHT + 20, most, HEIGHT, WIDTH + LEFT - 20,
		HEIGHT + 16, ms / 1000);
	for (unsigned int k = r->first; k < r->end; k++) {
		fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" points=\"",
			colour[k % COLOURS]);
		for (int i = 1; i < r->samples; i++)
			fprintf(f, "%.1f,%.1f ",
				LEFT + r->sample[i].ms / ms * WIDTH,
				HEIGHT - rate(r, i, k) / most * (HEIGHT - 10));
		fprintf(f, "\"/>\n");
	}
	fprintf(f, "</svg>\n");
}

static void pages(FILE *f, const struct report *r)
{
	fprintf(f, "<h2>The hottest pages</h2>\n<table><tr><th>address</th><th>what</th><th>stops</th><th>ms</th><th>most at node</th><th>last there in</th></tr>\n");
	for (int i = 0; i < r->pages; i++) {
		const struct page *p = &r->page[i];

		fprintf(f, "<tr><td>");
		text(f, p->at);
		fprintf(f, "</td><td>");
		text(f, p->name);
		fprintf(f, "</td><td>%" PRIu64 "</td><td>%.1f</td><td>%u</td><td>",
			p->stops, p->us / 1e3, p->node);
		text(f, p->where);
		fprintf(f, "</td></tr>\n");
	}
	fprintf(f, "</table>\n");
}

int report_draw(const char *from, const char *to)
{
	static const char *const protocol[] = { "wi", "wu", "wu+", "wu-seq",
		"auto" };
	static struct report r;
	int err = parse(&r, from);
	bool bad;
	FILE *f;

	if (err)
		return err;
	f = strcmp(to, "-") ? fopen(to, "w") : stdout;
	if (!f)
		return cli_error("'%s': %s", to, strerror(errno));
	fprintf(f, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"/><title>mios-dsm</title><style>body{font-family:sans-serif;margin:2em}td,th{padding:2px 12px;text-align:left}</style></head><body>\n<h1>");
	text(f, r.program);
	fprintf(f, "</h1>\n<p>nodes %u to %u, %s, %.2f s</p>\n", r.first,
		r.end - 1, protocol[r.protocol], r.ms / 1e3);
	causes(f, &r);
	messages(f, &r);
	pages(f, &r);
	fprintf(f, "</body></html>\n");
	if (f == stdout)
		return 0;
	bad = ferror(f);
	if (fclose(f) || bad)
		return cli_error("'%s': cannot write: %s", to, strerror(errno));
	return 0;
}
