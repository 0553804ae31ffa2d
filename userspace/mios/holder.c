// SPDX-License-Identifier: GPL-2.0
/*
 * Who holds a page frame: mios boot asks when the kernel could not move one
 * off a node.  The kernel keeps no way from a frame to its process that a
 * module may use, so every process' page tables are read through
 * /proc/PID/pagemap, which shows frames to CAP_SYS_ADMIN only.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"

#define PAGEMAP_PRESENT	(1ULL << 63)
#define PAGEMAP_FRAME	((1ULL << 55) - 1)
#define BATCH		8192		/* page table entries at a time */
#define AREA_MAX	(64ULL << 30)	/* larger mappings are mostly empty */

static bool area_holds(int pagemap, uint64_t from, uint64_t to, uint64_t frame)
{
	static uint64_t entries[BATCH];
	uint64_t page = from / 4096, end = to / 4096;

	while (page < end) {
		size_t want = end - page < BATCH ? end - page : BATCH;
		ssize_t got = pread(pagemap, entries, want * 8, page * 8);
		ssize_t i;

		if (got < 8)
			return false;
		for (i = 0; i < got / 8; i++)
			if (entries[i] & PAGEMAP_PRESENT &&
			    (entries[i] & PAGEMAP_FRAME) == frame)
				return true;
		page += got / 8;
	}
	return false;
}

static bool process_holds(const char *pid, uint64_t frame)
{
	char path[64], line[512];
	uint64_t from, to;
	bool found = false;
	FILE *maps;
	int pagemap;

	snprintf(path, sizeof(path), "/proc/%.16s/pagemap", pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%.16s/maps", pid);
	maps = fopen(path, "re");
	while (pagemap >= 0 && maps && !found &&
	       fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 &&
		    to > from && to - from <= AREA_MAX)
			found = area_holds(pagemap, from, to, frame);
	if (maps)
		fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
	return found;
}

static void process_name(const char *pid, char *name, size_t size)
{
	char path[64];
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	comm = fopen(path, "re");
	if (!comm || !fgets(name, size, comm))
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = '\0';
	if (comm)
		fclose(comm);
}

/*
 * The process that maps a frame, as "python3 (PID 4711)", or an empty string:
 * the page of a file that nobody maps has none.
 */
void frame_holder(uint64_t frame, char *text, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char name[32];

	text[0] = '\0';
	while (proc && frame && !text[0] && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !process_holds(entry->d_name, frame))
			continue;
		process_name(entry->d_name, name, sizeof(name));
		snprintf(text, size, "%s (PID %.16s)", name, entry->d_name);
	}
	if (proc)
		closedir(proc);
}
