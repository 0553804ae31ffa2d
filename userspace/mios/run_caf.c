// SPDX-License-Identifier: GPL-2.0
/*
 * Programs with coarrays, which mios-caf has compiled: each task is an image,
 * and our libcaf_mios finds the others by a window in /mios that we make.  No
 * locks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

#include "libmios/libmios.h"
#include "run_caf.h"
#include "run_mpi.h"
#include "run_omp.h"

#define WHO	"mios: run"

static bool is_caf(const char *library)
{
	return library && !strncmp(library, "libcaf_mios.so", 14);
}

bool caf_program(const char *program)
{
	char library[64];

	return program_needs(program, is_caf, library, sizeof(library));
}

int caf_begin(int ring)
{
	char window[64];
	int err;

	if (ring) {
		mios_error(WHO, "images of a coarray program need /mios, which "
			   "only ring 0 has");
		return -ENODEV;
	}
	err = job_window_create("caf", 0, window, sizeof(window));
	if (err)
		return err;
	/* Procedure pointers in coarrays mean the same to all. */
	personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	if (!setenv("MIOS_CAF_WINDOW", window, 1))
		return 0;
	mios_error(WHO, "no memory left");
	return -ENOMEM;
}

void caf_end(void)
{
	job_window_end();
}
