// SPDX-License-Identifier: GPL-2.0
/*
 * How the simulator's results are shown: a table for people, JSON for
 * programs.  Called by cmd_sim.c.
 */
#include <inttypes.h>

#include "results.h"

void sim_table_head(FILE *f)
{
	fprintf(f, "%-17s %-7s %5s %9s %9s %9s %9s %9s %8s %6s %5s\n",
		"pattern", "policy", "nodes", "time ms", "stalls",
		"stall ms", "mean us", "messages", "pages", "2 hop%",
		"fair");
}

void sim_table_row(FILE *f, const struct sim_config *c,
		   const struct sim_result *r)
{
	u64 mean = r->stalls ? r->stall_time / r->stalls : 0;

	fprintf(f, "%-17s %-7s %5u %9" PRIu64 " %9" PRIu64 " %9" PRIu64
		" %5" PRIu64 ".%03" PRIu64 " %9" PRIu64 " %8" PRIu64
		" %6" PRIu64 " %u.%03u\n",
		sim_pattern_name[c->pattern], sim_policy_name[c->policy],
		c->nodes, r->time / 1000000, r->stalls,
		r->stall_time / 1000000, mean / 1000, mean % 1000,
		r->messages, r->pages_sent,
		r->misses ? r->two_hops * 100 / r->misses : 100,
		(unsigned int)(r->fairness / 1000),
		(unsigned int)(r->fairness % 1000));
}

static void field(FILE *f, const char *name, u64 value)
{
	fprintf(f, ", \"%s\": %" PRIu64, name, value);
}

static void classes(FILE *f, const struct adapt_sum *a)
{
	fprintf(f, ", \"classes\": {");
	for (int t = 0; t < ADAPT_CLASSES; t++)
		fprintf(f, "%s\"%s\": %" PRIu64, t ? ", " : "",
			adapt_class_name[t], a->pages[t]);
	fprintf(f, "}");
}

/*
 * Each node has a view of its own of each page, so that there are nodes times
 * pages; what decided is told for one of them.
 */
void sim_explain(FILE *f, const struct sim_result *r)
{
	fprintf(f, "  %-17s %6s %7s %9s", "as nodes see it", "pages",
		"changes", "last ms");
	for (int c = 0; c < ADAPT_COUNTS; c++)
		fprintf(f, " %8s", adapt_count_name[c]);
	fprintf(f, "   (of each page)\n");
	for (int t = 0; t < ADAPT_CLASSES; t++) {
		u64 pages = r->adapt.pages[t];

		if (!pages)
			continue;
		fprintf(f, "  %-17s %6" PRIu64 " %7" PRIu64 " %5" PRIu64
			".%03" PRIu64, adapt_class_name[t], pages,
			r->adapt.changes[t], r->adapt.last[t] / 1000000,
			r->adapt.last[t] / 1000 % 1000);
		for (int c = 0; c < ADAPT_COUNTS; c++)
			fprintf(f, " %8" PRIu64,
				r->adapt.count[t][c] / pages);
		fprintf(f, "\n");
	}
}

void sim_json(FILE *f, const struct sim_config *c,
	      const struct sim_result *r)
{
	fprintf(f, "{\"pattern\": \"%s\", \"policy\": \"%s\", "
		"\"topology\": \"%s\"", sim_pattern_name[c->pattern],
		sim_policy_name[c->policy],
		sim_topology_name[c->topology]);
	field(f, "nodes", c->nodes);
	field(f, "cpus", c->cpus);
	field(f, "pages", c->pages);
	field(f, "ops", c->ops);
	field(f, "seed", c->seed);
	field(f, "latency_ns", c->latency);
	field(f, "loss_ppm", c->loss);
	field(f, "time_ns", r->time);
	field(f, "stalls", r->stalls);
	field(f, "stall_ns", r->stall_time);
	field(f, "longest_stall_ns", r->longest);
	field(f, "messages", r->messages);
	field(f, "message_bytes", r->message_bytes);
	field(f, "frames", r->frames);
	field(f, "wire_bytes", r->wire_bytes);
	field(f, "link_acks", r->acks);
	field(f, "link_again", r->again);
	if (sim_order(c) == DSM_ORDER_CAUSAL)
		field(f, "held_back", r->held);
	field(f, "pages_sent", r->pages_sent);
	field(f, "misses", r->misses);
	field(f, "misses_two_hops", r->two_hops);
	field(f, "owned", r->owned);
	field(f, "owned_two_hops", r->owned_two_hops);
	field(f, "retried", r->retried);
	field(f, "refused", r->refused);
	field(f, "leases_expired", r->expired);
	field(f, "emulated", r->emulated);
	field(f, "window_stalls", r->window_stalls);
	field(f, "announced", r->announced);
	field(f, "engine_steps", r->events);
	field(f, "fairness_thousandths", r->fairness);
	field(f, "least_ops", r->least);
	field(f, "most_ops", r->most);
	field(f, "wrong", r->wrong);
	fprintf(f, ", \"memory\": \"%016" PRIx64 "\", \"sent\": {",
		r->memory);
	for (int t = 0; t < DSM_MSGS; t++)
		fprintf(f, "%s\"%s\": %" PRIu64, t ? ", " : "",
			dsm_msg_name[t], r->sent[t]);
	fprintf(f, "}, \"bytes\": {");
	for (int t = 0; t < DSM_MSGS; t++)
		fprintf(f, "%s\"%s\": %" PRIu64, t ? ", " : "",
			dsm_msg_name[t], r->bytes[t]);
	fprintf(f, "}");
	if (c->policy == POL_AUTO)
		classes(f, &r->adapt);
	fprintf(f, "}");
}
