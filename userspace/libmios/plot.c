// SPDX-License-Identifier: GPL-2.0
/*
 * A line plot as SVG, both axes logarithmic to base 2: enough for counts
 * over numbers of nodes, with no library.  Called by cmd_sim.c, and by that of
 * mios-lock.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "plot.h"

#define WIDTH	640
#define HEIGHT	400
#define LEFT	90
#define BOTTOM	50
#define TOP	40
#define RIGHT	110
#define LABEL	14

static const char *const colour[] = { "#1b6ca8", "#c0392b", "#27825a",
	"#8e44ad", "#b9770e", "#5d6d7e" };

#define COLOURS	((int)(sizeof(colour) / sizeof(*colour)))

/* log2 in thousandths, by integers: bit length and linear between. */
static uint64_t log_of(uint64_t v)
{
	uint64_t whole;

	if (v < 1)
		v = 1;
	whole = 63 - __builtin_clzll(v);
	return whole * 1000 + (v - (1ULL << whole)) * 1000 / (1ULL << whole);
}

struct scale { uint64_t low, high; };

static void widen(struct scale *s, uint64_t v)
{
	uint64_t l = log_of(v);

	if (l < s->low)
		s->low = l;
	if (l > s->high)
		s->high = l;
}

static uint64_t place(const struct scale *s, uint64_t v, uint64_t room)
{
	uint64_t range = s->high - s->low;

	return range ? (log_of(v) - s->low) * room / range : room / 2;
}

static void axes(FILE *f, const struct scale *x, const struct scale *y,
		 const char *title, const char *xlabel, const char *ylabel)
{
	uint64_t width = WIDTH - LEFT - RIGHT, height = HEIGHT - TOP - BOTTOM;

	fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"22\" font-size=\"15\">%s</text>\n"
		"<text x=\"%d\" y=\"%d\">%s</text>\n"
		"<text x=\"16\" y=\"%d\" transform=\"rotate(-90 16 %d)\">%s"
		"</text>\n", WIDTH, HEIGHT, LEFT, title, WIDTH / 2 - 40,
		HEIGHT - 10, xlabel, HEIGHT / 2 + 40, HEIGHT / 2 + 40,
		ylabel);
	for (uint64_t l = x->low / 1000; l * 1000 <= x->high; l++) {
		uint64_t at = LEFT + place(x, 1ULL << l, width);

		if (l * 1000 < x->low)
			continue;
		fprintf(f, "<line x1=\"%" PRIu64 "\" y1=\"%d\" x2=\"%" PRIu64
			"\" y2=\"%d\" stroke=\"#ddd\"/><text x=\"%" PRIu64
			"\" y=\"%d\" text-anchor=\"middle\">%" PRIu64
			"</text>\n", at, TOP, at, HEIGHT - BOTTOM, at,
			HEIGHT - BOTTOM + 16, (uint64_t)1 << l);
	}
	for (uint64_t l = y->low / 1000; l * 1000 <= y->high; l += 2) {
		uint64_t at = HEIGHT - BOTTOM - place(y, 1ULL << l, height);

		if (l * 1000 < y->low)
			continue;
		fprintf(f, "<line x1=\"%d\" y1=\"%" PRIu64 "\" x2=\"%d\" "
			"y2=\"%" PRIu64 "\" stroke=\"#ddd\"/><text x=\"%d\" "
			"y=\"%" PRIu64 "\" text-anchor=\"end\">%" PRIu64
			"</text>\n", LEFT, at, WIDTH - RIGHT, at, LEFT - 6,
			at + 4, (uint64_t)1 << l);
	}
}

/* Names of lines stand below each other where lines end together. */
struct labels { uint64_t at[COLOURS]; int count; };

static uint64_t label(struct labels *l, uint64_t at)
{
	for (int i = 0; i < l->count; i++) {
		if (at + LABEL <= l->at[i] || l->at[i] + LABEL <= at)
			continue;
		at = l->at[i] + LABEL;
		i = -1;
	}
	if (l->count < COLOURS)
		l->at[l->count++] = at;
	return at;
}

static void line(FILE *f, const struct scale *x, const struct scale *y,
		 const char *name, const struct plot_point *p, int count,
		 int series, struct labels *labels)
{
	uint64_t px = 0, py = 0;
	bool any = false;

	fprintf(f, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" "
		"points=\"", colour[series % COLOURS]);
	for (int i = 0; i < count; i++) {
		if (p[i].series != series)
			continue;
		px = LEFT + place(x, p[i].x, WIDTH - LEFT - RIGHT);
		py = HEIGHT - BOTTOM - place(y, p[i].y,
					     HEIGHT - TOP - BOTTOM);
		fprintf(f, "%" PRIu64 ",%" PRIu64 " ", px, py);
		any = true;
	}
	fprintf(f, "\"/>\n");
	if (any)
		fprintf(f, "<text x=\"%" PRIu64 "\" y=\"%" PRIu64
			"\" fill=\"%s\">%s</text>\n", px + 8, label(labels, py + 4),
			colour[series % COLOURS], name);
}

int plot_write(const char *path, const char *title, const char *xlabel,
	       const char *ylabel, const char *const *names,
	       const struct plot_point *p, int count)
{
	struct scale x = { ~0ULL, 0 }, y = { ~0ULL, 0 };
	struct labels labels = { .count = 0 };
	FILE *f = fopen(path, "w");
	bool bad;

	if (!f)
		return cli_error("%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		widen(&x, p[i].x);
		widen(&y, p[i].y);
	}
	axes(f, &x, &y, title, xlabel, ylabel);
	for (int s = 0; names[s]; s++)
		line(f, &x, &y, names[s], p, count, s, &labels);
	fprintf(f, "</svg>\n");
	bad = ferror(f);
	if (fclose(f) || bad)
		return cli_error("%s: cannot write: %s", path,
				 strerror(errno));
	return 0;
}
