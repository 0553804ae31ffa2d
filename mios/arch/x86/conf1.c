// SPDX-License-Identifier: GPL-2.0
/*
 * PCI configuration space of segment 0, for a kernel that has no PCI bus of its
 * own: an address to one port, then data through another one.  Whoever does
 * that is the only one of the machine who does it (mios/core/link/quiet.c).
 */
#include <linux/io.h>
#include <linux/kernel.h>

#include "conf1.h"

#define ADDRESS		0xcf8
#define DATA		0xcfc
#define ENABLE		BIT(31)

static void aim(u32 function, u32 at)
{
	outl(ENABLE | function << 8 | (at & 0xfc), ADDRESS);
}

/* As pci_check_type1() asks: what is written there stays. */
bool mios_conf1_works(void)
{
	aim(0, 0);
	return inl(ADDRESS) == ENABLE;
}

u32 mios_conf1_read(void *ctx, u32 function, u32 at)
{
	aim(function, at);
	return inl(DATA);
}

void mios_conf1_write(void *ctx, u32 function, u32 at, u32 value, u32 bytes)
{
	aim(function, at);
	if (bytes == 4)
		outl(value, DATA);
	else if (bytes == 2)
		outw(value, DATA + (at & 2));
	else
		outb(value, DATA + (at & 3));
}
