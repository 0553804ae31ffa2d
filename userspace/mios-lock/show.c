// SPDX-License-Identifier: GPL-2.0
/* How the simulator's results are shown.  Called by cmd_sim.c. */
#include "show.h"

static double each(const struct sim_config *config, u64 count)
{
	return (double)count / config->rounds;
}

double show_cost(const struct sim_config *config,
		 const struct sim_result *result)
{
	return each(config, result->time - result->held);
}

void show_head(FILE *f)
{
	fprintf(f, "%-9s %10s %10s %10s %13s %14s %7s %6s\n", "lock",
		"contenders", "ns", "transfers", "invalidations",
		"register reads", "IPIs", "others");
}

void show_row(FILE *f, const struct sim_config *config,
	      const struct sim_result *result)
{
	const struct sim_counts *counts = &result->counts;

	fprintf(f, "%-9s %10u %10.0f %10.2f %13.2f %14.2f %7.2f %5.0f%%\n",
		lock_name[config->kind], config->contenders,
		show_cost(config, result), each(config, counts->transfers),
		each(config, counts->invalidations),
		each(config, counts->register_reads),
		each(config, counts->ipis),
		100 * each(config, result->handovers));
}

void show_json(FILE *f, const struct sim_config *config,
	       const struct sim_result *result)
{
	const struct sim_costs *cost = &config->cost;
	const struct sim_counts *counts = &result->counts;
	const struct {
		const char *name;
		u64 value;
	} field[] = {
		{ "contenders", config->contenders },
		{ "rounds", config->rounds }, { "hold_ns", config->hold },
		{ "think_ns", config->think }, { "seed", config->seed },
		{ "hit_ns", cost->hit }, { "transfer_ns", cost->transfer },
		{ "occupancy_ns", cost->occupancy },
		{ "invalidate_ns", cost->invalidate },
		{ "register_ns", cost->reg }, { "service_ns", cost->service },
		{ "ipi_ns", cost->ipi }, { "time_ns", result->time },
		{ "held_ns", result->held },
		{ "handovers", result->handovers },
		{ "transfers", counts->transfers },
		{ "invalidations", counts->invalidations },
		{ "register_reads", counts->register_reads },
		{ "register_writes", counts->register_writes },
		{ "ipis", counts->ipis },
	};
	size_t i;

	fprintf(f, "{\"lock\": \"%s\"", lock_name[config->kind]);
	for (i = 0; i < sizeof(field) / sizeof(*field); i++)
		fprintf(f, ", \"%s\": %llu", field[i].name, field[i].value);
	fprintf(f, "}");
}
