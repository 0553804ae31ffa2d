// SPDX-License-Identifier: GPL-2.0
/*
 * C's streams.  They and their buffers are in the heap of all; what libc does with
 * their descriptors goes by its tables of functions, where ours stand instead, so
 * whoever uses a stream reads and writes as calls.c has it.  What libc has in lists
 * of its own, it has in the process that has opened the stream, which therefore
 * closes it.
 *
 * Whoever waits for a stream's lock is woken by its own process alone, as libc has
 * it.  So each process wakes those that wait in it from time to time: they look
 * again, and sleep on if it is for nothing.
 */
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

#define PAGE_MASK	4095ul
#define STREAMS		256		/* that are looked after */
#define MAKING		((FILE *)1)
#define HAS_FAILED	0x20		/* libc's _IO_ERR_SEEN */

/* As glibc has it. */
struct lock {
	_Atomic int word;
	int count;
	void *owner;
};

/* Of who has opened it. */
struct stream {
	FILE *_Atomic file;
	struct lock *_Atomic lock;
	uint32_t place;
};

struct streams {
	_Atomic uint32_t end;		/* none at and behind it has been used */
	struct stream all[STREAMS];
};

/* What stands in libc's tables, by the names that it gives out. */
enum { READ, WRITE, SEEK, CLOSE, STAT, ENTRIES };

static uintptr_t libcs[ENTRIES];

#define LIBC(I, TYPE)	((TYPE)libcs[I])

static struct streams *streams(void)
{
	const struct omp_window *w = mios_omp_place.window;

	return w ? (struct streams *)w->streams : NULL;
}

static ssize_t stream_read(FILE *f, void *p, ssize_t n)
{
	if (files_here(f->_fileno))
		return LIBC(READ, ssize_t (*)(FILE *, void *, ssize_t))(f, p, n);
	return files_read(f->_fileno, p, n);
}

static ssize_t stream_write(FILE *f, const void *p, ssize_t n)
{
	ssize_t left = n, done;

	if (files_here(f->_fileno))
		return LIBC(WRITE, ssize_t (*)(FILE *, const void *,
					       ssize_t))(f, p, n);
	while (left > 0) {
		done = files_write(f->_fileno, p, left);
		if (done < 0) {
			f->_flags |= HAS_FAILED;
			break;
		}
		left -= done;
		p = (const char *)p + done;
	}
	n -= left;
	if (f->_offset >= 0)
		f->_offset += n;
	return n;
}

static off64_t stream_seek(FILE *f, off64_t at, int from)
{
	return files_lseek(f->_fileno, at, from);
}

static int stream_close(FILE *f)
{
	return files_close(f->_fileno);
}

static int stream_stat(FILE *f, void *st)
{
	return files_fstat(f->_fileno, st);
}

static const struct {
	const char *name;
	uintptr_t ours;
} entries[ENTRIES] = {
	[READ] = { "_IO_file_read", (uintptr_t)stream_read },
	[WRITE] = { "_IO_file_write", (uintptr_t)stream_write },
	[SEEK] = { "_IO_file_seek", (uintptr_t)stream_seek },
	[CLOSE] = { "_IO_file_close", (uintptr_t)stream_close },
	[STAT] = { "_IO_file_stat", (uintptr_t)stream_stat },
};

/* How many of them were there. */
static int set_entries(uintptr_t *from, uintptr_t *end)
{
	int i, found = 0;

	for (; from < end; from++)
		for (i = 0; i < ENTRIES; i++)
			if (*from == libcs[i]) {
				*from = entries[i].ours;
				found++;
			}
	return found;
}

/* The tables are in what the loader has protected. */
static int set_tables(struct dl_phdr_info *info, size_t size, void *found)
{
	const Elf64_Phdr *p = info->dlpi_phdr, *end = p + info->dlpi_phnum;
	uintptr_t from, to;

	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	while (p < end && p->p_type != PT_GNU_RELRO)
		p++;
	if (p == end)
		return 0;
	from = (info->dlpi_addr + p->p_vaddr) & ~PAGE_MASK;
	to = (info->dlpi_addr + p->p_vaddr + p->p_memsz) & ~PAGE_MASK;
	if (syscall(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE))
		return 0;
	*(int *)found = set_entries((uintptr_t *)from, (uintptr_t *)to);
	syscall(SYS_mprotect, from, to - from, PROT_READ);
	return 1;
}

void streams_create(struct omp_window *w)
{
	struct streams *s = mios_omp_zalloc(sizeof(*s));

	if (!s)
		omp_die("no memory left in the window for the streams");
	w->streams = (uint64_t)s;
}

void streams_start(void)
{
	int i, found = 0;

	for (i = 0; i < ENTRIES; i++)
		libcs[i] = (uintptr_t)dlsym(RTLD_NEXT, entries[i].name);
	for (i = 0; i < ENTRIES && libcs[i]; i++)
		;
	if (i == ENTRIES)
		dl_iterate_phdr(set_tables, &found);
	if (found < ENTRIES && !mios_omp_place.number)
		fputs("mios: omp: this C library's streams work only in the "
		      "process that has opened them\n", stderr);
}

/* In each process, every few milliseconds: who sleeps looks again. */
void streams_wake(void)
{
	struct streams *s = streams();
	struct lock *lock;
	uint32_t i;

	for (i = 0; s && i < atomic_load(&s->end); i++) {
		lock = atomic_load(&s->all[i].lock);
		if (lock)
			syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL,
				NULL, 0);
	}
}

