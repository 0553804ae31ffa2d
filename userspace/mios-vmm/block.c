// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of virtio 1.x to a disk.  Data goes through a buffer of ours: what a
 * system call touches of the guest's memory may be at another node.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/virtio_blk.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "vmm.h"

#define SECTOR		512ull
#define MOST		((uint64_t)BLOCK_PARTS * BLOCK_PART_MAX)

/*
 * A file, or a disk of the host, which nobody has mounted if it is written to;
 * NULL, or why not.
 */
static const char *file_open(struct block *b, const char *path, uint64_t *bytes)
{
	/* What is neither would else wait until its other end is opened. */
	int flags = O_NONBLOCK | O_CLOEXEC |
		(b->read_only ? O_RDONLY : O_RDWR | O_EXCL);
	struct stat st;

	b->fd = open(path, flags);
	if (b->fd < 0 && !b->read_only && (errno == EROFS || errno == EACCES))
		return "this user may not write to it: FILE,ro only reads";
	if (b->fd < 0 || fstat(b->fd, &st))
		return strerror(errno);
	*bytes = st.st_size;
	if (S_ISBLK(st.st_mode) && ioctl(b->fd, BLKGETSIZE64, bytes))
		return strerror(errno);
	return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) ? NULL :
		"it is neither a file nor a disk";
}

static const char *disk_open(struct block *b, const char *path)
{
	uint64_t bytes;
	const char *wrong = file_open(b, path, &bytes);

	if (wrong)
		return wrong;
	if (!bytes || bytes % SECTOR)
		return "it is not made of sectors of 512 bytes, as a raw image is";
	if (flock(b->fd, (b->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB))
		return errno != EWOULDBLOCK ? strerror(errno) :
			"another guest has it, and one of the two would write";
	b->sectors = bytes / SECTOR;
	return NULL;
}

int block_open(struct block *b, const char *what)
{
	size_t len = strlen(what), end;
	const char *wrong, *name;
	char path[PATH_MAX];

	*b = (struct block){
		.fd = -1,
		.read_only = len > 3 && !strcmp(what + len - 3, ",ro"),
	};
	end = len - (b->read_only ? 3 : 0);
	if (end >= sizeof(path))
		return say("a disk's path is too long");
	memcpy(path, what, end);
	path[end] = '\0';
	wrong = disk_open(b, path);
	if (wrong) {
		if (b->fd >= 0)
			close(b->fd);
		return say("cannot use %s as a disk: %s", path, wrong);
	}
	/* The file's own name, so that a guest finds it by that. */
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	memcpy(b->id, name, strnlen(name, sizeof(b->id)));
	return 0;
}

/* The guest is told of each error; who has the file, of the first. */
static bool complain(struct block *b, const char *why)
{
	if (!b->complained)
		say("the guest gets errors of disk %.*s: %s", BLOCK_ID, b->id, why);
	b->complained = true;
	return false;
}

/* The host tells of what it could not write once, and forgets it then. */
static bool file_sync(struct block *b)
{
	if (!b->lost && fdatasync(b->fd)) {
		b->lost = true;
		complain(b, strerror(errno));
	}
	return !b->lost;
}

/* All of it, whatever signals come; false: an error, or a file that has shrunk. */
static bool file_do(struct block *b, uint8_t *bytes, uint64_t len,
		    uint64_t at, bool write)
{
	while (len) {
		ssize_t n = write ? pwrite(b->fd, bytes, len, at) :
			pread(b->fd, bytes, len, at);

		if (!n)
			return complain(b, "the file has become shorter");
		if (n < 0 && errno != EINTR)
			return complain(b, strerror(errno));
		if (n < 0)
			continue;
		bytes += n;
		len -= n;
		at += n;
	}
	return true;
}

static bool transfer(struct block *b, const struct virtq_chain *c,
		     uint64_t at, uint64_t len, bool write)
{
	uint8_t buffer[BLOCK_PART_MAX];
	uint64_t head = sizeof(struct virtio_blk_outhdr);

	for (uint64_t off = 0, now; off < len; off += now) {
		bool good;

		now = len - off < sizeof(buffer) ? len - off : sizeof(buffer);
		if (write)
			good = virtq_read(c, head + off, buffer, now) &&
				file_do(b, buffer, now, at + off, true);
		else
			good = file_do(b, buffer, now, at + off, false) &&
				virtq_write(c, off, buffer, now);
		if (!good)
			return false;
	}
	return true;
}

/* Whole sectors that are there; and no more than a reset may have to wait for. */
static bool within(const struct block *b, uint64_t sector, uint64_t len)
{
	return !(len % SECTOR) && len <= MOST && sector <= b->sectors &&
		len / SECTOR <= b->sectors - sector;
}

static uint8_t disk_read(struct block *b, const struct virtq_chain *c,
			 uint64_t sector, uint64_t room)
{
	return within(b, sector, room) &&
		transfer(b, c, sector * SECTOR, room, false) ?
		VIRTIO_BLK_S_OK : VIRTIO_BLK_S_IOERR;
}

static uint8_t disk_write(struct block *b, const struct virtq_chain *c,
			  uint64_t sector, bool stable)
{
	uint64_t len = c->in - sizeof(struct virtio_blk_outhdr);

	return !b->read_only && within(b, sector, len) &&
		transfer(b, c, sector * SECTOR, len, true) &&
		(!stable || file_sync(b)) ?
		VIRTIO_BLK_S_OK : VIRTIO_BLK_S_IOERR;
}

int64_t block_serve(struct block *b, const struct virtq_chain *c,
		    bool stable)
{
	struct virtio_blk_outhdr ask;
	uint64_t room = c->out - 1, wrote = 0;
	uint8_t status = VIRTIO_BLK_S_UNSUPP;

	if (!c->out || !virtq_read(c, 0, &ask, sizeof(ask)))
		return -1;
	switch (ask.type) {
	case VIRTIO_BLK_T_IN:
		status = disk_read(b, c, ask.sector, room);
		wrote = status == VIRTIO_BLK_S_OK ? room : 0;
		break;
	case VIRTIO_BLK_T_OUT:
		status = disk_write(b, c, ask.sector, stable);
		break;
	case VIRTIO_BLK_T_FLUSH:
		status = file_sync(b) ? VIRTIO_BLK_S_OK : VIRTIO_BLK_S_IOERR;
		break;
	case VIRTIO_BLK_T_GET_ID:
		wrote = room < BLOCK_ID ? room : BLOCK_ID;
		virtq_write(c, 0, b->id, wrote);
		status = VIRTIO_BLK_S_OK;
		break;
	}
	/* The last byte, wherever the parts end. */
	virtq_write(c, room, &status, sizeof(status));
	return wrote == room ? wrote + 1 : wrote;
}
