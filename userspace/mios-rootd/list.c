// SPDX-License-Identifier: GPL-2.0
/*
 * The list of files with capabilities.  It is replaced by renaming, so that a
 * reader sees the old one or the new one; it stays over a boot of the machine,
 * and what is out of date in it fits no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootd.h"

static struct capable *find(const struct list *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->files[i].path, path))
			return &l->files[i];
	return NULL;
}

static int add(struct list *l, const struct capable *c, const char *path)
{
	struct capable *grown = realloc(l->files,
					(l->nr + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->files = grown;
	grown[l->nr] = *c;
	grown[l->nr].path = strdup(path);
	if (!grown[l->nr].path)
		return -ENOMEM;
	l->nr++;
	return 1;
}

/* 1: the list has changed. */
int list_update(struct list *l, const char *path)
{
	struct capable *old = find(l, path), new = { 0 };

	if (!capable_read(&new, path)) {
		if (!old)
			return 0;
		free(old->path);
		*old = l->files[--l->nr];
		return 1;
	}
	if (!old)
		return add(l, &new, path);
	new.path = old->path;
	if (!memcmp(old, &new, sizeof(new)))
		return 0;
	*old = new;
	return 1;
}

int list_write(const struct list *l)
{
	FILE *f;
	size_t i;
	int err;

	if (mkdir("/etc/mios", 0755) && errno != EEXIST)
		return -errno;
	f = fopen(LIST ".mios-new", "we");
	if (!f)
		return -errno;
	for (i = 0; i < l->nr; i++)
		capable_write(&l->files[i], f);
	err = ferror(f);
	if (fclose(f) || err || rename(LIST ".mios-new", LIST))
		return -EIO;
	return 0;
}
