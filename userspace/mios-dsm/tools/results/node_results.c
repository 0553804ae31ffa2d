// SPDX-License-Identifier: GPL-2.0
/*
 * What the nodes of a program did: a table for people, JSON for programs.
 * Called by cmd_run.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../../../libmios/cli.h"
#include "results.h"

static bool adapted(const struct node_stats *s)
{
	for (int c = 0; c < ADAPT_CLASSES; c++)
		if (s->class[c])
			return true;
	return false;
}

/* With --protocol auto. */
static void classes_table(FILE *f, u32 first, u32 end,
			  const struct node_stats *s)
{
	if (!adapted(&s[first]))
		return;
	fprintf(f, "%5s", "pages");
	for (int c = 1; c < ADAPT_CLASSES; c++)
		fprintf(f, " %17s", adapt_class_name[c]);
	fprintf(f, "\n");
	for (u32 i = first; i < end; i++) {
		fprintf(f, "%5u", i);
		for (int c = 1; c < ADAPT_CLASSES; c++)
			fprintf(f, " %17" PRIu64, s[i].class[c]);
		fprintf(f, "\n");
	}
}

static void classes_json(FILE *f, const struct node_stats *s)
{
	if (!adapted(s))
		return;
	fprintf(f, ", \"classes\": {");
	for (int c = 0; c < ADAPT_CLASSES; c++)
		fprintf(f, "%s\"%s\": %" PRIu64, c ? ", " : "",
			adapt_class_name[c], s->class[c]);
	fprintf(f, "}");
}

/* Of each mode that pages have at the end, or that somebody has stopped for. */
static void modes_table(FILE *f, u32 first, u32 end, const struct node_stats *s)
{
	u64 others = 0;

	for (u32 i = first; i < end; i++)
		for (int m = DSM_MODE_MW; m < DSM_MODES; m++)
			others += s[i].mode[m] + s[i].stops_in[m];
	if (!others)
		return;
	fprintf(f, "%5s %8s %8s %8s %10s\n", "node", "mode", "pages", "stops",
		"stall ms");
	for (u32 i = first; i < end; i++)
		for (int m = 0; m < DSM_MODES; m++)
			if (s[i].mode[m] || s[i].stops_in[m])
				fprintf(f, "%5u %8s %8" PRIu64 " %8" PRIu64 " %10.1f\n",
					i, dsm_mode_name[m], s[i].mode[m],
					s[i].stops_in[m], s[i].stall_in[m] / 1e6);
}

static void modes_json(FILE *f, const struct node_stats *s)
{
	fprintf(f, ", \"modes\": {");
	for (int m = 0; m < DSM_MODES; m++)
		fprintf(f, "%s\"%s\": {\"pages\": %" PRIu64 ", \"stops\": %"
			PRIu64 ", \"stall_ns\": %" PRIu64 "}", m ? ", " : "",
			dsm_mode_name[m], s->mode[m], s->stops_in[m],
			s->stall_in[m]);
	fprintf(f, "}");
}

/* Somebody else is on the wire, or says again what was said. */
static void strangers(FILE *f, u32 first, u32 end, const struct node_stats *s)
{
	for (u32 i = first; i < end; i++)
		if (s[i].forged || s[i].replayed)
			fprintf(f, "node %u dropped %" PRIu64 " frames that were forged and %" PRIu64 " that were replayed\n",
				i, s[i].forged, s[i].replayed);
}

void nodes_table(FILE *f, u32 first, u32 end, const struct node_stats *s,
		 const int *status)
{
	fprintf(f, "%5s %8s %8s %8s %8s %10s %9s %8s %9s %8s %9s %6s %5s\n", "node",
		"reads", "writes", "emulated", "updates", "stall ms", "worst ms", "pages", "messages",
		"frames", "KiB", "again", "exit");
	for (u32 i = first; i < end; i++)
		fprintf(f, "%5u %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %10.1f %9.2f %8" PRIu64 " %9" PRIu64
			" %8" PRIu64 " %9" PRIu64 " %6" PRIu64 " %5d\n",
			i, s[i].reads, s[i].writes, s[i].emulated, s[i].updates, s[i].stall / 1e6,
			s[i].longest / 1e6, s[i].pages, s[i].messages, s[i].frames,
			s[i].bytes / 1024, s[i].again, status[i]);
	modes_table(f, first, end, s);
	classes_table(f, first, end, s);
	strangers(f, first, end, s);
}

int nodes_json(const char *path, u32 first, u32 end,
	       const struct node_stats *s, const int *status)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;
	bool bad;

	if (!f)
		return cli_error("'%s': %s", path, strerror(errno));
	fprintf(f, "{\n  \"schema\": 1,\n  \"nodes\": [\n");
	for (u32 i = first; i < end; i++) {
		fprintf(f, "    {\"node\": %u, \"exit\": %d, \"finished\": %s, \"read_faults\": %" PRIu64
			", \"write_faults\": %" PRIu64 ", \"stall_ns\": %" PRIu64
			", \"longest_ns\": %" PRIu64 ", \"pages_sent\": %" PRIu64
			", \"messages\": %" PRIu64 ", \"frames\": %" PRIu64
			", \"bytes\": %" PRIu64 ", \"sent_again\": %" PRIu64
			", \"refused\": %" PRIu64 ", \"forged\": %" PRIu64
			", \"replayed\": %" PRIu64 ", \"emulated\": %" PRIu64
			", \"updates\": %" PRIu64 ", \"pages_lost\": %" PRIu64
			", \"resident\": %" PRIu64 ", \"most_resident\": %" PRIu64
			", \"evicted\": %" PRIu64,
			i, status[i], s[i].finished ? "true" : "false", s[i].reads,
			s[i].writes, s[i].stall, s[i].longest, s[i].pages, s[i].messages,
			s[i].frames, s[i].bytes, s[i].again, s[i].refused, s[i].forged,
			s[i].replayed, s[i].emulated,
			s[i].updates, s[i].lost, s[i].resident, s[i].most,
			s[i].evicted);
		modes_json(f, &s[i]);
		classes_json(f, &s[i]);
		fprintf(f, "}%s\n", i + 1 < end ? "," : "");
	}
	fprintf(f, "  ]\n}\n");
	if (f == stdout)
		return 0;
	bad = ferror(f);
	if (fclose(f) || bad)
		return cli_error("'%s': cannot write: %s", path,
				 strerror(errno));
	return 0;
}
