/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The descriptors of a team: each is a process's own, and works in all.  See
 * files.c for who has which, ask.c for how another one is asked.
 */
#ifndef MIOS_OMP_FILES_H
#define MIOS_OMP_FILES_H

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "inside.h"

/* libc's own, found when it is first called for. */
#define REAL(NAME) ({							\
	static typeof(NAME) *real;					\
									\
	if (!real)							\
		real = (typeof(real))dlsym(RTLD_NEXT, #NAME);		\
	real;								\
})

#define ASK_ARGS	6
#define ASK_PIECES	3

/* What another process runs: text has the same address there. */
typedef long (*asked_fn)(const long *args);

enum { GIVE = 1, TAKE = 2, RESULT = 4, PART = 8 };

/*
 * Memory that argument @at points to: what is in it is read, written, or both; or
 * as many bytes of it are written as the result says.  PART: it may be less of it
 * than was asked for, as the next argument then says.
 */
struct piece {
	int at, way;
	size_t size;
};

/* A system call of process @place, unless ->fn says what else. */
struct asked {
	long number;
	long args[ASK_ARGS];
	struct piece pieces[ASK_PIECES];
	asked_fn fn;
};

/* files.c APIs: */
void files_create(struct omp_window *w);
int files_limit(void);
rlim_t files_end(void);
void files_start(void);
void files_separate(void);
bool files_shared(void);
unsigned int files_places(void);
unsigned int files_place(int fd);
bool files_here(int fd);
void files_moved(int fd);

/* calls.c APIs: as the program calls them, whoever has the descriptor. */
ssize_t files_read(int fd, void *p, size_t n);
ssize_t files_write(int fd, const void *p, size_t n);
off64_t files_lseek(int fd, off64_t at, int from);
int files_fstat(int fd, struct stat64 *st);
int files_close(int fd);

/* ask.c APIs: */
void ask_prepare(struct omp_window *w);
void ask_start(void);
long ask_hand_over(unsigned int place, const struct asked *asked);

/* pieces.c APIs: */
bool memory_read(void *to, const void *from, size_t size);
bool memory_write(void *to, const void *from, size_t size);
size_t text_size(const char *text);
ssize_t pieces_size(const struct iovec *v, int count);
bool pieces_gather(char *all, const struct iovec *v, int count, size_t size);
bool pieces_scatter(const struct iovec *v, int count, const char *all,
		    size_t size);
void *room_for_part(size_t *size);
long ask(unsigned int place, struct asked asked);
long ask_for(int fd, struct asked asked);
long ask_to_run(unsigned int place, asked_fn fn, struct asked asked);
long ask_all(const char *name, asked_fn fn, struct asked asked);

/* streams.c APIs: */
void streams_create(struct omp_window *w);
void streams_start(void);
void streams_wake(void);
void streams_unlock(void);

#endif /* MIOS_OMP_FILES_H */
