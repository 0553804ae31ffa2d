// SPDX-License-Identifier: GPL-2.0
/*
 * mios reserve: prints the kernel command line that sets nodes, or parts of the
 * only one, aside on this machine, from the firmware's own tables.  Only prints:
 * whoever runs a machine decides what its boot loader says.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmios/libmios.h"
#include "split.h"
#include "srat.h"
#include "subcommands.h"

static const char usage[] =
"Usage: mios reserve [OPTION...]\n"
"Prints what to add to instance 0's kernel command line so that the memory\n"
"of other nodes, or of parts of the only node, is set aside for instances of\n"
"their own.  Changes nothing.\n\n"
"      --split=N     make N parts of a machine with one node; the first is\n"
"                    instance 0's\n"
"      --threads     with --split: also between the threads of a core\n"
"      --pool=SIZE   so much of the end of each node's memory, as in 64M or 2G,\n"
"                    for the files in /mios, which all instances share; 0: none\n"
"                    (default: a quarter of the node)\n"
"      --nodes=LIST  nodes to set aside, as in 1-3 (default: all but 0)\n"
"      --grub        quoted as /etc/default/grub wants it\n"
"  -h, --help        print this\n";

enum { OPT_NODES = 256, OPT_GRUB, OPT_POOL, OPT_SPLIT, OPT_THREADS };

/* Pools are made of pieces of 2 MiB; three are the least that one works with. */
#define POOL_PIECE	(2ULL << 20)
#define POOL_MIN	(3 * POOL_PIECE)
#define POOL_MAX	(128ULL << 30)
#define POOL_DEFAULT	UINT64_MAX

/*
 * memmap= takes sizes in M and G; a node's memory is whole megabytes.  For GRUB
 * the '$' goes through a shell's double quotes and through GRUB's own language.
 */
static void print_range(const struct memory_range *range, int grub)
{
	printf("memmap=%" PRIu64 "M%s0x%" PRIx64 " ",
	       (range->end - range->start) >> 20, grub ? "\\\\\\$" : "$",
	       range->start);
}

static uint64_t pool_size(const char *text)
{
	char *rest;
	uint64_t size = strtoull(text, &rest, 10);
	int shift = *rest == 'M' ? 20 : *rest == 'G' ? 30 : 0;

	if (!strcmp(text, "0"))
		return 0;
	if (!shift || rest[1] || *text < '0' || *text > '9' ||
	    size > POOL_MAX >> shift || size << shift < POOL_MIN ||
	    (size << shift) % POOL_PIECE)
		mios_usage("reserve", "'%.40s' is no size of a pool: write an "
			   "even number of M or a number of G, from 6M to 128G, or 0",
			   text);
	return size << shift;
}

/* Memory is lent to instance 0 in blocks of so much; for check_memory.c, too. */
uint64_t block_size(void)
{
	FILE *file = fopen("/sys/devices/system/memory/block_size_bytes", "r");
	uint64_t size;

	if (!file || fscanf(file, "%" SCNx64, &size) != 1 || !size)
		size = POOL_PIECE;
	if (file)
		fclose(file);
	return size;
}

/* What is left of another node is to be whole blocks, where that can be. */
static uint64_t pool_rounded(uint64_t size, uint64_t end)
{
	uint64_t rest = (end - size) % block_size();
	uint64_t less = rest ? block_size() - rest : 0;

	return size >= less + POOL_MIN ? size - less : size;
}

/* The end of the highest range of the node that holds it. */
static struct memory_range pool_place(const struct memory_map *map, int node,
				      uint64_t size)
{
	struct memory_range range, found = { .node = -1 };
	int i;

	for (i = 0; i < map->nr; i++) {
		range = map->ranges[i];
		if (range.node == node && range.end - range.start > size &&
		    range.end > found.end)
			found = range;
	}
	if (found.node < 0)
		mios_die(MIOS_EXIT_FAILED, "reserve: node %d has no %" PRIu64
			 "M in one piece for a pool", node, size >> 20);
	found.start = found.end - size;
	return found;
}

/* A quarter of the node, but no more than half of its largest range. */
static uint64_t pool_default(const struct memory_map *map, int node)
{
	uint64_t all = 0, half = 0, size;
	const struct memory_range *range;

	for (range = map->ranges; range < map->ranges + map->nr; range++) {
		if (range->node != node)
			continue;
		all += range->end - range->start;
		if (range->end - range->start > 2 * half)
			half = (range->end - range->start) / 2;
	}
	size = all / 4 < half ? all / 4 : half;
	if (size > POOL_MAX)
		size = POOL_MAX;
	size -= size % POOL_PIECE;
	if (size < POOL_MIN)
		return 0;
	return node ? pool_rounded(size, pool_place(map, node, size).end) :
		      size;
}

