/* SPDX-License-Identifier: GPL-2.0 */
/* PCI functions of an instance's own, as the ring area has them: layout.h. */
#ifndef _MIOS_HELD_H
#define _MIOS_HELD_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define MIOS_HELD		16u

/**
 * struct mios_held - PCI functions that an instance was given, in its own block
 * @checksum:	of the rest, zlib's crc32()
 * @nr:		how many
 * @function:	bus << 8 | device << 3 | function, the rest 0
 *
 * Written word by word: who reads meanwhile finds that it does not fit, and takes
 * it for none.
 */
struct mios_held {
	__u32 checksum;
	__u32 nr;
	__u32 function[MIOS_HELD];
};

static_assert(sizeof(struct mios_held) == 72);

#endif /* _MIOS_HELD_H */
