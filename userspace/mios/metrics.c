// SPDX-License-Identifier: GPL-2.0
/*
 * mios status --metrics: the numbers of all instances as Prometheus' text format
 * (version 0.0.4) has them, for node_exporter's textfile collector or a page that
 * is fetched.  Units are in the names, as is the custom there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmios/libmios.h"
#include "metrics.h"
#include "pages.h"

struct metric {
	const char *name, *help;
	/* false: not of this one */
	bool (*value)(const struct mios_instance *inst, double *value);
};

static bool is_up(const struct mios_instance *inst, double *value)
{
	*value = inst->state == MIOS_STATE_UP || inst->id == mios_self();
	return true;
}

static bool runs(const struct mios_instance *inst)
{
	double up;

	is_up(inst, &up);
	return up;
}

static bool cpus(const struct mios_instance *inst, double *value)
{
	*value = inst->cpus;
	return true;
}

static bool memory(const struct mios_instance *inst, double *value)
{
	*value = inst->memory;
	return true;
}

static bool memory_free(const struct mios_instance *inst, double *value)
{
	*value = inst->memory_free;
	return runs(inst);
}

static bool cost(const struct mios_instance *inst, double *value)
{
	*value = inst->cost;
	return runs(inst);
}

static bool uptime(const struct mios_instance *inst, double *value)
{
	*value = inst->uptime;
	return runs(inst);
}

static bool boots(const struct mios_instance *inst, double *value)
{
	*value = inst->incarnation;
	return true;
}

static bool load(const struct mios_instance *inst, double *value)
{
	*value = inst->load[0];
	return runs(inst);
}

static bool runnable(const struct mios_instance *inst, double *value)
{
	*value = inst->runnable;
	return runs(inst);
}

static bool heartbeat(const struct mios_instance *inst, double *value)
{
	*value = inst->heartbeat_age / 1e3;
	return inst->heartbeat_age >= 0;
}

static bool suspect(const struct mios_instance *inst, double *value)
{
	*value = inst->suspect >= 0;
	return runs(inst);
}

static bool host(const struct mios_instance *inst, double *value)
{
	*value = inst->id == mios_host();
	return true;
}

/* Between it and the instance that is asked. */
static bool is_other(const struct mios_instance *inst)
{
	return runs(inst) && inst->id != mios_self();
}

static bool sent(const struct mios_instance *inst, double *value)
{
	*value = inst->sent;
	return is_other(inst);
}

static bool received(const struct mios_instance *inst, double *value)
{
	*value = inst->received;
	return is_other(inst);
}

static const struct metric metrics[] = {
	{ "up", "Whether the instance is up.", is_up },
	{ "cpus", "CPUs of the instance.", cpus },
	{ "memory_bytes", "Memory of the instance.", memory },
	{ "memory_free_bytes", "What of it is free.", memory_free },
	{ "cost_bytes", "What its kernel costs in memory.", cost },
	{ "uptime_seconds", "Since its kernel has started.", uptime },
	{ "boots", "The number of its boot.", boots },
	{ "load1", "Load average of a minute.", load },
	{ "runnable_tasks", "Tasks that run or want to.", runnable },
	{ "heartbeat_age_seconds", "Since its last heartbeat.", heartbeat },
	{ "suspect", "Whether it has been silent for too long.", suspect },
	{ "host", "Whether it declares deaths.", host },
	{ "messages_sent_total", "Messages to it from the instance asked.", sent },
	{ "messages_received_total", "Messages from it to the instance asked.",
	  received },
};

/* In the order of mios_count_names; of each instance, whoever is asked. */
static const char * const counts_help[MIOS_NR_COUNTS] = {
	"Doorbells of others that it has rung.",
	"Times that it has taken what its own was rung for.",
	"Questions to other instances.",
	"Questions of others that it has answered.",
	"Page faults in memory that all instances share.",
	"Times that it has taken pages away from all.",
	"Wakes of futexes that other instances may wait for.",
	"Times that it has waited for a lock of names.",
};

static void begin(const char *name, const char *help)
{
	const char *end = strrchr(name, '_');

	printf("# HELP mios_%s %s\n# TYPE mios_%s %s\n", name, help, name,
	       end && !strcmp(end, "_total") ? "counter" : "gauge");
}

static void print_pool(const char *name, const char *help,
		       const struct pool_section *sections, unsigned int nr,
		       uint64_t (*value)(const struct pool_section *s))
{
	unsigned int i;

	if (nr)
		begin(name, help);
	for (i = 0; i < nr; i++)
		printf("mios_%s{node=\"%u\"} %" PRIu64 "\n", name,
		       sections[i].node, value(&sections[i]));
}

static uint64_t pool_size(const struct pool_section *s)
{
	return s->size;
}

static uint64_t pool_used(const struct pool_section *s)
{
	uint64_t pages = s->own;
	unsigned int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		pages += s->kept[i] + s->held[i];
	return pages * SHARED_PAGE;
}

static void print_counts(const struct mios_instance *list, int nr, uint64_t which)
{
	char name[64];
	int c, i;

	for (c = 0; c < MIOS_NR_COUNTS; c++) {
		snprintf(name, sizeof(name), "instance_%s_total", mios_count_names[c]);
		begin(name, counts_help[c]);
		for (i = 0; i < nr; i++)
			if (which & 1ULL << list[i].id && list[i].counted)
				printf("mios_%s{instance=\"%d\"} %" PRIu64 "\n", name,
				       list[i].id, list[i].counts[c]);
	}
}

/* Of the instances in @which; pools are of all. */
void metrics_print(const struct mios_instance *list, int nr, uint64_t which)
{
	struct pool_section *sections = NULL;
	unsigned int nr_sections = 0;
	char name[64];
	double value;
	size_t m;
	int i;

	for (m = 0; m < sizeof(metrics) / sizeof(metrics[0]); m++) {
		snprintf(name, sizeof(name), "instance_%s", metrics[m].name);
		begin(name, metrics[m].help);
		for (i = 0; i < nr; i++)
			if (which & 1ULL << list[i].id &&
			    metrics[m].value(&list[i], &value))
				printf("mios_%s{instance=\"%d\"} %.17g\n", name,
				       list[i].id, value);
	}
	print_counts(list, nr, which);
	if (pool_is_there())
		nr_sections = pool_read("status", &sections);
	print_pool("pool_bytes", "Memory of a node that all instances share.",
		   sections, nr_sections, pool_size);
	print_pool("pool_used_bytes", "What of it is in use.", sections,
		   nr_sections, pool_used);
	free(sections);
}
