// SPDX-License-Identifier: GPL-2.0
/*
 * Opens the window file that mios run has made.  Called once, before there is
 * a second thread.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "inside.h"

#define STACK_LEAST	(256ul << 10)
#define STACK_DEFAULT	(8ul << 20)
#define GAP_LEAST	(64ul << 10)
#define GAP_MOST	(256ul << 20)
#define STACK_MOST	(1ul << 30)
#define PAGE_MASK	0xffful

static unsigned long number_of(const char *name, unsigned long max)
{
	const char *text = getenv(name);
	unsigned long n;
	char *end;

	if (!text)
		omp_die("%s is not set: start it by mios run --omp", name);
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || n > max)
		omp_die("%s=%.40s is not a number up to %lu", name, text, max);
	return n;
}

static struct omp_window *map_window(const char *path, size_t *size)
{
	struct stat st;
	void *p;
	int fd;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_fstat, fd, &st))
		omp_die("cannot open the window %s: %s", path,
			strerror(errno));
	if (st.st_size < 2 * OMP_DATA_AT)
		omp_die("the window %s is too small", path);
	*size = st.st_size;
	p = window_map(fd, *size);
	if (p == MAP_FAILED)
		omp_die("cannot map the window %s: %s", path, strerror(errno));
	mios_omp_place.fd = fd;
	return p;
}

static char *skip_blanks(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* 8M, in kilobytes unless it says otherwise; false: it is not understood. */
static bool is_stack_size(const char *text, size_t *size)
{
	static const char units[] = "BKMG";
	const char *unit = NULL;
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || strchr(text, '-'))
		return false;
	end = skip_blanks(end);
	if (*end)
		unit = strchr(units, toupper((unsigned char)*end));
	if (*skip_blanks(end + !!unit))
		return false;
	*size = n > STACK_MOST ? STACK_MOST :
				 n << 10 * ((unit ? unit : units + 1) - units);
	return true;
}

/* 0: nothing is said. */
static size_t stack_asked(void)
{
	const char *name = getenv("OMP_STACKSIZE") ? "OMP_STACKSIZE" :
						     "GOMP_STACKSIZE";
	const char *text = getenv(name);
	size_t size = 0;

	if (text && !is_stack_size(text, &size))
		dprintf(STDERR_FILENO, "mios: omp: %s=%.40s is not understood, "
			"and left out\n", name, text);
	return size;
}

/* A quarter of all addresses at most. */
static size_t stack_gap(const struct omp_window *w)
{
	size_t gap = w->size / 4 / w->nr_members & ~PAGE_MASK;

	if (gap < GAP_LEAST)
		return GAP_LEAST;
	return gap < GAP_MOST ? gap : GAP_MOST;
}

/* As many bytes as the program would have had, if there is room for them. */
static size_t stack_size(const struct omp_window *w)
{
	size_t size = stack_asked(), most = w->size / 2 / w->nr_members;
	struct rlimit limit;

	if (!size && !getrlimit(RLIMIT_STACK, &limit))
		size = limit.rlim_cur;
	if (!size)
		size = STACK_DEFAULT;
	if (most > STACK_MOST)
		most = STACK_MOST;
	if (size > most)
		size = most;
	return (size < STACK_LEAST ? STACK_LEAST : size) & ~PAGE_MASK;
}

/* MIOS_OMP_MEMBERS=2,1,2: of each process, from place 0 on. */
static void read_members(struct omp_window *w)
{
	const char *text = getenv("MIOS_OMP_MEMBERS");
	unsigned long n;
	char *end;

	for (; text && *text; text = *end ? end + 1 : end) {
		n = strtoul(text, &end, 10);
		if (!n || (*end && *end != ',') ||
		    n > OMP_MAX_MEMBERS - w->nr_members ||
		    w->nr_places == OMP_MAX_PLACES)
			omp_die("MIOS_OMP_MEMBERS is not a list of members: "
				"at most %d in %d processes", OMP_MAX_MEMBERS,
				OMP_MAX_PLACES);
		w->nr_members += n;
		w->first[++w->nr_places] = w->nr_members;
	}
	if (w->nr_places != number_of("MIOS_SIZE", OMP_MAX_PLACES))
		omp_die("MIOS_SIZE and MIOS_OMP_MEMBERS disagree");
}

static void create(struct omp_window *w, size_t size)
{
	if (w->magic)
		omp_die("the window has been used before");
	w->version = OMP_WINDOW_VERSION;
	w->base = (uint64_t)w;
	w->size = size;
	read_members(w);
	w->stack_at = OMP_DATA_AT + data_size();
	w->stack_gap = stack_gap(w);
	w->stack_size = stack_size(w);
	w->heap_at = w->stack_at + w->nr_members * stacks_apart(w);
	if (w->heap_at + OMP_DATA_AT > size)
		omp_die("the window has no room for the program's data "
			"(%zu bytes) and %u stacks of %zu: see OMP_STACKSIZE",
			data_size(), w->nr_members, (size_t)w->stack_size);
	/* mios run has made it so long that either may have all memory. */
	w->space_at = (w->heap_at + (size - w->heap_at) / 2) & ~PAGE_MASK;
	w->magic = OMP_WINDOW_MAGIC;
}

void window_number(void)
{
	const char *share = getenv("MIOS_OMP_SHARE");

	mios_omp_place.number = number_of("MIOS_RANK", OMP_MAX_PLACES - 1);
	mios_omp_place.strict = share && !strcmp(share, "strict");
}

void window_open(const char *path)
{
	struct omp_window *w;
	size_t size;

	w = map_window(path, &size);
	mios_omp_place.window = w;
	if (!mios_omp_place.number)
		create(w, size);
}
