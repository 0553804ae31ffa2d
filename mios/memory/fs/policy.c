// SPDX-License-Identifier: GPL-2.0
/*
 * Policies as people and programs know them: as words, in a mount option and an
 * extended attribute,
 *
 *   default | local[=eager] | preferred[=eager]:NODE | bind[=eager]:NODES |
 *   interleave[=eager]:NODES		NODES: all, or 0-2, or 0+2
 *
 * and as the memory policy of a task, or of a mapping (mbind).  A kernel knows no
 * nodes but its own, and calls that 0.  But it keeps a mask as it was given, if
 * that is "static", and looks only whether one of its own nodes is in it.  So node
 * N of the machine, up to 31, is bit 63 - N for us; "mios numactl" sets both.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "vfs.h"

#define TASK_NODE	63
#define TASK_NODES	32	/* lower bits are the kernel's own */

static const char *const modes[] = {
	[MIOS_FS_DEFAULT] = "default",
	[MIOS_FS_LOCAL] = "local",
	[MIOS_FS_PREFERRED] = "preferred",
	[MIOS_FS_BIND] = "bind",
	[MIOS_FS_INTERLEAVE] = "interleave",
};

/* A number up to @end, which moves behind it; -1: there is none. */
static int number(const char **at)
{
	int value = 0;

	if (!isdigit(**at))
		return -1;
	for (; isdigit(**at) && value < MIOS_FS_POLICY_MAX; (*at)++)
		value = value * 10 + **at - '0';
	return value < MIOS_FS_POLICY_MAX ? value : -1;
}

/* 0: not understood. */
static u64 nodes_parse(const char *at)
{
	u64 nodes = 0;
	int from, to;

	if (!strcmp(at, "all"))
		return GENMASK_ULL(MIOS_FS_POLICY_MAX - 1, 0);
	for (;;) {
		from = number(&at);
		to = from;
		if (*at == '-') {
			at++;
			to = number(&at);
		}
		if (from < 0 || to < from)
			return 0;
		nodes |= GENMASK_ULL(to, from);
		if (!*at)
			return nodes;
		if (*at != '+' && *at != ',')
			return 0;
		at++;
	}
}

static int mode_parse(const char **at)
{
	size_t length = strcspn(*at, "=:");
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (strlen(modes[i]) == length &&
		    !strncmp(*at, modes[i], length)) {
			*at += length;
			return i;
		}
	return -EINVAL;
}

/**
 * mios_policy_parse() - a policy in words
 * @text: the words
 * @policy: out, as in an inode; "all" are all that a policy can name
 */
int mios_policy_parse(const char *text, u64 *policy)
{
	bool has_nodes, wants_nodes;
	u64 nodes = 0;
	int mode = mode_parse(&text);

	if (mode < 0)
		return mode;
	*policy = mode;
	if (mode && !strncmp(text, "=eager", 6)) {
		*policy |= MIOS_FS_POLICY_EAGER;
		text += 6;
	}
	has_nodes = *text == ':';
	wants_nodes = mode > MIOS_FS_LOCAL;
	if (has_nodes != wants_nodes || (!has_nodes && *text))
		return -EINVAL;
	if (has_nodes)
		nodes = nodes_parse(text + 1);
	if (has_nodes && !nodes)
		return -EINVAL;
	if (mode == MIOS_FS_PREFERRED && hweight64(nodes) != 1)
		return -EINVAL;
	*policy |= nodes << MIOS_FS_POLICY_NODES;
	return 0;
}

/**
 * mios_policy_fit() - have all nodes of a policy a part of the pool?
 * @m: attached
 * @policy: the policy; of "all" nodes those that have one remain
 */
int mios_policy_fit(const struct mios_mount *m, u64 *policy)
{
	u64 nodes = *policy >> MIOS_FS_POLICY_NODES, there = 0;
	u32 i;

	for (i = 0; i < m->pool.nr_sections; i++)
		if (m->pool.section[i].node < MIOS_FS_POLICY_MAX)
			there |= BIT_ULL(m->pool.section[i].node);
	if (nodes == GENMASK_ULL(MIOS_FS_POLICY_MAX - 1, 0))
		nodes &= there;
	if (nodes & ~there)
		return -EINVAL;
	*policy &= BIT_ULL(MIOS_FS_POLICY_NODES) - 1;
	*policy |= nodes << MIOS_FS_POLICY_NODES;
	return 0;
}

/**
 * mios_policy_show() - say it in words
 * @policy: as in an inode, whatever is there
 * @text: out
 * @size: its bytes
 */
int mios_policy_show(u64 policy, char *text, size_t size)
{
	unsigned int mode = policy & MIOS_FS_POLICY_MODE;
	unsigned long nodes = policy >> MIOS_FS_POLICY_NODES;
	int length;

	if (mode >= ARRAY_SIZE(modes))
		return -EIO;
	length = scnprintf(text, size, "%s%s", modes[mode],
			   policy & MIOS_FS_POLICY_EAGER ? "=eager" : "");
	if (mode > MIOS_FS_LOCAL)
		length += scnprintf(text + length, size - length, ":%*pbl",
				    MIOS_FS_POLICY_MAX, &nodes);
	return length;
}

/* 0: as Linux places pages, or in a way that is not known here. */
static u64 mode_of(const struct mempolicy *wish)
{
	static const u8 known[] = {
		[MPOL_PREFERRED] = MIOS_FS_PREFERRED,
		[MPOL_BIND] = MIOS_FS_BIND,
		[MPOL_INTERLEAVE] = MIOS_FS_INTERLEAVE,
		[MPOL_LOCAL] = MIOS_FS_LOCAL,
	};

	return wish && wish->mode < ARRAY_SIZE(known) ? known[wish->mode] : 0;
}

/* The nodes of the machine that it names; 0: none. */
static u64 nodes_of(const struct mempolicy *wish)
{
	u64 nodes = 0;
	int i;

	if (!(wish->flags & MPOL_F_STATIC_NODES) || TASK_NODE >= MAX_NUMNODES)
		return 0;
	for (i = 0; i < TASK_NODES; i++)
		if (test_bit(TASK_NODE - i, wish->w.user_nodemask.bits))
			nodes |= BIT_ULL(i);
	return nodes;
}

/**
 * mios_policy_of_task() - what the caller wishes, where a file has no policy
 *
 * Nobody else changes the policy of a task.
 */
u64 mios_policy_of_task(void)
{
	const struct mempolicy *task = current->mempolicy;
	u64 mode = mode_of(task), nodes;

	if (!mode || mode == MIOS_FS_LOCAL)
		return mode;
	nodes = nodes_of(task);
	return nodes ? mode | nodes << MIOS_FS_POLICY_NODES : 0;
}

/**
 * mios_policy_of_map() - what mbind() wishes for a mapping of a file
 * @m: attached
 * @wish: NULL: nothing
 * @policy: out, as in an inode
 *
 * A program that names only the kernel's own node means the one that it is on.
 */
int mios_policy_of_map(const struct mios_mount *m, const struct mempolicy *wish,
		       u64 *policy)
{
	u64 nodes = 0;

	*policy = mode_of(wish);
	if (wish && !*policy)
		return -EINVAL;
	if (*policy > MIOS_FS_LOCAL)
		nodes = nodes_of(wish) ?:
			BIT_ULL(m->pool.section[m->fs.near[0]].node);
	*policy |= nodes << MIOS_FS_POLICY_NODES;
	return mios_policy_fit(m, policy);
}
