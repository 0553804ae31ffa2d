// SPDX-License-Identifier: GPL-2.0
/*
 * Folders that the program reads: what it has opened lies in the heap of all, and
 * is read by the process that has opened it.
 */
#include <dirent.h>
#include <errno.h>

#include "files.h"

static unsigned int place_of(DIR *dir)
{
	return files_place(dirfd(dir));
}

static long do_read(const long *a)
{
	struct dirent64 *e;

	errno = 0;
	e = REAL(readdir64)((DIR *)a[0]);
	return e ? (long)e : -errno;
}

static long do_rewind(const long *a)
{
	REAL(rewinddir)((DIR *)a[0]);
	return 0;
}

static long do_close(const long *a)
{
	return REAL(closedir)((DIR *)a[0]) ? -errno : 0;
}

static struct asked of(DIR *dir)
{
	return (struct asked){ .args = { (long)dir } };
}

static long do_open(const long *a)
{
	DIR *dir = REAL(fdopendir)(a[0]);

	return dir ? (long)dir : -errno;
}

DIR *fdopendir(int fd)
{
	long dir = ask_to_run(files_place(fd), do_open,
			      (struct asked){ .args = { fd } });

	return dir < 0 ? NULL : (DIR *)dir;
}

struct dirent64 *readdir64(DIR *dir)
{
	long e;

	if (place_of(dir) == mios_omp_place.number)
		return REAL(readdir64)(dir);
	e = ask_to_run(place_of(dir), do_read, of(dir));
	return e < 0 ? NULL : (struct dirent64 *)e;
}

struct dirent *readdir(DIR *dir)
{
	return (struct dirent *)readdir64(dir);
}

void rewinddir(DIR *dir)
{
	ask_to_run(place_of(dir), do_rewind, of(dir));
}

int closedir(DIR *dir)
{
	return ask_to_run(place_of(dir), do_close, of(dir));
}