/* Node 0's is memory of instance 0 otherwise; the others' are set aside anyway. */
static void print_pools(const struct memory_map *map, uint64_t nodes,
			uint64_t wanted, int grub)
{
	struct memory_range range;
	uint64_t size, sum = 0;
	char text[32];
	int i;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++) {
		if (i && !(nodes & 1ULL << i))
			continue;
		size = wanted == POOL_DEFAULT ? pool_default(map, i) : wanted;
		/* The names of all files lie in node 0's. */
		if (!size && !i)
			return;
		if (!size)
			continue;
		range = pool_place(map, i, size);
		if (!i)
			print_range(&range, grub);
		printf("%s%" PRIu64 "M@0x%" PRIx64, i ? "," : "mios.pool=",
		       size >> 20, range.start);
		sum += size;
	}
	printf(" ");
	mios_size_text(sum, text, sizeof(text));
	fprintf(stderr, "%s in all are for /mios, which all instances share; "
		"--pool says how much of each node.\n", text);
}

static int reserve(uint64_t nodes, int all, uint64_t pool, int grub, int parts,
		   bool threads)
{
	static struct memory_map map;
	uint64_t seen = 0;
	char size[32];
	uint64_t sum = 0;
	int i;

	srat_read(&map);
	if (parts)
		split_machine(&map, parts, threads, block_size());
	for (i = 0; i < map.nr; i++)
		if (map.ranges[i].node > 0 &&
		    map.ranges[i].node < MIOS_MAX_INSTANCES)
			seen |= 1ULL << map.ranges[i].node;
	if (all)
		nodes = seen;
	for (i = 1; i < MIOS_MAX_INSTANCES; i++)
		if (nodes & 1ULL << i && !(seen & 1ULL << i))
			mios_die(MIOS_EXIT_FAILED, "reserve: node %d does not "
				 "exist or has no memory", i);
	if (!nodes)
		mios_die(MIOS_EXIT_FAILED, "reserve: this machine has one "
			 "node: --split=2 makes two parts of it");
	print_pools(&map, nodes, pool, grub);
	for (i = 0; i < map.nr; i++)
		if (nodes & 1ULL << map.ranges[i].node) {
			print_range(&map.ranges[i], grub);
			sum += map.ranges[i].end - map.ranges[i].start;
		}
	if (parts)
		split_print(&map, parts);
	printf("no_ipi_broadcast=1 pid_range=1-%d\n", MIOS_PIDS_EACH - 1);
	mios_flush_stdout();
	mios_size_text(sum, size, sizeof(size));
	fprintf(stderr, grub ?
		"%s are set aside; put this into GRUB_CMDLINE_LINUX=\"...\" in "
		"/etc/default/grub, then run update-grub.\n" :
		"%s are set aside; --grub prints it for /etc/default/grub.\n",
		size);
	return MIOS_EXIT_OK;
}

int cmd_reserve(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "grub", no_argument, NULL, OPT_GRUB },
		{ "nodes", required_argument, NULL, OPT_NODES },
		{ "pool", required_argument, NULL, OPT_POOL },
		{ "split", required_argument, NULL, OPT_SPLIT },
		{ "threads", no_argument, NULL, OPT_THREADS },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	uint64_t nodes = 0, pool = POOL_DEFAULT;
	int c, all = 1, grub = 0;
	bool threads = false;
	long parts = 0;

	while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1)
		switch (c) {
		case OPT_NODES:
			if (mios_parse_nodes(optarg, &nodes))
				mios_usage("reserve", "'%.40s' is no list of "
					   "nodes: write 1 or 1-3,5", optarg);
			if (nodes & 1)
				mios_die(MIOS_EXIT_FAILED, "reserve: node 0 "
					 "runs instance 0 and keeps its "
					 "memory");
			all = 0;
			break;
		case OPT_POOL:
			pool = pool_size(optarg);
			break;
		case OPT_GRUB:
			grub = 1;
			break;
		case OPT_SPLIT:
			if (mios_number(optarg, 2, SPLIT_MAX, &parts))
				mios_usage("reserve", "'%.40s' is no number of "
					   "parts: 2 to %d", optarg, SPLIT_MAX);
			break;
		case OPT_THREADS:
			threads = true;
			break;
		default:
			mios_other_option("reserve", usage, argv, c, longs);
		}
	if (optind < argc)
		mios_usage("reserve", "it takes no argument, what is '%.40s'? "
			   "Nodes are named with --nodes", argv[optind]);
	if (threads && !parts)
		mios_usage("reserve", "--threads is for --split");
	if (parts && !all)
		mios_usage("reserve", "either --nodes or --split: whole nodes, "
			   "or parts of one");
	return reserve(nodes, all, pool, grub, parts, threads);
}
