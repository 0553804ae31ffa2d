/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Making the devices of a dead kernel quiet: bus mastering is turned off in
 * all PCI functions of a segment, and that is proved.  Pure C over whoever
 * reaches configuration space; the unit tests compile it in user space.
 */
#ifndef _MIOS_PCI_WALK_H
#define _MIOS_PCI_WALK_H

#include "os.h"

/* What an address of a segment consists of: bus, device and function. */
#define MIOS_PCI_FUNCTIONS	65536u
#define MIOS_PCI_BUS		256u	/* functions of one bus */

/**
 * struct mios_pci_access - how configuration space is reached
 * @read:	four bytes of a function at a multiple of four below 256
 * @write:	@bytes, 1, 2 or 4, at a multiple of that
 * @pause:	wait about a millisecond; also called after each bus
 * @ctx:	their first argument
 * @spared:	functions of kernels that live, which stay as they are, with the
 *		bridges in front of them
 * @nr_spared:	how many
 */
struct mios_pci_access {
	u32 (*read)(void *ctx, u32 function, u32 at);
	void (*write)(void *ctx, u32 function, u32 at, u32 value, u32 bytes);
	void (*pause)(void *ctx, bool waits);
	void *ctx;
	const u32 *spared;
	u32 nr_spared;
};

/**
 * struct mios_pci_walk - what has been found and done
 * @seen:	functions that there are
 * @off:	those whose bus mastering was on, and is off
 * @reset:	those that were reset, too: virtio
 * @left:	those of the living, and the bridges in front of them
 * @fixed:	bridges to the memory or to ISA whose bit cannot be turned off
 * @stuck:	functions whose bit stays on
 * @gone:	those that had it on, and do not answer any more
 * @busy:	those that are still waiting for answers of the memory, or whose
 *		reset does not end
 * @waited:	milliseconds that were waited for answers of the memory
 * @which:	the first function that is @stuck, @gone or @busy
 * @on:		a bit for each function that had it on
 */
struct mios_pci_walk {
	u32 seen;
	u32 off;
	u32 reset;
	u32 left;
	u32 fixed;
	u32 stuck;
	u32 gone;
	u32 busy;
	u32 waited;
	u32 which;
	u8 on[MIOS_PCI_FUNCTIONS / 8];
};

/**
 * mios_pci_quiet() - turn bus mastering off everywhere else, and look
 * @access: to a segment
 * @walk: out
 *
 * Can be done again, by another kernel, from wherever one has stopped.  No two
 * at a time.
 *
 * Return: true: no function but the spared ones writes memory any more.
 */
bool mios_pci_quiet(const struct mios_pci_access *access,
		    struct mios_pci_walk *walk);

#endif /* _MIOS_PCI_WALK_H */
