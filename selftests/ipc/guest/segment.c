// SPDX-License-Identifier: GPL-2.0
/*
 * What a program does with System V shared memory, or the error that it gets.
 *
 *	segment key PATH		ftok() of that
 *	segment get KEY SIZE FLAGS	prints the id; FLAGS: octal, of shmget()
 *	segment stat ID			key, mode, bytes, attached, maker, last
 *	segment look ID			its first word, and where it is attached
 *	segment word ID NUMBER		that word
 *	segment add ID NAME SLOT	attached, adds to its first word and to word
 *					SLOT until /tmp/NAME.end is there, and not
 *					while /tmp/NAME.rest is; where that was
 *
 * Maker and last are instances, by their PIDs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#define PIDS_SHIFT	16	/* of an instance; see docs/abi */

/* The last thing that is said; what is refused is no failure. */
static void refused(void)
{
	puts(strerrorname_np(errno));
	exit(0);
}

static _Atomic unsigned long *attached(int id, int flags)
{
	void *place = shmat(id, NULL, flags);

	if (place == (void *)-1)
		refused();
	return place;
}

static void get(char **words)
{
	int id = shmget(strtol(words[0], NULL, 0), strtoul(words[1], NULL, 10),
			strtol(words[2], NULL, 8));

	if (id < 0)
		refused();
	printf("%d\n", id);
}

static void stat_of(int id)
{
	struct shmid_ds ds;

	if (shmctl(id, IPC_STAT, &ds))
		refused();
	printf("0x%x %o %zu %lu %d %d\n", ds.shm_perm.__key, ds.shm_perm.mode,
	       ds.shm_segsz, ds.shm_nattch, ds.shm_cpid >> PIDS_SHIFT,
	       ds.shm_lpid >> PIDS_SHIFT);
}

static int told(const char *name, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/%s.%s", name, what);
	return !access(path, F_OK);
}

static void add(int id, const char *name, int slot)
{
	_Atomic unsigned long *place = attached(id, 0);
	int i;

	while (!told(name, "end")) {
		for (i = told(name, "rest") ? 100 : 0; i < 100; i++) {
			atomic_fetch_add(place, 1);
			atomic_fetch_add(place + slot, 1);
		}
		usleep(10000);
	}
	if (shmdt((void *)place))
		refused();
	if (!shmdt((void *)place) || errno != EINVAL) {
		fprintf(stderr, "detached twice\n");
		exit(1);
	}
	printf("%p\n", (void *)place);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	_Atomic unsigned long *place;

	if (!strcmp(what, "key") && argc == 3) {
		printf("%d\n", ftok(argv[2], 'M'));
	} else if (!strcmp(what, "get") && argc == 5) {
		get(argv + 2);
	} else if (!strcmp(what, "stat") && argc == 3) {
		stat_of(atoi(argv[2]));
	} else if (!strcmp(what, "look") && argc == 3) {
		place = attached(atoi(argv[2]), SHM_RDONLY);
		printf("%lu %p\n", *place, (void *)place);
	} else if (!strcmp(what, "word") && argc == 4) {
		place = attached(atoi(argv[2]), SHM_RDONLY);
		printf("%lu\n", place[atoi(argv[3])]);
	} else if (!strcmp(what, "add") && argc == 5) {
		add(atoi(argv[2]), argv[3], atoi(argv[4]));
	} else {
		fprintf(stderr, "see %s\n", __FILE__);
		return 2;
	}
	return 0;
}