/* Of which process is the member whose stack it is in?  Its own, if of none. */
static unsigned int place_of_thread(const void *thread)
{
	const struct omp_window *w = mios_omp_place.window;
	uint64_t at = (uint64_t)thread - w->base - w->stack_at;
	unsigned int place = 0;

	if (at >= w->nr_members * stacks_apart(w))
		return mios_omp_place.number;
	while (w->first[place + 1] <= at / stacks_apart(w))
		place++;
	return place;
}

/* All has ended: what a member of another process has locked stays so. */
void streams_unlock(void)
{
	struct streams *s = streams();
	struct lock *lock;
	uint32_t i;

	for (i = 0; s && i < atomic_load(&s->end); i++) {
		lock = atomic_load(&s->all[i].lock);
		if (!lock || !lock->owner ||
		    place_of_thread(lock->owner) == mios_omp_place.number)
			continue;
		lock->owner = NULL;
		lock->count = 0;
		atomic_store(&lock->word, 0);
	}
	streams_wake();
}

/* More than there is room for work, but whoever waits for one may do so long. */
static FILE *add(FILE *f)
{
	struct streams *s = streams();
	FILE *none;
	uint32_t i, end;

	if (!f || !s || !data_shared(f))
		return f;
	for (i = 0; i < STREAMS; i++) {
		none = NULL;
		if (!atomic_compare_exchange_strong(&s->all[i].file, &none,
						    MAKING))
			continue;
		s->all[i].place = mios_omp_place.number;
		atomic_store(&s->all[i].lock, (struct lock *)f->_lock);
		atomic_store(&s->all[i].file, f);
		end = atomic_load(&s->end);
		while (end <= i && !atomic_compare_exchange_weak(&s->end, &end,
								 i + 1))
			;
		break;
	}
	return f;
}

static struct stream *find(FILE *f)
{
	struct streams *s = streams();
	uint32_t i;

	for (i = 0; s && i < atomic_load(&s->end); i++)
		if (atomic_load(&s->all[i].file) == f)
			return &s->all[i];
	return NULL;
}

static void forget(FILE *f)
{
	struct stream *s = find(f);

	if (!s)
		return;
	atomic_store(&s->lock, NULL);
	atomic_store(&s->file, NULL);
}

static unsigned int place_of(FILE *f)
{
	const struct stream *s = find(f);

	if (s)
		return s->place;
	/* By --share strict it is where nobody else has anything. */
	if (mios_omp_place.strict && f != stdin && f != stdout && f != stderr)
		return mios_omp_place.number;
	return files_place(f->_fileno);
}

/* What is to be done where the stream is. */
static long do_close(const long *a)
{
	FILE *f = (FILE *)a[0];

	files_moved(f->_fileno);
	forget(f);
	return REAL(fclose)(f) ? -errno : 0;
}

static long do_open(const long *a)
{
	FILE *f = REAL(fdopen)(a[0], (const char *)a[1]);

	return f ? (long)add(f) : -errno;
}

static long do_reopen(const long *a)
{
	FILE *f = (FILE *)a[2];

	files_moved(f->_fileno);
	f = REAL(freopen64)((const char *)a[0], (const char *)a[1], f);
	return f ? (long)f : -errno;
}

int fclose(FILE *f)
{
	return ask_to_run(place_of(f), do_close,
		      (struct asked){ .args = { (long)f } });
}

/* Its child is the one of who has opened it. */
static long do_pclose(const long *a)
{
	FILE *f = (FILE *)a[0];
	int status;

	forget(f);
	status = REAL(pclose)(f);
	return status < 0 ? -errno : status;
}

int pclose(FILE *f)
{
	return ask_to_run(place_of(f), do_pclose,
		      (struct asked){ .args = { (long)f } });
}

FILE *fdopen(int fd, const char *mode)
{
	long f = ask_to_run(files_place(fd), do_open, (struct asked){
			.args = { fd, (long)mode },
			.pieces = { { 1, GIVE, text_size(mode) } } });

	return f < 0 ? NULL : (FILE *)f;
}

FILE *freopen64(const char *path, const char *mode, FILE *f)
{
	long new;

	files_moved(f->_fileno);
	if (place_of(f) != mios_omp_place.number)
		fflush(f);
	new = ask_to_run(place_of(f), do_reopen, (struct asked){
		     .args = { (long)path, (long)mode, (long)f },
		     .pieces = { { 0, GIVE, text_size(path) },
				 { 1, GIVE, text_size(mode) } } });
	return new < 0 ? NULL : (FILE *)new;
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
	return freopen64(path, mode, f);
}

FILE *fopen64(const char *path, const char *mode)
{
	return add(REAL(fopen64)(path, mode));
}

FILE *fopen(const char *path, const char *mode)
{
	return fopen64(path, mode);
}

FILE *tmpfile64(void)
{
	return add(REAL(tmpfile64)());
}

FILE *tmpfile(void)
{
	return tmpfile64();
}

FILE *popen(const char *command, const char *mode)
{
	return add(REAL(popen)(command, mode));
}

FILE *fmemopen(void *p, size_t n, const char *mode)
{
	return add(REAL(fmemopen)(p, n, mode));
}

FILE *open_memstream(char **text, size_t *n)
{
	return add(REAL(open_memstream)(text, n));
}
