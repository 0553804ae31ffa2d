// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a disk that is a file: what is read, written, made stable and
 * refused, and that the file and the guest's memory hold that, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "driver.h"

#define SECTORS		40
#define FILE_SIZE	(SECTORS * 512)

static char path[32];
static const struct virtq_place place = {
	.num = NUM, .ready = true, .desc = DESC, .avail = AVAIL, .used = USED,
};

static struct block b;
static struct virtq q;
static struct virtq_chain c;
static int syncs;
static bool sync_fails;
static uint8_t bytes[2 * 4096], file[FILE_SIZE];

/* The linker has it called for the C library's. */
int __wrap_fdatasync(int fd)
{
	(void)fd;
	syncs++;
	errno = EIO;
	return sync_fails ? -1 : 0;
}

/* The answer to what has been offered; wrote: how much the guest has got. */
static int answer(int64_t wrote)
{
	CHECK(virtq_next(&q, &c) == VIRTQ_CHAIN);
	CHECK(block_serve(&b, &c, true) == wrote);
	return word(ANSWER, 1);
}

static void file_is(uint64_t at, const void *expected, uint64_t len)
{
	CHECK(pread(b.fd, bytes, len, at) == (ssize_t)len);
	CHECK(!memcmp(bytes, expected, len));
}

static void begin(const char *how)
{
	char what[64];

	snprintf(what, sizeof(what), "%s%s", path, how);
	if (b.fd > 0)
		close(b.fd);
	CHECK(!block_open(&b, what));
	memory_begin();
	CHECK(virtq_begin(&q, &place, true));
}

static void refused(const char *what)
{
	struct block other;

	CHECK(block_open(&other, what) == -1);
}

static void files(void)
{
	struct block reader;
	int fd;

	strcpy(path, "guest-disk-XXXXXX");
	fd = mkstemp(path);
	CHECK(fd >= 0);
	refused(path);			/* it is empty */
	CHECK(!ftruncate(fd, FILE_SIZE + 1));
	refused(path);
	refused("/none");
	refused("/tmp");
	refused("/dev/null");
	for (uint32_t i = 0; i < FILE_SIZE; i++)
		file[i] = i / 512 + i;
	CHECK(pwrite(fd, file, FILE_SIZE, 0) == FILE_SIZE);
	CHECK(!ftruncate(fd, FILE_SIZE));
	close(fd);
	begin("");
	CHECK(b.sectors == SECTORS && !memcmp(b.id, path, 17));
	refused(path);			/* nobody else writes to it, */
	begin(",ro");
	CHECK(b.read_only);
	refused(path);
	snprintf((char *)bytes, 64, "%s,ro", path);
	CHECK(!block_open(&reader, (char *)bytes));	/* but many may read */
	close(reader.fd);
}

static void transfers(void)
{
	begin("");
	request(VIRTIO_BLK_T_IN, 3, DATA, 8192, true);
	CHECK(answer(8193) == VIRTIO_BLK_S_OK);
	get(DATA, bytes, 8192);
	CHECK(!memcmp(bytes, file + 3 * 512, 8192) && !word(DATA + 8192, 8));
	CHECK(!word(DATA - 8, 8));
	memset(file + 512, 0x5a, 1024);
	put(DATA + 0xf00, file + 512, 1024);
	request(VIRTIO_BLK_T_OUT, 1, DATA + 0xf00, 1024, false);
	CHECK(answer(1) == VIRTIO_BLK_S_OK);
	file_is(0, file, 4096);
	/* On the medium before the answer, as block_serve() was told. */
	CHECK(syncs == 1);
	desc(DESC, 0, ASK, 16, NEXT, 2);
	request(VIRTIO_BLK_T_FLUSH, 0, DATA, 0, false);
	CHECK(answer(1) == VIRTIO_BLK_S_OK);
	CHECK(syncs == 2);
	request(VIRTIO_BLK_T_GET_ID, 0, DATA, 24, true);
	CHECK(answer(BLOCK_ID) == VIRTIO_BLK_S_OK);
	get(DATA, bytes, BLOCK_ID);
	CHECK(!memcmp(bytes, b.id, BLOCK_ID));
	request(VIRTIO_BLK_T_GET_ID, 0, DATA, 4, true);
	CHECK(answer(5) == VIRTIO_BLK_S_OK);
	request(77, 0, DATA, 512, true);
	CHECK(answer(0) == VIRTIO_BLK_S_UNSUPP);
	/* Parts may be cut as the driver likes. */
	request(VIRTIO_BLK_T_IN, 7, DATA, 512, true);
	desc(DESC, 0, ASK, 5, NEXT, 3);
	desc(DESC, 3, ASK + 5, 11, NEXT, 4);
	desc(DESC, 4, DATA, 100, NEXT | WRITE, 5);
	desc(DESC, 5, DATA + 100, 413, WRITE, 0);
	CHECK(answer(513) == 0xee && !word(DATA + 512, 1));
	get(DATA, bytes, 512);
	CHECK(!memcmp(bytes, file + 7 * 512, 512));
}

