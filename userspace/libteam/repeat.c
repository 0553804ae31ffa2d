// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of files, which one process makes and the others repeat: the same file at
 * the same address, so that every member finds it.  What may be written to is only
 * where all see one file, on /mios, in /dev/shm, or on one instance.  Shared memory
 * without a file gets one, in /dev/shm, whose name goes at once: a child has it in
 * common with its parent, as on one kernel.
 *
 * Segments are attached in all, too.  What one process unmaps, changes or lets go of
 * goes in all.
 *
 * Whoever cannot repeat it has nothing there, and says so when it uses the address
 * (foreign.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "files.h"

#define PAGE		4096ul
#define EARLY		32
#define TMPFS_MAGIC	0x01021994
#define MIOS_MAGIC	0x534f494d

/* Addresses at which something has been repeated, in the window. */
struct repeated {
	struct repeated *next;
	char *start, *end;
	uint64_t places;		/* that have it, who has made it among them */
	bool copies;			/* a page that is written would be one's own */
};

/* What is to be repeated, in the window. */
struct order {
	void *at;
	size_t size;
	int prot, flags;
	off_t offset;
	struct stat file;
	bool early;			/* by a constructor of the first process */
	char path[PATH_MAX];
};

/* Those, until there are others. */
static struct order *early[EARLY];
static unsigned int nr_early;
static bool begun;			/* also in a child */

static bool is_written(const struct order *o)
{
	return o->flags & MAP_SHARED && o->prot & PROT_WRITE;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/*
 * A number means one file for all on miosfs alone: in a tmpfs, as of its own /tmp,
 * another instance may have it for another file, but not with that time of its last
 * change; of root folders two instances have other numbers for one file.
 */
static bool is_same_file(int fd, const struct order *o)
{
	struct statfs fs;
	struct stat st;

	if (syscall(SYS_fstat, fd, &st) || syscall(SYS_fstatfs, fd, &fs))
		return false;
	if (st.st_dev == o->file.st_dev && st.st_ino == o->file.st_ino &&
	    (fs.f_type == MIOS_MAGIC ||
	     (fs.f_type == TMPFS_MAGIC &&
	      is_same_time(st.st_ctim, o->file.st_ctim))))
		return true;
	return !is_written(o) && st.st_size == o->file.st_size &&
	       is_same_time(st.st_mtim, o->file.st_mtim);
}

static bool is_there(const struct order *o)
{
	struct mapping m;

	return proc_maps_find((unsigned long)o->at, &m) &&
	       !strcmp(m.name, o->path);
}

/* Where nothing is, or only addresses are kept; a library may have done it already. */
static int map_there(const struct order *o, int fd)
{
	int flags = (o->flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED;

	if (o->early && is_there(o))
		return 0;
	if (!stacks_free(o->at, o->size))
		return -EBUSY;
	return kernel_mmap(o->at, o->size, o->prot, flags, fd, o->offset) ==
	       o->at ? 0 : -errno;
}

static long do_repeat(const long *a)
{
	const struct order *o = (const struct order *)a[0];
	int fd = syscall(SYS_open, o->path, O_CLOEXEC | O_NOCTTY |
			 (is_written(o) ? O_RDWR : O_RDONLY));
	int err = -ESTALE;

	if (fd < 0)
		return -errno;
	if (is_same_file(fd, o))
		err = map_there(o, fd);
	syscall(SYS_close, fd);
	/* What it has there it would take for the file. */
	if (err == -EBUSY)
		omp_die("process %u has something else where %.200s is mapped: "
			"run the program without --omp", mios_omp_place.number,
			o->path);
	return err;
}

static struct repeated **head(void)
{
	return (struct repeated **)&mios_omp_place.window->repeats;
}

static void lock(void)
{
	word_lock(&mios_omp_place.window->repeats_lock);
}

static void unlock(void)
{
	word_unlock(&mios_omp_place.window->repeats_lock);
}

/* The others come after constructors of libraries have run in the first process. */
static bool is_early(void)
{
	return mios_omp_place.window && !mios_omp_place.number && !begun;
}

static uint64_t everybody(void)
{
	return ~0ull >> (OMP_MAX_PLACES - files_places());
}

/* Of @places those that have done it; this one is not asked, and has. */
static uint64_t by(uint64_t places, asked_fn fn, struct asked asked)
{
	uint64_t done = places;
	unsigned int place;

	for (place = 0; place < OMP_MAX_PLACES; place++)
		if (place != mios_omp_place.number && places & 1ull << place &&
		    ask_to_run(place, fn, asked))
			done &= ~(1ull << place);
	return done;
}

static uint64_t by_others(asked_fn fn, struct asked asked)
{
	return by(everybody(), fn, asked);
}

static void record(void *at, size_t size, uint64_t places, bool copies)
{
	struct repeated *r = mios_omp_alloc(sizeof(*r));

	if (!r)
		omp_die("no memory left in the window for what is mapped");
	r->start = at;
	r->end = r->start + size;
	r->places = places;
	r->copies = copies;
	lock();
	r->next = *head();
	*head() = r;
	unlock();
}

static bool order_of(struct order *o, int fd)
{
	char link[32];
	ssize_t n;

	if (syscall(SYS_fstat, fd, &o->file) || !S_ISREG(o->file.st_mode))
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlink, link, o->path, sizeof(o->path) - 1);
	return n > 0;
}

/* What others are to do, or NULL: this process alone has it. */
static struct order *order_make(void *p, size_t size, int prot, int flags, int fd,
				off_t offset)
{
	struct order *o = mios_omp_zalloc(sizeof(*o));

	if (!o)
		omp_die("no memory left in the window for what is mapped");
	o->at = p;
	o->size = (size + PAGE - 1) & ~(PAGE - 1);
	o->prot = prot;
	o->flags = flags;
	o->offset = offset;
	if (order_of(o, fd))
		return o;
	mios_omp_free(o);
	return NULL;
}

static void carry_out(struct order *o)
{
	uint64_t have = by_others(do_repeat, (struct asked){ .args = { (long)o } });

	record(o->at, o->size, have, o->flags & MAP_PRIVATE);
	mios_omp_free(o);
}

/* The file of @fd, mapped here, and by all who can. */
void *repeat_map(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *p = kernel_mmap(at, size, prot, flags, fd, offset);
	struct order *o;

	if (p == MAP_FAILED || prot & PROT_EXEC ||
	    (files_places() == 1 && !is_early()))
		return p;
	if (flags & MAP_PRIVATE && prot & PROT_WRITE) {
		if (data_shared(p))
			omp_die("a file is mapped in the middle of what is "
				"everybody's, to be written by one process: run "
				"the program without --omp");
		return p;
	}
	o = order_make(p, size, prot, flags, fd, offset);
	if (o && is_early() && nr_early == EARLY)
		omp_die("libraries of the program map more than %d files before "
			"main(): run it without --omp", EARLY);
	if (o && is_early())
		early[nr_early++] = o;
	else if (o)
		carry_out(o);
	return p;
}

/* By the first process, before main(): what constructors of libraries have mapped. */
void repeat_early(void)
{
	unsigned int i;

	begun = true;
	for (i = 0; i < nr_early && files_places() > 1; i++) {
		early[i]->early = true;
		if (is_there(early[i]))
			carry_out(early[i]);
	}
}

/* Memory that a child is to have in common with us, and so all members. */
void *repeat_shared(void *at, size_t size, int prot, int flags)
{
	static _Atomic unsigned int count;
	void *p = MAP_FAILED;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/dev/shm/mios-omp-%d-%u", getpid(),
		 atomic_fetch_add(&count, 1));
	fd = syscall(SYS_open, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && !syscall(SYS_ftruncate, fd, size))
		p = repeat_map(at, size, prot, flags & ~MAP_ANONYMOUS, fd, 0);
	if (fd >= 0) {
		syscall(SYS_unlink, name);
		syscall(SYS_close, fd);
	}
	return p == MAP_FAILED ? kernel_mmap(at, size, prot, flags, -1, 0) : p;
}

/* @fn where anything of it is, for what is there; @gone: and all of it goes. */
static void each(char *start, char *end, bool gone,
		 void (*fn)(const struct repeated *r, struct asked asked),
		 long argument)
{
	struct repeated **at, *r;
	char *from, *to;

	if (files_places() == 1 || !*head())
		return;
	lock();
	for (at = head(); (r = *at);) {
		from = start > r->start ? start : r->start;
		to = end < r->end ? end : r->end;
		if (from < to)
			fn(r, (struct asked){
				.args = { (long)from, to - from, argument } });
		if (gone && start <= r->start && end >= r->end) {
			*at = r->next;
			mios_omp_free(r);
		} else {
			at = &r->next;
		}
	}
	unlock();
}

static long do_unmap(const long *a)
{
	void *at = (void *)a[0];

	if (stacks_keep(at, a[1]))
		return kernel_mmap(at, a[1], PROT_NONE, MAP_PRIVATE | MAP_FIXED |
				   MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == at ?
		       0 : -errno;
	return syscall(SYS_munmap, at, a[1]) ? -errno : 0;
}

static void unmap(const struct repeated *r, struct asked asked)
{
	if (by(r->places, do_unmap, asked) != r->places)
		omp_die("what one process has unmapped another one cannot");
}

/* What others have of it goes. */
void repeat_unmap(void *at, size_t size)
{
	each(at, (char *)at + size, true, unmap, 0);
}

/* And what we have: addresses that are only kept are so again. */
int repeat_unmap_here(void *at, size_t size)
{
	const long args[] = { (long)at, size };
	long err = do_unmap(args);

	errno = -err;
	return err ? -1 : 0;
}

/* A mapping that grows or moves is this process's alone from then on. */
void *repeat_move(void *from, size_t old, size_t size, int flags, void *to)
{
	void *p;

	repeat_unmap(from, old);
	p = (void *)syscall(SYS_mremap, from, old, size, flags, to);
	if (p != MAP_FAILED && p != from && stacks_keep(from, old))
		repeat_unmap_here(from, old);
	return p;
}

static long do_protect(const long *a)
{
	return syscall(SYS_mprotect, a[0], a[1], a[2]) ? -errno : 0;
}

/* Of memory that is everybody's. */
int protect_everywhere(void *at, size_t size, int prot)
{
	return ask_all("mprotect", do_protect, (struct asked){
			.args = { (long)at, size, prot } });
}

static void protect(const struct repeated *r, struct asked asked)
{
	if (r->copies && asked.args[2] & PROT_WRITE)
		omp_die("the program makes a private mapping of a file one that "
			"it may write to, of which each process would have its "
			"own: map it so from the beginning, or run it without "
			"--omp");
	by(r->places, do_protect, asked);
}

/* What may be done with it is the same in all. */
void repeat_protect(void *at, size_t size, int prot)
{
	each(at, (char *)at + size, false, protect, prot);
}

/* --- segments of shmget() */

static long do_attach(const long *a)
{
	void *at = (void *)a[1];
	int remap = stacks_keep(at, a[3]) ? SHM_REMAP : 0;

	if (!stacks_free(at, a[3]))
		omp_die("process %u has something else where a segment is "
			"attached: run the program without --omp",
			mios_omp_place.number);
	return REAL(shmat)(a[0], at, a[2] | remap) == at ? 0 : -errno;
}

void *shmat(int id, const void *at, int flags)
{
	void *p = REAL(shmat)(id, at, flags);
	struct shmid_ds ds;
	size_t size;

	if (p == (void *)-1 || files_places() == 1 || flags & SHM_EXEC ||
	    shmctl(id, IPC_STAT, &ds))
		return p;
	size = (ds.shm_segsz + PAGE - 1) & ~(PAGE - 1);
	record(p, size, by_others(do_attach, (struct asked){
			.args = { id, (long)p, flags & SHM_RDONLY, size } }),
	       false);
	return p;
}

/* To how many bytes from there a segment was attached; 0: nobody has said so. */
static size_t attached(const char *at)
{
	const struct repeated *r;
	size_t size = 0;

	if (files_places() == 1)
		return 0;
	lock();
	for (r = *head(); r && !size; r = r->next)
		if (r->start == at)
			size = r->end - r->start;
	unlock();
	return size;
}

int shmdt(const void *at)
{
	size_t size = attached(at);

	if (!size)
		return REAL(shmdt)(at);
	repeat_unmap((void *)at, size);
	return repeat_unmap_here((void *)at, size);
}
