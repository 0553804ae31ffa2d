/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TreadMarks programs on libmios-dsm: its calls by their names there, so that
 * such a program compiles as it is.  See libmios-dsm(3).  Memory is coherent at
 * any time here, not just after a barrier or a lock.
 */
#ifndef TMK_H
#define TMK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mios_dsm.h"

#define TMK_NPROCS	16
#define TMK_NLOCKS	MIOS_DSM_LOCKS
#define TMK_NBARRIERS	64

/* The header may be in several files of a program. */
#define TMK_ONCE	__attribute__((weak))

TMK_ONCE unsigned int Tmk_proc_id, Tmk_nprocs;
/* Of Tmk_distribute(): what this process has taken over. */
TMK_ONCE unsigned int tmk_taken;

/* Slots of mios_dsm_root() from its end: how many there are, and each. */
#define TMK_SLOT	(MIOS_DSM_ROOTS - 1)

/* A variable of process 0, as it was when it was given to all. */
struct tmk_gift {
	long at;		/* from Tmk_proc_id on: programs move */
	unsigned int size;
	char bytes[];
};

static inline void tmk_must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "Tmk: process %u: %s failed (%d)\n", Tmk_proc_id, what,
		err);
	exit(1);
}

static inline void Tmk_startup(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	tmk_must(mios_dsm_start(), "start");
	Tmk_proc_id = mios_dsm_node();
	Tmk_nprocs = mios_dsm_nodes();
}

static inline void Tmk_exit(int status)
{
	tmk_must(mios_dsm_finish(), "finish");
	exit(status);
}

static inline char *Tmk_malloc(unsigned int size)
{
	return mios_dsm_malloc(size, MIOS_DSM_STRIPED);
}

/* There is enough for the life of a program, or there is not. */
static inline void Tmk_free(char *at)
{
	(void)at;
}

/* Process 0 gives its value of a static variable to all, at a barrier. */
static inline void Tmk_distribute(const void *at, unsigned int size)
{
	void **root = mios_dsm_root();
	unsigned long n = (unsigned long)root[TMK_SLOT];
	struct tmk_gift *g = mios_dsm_malloc(sizeof(*g) + size, 0);

	if (!g || n >= TMK_SLOT)
		tmk_must(-1, "Tmk_distribute");
	g->at = (const char *)at - (const char *)&Tmk_proc_id;
	g->size = size;
	memcpy(g->bytes, at, size);
	root[TMK_SLOT - 1 - n] = g;
	root[TMK_SLOT] = (void *)(n + 1);
	tmk_taken = n + 1;
}

static inline void Tmk_barrier(unsigned int id)
{
	void **root = mios_dsm_root();

	(void)id;
	tmk_must(mios_dsm_barrier(), "barrier");
	while (tmk_taken < (unsigned long)root[TMK_SLOT]) {
		struct tmk_gift *g = root[TMK_SLOT - 1 - tmk_taken++];

		memcpy((char *)&Tmk_proc_id + g->at, g->bytes, g->size);
	}
}

static inline void Tmk_lock_acquire(unsigned int id)
{
	tmk_must(mios_dsm_lock(id), "lock");
}

static inline void Tmk_lock_release(unsigned int id)
{
	tmk_must(mios_dsm_unlock(id), "unlock");
}

#endif /* TMK_H */