/* What could not be written is lost, also when the host has forgotten that. */
static void losses(void)
{
	begin("");
	for (int i = 0; i < 2; i++) {
		said = 0;
		sync_fails = !i;
		request(VIRTIO_BLK_T_FLUSH, 0, DATA, 0, false);
		CHECK(answer(1) == VIRTIO_BLK_S_IOERR && said == sync_fails);
	}
	begin("");
}

static void limits(void)
{
	request(VIRTIO_BLK_T_IN, SECTORS - 1, DATA, 512, true);
	CHECK(answer(513) == VIRTIO_BLK_S_OK);
	request(VIRTIO_BLK_T_IN, SECTORS - 1, DATA, 1024, true);
	CHECK(answer(0) == VIRTIO_BLK_S_IOERR);
	request(VIRTIO_BLK_T_OUT, SECTORS, DATA, 512, false);
	CHECK(answer(1) == VIRTIO_BLK_S_IOERR);
	/* A number that goes round when it is made bytes. */
	request(VIRTIO_BLK_T_OUT, 1ull << 55, DATA, 512, false);
	CHECK(answer(1) == VIRTIO_BLK_S_IOERR);
	request(VIRTIO_BLK_T_IN, UINT64_MAX, DATA, 512, true);
	CHECK(answer(0) == VIRTIO_BLK_S_IOERR);
	request(VIRTIO_BLK_T_OUT, 0, DATA, 511, false);
	CHECK(answer(1) == VIRTIO_BLK_S_IOERR);
	file_is(0, file, 4096);
	CHECK(lseek(b.fd, 0, SEEK_END) == FILE_SIZE);
	/* No place for an answer, or too little asked. */
	request(VIRTIO_BLK_T_FLUSH, 0, DATA, 0, false);
	desc(DESC, 2, ANSWER, 0, WRITE, 0);
	answer(-1);
	request(VIRTIO_BLK_T_FLUSH, 0, DATA, 0, false);
	desc(DESC, 0, ASK, 15, NEXT, 2);
	answer(-1);
	/* A disk that is only read, which is the guest's fault and not the file's. */
	begin(",ro");
	said = 0;
	request(VIRTIO_BLK_T_OUT, 1, DATA, 512, false);
	CHECK(answer(1) == VIRTIO_BLK_S_IOERR);
	request(VIRTIO_BLK_T_IN, 1, DATA, 512, true);
	CHECK(answer(513) == VIRTIO_BLK_S_OK);
	/* A file that has become shorter. */
	CHECK(!truncate(path, 1024));
	CHECK(!said);
	for (int i = 0; i < 2; i++) {
		request(VIRTIO_BLK_T_IN, 2, DATA, 512, true);
		CHECK(answer(0) == VIRTIO_BLK_S_IOERR && said == 1);
	}
	unlink(path);
}

void block_tests(void)
{
	files();
	transfers();
	losses();
	limits();
}
