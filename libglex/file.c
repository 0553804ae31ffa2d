// SPDX-License-Identifier: GPL-2.0
/*
 * The file of an endpoint: made by its owner, opened by who sends to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define PATH_LENGTH	64
/* Somebody who only looks whether we live may have the lock for a moment. */
#define LOCK_TRIES	5

static void path_of(char *path, uint32_t nic_id, uint32_t ep_num)
{
	snprintf(path, PATH_LENGTH, "/dev/shm/glex-%u-%u-%u", getuid(), nic_id,
		 ep_num);
}

static size_t size_of(const struct header *h)
{
	return MPQ_AT + h->mpq_capacity * sizeof(struct mp_slot) +
	       h->eq_capacity * sizeof(struct event_slot);
}

static bool is_capacity(uint32_t capacity)
{
	return capacity && capacity <= QUEUE_MAX && !(capacity & (capacity - 1));
}

/* Of a checked @f->own. */
static int file_map(struct file *f)
{
	uint8_t *at;

	f->size = size_of(&f->own);
	at = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (at == MAP_FAILED)
		return -1;
	f->header = (struct header *)at;
	f->regions = (struct region *)(at + REGIONS_AT);
	f->mps = (struct queue){
		.which = MPS,
		.slots = at + MPQ_AT, .size = sizeof(struct mp_slot),
		.capacity = f->own.mpq_capacity, .tail = &f->header->mp_tail,
	};
	f->events = (struct queue){
		.which = EVENTS,
		.slots = at + MPQ_AT +
			 f->own.mpq_capacity * sizeof(struct mp_slot),
		.size = sizeof(struct event_slot),
		.capacity = f->own.eq_capacity, .tail = &f->header->event_tail,
	};
	return 0;
}

void file_close(struct file *f)
{
	if (f->header)
		munmap(f->header, f->size);
	close(f->fd);
}

/*
 * By its owner, who has the lock: nobody else's of this name goes.  Who has it mapped
 * sees at once that he has to look for another one.
 */
void file_remove(struct file *f)
{
	char path[PATH_LENGTH];

	if (f->header)
		atomic_store(&f->header->closed, 1);
	path_of(path, f->own.nic_id, f->own.ep_num);
	unlink(path);
	file_close(f);
}

static int lock(int fd)
{
	int tries = LOCK_TRIES;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK || !--tries)
			return -1;
		usleep(1000);
	}
	return 0;
}

/*
 * Somebody has left it.  It stays as it is for those who have it mapped and may be in
 * the middle of a send; from now on they look for the next one.
 */
static int file_forget(const char *path, int fd, size_t size)
{
	const uint32_t closed = 1;

	if (size >= sizeof(struct header) &&
	    pwrite(fd, &closed, sizeof(closed),
		   offsetof(struct header, closed)) != sizeof(closed))
		return -1;
	return unlink(path);
}

/* A new one of that name, locked; -1: there is one, and it is somebody's. */
static int file_take(const char *path)
{
	struct stat st;
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return -1;
		if (lock(fd) || fstat(fd, &st)) {
			close(fd);
			return -1;
		}
		if (st.st_uid != getuid()) {
			close(fd);
			errno = EPERM;
			return -1;
		}
		if (st.st_nlink && !st.st_size)
			return fd;
		/* Without a name: its owner has just removed it. */
		if (st.st_nlink && file_forget(path, fd, st.st_size)) {
			close(fd);
			return -1;
		}
		close(fd);
	}
}

/* GLEX_NO_EP_RESOURCE: the number is taken. */
glex_ret_t file_create(struct file *f, uint32_t nic_id, uint32_t ep_num,
		       const struct glex_ep_attr *attr)
{
	char path[PATH_LENGTH];

	path_of(path, nic_id, ep_num);
	f->header = NULL;
	f->fd = file_take(path);
	/* Another user may have made one of that name: it is taken, as well. */
	if (f->fd < 0)
		return errno == EWOULDBLOCK || errno == EPERM || errno == ELOOP ||
		       (errno == EACCES && !access("/dev/shm", W_OK)) ?
		       GLEX_NO_EP_RESOURCE : GLEX_SYS_ERR;
	f->own = (struct header){
		.version = FILE_VERSION, .nic_id = nic_id, .ep_num = ep_num,
		.pid = getpid(), .key = attr->key,
		.mpq_capacity = attr->mpq_capacity,
		.eq_capacity = attr->eq_capacity,
	};
	/* All of it now, so that none is missing when it is written. */
	if (ftruncate(f->fd, 0) ||
	    posix_fallocate(f->fd, 0, size_of(&f->own)) || file_map(f)) {
		file_remove(f);
		return GLEX_NO_MEM_RESOURCE;
	}
	memcpy(f->header, &f->own, offsetof(struct header, mp_tail));
	queue_empty(&f->mps);
	queue_empty(&f->events);
	atomic_thread_fence(memory_order_release);
	*(volatile uint64_t *)&f->header->magic = FILE_MAGIC;
	return GLEX_SUCCESS;
}

/* -1: there is none, or nobody's, or it is none of an endpoint. */
int file_open(struct file *f, glex_ep_addr_t addr)
{
	char path[PATH_LENGTH];
	struct stat st;

	path_of(path, addr.nic_id, addr.ep_num);
	f->header = NULL;
	f->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0)
		return -1;
	if (fstat(f->fd, &st) || st.st_uid != getuid() ||
	    pread(f->fd, &f->own, sizeof(f->own), 0) != sizeof(f->own))
		goto close;
	if (f->own.magic != FILE_MAGIC || f->own.version != FILE_VERSION ||
	    f->own.nic_id != addr.nic_id || f->own.ep_num != addr.ep_num ||
	    !is_capacity(f->own.mpq_capacity) ||
	    !is_capacity(f->own.eq_capacity) ||
	    (uint64_t)st.st_size < size_of(&f->own) ||
	    !file_owner_lives(f) || file_map(f))
		goto close;
	return 0;

close:
	close(f->fd);
	return -1;
}

bool file_owner_lives(const struct file *f)
{
	if (flock(f->fd, LOCK_SH | LOCK_NB))
		return true;
	flock(f->fd, LOCK_UN);
	return false;
}
