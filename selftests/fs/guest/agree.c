// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations on one tree by several instances in turn, each compared with
 * a model that all of them keep alike: what a call answers, which names there
 * are, of what type, with how many links, and every byte.
 *   agree FOLDER SELF OF SEED NR	as number SELF of OF; FOLDER/turn says
 *					whose turn it is
 * Exit status: 0, or 1 with a line that says what is wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOPS	5
#define SUBS	4
#define SIZE	65536ul		/* of the longest file */
#define DONE	UINT64_MAX

/**
 * struct node - a file of the model
 * @type:	f, d or p
 * @links:	names, of a file or a FIFO
 * @size, @data: of a file
 * @child:	of a directory
 */
struct node {
	char type;
	unsigned int links;
	unsigned long size;
	uint8_t data[SIZE];
	struct node *child[SUBS];
};

/* FOLDER/TOP, or FOLDER/TOP/SUB where that is not below 0. */
struct path {
	int top;
	int sub;
	char text[300];
};

static struct node *tops[TOPS];
static volatile uint64_t *turn;
static const char *folder;
static uint64_t seed, number;
static bool mine;		/* is this operation to be done here? */

static unsigned long draw(unsigned long below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static void wrong(const char *what, const struct path *path)
{
	printf("FAILED: operation %llu: %s: %s\n", (unsigned long long)number,
	       path->text, what);
	*turn = DONE;
	exit(1);
}

/* Is what a call has answered, -1 or not, what the model says? */
static void answered(long got, int want, const char *what,
		     const struct path *path)
{
	char text[400];
	int err = got < 0 ? errno : 0;

	if (err == want)
		return;
	snprintf(text, sizeof(text), "%s: error %d, expected %d", what, err,
		 want);
	wrong(text, path);
}

static struct path path_draw(void)
{
	struct path path = { draw(TOPS), (int)draw(2 * SUBS) - SUBS, "" };

	if (path.sub < 0)
		snprintf(path.text, sizeof(path.text), "%s/%d", folder,
			 path.top);
	else
		snprintf(path.text, sizeof(path.text), "%s/%d/%d", folder,
			 path.top, path.sub);
	return path;
}

/* Where the model has its name; NULL: its directory is none. */
static struct node **slot(const struct path *path, int *err)
{
	struct node *dir = tops[path->top];

	*err = 0;
	if (path->sub < 0)
		return &tops[path->top];
	if (dir && dir->type == 'd')
		return &dir->child[path->sub];
	*err = dir ? ENOTDIR : ENOENT;
	return NULL;
}

static struct node *find(const struct path *path, int *err)
{
	struct node **at = slot(path, err);

	if (!*err && !*at)
		*err = ENOENT;
	return *err ? NULL : *at;
}

static bool is_empty(const struct node *dir)
{
	int i;

	for (i = 0; i < SUBS; i++)
		if (dir->child[i])
			return false;
	return true;
}

static void drop(struct node **at)
{
	if (!--(*at)->links)
		free(*at);
	*at = NULL;
}

static int system_make(const struct path *path, char type)
{
	int fd;

	if (type == 'd')
		return mkdir(path->text, 0700);
	if (type == 'p')
		return mkfifo(path->text, 0600);
	fd = open(path->text, O_CREAT | O_EXCL | O_RDWR, 0600);
	return fd < 0 ? fd : close(fd);
}

static void do_make(void)
{
	struct path path = path_draw();
	char type = "ffpd"[draw(path.sub < 0 ? 4 : 3)];
	struct node **at;
	int err;

	at = slot(&path, &err);
	if (!err && *at)
		err = EEXIST;
	if (mine)
		answered(system_make(&path, type), err, "make", &path);
	if (err)
		return;
	*at = calloc(1, sizeof(**at));
	(*at)->type = type;
	(*at)->links = 1;
}

/* By calls, or through a mapping, which makes it no longer. */
static void system_write(const struct path *path, unsigned long from,
			 unsigned long nr, uint8_t byte, bool map)
{
	int fd = open(path->text, O_RDWR);
	uint8_t data[SIZE], *memory;

	answered(fd, 0, "open", path);
	if (map) {
		memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
		if (memory == MAP_FAILED)
			wrong("cannot be mapped", path);
		memset(memory + from, byte, nr);
		munmap(memory, SIZE);
	} else {
		memset(data, byte, nr);
		if (pwrite(fd, data, nr, from) != (long)nr)
			wrong("not all is written", path);
	}
	close(fd);
}

static void do_write(void)
{
	struct path path = path_draw();
	unsigned long from = draw(SIZE), nr = 1 + draw(SIZE / 4);
	bool map = draw(2);
	uint8_t byte = draw(256);
	struct node *node;
	int err;

	node = find(&path, &err);
	if (!node || node->type != 'f')
		return;
	if (map && from >= node->size)
		return;
	if (from + nr > (map ? node->size : SIZE))
		nr = (map ? node->size : SIZE) - from;
	if (mine)
		system_write(&path, from, nr, byte, map);
	memset(node->data + from, byte, nr);
	if (from + nr > node->size)
		node->size = from + nr;
}

static void do_cut(void)
{
	struct path path = path_draw();
	unsigned long size = draw(SIZE);
	struct node *node;
	int err;

	node = find(&path, &err);
	if (node && node->type == 'd')
		err = EISDIR;
	else if (node && node->type == 'p')
		err = EINVAL;
	if (mine)
		answered(truncate(path.text, size), err, "truncate", &path);
	if (err)
		return;
	memset(node->data + size, 0, SIZE - size);
	node->size = size;
}

static void system_punch(const struct path *path, unsigned long from,
			 unsigned long nr)
{
	int fd = open(path->text, O_RDWR);

	answered(fd, 0, "open", path);
	answered(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from,
			   nr), 0, "punch", path);
	close(fd);
}

