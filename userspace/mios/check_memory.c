// SPDX-License-Identifier: GPL-2.0
/*
 * mios check: nodes and memory.  What could be set aside for instances by the
 * firmware's tables, as "mios reserve" reads them, and what has been.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "libmios/libmios.h"
#include "split.h"
#include "srat.h"

#define NODE_DIR	"/sys/devices/system/node"

static struct memory_map map;

/* Else reading them would end the program. */
static bool readable(void)
{
	if (!access("/sys/firmware/acpi/tables/SRAT", F_OK) &&
	    access("/sys/firmware/acpi/tables/SRAT", R_OK))
		return false;
	return !access("/sys/firmware/memmap/0/start", R_OK);
}

static bool has_cpus(int node)
{
	char path[128], list[4096];

	snprintf(path, sizeof(path), NODE_DIR "/node%d/cpulist", node);
	return check_read(path, list, sizeof(list)) && list[0];
}

/* As node_complete() in mios/core/node/node.c; false: no instance can have it. */
static bool node_say(int node)
{
	uint64_t sum = 0;
	int i, pieces = 0;
	char thing[32], text[32];

	for (i = 0; i < map.nr; i++) {
		if (map.ranges[i].node != node)
			continue;
		sum += map.ranges[i].end - map.ranges[i].start;
		pieces++;
	}
	if (!sum)
		return false;
	snprintf(thing, sizeof(thing), "node %d", node);
	mios_size_text(sum, text, sizeof(text));
	if (!node) {
		check_say(CHECK_GOOD, thing, "%s: instance 0's", text);
		return false;
	}
	if (!check_any_up() && !has_cpus(node)) {
		check_say(CHECK_PART, thing, "%s, but no CPU online: no instance",
			  text);
		return false;
	}
	if (pieces > SPLIT_RANGES)
		check_say(CHECK_PART, thing, "%s in %d ranges, of which %d are "
			  "used", text, pieces, SPLIT_RANGES);
	else
		check_say(CHECK_GOOD, thing, "%s can be set aside", text);
	return true;
}

static void one_node(void)
{
	char why[256];

	if (split_possible(&map, block_size(), why, sizeof(why)))
		check_say(CHECK_GOOD, "parts", "one node: mios reserve "
			  "--split=2 makes two parts of it");
	else
		check_say(CHECK_STOPS, "parts", "one node, and two parts cannot "
			  "be made of it: %s", why);
}

static bool several(void)
{
	int i;

	for (i = 0; i < map.nr; i++)
		if (map.ranges[i].node > 0)
			return true;
	return false;
}

static bool instances(void)
{
	static struct mios_instance list[MIOS_MAX_INSTANCES];

	return mios_instances_read(list, MIOS_MAX_INSTANCES) > 1;
}

/* The words of mios reserve: memory, and where there is one node its parts. */
static void set_aside(bool nodes)
{
	char line[8192] = "", parts[1024];
	bool named = check_word("mios.parts=", parts, sizeof(parts)) ||
		     check_line("/etc/default/mios", "parts=", parts,
				sizeof(parts));
	const char *split = nodes ? "" : " --split=2";

	check_read("/proc/cmdline", line, sizeof(line));
	if (!access(MIOS_SYSFS, F_OK) && !instances())
		check_say(CHECK_NOT_YET, "set aside", "nothing that mios.ko can "
			  "use: dmesg says why, mios reserve%s prints the words",
			  split);
	else if (!strstr(line, "memmap=") || !strchr(line, '$'))
		check_say(CHECK_NOT_YET, "set aside", "no memory: mios reserve%s "
			  "prints the words for the command line", split);
	else if (!nodes && !named)
		check_say(CHECK_NOT_YET, "set aside", "memory, but mios.parts= "
			  "does not say whose: mios reserve%s", split);
	else
		check_say(CHECK_GOOD, "set aside", "by memmap=%s", named ?
			  ", for parts" : "");
	if (check_word("mios.pool=", parts, sizeof(parts)))
		check_say(CHECK_GOOD, "mios.pool", "%s", parts);
	else
		check_say(CHECK_PART, "mios.pool", "none: instances share no "
			  "files in /mios");
}

void check_memory(void)
{
	int i, usable = 0;
	bool nodes;

	if (!readable()) {
		check_say(CHECK_UNKNOWN, "memory", "only root can read the "
			  "firmware's tables");
		set_aside(!access(NODE_DIR "/node1", F_OK));
		return;
	}
	srat_read(&map);
	nodes = several();
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		usable += node_say(i);
	if (nodes && !usable)
		check_say(CHECK_STOPS, "nodes", "none but node 0 has memory and "
			  "CPUs online: bring CPUs online, put memory at other "
			  "sockets, or cut node 0 by hand, mios-reserve(1)");
	set_aside(nodes);
	if (!nodes && !check_any_up())
		one_node();
}
