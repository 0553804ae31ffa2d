// SPDX-License-Identifier: GPL-2.0
/*
 * Memory policies of tasks.  A kernel knows no nodes but its own, and calls that
 * 0; of a mask that is "static" it keeps what it does not know, and wants only
 * that it knows one node of it.  So node N of the machine is bit 63 - N here,
 * which miosfs looks at (mios/memory/fs/policy.c), and those that this kernel
 * has are their own bits beside it: its own memory goes by these.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "pages.h"
#include "policy.h"

#define TASK_NODE	63
#define NODES_MAX	32	/* else the two kinds of bits would meet */
#define HAS_MEMORY	"/sys/devices/system/node/has_memory"

static const struct {
	int option, mode;
	const char *word, *letter;
} kinds[] = {
	{ POLICY_LOCAL, MPOL_LOCAL, "local", "-l" },
	{ POLICY_PREFERRED, MPOL_PREFERRED, "preferred", "--preferred" },
	{ POLICY_MEMBIND, MPOL_BIND, "bind", "-m" },
	{ POLICY_INTERLEAVE, MPOL_INTERLEAVE, "interleave", "-i" },
};

static int kind_of(const struct policy *policy)
{
	int i = 0;

	while (kinds[i].option != policy->option)
		i++;
	return i;
}

/* Nodes that have a part of the pool. */
static uint64_t all_nodes(const char *command)
{
	struct pool_section *s;
	unsigned int i, nr = pool_read(command, &s);
	uint64_t nodes = 0;

	for (i = 0; i < nr; i++)
		nodes |= 1ULL << s[i].node;
	free(s);
	return nodes;
}

void policy_option(const char *command, int option, const char *text,
		   struct policy *policy)
{
	uint64_t there;

	if (policy->option)
		mios_usage(command, "one memory policy is enough");
	policy->option = option;
	if (option == POLICY_LOCAL)
		return;
	there = all_nodes(command);
	if (!strcmp(text, "all"))
		policy->nodes = there;
	else if (mios_parse_nodes(text, &policy->nodes))
		mios_usage(command, "'%.40s' is no list of nodes: write 1, "
			   "1-3,5 or all", text);
	if (option == POLICY_PREFERRED &&
	    policy->nodes & (policy->nodes - 1))
		mios_usage(command, "--preferred wants one node, not '%.40s'",
			   text);
	if (policy->nodes & ~there)
		mios_die(MIOS_EXIT_FAILED, "%s: node %d has no memory that is "
			 "shared: see mios pool", command,
			 __builtin_ctzll(policy->nodes & ~there));
	if (policy->nodes >> NODES_MAX)
		mios_die(MIOS_EXIT_FAILED, "%s: memory policies know nodes 0 "
			 "to %d", command, NODES_MAX - 1);
}

static void nodes_text(uint64_t nodes, char separator, char *text,
		       unsigned int size)
{
	int i, length = 0;

	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		if (nodes & 1ULL << i)
			length += snprintf(text + length, size - length,
					   "%.*s%d", !!length, &separator, i);
}

void policy_text(const struct policy *policy, bool eager, char *text,
		 unsigned int size)
{
	int length = snprintf(text, size, "%s%s",
			      kinds[kind_of(policy)].word,
			      eager ? "=eager" : "");

	if (!policy->nodes)
		return;
	text[length++] = ':';
	nodes_text(policy->nodes, ',', text + length, size - length);
}

/* Nodes whose memory this kernel has. */
static uint64_t own_nodes(void)
{
	uint64_t nodes = 0;
	char line[256];
	FILE *file = fopen(HAS_MEMORY, "re");

	if (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (mios_parse_nodes(line, &nodes))
			nodes = 0;
	}
	if (file)
		fclose(file);
	return nodes ? nodes : 1;
}

int policy_apply(const struct policy *policy)
{
	uint64_t own = own_nodes(), mask;
	int i, kind = kind_of(policy);
	int mode = kinds[kind].mode;

	if (policy->option == POLICY_LOCAL)
		return syscall(SYS_set_mempolicy, mode, NULL, 0) ? -errno : 0;
	/* Instance 0's numbers are the machine's. */
	mask = mios_self() ? 0 : policy->nodes & own;
	if (!mask)
		mask = own & -own;
	for (i = 0; i < NODES_MAX; i++)
		if (policy->nodes & 1ULL << i)
			mask |= 1ULL << (TASK_NODE - i);
	return syscall(SYS_set_mempolicy, mode | MPOL_F_STATIC_NODES, &mask,
		       sizeof(mask) * 8 + 1) ? -errno : 0;
}

char **policy_prefix(const struct policy *policy, char **argv)
{
	static char nodes[MIOS_MAX_INSTANCES * 3];
	char *words[5] = { "mios", "numactl", NULL, NULL, "--" };
	int i, n = 0, nr = 0;
	char **all;

	while (argv[nr])
		nr++;
	all = calloc(nr + 6, sizeof(*all));
	if (!all)
		return NULL;
	words[2] = (char *)kinds[kind_of(policy)].letter;
	if (policy->nodes) {
		nodes_text(policy->nodes, ',', nodes, sizeof(nodes));
		words[3] = nodes;
	}
	for (i = 0; i < 5; i++)
		if (words[i])
			all[n++] = words[i];
	memcpy(all + n, argv, nr * sizeof(*argv));
	return all;
}
