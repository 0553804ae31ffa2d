// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that what another process is asked for points to (ask.c).  What is private
 * is copied to the window, and back.  The kernel does it, as it would have for a
 * call of our own: an address that is wrong is EFAULT, not the program's end.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

#define PAGE	4096ul
#define PART_LEAST	(1ul << 20)

/* Where that call is not there or not allowed, addresses have to be right. */
static bool not_there(ssize_t done)
{
	return done < 0 && (errno == ENOSYS || errno == EPERM);
}

/* False: there is nothing to be read. */
bool memory_read(void *to, const void *from, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)from, size };
	ssize_t done = process_vm_readv(getpid(), &here, 1, &there, 1, 0);

	if (not_there(done)) {
		memcpy(to, from, size);
		return true;
	}
	return done == (ssize_t)size;
}

bool memory_write(void *to, const void *from, size_t size)
{
	struct iovec here = { (void *)from, size }, there = { to, size };
	ssize_t done = process_vm_writev(getpid(), &here, 1, &there, 1, 0);

	if (not_there(done)) {
		memcpy(to, from, size);
		return true;
	}
	return done == (ssize_t)size;
}

/* Of a path: more than PATH_MAX no kernel reads.  What is not there ask() finds. */
size_t text_size(const char *text)
{
	char part[PATH_MAX], *end;
	size_t size, room;

	for (size = 0; text && size < sizeof(part); size += room) {
		room = PAGE - (uintptr_t)(text + size) % PAGE;
		if (!memory_read(part, text + size, room))
			return size + 1;
		end = memchr(part, 0, room);
		if (end)
			return size + (end - part) + 1;
	}
	return size;
}

/* How much room they have; -1 and errno: they are not there. */
ssize_t pieces_size(const struct iovec *v, int count)
{
	struct iovec all[IOV_MAX];
	ssize_t size = 0;
	int i;

	errno = EINVAL;
	if (count < 0 || count > IOV_MAX)
		return -1;
	errno = EFAULT;
	if (count && !memory_read(all, v, count * sizeof(*v)))
		return -1;
	errno = EINVAL;
	for (i = 0; i < count; i++)
		if (__builtin_add_overflow(size, all[i].iov_len, &size))
			return -1;
	return size;
}

/* What is in the first @size bytes of them.  False: it is not there. */
bool pieces_gather(char *all, const struct iovec *v, int count, size_t size)
{
	size_t part;

	for (; count && size; all += part, size -= part, v++, count--) {
		part = size < v->iov_len ? size : v->iov_len;
		if (part && !memory_read(all, v->iov_base, part))
			return false;
	}
	return true;
}

/* The other way round, as far as @size goes. */
bool pieces_scatter(const struct iovec *v, int count, const char *all,
		    size_t size)
{
	size_t part;

	for (; count && size; all += part, size -= part, v++, count--) {
		part = size < v->iov_len ? size : v->iov_len;
		if (part && !memory_write(v->iov_base, all, part))
			return false;
	}
	return true;
}

static bool is_private(const void *p, size_t size)
{
	return size && !(data_shared(p) &&
			 data_shared((const char *)p + size - 1));
}

/* How much of @piece the other one has written. */
static size_t taken(const struct piece *piece, long result)
{
	if (result < 0)
		return 0;
	if (piece->way & RESULT && (size_t)result < piece->size)
		return result;
	return piece->way & (TAKE | RESULT) ? piece->size : 0;
}

/* Where the window has no room for all of it, for less, which @size says then. */
void *room_for_part(size_t *size)
{
	void *room = mios_omp_alloc(*size);

	while (!room && *size > PART_LEAST) {
		*size /= 2;
		room = mios_omp_alloc(*size);
	}
	return room;
}

static void *room_for(struct piece *piece, long *args)
{
	void *room;

	if (!(piece->way & PART))
		return mios_omp_alloc(piece->size);
	room = room_for_part(&piece->size);
	args[piece->at + 1] = piece->size;
	return room;
}

/*
 * The argument is a copy in the window from now on; @own gets what it was.  Of what
 * is only written a byte is read, to see that it is there before anything is done.
 */
static long bring(struct piece *piece, long *args, void **own)
{
	void *p = (void *)args[piece->at], *copy;

	if (!p || !is_private(p, piece->size))
		return 0;
	copy = room_for(piece, args);
	if (!copy)
		return -ENOMEM;
	*own = p;
	args[piece->at] = (long)copy;
	return memory_read(copy, p, piece->way & GIVE ? piece->size : 1) ?
	       0 : -EFAULT;
}

/* Returns what it has returned: -1 and errno, if that. */
long ask(unsigned int place, struct asked asked)
{
	void *own[ASK_PIECES] = { NULL }, *copy;
	struct piece *p = asked.pieces;
	long result = 0;
	size_t size;
	int i;

	for (i = 0; i < ASK_PIECES && !result; i++)
		result = bring(&p[i], asked.args, &own[i]);
	if (!result)
		result = ask_hand_over(place, &asked);
	for (i = 0; i < ASK_PIECES; i++) {
		if (!own[i])
			continue;
		copy = (void *)asked.args[p[i].at];
		size = taken(&p[i], result);
		if (size && !memory_write(own[i], copy, size))
			result = -EFAULT;
		mios_omp_free(copy);
	}
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

/* By who has the descriptor. */
long ask_for(int fd, struct asked asked)
{
	return ask(files_place(fd), asked);
}

/* @fn there, which may be here. */
long ask_to_run(unsigned int place, asked_fn fn, struct asked asked)
{
	long result;

	asked.fn = fn;
	if (place != mios_omp_place.number)
		return ask(place, asked);
	result = fn(asked.args);
	if (result < 0) {
		errno = -result;
		return -1;
	}
	return result;
}

/*
 * @fn in all processes, here first: who may not, asks nobody.  What it returns is the
 * same in all, or the end.
 */
long ask_all(const char *name, asked_fn fn, struct asked asked)
{
	unsigned int place, n = files_places();
	long result = ask_to_run(mios_omp_place.number, fn, asked), other;

	/* One: the others are not there yet, or this is a child. */
	for (place = 0; n > 1 && place < n && result >= 0; place++) {
		if (place == mios_omp_place.number)
			continue;
		other = ask_to_run(place, fn, asked);
		if (other < 0)
			omp_die("process %u of the program cannot do the %s() "
				"that another has done: %s", place, name,
				strerror(errno));
		if (other != result)
			omp_die("process %u of the program has done the %s() of "
				"another in another way", place, name);
	}
	return result;
}