static void do_punch(void)
{
	struct path path = path_draw();
	unsigned long from = draw(SIZE), nr = 1 + draw(SIZE - from);
	struct node *node;
	int err;

	node = find(&path, &err);
	if (!node || node->type != 'f')
		return;
	if (mine)
		system_punch(&path, from, nr);
	memset(node->data + from, 0, nr);
}

static void do_link(void)
{
	struct path path = path_draw(), to = path_draw();
	struct node *node, **at = NULL;
	int err;

	node = find(&path, &err);
	if (!err)
		at = slot(&to, &err);
	if (!err && *at)
		err = EEXIST;
	if (!err && node->type == 'd')
		err = EPERM;
	if (mine)
		answered(link(path.text, to.text), err, to.text, &path);
	if (err)
		return;
	node->links++;
	*at = node;
}

static void do_remove(void)
{
	struct path path = path_draw();
	bool directory = draw(3) == 0;
	struct node *node;
	int err;

	node = find(&path, &err);
	if (node && directory)
		err = node->type != 'd' ? ENOTDIR :
		      is_empty(node) ? 0 : ENOTEMPTY;
	else if (node)
		err = node->type == 'd' ? EISDIR : 0;
	if (mine)
		answered(directory ? rmdir(path.text) : unlink(path.text), err,
			 "remove", &path);
	if (!err)
		drop(slot(&path, &err));
}

/* In the order in which the kernel looks. */
static int rename_error(const struct path *path, const struct path *to,
			const struct node *node, const struct node *old)
{
	int err = 0;

	if (!node)
		err = ENOENT;
	else if (to->top == path->top && path->sub < 0 && to->sub >= 0)
		err = EINVAL;
	else if (to->top == path->top && path->sub >= 0 && to->sub < 0)
		err = ENOTEMPTY;
	else if (old && old != node && node->type == 'd')
		err = old->type != 'd' ? ENOTDIR :
		      is_empty(old) ? 0 : ENOTEMPTY;
	else if (old && old != node && old->type == 'd')
		err = EISDIR;
	return err;
}

static void do_rename(void)
{
	struct path path = path_draw(), to = path_draw();
	struct node **from, **at = NULL, *node;
	int err;

	from = slot(&path, &err);
	if (!err)
		at = slot(&to, &err);
	/* No directory gets below another one. */
	if (!err && *from && (*from)->type == 'd' && to.sub >= 0 &&
	    to.top != path.top)
		return;
	if (!err)
		err = rename_error(&path, &to, *from, *at);
	if (mine)
		answered(rename(path.text, to.text), err, to.text, &path);
	if (err || *at == *from)
		return;
	node = *from;
	*from = NULL;
	if (*at)
		drop(at);
	*at = node;
}

static void system_read(const struct path *path, const struct node *node)
{
	static uint8_t data[SIZE + 1];
	int fd = open(path->text, O_RDONLY);
	long got;

	answered(fd, 0, "open", path);
	got = read(fd, data, sizeof(data));
	if (got != (long)node->size || memcmp(data, node->data, node->size))
		wrong("other contents", path);
	close(fd);
}

static void system_look(const struct path *path, const struct node *node,
			int err)
{
	struct stat st;
	char type;

	answered(lstat(path->text, &st), err, "stat", path);
	if (err)
		return;
	type = S_ISDIR(st.st_mode) ? 'd' : S_ISFIFO(st.st_mode) ? 'p' : 'f';
	if (type != node->type)
		wrong("another type", path);
	if (st.st_nlink != (type == 'd' ? 2 : node->links))
		wrong("another number of links", path);
	if (type == 'f' && st.st_size != (long)node->size)
		wrong("another size", path);
	if (type == 'f')
		system_read(path, node);
}

static void do_look(void)
{
	struct path path = path_draw();
	struct node *node;
	int err;

	node = find(&path, &err);
	if (mine)
		system_look(&path, node, err);
}

static void do_list(void)
{
	struct path path = path_draw();
	unsigned int want = 0, got = 0;
	struct dirent *entry;
	struct node *node;
	int err, i;
	DIR *dir;

	node = find(&path, &err);
	if (!mine || !node || node->type != 'd')
		return;
	for (i = 0; i < SUBS; i++)
		want |= (unsigned int)!!node->child[i] << i;
	dir = opendir(path.text);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			got |= 1u << atoi(entry->d_name);
	if (!dir || got != want)
		wrong("other names", &path);
	closedir(dir);
}

static void (*const operations[])(void) = {
	do_make, do_make, do_make, do_write, do_write, do_write, do_cut,
	do_punch, do_link, do_remove, do_rename, do_rename, do_look, do_look,
	do_look, do_list,
};

static volatile uint64_t *turn_map(void)
{
	char name[300];
	void *memory;
	int fd;

	snprintf(name, sizeof(name), "%s/turn", folder);
	fd = open(name, O_RDWR);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || memory == MAP_FAILED) {
		perror(name);
		exit(1);
	}
	return memory;
}

int main(int argc, char **argv)
{
	uint64_t self, of, nr;

	if (argc != 6)
		return 2;
	folder = argv[1];
	self = strtoul(argv[2], NULL, 10);
	of = strtoul(argv[3], NULL, 10);
	seed = strtoul(argv[4], NULL, 10);
	nr = strtoul(argv[5], NULL, 10);
	turn = turn_map();
	for (number = 0; number < nr; number++) {
		mine = draw(of) == self;
		while (mine && *turn < number)
			usleep(20);
		if (*turn == DONE)
			return 0;
		operations[draw(sizeof(operations) / sizeof(*operations))]();
		if (mine)
			*turn = number + 1;
	}
	return 0;
}
