// SPDX-License-Identifier: GPL-2.0
/*
 * On the other instances: NFS carries no capabilities of files.  A file that
 * has some on instance 0 is copied into memory, gets them there, and is mounted
 * over the one of the root.
 *
 *	/usr/bin/ping            the root's, over NFS
 *	  ^ bind, read-only
 *	COPIES/1f3a...           its copy in a tmpfs that is not nosuid
 *
 * A copy is named by its line of the list.  So whatever changes on instance 0,
 * the file, its capabilities or its name, makes another one; and what no line
 * asks for any more goes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libmios/libmios.h"
#include "rootd.h"

#define COPIES	"/run/mios/capable"
#define MAX_FILES	4096

static struct {
	char *lines;
	struct capable files[MAX_FILES];
	uint64_t names[MAX_FILES];
	size_t nr;
	dev_t dev;		/* of the copies */
} c;

/* FNV-1a */
static uint64_t name_of(const char *line)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *line && *line != '\n'; line++)
		hash = (hash ^ (uint8_t)*line) * 0x100000001b3;
	return hash;
}

/* Where one cannot be had, all stays as it is. */
static int read_list(void)
{
	FILE *f = fopen(LIST, "re");
	size_t size = 0;
	ssize_t len;
	char *next;

	c.nr = 0;
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	free(c.lines);
	c.lines = NULL;
	len = getdelim(&c.lines, &size, '\0', f);
	if (ferror(f)) {
		fclose(f);
		return -EIO;
	}
	fclose(f);
	for (next = len > 0 ? c.lines : NULL; next && *next && c.nr < MAX_FILES;) {
		char *line = next;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		c.names[c.nr] = name_of(line);
		if (!capable_parse(&c.files[c.nr], line))
			c.nr++;
	}
	return 0;
}

static bool wanted(uint64_t name, const char *path)
{
	size_t i;

	for (i = 0; i < c.nr; i++)
		if (c.names[i] == name &&
		    (!path || !strcmp(c.files[i].path, path)))
			return true;
	return false;
}

/* In mountinfo a space is \040, and so on. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++, to++) {
		*to = *text;
		if (*text == '\\' && text[1] && text[2] && text[3]) {
			*to = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
			      (text[3] - '0');
			text += 3;
		}
	}
	*to = '\0';
}

static void remove_copies(void)
{
	DIR *dir = opendir(COPIES);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.' &&
		    !wanted(strtoull(entry->d_name, NULL, 16), NULL))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Whatever has got that name meanwhile: nothing but a copy of ours. */
static void unmount_copy(const char *path)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char same[64];
	struct stat st;

	if (fd < 0)
		return;
	snprintf(same, sizeof(same), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && st.st_dev == c.dev)
		umount2(same, MNT_DETACH);
	close(fd);
}

/* Those that are mounted and are not to be any more. */
static void uncover(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int major, minor;
	char *line = NULL, *path;
	uint64_t name;
	size_t size = 0;
	int used;

	while (f && getline(&line, &size, f) > 0) {
		if (sscanf(line, "%*d %*d %u:%u /%16" SCNx64 " %n", &major,
			   &minor, &name, &used) != 3 ||
		    makedev(major, minor) != c.dev)
			continue;
		path = line + used;
		path[strcspn(path, " ")] = '\0';
		unescape(path);
		if (!wanted(name, path) || !capable_place(path))
			unmount_copy(path);
	}
	free(line);
	if (f)
		fclose(f);
	remove_copies();
}

static int copy_bytes(int from, int to, int64_t size)
{
	char buf[65536];
	int64_t done = 0;
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0) {
		if (write(to, buf, n) != n)
			return errno == ENOSPC ? -ENOSPC : -EIO;
		done += n;
	}
	return n || done != size ? -EIO : 0;
}

/* Asks instance 0, whatever is known here. */
static bool still_is(const struct capable *file, int fd, struct stat *st)
{
	struct statx now;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
		      STATX_BASIC_STATS, &now) &&
	       !fstat(fd, st) && capable_is(file, st);
}

static int fill(const struct capable *file, int from, int to)
{
	struct timespec times[2];
	struct stat st;
	int err;

	if (!still_is(file, from, &st))
		return -ESTALE;
	err = copy_bytes(from, to, st.st_size);
	if (err)
		return err;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	if (fchown(to, st.st_uid, st.st_gid) || fchmod(to, st.st_mode & 07777) ||
	    futimens(to, times) ||
	    fsetxattr(to, CAPABILITY, file->caps, file->len, 0))
		return -errno;
	return still_is(file, from, &st) ? 0 : -ESTALE;
}

/* Where the root is mounted without set-user-ids, capabilities count no more. */
static bool counts_there(int fd)
{
	struct statvfs st;

	return !fstatvfs(fd, &st) && !(st.f_flag & ST_NOSUID);
}

/* Read-only, as the root is, before anybody can see it. */
static int mount_copy(const char *copy, int over)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV,
	};
	int tree = open_tree(AT_FDCWD, copy, OPEN_TREE_CLONE |
			     OPEN_TREE_CLOEXEC);
	int err = 0;

	if (tree < 0)
		return -errno;
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) ||
	    move_mount(tree, "", over, "", MOVE_MOUNT_F_EMPTY_PATH |
		       MOVE_MOUNT_T_EMPTY_PATH))
		err = -errno;
	close(tree);
	return err;
}

static int cover(const struct capable *file, uint64_t name)
{
	char copy[sizeof(COPIES) + 20];
	struct stat st;
	int from, to, err;

	if (!capable_place(file->path))
		return 0;
	from = open(file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (from < 0)
		return -errno;
	if (fstat(from, &st) || st.st_dev == c.dev || !counts_there(from)) {
		close(from);
		return 0;	/* is covered already, or is not to be */
	}
	snprintf(copy, sizeof(copy), COPIES "/%016" PRIx64, name);
	unlink(copy);
	to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = to < 0 ? -errno : fill(file, from, to);
	if (to >= 0)
		close(to);
	if (!err)
		err = mount_copy(copy, from);
	if (err)
		unlink(copy);
	close(from);
	return err;
}

/* Once: it may well be tried again each time. */
static void say(const struct capable *file, int err)
{
	static uint64_t told;

	if (told == file->ino)
		return;
	told = file->ino;
	mios_error("mios-rootd", "%s is without its capabilities here: %s",
		   file->path, strerror(-err));
}

/*
 * -EAGAIN: not all is as the list has it.  The list comes later than the file,
 * or earlier, and attributes may be old here.
 */
int cover_all(void)
{
	int err = read_list(), left = 0;
	size_t i;

	if (err)
		return err;
	uncover();
	for (i = 0; i < c.nr; i++) {
		err = cover(&c.files[i], c.names[i]);
		if (err == -ESTALE || err == -ENOENT)
			left = -EAGAIN;
		else if (err)
			say(&c.files[i], err);
	}
	return left;
}

/* The other tmpfs below /run are nosuid. */
int cover_prepare(void)
{
	struct stat st;

	if (mkdir(COPIES, 0700) && errno != EEXIST)
		return -errno;
	if (stat(COPIES, &st))
		return -errno;
	c.dev = st.st_dev;
	if (stat("/run/mios", &st))
		return -errno;
	if (st.st_dev == c.dev) {
		if (mount("tmpfs", COPIES, "tmpfs", MS_NODEV, "mode=700"))
			return -errno;
		if (stat(COPIES, &st))
			return -errno;
		c.dev = st.st_dev;
	}
	return 0;
}
