// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what miosfs tells of pages, in extended attributes: of the root for the
 * pool, of a file for its own.  What it says is old when it is here.  For mios
 * pool, mios numastat and mios status --metrics.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "pages.h"
#include "subcommands.h"

#define TEXT_MAX	65536

/* "1:120:3 2:1:0", to the end of the line. */
static const char *users_parse(const char *at, struct pool_section *section)
{
	uint64_t kept, held;
	unsigned int i;
	int used;

	while (sscanf(at, " %u:%" SCNu64 ":%" SCNu64 "%n", &i, &kept, &held,
		      &used) == 3 && *at == ' ') {
		if (i < MIOS_MAX_INSTANCES) {
			section->kept[i] = kept;
			section->held[i] = held;
		}
		at += used;
	}
	return at;
}

static const char *section_parse(const char *at, struct pool_section *section)
{
	int used;

	if (sscanf(at, "%u %" SCNx64 " %" SCNu64 " %" SCNu64 "%n",
		   &section->node, &section->address, &section->size,
		   &section->own, &used) != 4)
		return NULL;
	at = users_parse(at + used, section);
	return *at == '\n' && section->node < MIOS_MAX_INSTANCES ? at + 1 :
		NULL;
}

bool pool_is_there(void)
{
	return getxattr(SHARED_DIR, "mios.pool", NULL, 0) >= 0;
}

static void *allocated(const char *command, void *memory)
{
	if (!memory)
		mios_die(MIOS_EXIT_FAILED, "%s: no memory left", command);
	return memory;
}

static void version_need(const char *command, bool same)
{
	if (!same)
		mios_die(MIOS_EXIT_FAILED, "%s: mios_fs.ko is of another "
			 "version", command);
}

/* Of the root; to be freed. */
static char *root_read(const char *command, const char *name)
{
	char *text = allocated(command, malloc(TEXT_MAX + 1));
	ssize_t length = getxattr(SHARED_DIR, name, text, TEXT_MAX);

	version_need(command, length >= 0 || !pool_is_there());
	if (length < 0)
		mios_die(MIOS_EXIT_FAILED, "%s: there is no " SHARED_DIR
			 ", the memory that instances share: see mios reserve "
			 "--pool", command);
	text[length] = '\0';
	return text;
}

unsigned int pool_users_read(const char *command, struct pool_user **users)
{
	char *text = root_read(command, "mios.users"), *rest = text, *line;
	struct pool_user *all = allocated(command, malloc(TEXT_MAX / 10 *
							  sizeof(*all)));
	unsigned int nr = 0;

	/* The shortest line is "- 1 0 0 0". */
	while ((line = strsep(&rest, "\n")) && *line) {
		struct pool_user *user = &all[nr++];
		char *numbers = line + 1;

		user->uid = -1;
		if (*line != '-')
			user->uid = strtoull(line, &numbers, 10);
		version_need(command, sscanf(numbers, " %" SCNu64 " %" SCNu64
					     " %" SCNu64 " %" SCNu64,
					     &user->files, &user->pages,
					     &user->paid_files,
					     &user->paid_pages) == 4);
	}
	free(text);
	*users = all;
	return nr;
}

unsigned int pool_read(const char *command, struct pool_section **sections)
{
	struct pool_section *all = allocated(command,
					     calloc(MIOS_MAX_INSTANCES,
						    sizeof(*all)));
	char *text = root_read(command, "mios.pool");
	unsigned int nr = 0;
	const char *at = text;

	while (at && *at && nr < MIOS_MAX_INSTANCES)
		at = section_parse(at, &all[nr++]);
	version_need(command, at);
	free(text);
	*sections = all;
	return nr;
}

int file_pages_read(const char *path, uint64_t pages[MIOS_MAX_INSTANCES])
{
	char text[MIOS_MAX_INSTANCES * 32];
	ssize_t length = lgetxattr(path, "mios.pages", text, sizeof(text) - 1);
	const char *at = text;
	unsigned int node;
	uint64_t nr;
	int used;

	if (length < 0)
		return -errno;
	text[length] = '\0';
	memset(pages, 0, MIOS_MAX_INSTANCES * sizeof(*pages));
	while (sscanf(at, "%u:%" SCNu64 "%n", &node, &nr, &used) == 2) {
		if (node < MIOS_MAX_INSTANCES)
			pages[node] += nr;
		at += used;
		at += strspn(at, " ");
	}
	return 0;
}
