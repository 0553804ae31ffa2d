// SPDX-License-Identifier: GPL-2.0
/*
 * Maps the window file that mios run has made.  A program that nobody has
 * started so is one image, and its window is private memory.  Called once,
 * before there is a second thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../libmios-lock/life.h"
#include "../libteam/team.h"
#include "caf.h"

#define PAGE		4096ul
#define HEAP_LEAST	(4ul << 20)
#define LOOK_NS		1000000
#define START_LOOKS	120000		/* two minutes */

static unsigned long number_of(const char *name, unsigned long max)
{
	const char *text = secure_getenv(name);
	unsigned long n;
	char *end;

	if (!text)
		caf_die("%s is not set: start it by mios run", name);
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || n > max)
		caf_die("%s=%.40s is not a number up to %lu", name, text, max);
	return n;
}

static void image_init(struct caf_window *w, uint32_t number)
{
	if (life_init(&w->images[number].life))
		caf_die("cannot make a robust mutex");
}

static void create(struct caf_window *w, size_t size, uint32_t images)
{
	uint32_t i;

	if (w->magic)
		caf_die("the window has been used before");
	w->version = CAF_WINDOW_VERSION;
	w->nr_images = images;
	w->base = (uint64_t)w;
	w->size = size;
	w->team_at = (sizeof(*w) + PAGE - 1) & ~(PAGE - 1);
	w->heap_at = (w->team_at + team_area_size(images) + PAGE - 1) &
		     ~(PAGE - 1);
	if (w->heap_at + HEAP_LEAST > size)
		caf_die("a window of %zu bytes is too small", size);
	if (getrandom(&w->seed, sizeof(w->seed), 0) < 0)
		w->seed = time(NULL);
	for (i = 0; i < images; i++)
		image_init(w, i);
	heap_create(w, w->heap_at, w->size, images);
	w->magic = CAF_WINDOW_MAGIC;
	atomic_store(&w->ready, 1);
}

/* What image 1 has written. */
static void check(struct caf_window *w, size_t size, uint32_t images)
{
	static const struct timespec bit = { 0, LOOK_NS };
	unsigned int looks;

	for (looks = 0; !atomic_load(&w->ready); looks++) {
		if (looks == START_LOOKS)
			caf_die("image 1 has not started");
		nanosleep(&bit, NULL);
	}
	if (w->magic != CAF_WINDOW_MAGIC || w->version != CAF_WINDOW_VERSION)
		caf_die("the window is of another version of mios");
	if (w->base != (uint64_t)w || w->size != size)
		caf_die("the window is at %p here, at %p in image 1", (void *)w,
			(void *)w->base);
	if (w->nr_images != images)
		caf_die("one of %u images, image 1 has %u", images,
			w->nr_images);
}

/* The largest that there can be: without pages it costs nothing. */
static void open_private(void)
{
	size_t size = (size_t)sysconf(_SC_PHYS_PAGES) * PAGE * 2;
	void *p = MAP_FAILED;

	for (; p == MAP_FAILED && size > CAF_MAX_IMAGES * 8 * PAGE; size /= 2)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		caf_die("there is no memory: %s", strerror(errno));
	caf_self.window = p;
	create(p, size * 2, 1);
}

void window_open(void)
{
	const char *path = secure_getenv("MIOS_CAF_WINDOW");
	uint32_t images;
	struct stat st;
	int fd;

	if (!path) {
		open_private();
		return;
	}
	images = number_of("MIOS_SIZE", CAF_MAX_IMAGES);
	caf_self.number = number_of("MIOS_RANK", images - 1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		caf_die("cannot open the window %s: %s", path,
			strerror(errno));
	caf_self.window = window_map(fd, st.st_size);
	if (caf_self.window == MAP_FAILED)
		caf_die("cannot map the window %s: %s", path, strerror(errno));
	close(fd);
	if (caf_self.number)
		check(caf_self.window, st.st_size, images);
	else
		create(caf_self.window, st.st_size, images);
	image_at(caf_self.number)->instance = number_of("MIOS_INSTANCE", 63);
}
