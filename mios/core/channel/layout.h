/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding one's way in the ring area, and reading what others wrote there.
 * Portable like channel.h.  Everything read is a checked copy; a writer is
 * alone on its structure, by a lock of its own instance.
 */
#ifndef _MIOS_CHANNEL_LAYOUT_H
#define _MIOS_CHANNEL_LAYOUT_H

#include "channel.h"
#include "os.h"

#include <mios/layout.h>
#include <mios/msg.h>
#include <mios/nodes.h>

/**
 * struct mios_geometry - where things are in an area
 * @nr:		blocks
 * @shape:	of each class of channels
 * @chan:	offset of each class in a pair's channels
 * @pair_size:	bytes of the channels of one ordered pair
 * @block_size:	bytes of a block
 * @log:	offset of instance 0's log
 * @area_size:	bytes of everything
 */
struct mios_geometry {
	u32 nr;
	struct mios_shape shape[MIOS_CLASSES];
	u64 chan[MIOS_CLASSES];
	u64 pair_size;
	u64 block_size;
	u64 log;
	u64 area_size;
};

/**
 * mios_geometry() - compute it from the only two numbers that vary
 * @g: out
 * @nr: blocks
 * @net_slots: slots of a net channel
 *
 * 0, or -EINVAL if a number is out of its bounds.
 */
int mios_geometry(struct mios_geometry *g, u32 nr, u32 net_slots);

/**
 * mios_header_check() - is this the header of the area at @self?
 * @header: private copy
 * @self: physical address that it was read from
 * @size: bytes that belong to it
 * @ring: ring that it should serve
 * @g: out
 *
 * 0; -EPROTO: another version; -EBADMSG: damaged, or not an area.
 */
int mios_header_check(const struct mios_area_header *header, u64 self,
		      u64 size, u32 ring, struct mios_geometry *g);

/* The list of CPUs that instance 0 has written for an instance. */
struct mios_area_cpus *mios_area_cpus(void *area, u32 instance);

struct mios_desc *mios_area_desc(void *area, const struct mios_geometry *g,
				 u32 instance);
struct mios_lines *mios_area_lines(void *area, const struct mios_geometry *g,
				   u32 instance);
struct mios_copies *mios_area_copies(void *area, const struct mios_geometry *g,
				     u32 instance);

/* The channel of class @class from instance @from to instance @to. */
struct mios_chan *mios_area_chan(void *area, const struct mios_geometry *g,
				 u32 to, u32 from, u32 class);

/**
 * mios_seq_write() - replace a structure that begins with its sequence count
 * @to: shared memory
 * @from: private; its first word is not used
 * @size: bytes, a multiple of 4
 */
void mios_seq_write(u32 *to, const u32 *from, size_t size);

/**
 * mios_seq_read() - copy such a structure
 * @to: private memory
 * @from: shared memory
 * @size: bytes, a multiple of 4
 *
 * 0, or -EAGAIN if it kept changing: bounded number of tries.
 */
int mios_seq_read(u32 *to, const u32 *from, size_t size);

/**
 * mios_desc_write() - publish a descriptor
 * @to: shared memory
 * @body: what to say; magic, version and size are filled in
 *
 * Also right when the last writer was stopped in the middle (a panic).
 */
void mios_desc_write(struct mios_desc *to, struct mios_desc_body *body);

/* Whole pieces, or nothing? */
bool mios_pool_fits(const struct mios_range *range);

/* Say where the pools are, one for each node.  Also right while it is read. */
void mios_pools_write(void *area, const struct mios_range *of);

/* A copy of that, checked: 0 or -EBADMSG. */
int mios_pools_read(const void *area, struct mios_area_pools *pools);

/* Say which functions are one's own. */
void mios_held_write(struct mios_held *to, const u32 *function, u32 nr);

/* A copy of that, checked: 0 or -EBADMSG; all zero: none yet. */
int mios_held_read(const struct mios_held *from, struct mios_held *held);

/*
 * Say what it takes to stop each instance and to start it; the checksum is filled
 * in.  Also right while it is read.
 */
void mios_nodes_write(void *area, struct mios_area_nodes *nodes);

/* A copy of that, checked: 0 or -EBADMSG. */
int mios_nodes_read(const void *area, struct mios_area_nodes *nodes);

/**
 * mios_desc_read() - copy a descriptor and check it
 * @from: shared memory
 * @cpus: shared memory: which CPUs it may name
 * @body: out, with a release that ends in 0
 * @ring: where it was found
 * @instance: where it was found
 *
 * 0; -ENOENT: nobody has written one yet; -EAGAIN: changing; -EPROTO: another
 * version; -EBADMSG: damaged; -EPERM: it names a CPU of somebody else.
 */
int mios_desc_read(const struct mios_desc *from,
		   const struct mios_area_cpus *cpus,
		   struct mios_desc_body *body, u32 ring, u32 instance);

#endif /* _MIOS_CHANNEL_LAYOUT_H */
