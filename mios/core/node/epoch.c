// SPDX-License-Identifier: GPL-2.0
/*
 * Incarnations that never repeat: the last one of each instance stands in a
 * page below 1 MiB, which no kernel touches once it runs, so that the module
 * that is loaded again, and the kernel that kexec starts in this one's place,
 * go on from there.  What has lost the page, a machine without power or a
 * boot loader that uses it, has lost whatever named an incarnation, too.
 * Called when the module is loaded, or this instance is about to become host, and
 * under a node's lock.
 */
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/random.h>

#include "node.h"

#define EPOCH_MAGIC	0x48434f504553494dULL	/* "MISEPOCH" */
#define EPOCH_VERSION	1

/**
 * struct epochs - the page
 * @magic:	EPOCH_MAGIC
 * @version:	EPOCH_VERSION
 * @reserved:	0
 * @last:	each instance's last incarnation, its complement in the upper half:
 *		written at once, and known from what happens to lie there
 */
struct epochs {
	u64 magic;
	u32 version;
	u32 reserved;
	u64 last[MIOS_MAX_INSTANCES];
};

static_assert(offsetof(struct epochs, last) == 16);
static_assert(sizeof(struct epochs) <= MIOS_EPOCH_SIZE);

/*
 * What boots for a minute to be measured, in memory that nobody else will look at,
 * names nothing that lasts: whoever comes first afterwards is still the first since
 * the machine has power, and makes the pools anew.
 */
static bool trial;
module_param(trial, bool, 0400);
MODULE_PARM_DESC(trial, "loaded by mios check --try, which takes it out again: incarnations are not counted");

static struct epochs *epochs;
static u64 place;		/* of the page, 0: none */
/* Where there is no page: then they repeat after a reload. */
static struct epochs here;

/* What this module has given, should somebody write over the page. */
static u32 given[MIOS_MAX_INSTANCES];

static u64 sealed(u32 incarnation)
{
	return (u64)~incarnation << 32 | incarnation;
}

/**
 * mios_epoch_init - find the incarnations that have been
 * @page: MIOS_EPOCH_SIZE bytes of RAM that nobody else uses, or 0
 */
void mios_epoch_init(u64 page)
{
	unsigned int i;

	if (epochs)		/* a successor gets ready more than once */
		return;
	epochs = page && !trial ? memremap(page, MIOS_EPOCH_SIZE, MEMREMAP_WB) :
				  NULL;
	place = epochs ? page : 0;
	if (!epochs && !trial)
		pr_warn("no page below 1 MiB is free: incarnations will repeat when mios is loaded again\n");
	epochs = epochs ?: &here;
	if (epochs->magic == EPOCH_MAGIC && epochs->version == EPOCH_VERSION)
		return;
	for (i = 0; i < MIOS_MAX_INSTANCES; i++)
		epochs->last[i] = sealed(0);
	epochs->version = EPOCH_VERSION;
	epochs->reserved = 0;
	WRITE_ONCE(epochs->magic, EPOCH_MAGIC);
}

/**
 * mios_epoch_exit - let go of the page; what stands in it stays
 */
void mios_epoch_exit(void)
{
	if (epochs && epochs != &here)
		memunmap(epochs);
	epochs = NULL;
}

/**
 * mios_epoch_page - where they are
 *
 * Return: physical address of the page, 0 where there is none.
 */
u64 mios_epoch_page(void)
{
	return place;
}

/**
 * mios_epoch_passed - another kernel has given an incarnation
 * @instance: whose
 * @incarnation: the last one that is known
 *
 * On a successor, which has given none: should somebody have written over the page.
 */
void mios_epoch_passed(u32 instance, u32 incarnation)
{
	u64 word = READ_ONCE(epochs->last[instance]);

	given[instance] = incarnation;
	/* Of a page that is new, or of long ago. */
	if (word == sealed((u32)word) && (s32)(incarnation - (u32)word) > 0)
		WRITE_ONCE(epochs->last[instance], sealed(incarnation));
}

/**
 * mios_epoch_next - a new incarnation of an instance
 * @instance: which; nobody else asks for the same one meanwhile
 *
 * Return: a number that this instance has never had, not 0.
 */
u32 mios_epoch_next(u32 instance)
{
	u64 word = READ_ONCE(epochs->last[instance]);
	u32 next = word;

	if (word != sealed(next))
		next = given[instance];
	/* Not known at all: far from what has been. */
	if (word != sealed(next) && !next) {
		next = get_random_u32();
		pr_warn("instance %u: its last incarnation is not known any more\n",
			instance);
	}
	next = next + 1 ?: 1;
	given[instance] = next;
	WRITE_ONCE(epochs->last[instance], sealed(next));
	return next;
}
