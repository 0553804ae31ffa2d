// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a kernel or an initrd whole.  It is copied rather than mapped: the
 * checksum that is handed to the kernel must be of the bytes that were
 * checked, and a file that shrinks under a mapping would be a SIGBUS.
 * Called by "mios boot" before it asks for a node.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader.h"

static int check_kind(int fd, struct loader_file *file, const char *what,
		      struct loader_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return loader_fail(err, -errno, "%s: %s", file->path,
				   strerror(errno));
	if (!S_ISREG(st.st_mode))
		return loader_fail(err, -EINVAL, "%s: not a regular file, so "
				   "no %s", file->path, what);
	if (!st.st_size)
		return loader_fail(err, -ENOEXEC, "%s: the file is empty, so "
				   "no %s", file->path, what);
	if (st.st_size > LOADER_MAX_FILE)
		return loader_fail(err, -EFBIG, "%s: %lld MiB is too large "
				   "for a %s: at most %llu MiB", file->path,
				   (long long)st.st_size >> 20, what,
				   LOADER_MAX_FILE >> 20);
	file->size = st.st_size;
	return 0;
}

static int read_all(int fd, struct loader_file *file,
		    struct loader_error *err)
{
	size_t done = 0;
	ssize_t got;

	file->data = malloc(file->size);
	if (!file->data)
		return loader_fail(err, -ENOMEM, "%s: no memory for its %zu "
				   "bytes", file->path, file->size);
	while (done < file->size) {
		got = read(fd, file->data + done, file->size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return loader_fail(err, -errno, "%s: %s", file->path,
					   strerror(errno));
		if (!got)
			return loader_fail(err, -EIO, "%s: became shorter "
					   "while it was read: try again",
					   file->path);
		done += got;
	}
	return 0;
}

/* @what it should be ("kernel", "initrd") is for the messages only. */
int loader_file_read(struct loader_file *file, const char *path,
		     const char *what, struct loader_error *err)
{
	int fd, ret;

	memset(file, 0, sizeof(*file));
	file->path = path;
	/* A FIFO named by mistake must not block the boot: O_NONBLOCK. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return loader_fail(err, -errno, "%s: cannot read the %s: %s",
				   path, what, strerror(errno));
	ret = check_kind(fd, file, what, err);
	if (!ret)
		ret = read_all(fd, file, err);
	close(fd);
	if (ret)
		loader_file_free(file);
	return ret;
}

void loader_file_free(struct loader_file *file)
{
	free(file->data);
	file->data = NULL;
	file->size = 0;
}
