/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instance asks that is host in place of instance 0, or is about to be: of
 * the others, and of itself.  For watch/, start/ and dev/; role.c has them.
 */
#ifndef _MIOS_HEIR_H
#define _MIOS_HEIR_H

#include <mios/nodes.h>

/**
 * struct mios_heir - what it takes to end an instance, and to start it
 * @slice: as instance 0 had it
 * @ranges: its memory, the first with its head; size 0: no more of them
 * @nr_cpus:	how many there are
 * @apicid:	of its CPUs
 */
struct mios_heir {
	u64 slice;
	struct mios_range ranges[MIOS_AREA_PIECES];
	u32 nr_cpus;
	u32 apicid[MIOS_AREA_CPUS];
};

/**
 * mios_link_heir() - what has the ring area of an instance for its new host?
 * @instance: which
 * @heir: out
 *
 * Return: 0; -ENODEV: there is no such instance; -EBADMSG: it is damaged;
 * -ENOMEM.
 */
int mios_link_heir(u32 instance, struct mios_heir *heir);

/* The page with the last incarnations, 0: it is not known. */
u64 mios_link_epoch(void);

/* Does this instance declare deaths, and start others? */
bool mios_link_declares(void);

/* Incarnation and enum mios_state of an instance, and its ring. */
u64 mios_link_stamp(u32 instance, s32 *ring);

#endif /* _MIOS_HEIR_H */
