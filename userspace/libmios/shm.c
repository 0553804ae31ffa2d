// SPDX-License-Identifier: GPL-2.0
/*
 * Whose /dev/shm is: miosfs where all instances of the ring share it.
 */
#include <sys/statfs.h>

#include "libmios.h"

#define MIOS_MAGIC	0x534f494d	/* miosfs in statfs(2): "MIOS" */

bool mios_shm_is_shared(void)
{
	struct statfs fs;

	return !statfs(MIOS_SHM, &fs) && fs.f_type == MIOS_MAGIC;
}
