// SPDX-License-Identifier: GPL-2.0
/*
 * Does this instance use a PCI function, so that it is better not taken away?  A
 * disk says so itself: whoever mounts it, swaps to it or builds on it has it for
 * himself alone (O_EXCL).
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "pci.h"

bool pci_address(const char *text, char address[PCI_ADDRESS])
{
	unsigned int segment = 0, bus, device, function;
	int end = 0;

	if (sscanf(text, "%4x:%2x:%2x.%1x%n", &segment, &bus, &device,
		   &function, &end) != 4 || text[end]) {
		segment = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function,
			   &end) != 3 || text[end])
			return false;
	}
	if (device > 31 || function > 7 || strspn(text, "0123456789abcdefABCDEF:.") !=
	    strlen(text))
		return false;
	snprintf(address, PCI_ADDRESS, "%04x:%02x:%02x.%x", segment & 0xffff,
		 bus & 0xff, device, function);
	return true;
}

/* The value of KEY in a device's uevent file. */
static bool uevent(const char *folder, const char *key, char *value, size_t size)
{
	char path[PATH_MAX], line[256];
	size_t n = strlen(key);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%.3000s/uevent", folder);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strncmp(line, key, n) && line[n] == '=' &&
			snprintf(value, size, "%s", line + n + 1) < (int)size;
	}
	if (file)
		fclose(file);
	return found;
}

/* A disk, or a part of one. */
static bool block_in_use(const char *folder, char *what, size_t size)
{
	char name[128], path[160];
	bool used;
	int fd;

	if (!uevent(folder, "DEVNAME", name, sizeof(name)))
		return false;
	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	used = fd < 0 && errno == EBUSY;
	if (fd >= 0)
		close(fd);
	if (used)
		snprintf(what, size, "%s is in use: unmount it, or whatever "
			 "stands on it", path);
	return used;
}

static bool net_in_use(const char *folder, char *what, size_t size)
{
	const char *name = strrchr(folder, '/') + 1;
	char path[PATH_MAX], text[32] = "";
	bool used;
	FILE *file;

	snprintf(path, sizeof(path), "%.3000s/flags", folder);
	file = fopen(path, "re");
	used = file && fgets(text, sizeof(text), file) &&
	       strtoul(text, NULL, 0) & IFF_UP;
	if (file)
		fclose(file);
	if (used)
		snprintf(what, size, "%s is up: ip link set %s down", name, name);
	return used;
}

/* By the name of the folder that it is in: .../block/vda, .../block/vda/vda1. */
static bool entry_in_use(const FTSENT *entry, char *what, size_t size)
{
	if (entry->fts_parent && !strcmp(entry->fts_parent->fts_name, "net"))
		return net_in_use(entry->fts_path, what, size);
	return strstr(entry->fts_path, "/block/") &&
	       block_in_use(entry->fts_path, what, size);
}

bool pci_in_use(const char *address, char *what, size_t size)
{
	char path[64 + PCI_ADDRESS];
	char * const paths[] = { path, NULL };
	bool used = false;
	FTSENT *entry;
	FTS *tree;

	/* What the link names, but no link in there. */
	snprintf(path, sizeof(path), PCI_DEVICES "%s/", address);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (tree && !used && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			used = entry_in_use(entry, what, size);
	if (tree)
		fts_close(tree);
	return used;
}
