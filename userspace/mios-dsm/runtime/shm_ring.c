// SPDX-License-Identifier: GPL-2.0
/*
 * See shm_ring.h.  The sender writes a frame, then tail (release); the receiver reads
 * tail (acquire), then the frame, then writes head (release), which the sender
 * reads (acquire) before it writes there again.
 *
 * Who sleeps is not missed: the receiver says that it sleeps, then looks whether
 * tail has moved; the sender moves tail, then looks whether the receiver sleeps.
 * With a full fence between the two on both sides one of them sees the other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm_ring.h"

#define SEALS	(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static u32 record(u32 len)
{
	return (sizeof(u32) + len + 7) & ~7u;
}

int ring_make(void)
{
	const u32 first[] = { RING_MAGIC, RING_VERSION };
	int fd = memfd_create("mios-dsm-rings", MFD_CLOEXEC |
			      MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(struct ring_pair)) &&
	    pwrite(fd, first, sizeof(first), 0) == sizeof(first) &&
	    !fcntl(fd, F_ADD_SEALS, SEALS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* One that a peer could cut short would end us with SIGBUS. */
struct ring_pair *ring_open(int fd)
{
	struct ring_pair *p;
	struct stat is;

	if (fstat(fd, &is) || is.st_size != sizeof(*p) ||
	    (fcntl(fd, F_GET_SEALS) & SEALS) != SEALS)
		return NULL;
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (p->magic == RING_MAGIC && p->version == RING_VERSION &&
	    !madvise(p, sizeof(*p), MADV_DONTFORK))
		return p;
	munmap(p, sizeof(*p));
	return NULL;
}

/* Over the end and on at the beginning. */
static void copy_in(struct ring *r, u32 at, const void *from, u32 len)
{
	u32 off = at % RING_BYTES;
	u32 first = len < RING_BYTES - off ? len : RING_BYTES - off;

	memcpy(r->byte + off, from, first);
	memcpy(r->byte, (const u8 *)from + first, len - first);
}

static void copy_out(const struct ring *r, u32 at, void *to, u32 len)
{
	u32 off = at % RING_BYTES;
	u32 first = len < RING_BYTES - off ? len : RING_BYTES - off;

	memcpy(to, r->byte + off, first);
	memcpy((u8 *)to + first, r->byte, len - first);
}

bool ring_put(struct ring *r, u32 *tail, const void *frame, u32 len)
{
	u32 used = *tail - __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);

	if (used > RING_BYTES || len > RING_BYTES - sizeof(u32) ||
	    record(len) > RING_BYTES - used)
		return false;
	copy_in(r, *tail, &len, sizeof(len));
	copy_in(r, *tail + sizeof(len), frame, len);
	*tail += record(len);
	__atomic_store_n(&r->tail, *tail, __ATOMIC_RELEASE);
	return true;
}

/* How much there is to be read, as the sender says. */
static u32 ring_used(struct ring *r, u32 head)
{
	return (__atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) & ~7u) - head;
}

int ring_get(struct ring *r, u32 *head, void *frame, u32 room)
{
	u32 used = ring_used(r, *head), len = 0;
	bool good;

	if (!used)
		return 0;
	if (used <= RING_BYTES)
		copy_out(r, *head, &len, sizeof(len));
	good = len && len <= room && record(len) <= used;
	if (good)
		copy_out(r, *head + sizeof(len), frame, len);
	*head += good ? record(len) : used;
	__atomic_store_n(&r->head, *head, __ATOMIC_RELEASE);
	return good ? (int)len : -EPROTO;
}

/* Once for each sleep: what was written before the first waking is seen then. */
bool ring_sleeper(struct ring *r)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&r->sleeps, __ATOMIC_RELAXED))
		return false;
	ring_up(r);
	return true;
}

bool ring_doze(struct ring *r, u32 head)
{
	__atomic_store_n(&r->sleeps, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return ring_used(r, head);
}

void ring_up(struct ring *r)
{
	__atomic_store_n(&r->sleeps, 0, __ATOMIC_RELAXED);
}
