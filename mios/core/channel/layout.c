// SPDX-License-Identifier: GPL-2.0
/*
 * Geometry of the ring area, node descriptors and sequence counts: the part of
 * the ring that does not depend on the kernel.  Called by mios/core/link/ and
 * by selftests/unit/channel.  No lock: readers copy, writers are alone.
 */
#include "../../inject/inject.h"
#include "layout.h"

MIOS_INJECT_TIMES(garbage_desc, "publish a damaged descriptor");
MIOS_INJECT_TIMES(no_cpu_check, "believe whose CPUs they are");

#define SEQ_TRIES	100

static u64 chan_size(const struct mios_shape *shape)
{
	return sizeof(struct mios_chan) +
	       (u64)shape->slot_size * shape->nr_slots;
}

int mios_geometry(struct mios_geometry *g, u32 nr, u32 net_slots)
{
	u64 at = 0;
	u32 i;

	if (!nr || nr > MIOS_AREA_INSTANCES || !is_power_of_2(net_slots) ||
	    net_slots < MIOS_NET_SLOTS_MIN || net_slots > MIOS_NET_SLOTS_MAX)
		return -EINVAL;
	g->nr = nr;
	g->shape[MIOS_CLASS_CONTROL] = (struct mios_shape){
		MIOS_CONTROL_SLOT, MIOS_CONTROL_SLOTS, MIOS_CONTROL_MAX };
	g->shape[MIOS_CLASS_CONSOLE] = (struct mios_shape){
		MIOS_CONSOLE_SLOT, MIOS_CONSOLE_SLOTS, MIOS_CONSOLE_MAX };
	g->shape[MIOS_CLASS_NET] = (struct mios_shape){
		MIOS_NET_SLOT, net_slots,
		MIOS_FRAME_MAX + sizeof(struct mios_msg_frame) };
	for (i = 0; i < MIOS_CLASSES; i++) {
		g->chan[i] = at;
		at += chan_size(&g->shape[i]);
	}
	g->pair_size = round_up(at, (u64)MIOS_AREA_PAGE);
	g->block_size = MIOS_BLOCK_INBOUND_AT + (nr - 1) * g->pair_size;
	g->log = MIOS_AREA_BLOCKS_AT + nr * g->block_size;
	g->area_size = g->log + MIOS_AREA_LOG_SIZE;
	return 0;
}

int mios_header_check(const struct mios_area_header *header, u64 self,
		      u64 size, u32 ring, struct mios_geometry *g)
{
	if (header->magic != MIOS_AREA_MAGIC)
		return -EBADMSG;
	if (header->version != MIOS_AREA_VERSION)
		return -EPROTO;
	if (header->size != sizeof(*header) || header->self != self ||
	    header->ring != ring)
		return -EBADMSG;
	if (mios_geometry(g, header->nr, header->net_slots))
		return -EBADMSG;
	if (g->area_size != header->area_size || g->area_size > size)
		return -EBADMSG;
	return 0;
}

static u8 *area_block(void *area, const struct mios_geometry *g, u32 instance)
{
	return (u8 *)area + MIOS_AREA_BLOCKS_AT + instance * g->block_size;
}

struct mios_area_cpus *mios_area_cpus(void *area, u32 instance)
{
	u8 *lists = (u8 *)area + MIOS_AREA_CPUS_AT;

	return (struct mios_area_cpus *)lists + instance;
}

struct mios_desc *mios_area_desc(void *area, const struct mios_geometry *g,
				 u32 instance)
{
	return (struct mios_desc *)area_block(area, g, instance);
}

struct mios_lines *mios_area_lines(void *area, const struct mios_geometry *g,
				   u32 instance)
{
	u8 *block = area_block(area, g, instance);

	return (struct mios_lines *)(block + MIOS_BLOCK_LINES_AT);
}

struct mios_copies *mios_area_copies(void *area, const struct mios_geometry *g,
				     u32 instance)
{
	u8 *block = area_block(area, g, instance);

	return (struct mios_copies *)(block + MIOS_BLOCK_COPIES_AT);
}

struct mios_chan *mios_area_chan(void *area, const struct mios_geometry *g,
				 u32 to, u32 from, u32 class)
{
	u8 *inbound = area_block(area, g, to) + MIOS_BLOCK_INBOUND_AT;

	/* Nobody has a channel to itself. */
	if (from > to)
		from--;
	return (struct mios_chan *)(inbound + from * g->pair_size +
				    g->chan[class]);
}

/*
 * SEQ: the writer makes the count odd before the data (smp_wmb) and even
 * after it (release); a reader that sees the same even count before (acquire)
 * and after (smp_rmb) its copy has seen one version.
 */
void mios_seq_write(u32 *to, const u32 *from, size_t size)
{
	u32 sequence = READ_ONCE(to[0]) | 1;
	size_t i;

	WRITE_ONCE(to[0], sequence);
	smp_wmb(); /* SEQ */
	for (i = 1; i < size / sizeof(u32); i++)
		WRITE_ONCE(to[i], from[i]);
	smp_store_release(&to[0], sequence + 1); /* SEQ */
}

int mios_seq_read(u32 *to, const u32 *from, size_t size)
{
	u32 sequence;
	size_t i;
	int tries;

	for (tries = 0; tries < SEQ_TRIES; tries++) {
		sequence = smp_load_acquire(&from[0]); /* SEQ */
		if (sequence & 1) {
			cpu_relax();
			continue;
		}
		for (i = 1; i < size / sizeof(u32); i++)
			to[i] = READ_ONCE(from[i]);
		smp_rmb(); /* SEQ */
		if (READ_ONCE(from[0]) == sequence) {
			to[0] = sequence;
			return 0;
		}
	}
	return -EAGAIN;
}

void mios_desc_write(struct mios_desc *to, struct mios_desc_body *body)
{
	u32 *words = (u32 *)to;
	u32 sequence = READ_ONCE(words[0]) | 1;
	const u32 *from = (const u32 *)body;
	size_t i;

	body->magic = MIOS_DESC_MAGIC;
	body->version = MIOS_DESC_VERSION;
	body->size = sizeof(*body);
	WRITE_ONCE(words[0], sequence);
	smp_wmb(); /* SEQ */
	WRITE_ONCE(words[1], mios_crc32(body, sizeof(*body)));
	for (i = 0; i < sizeof(*body) / sizeof(u32); i++)
		WRITE_ONCE(words[2 + i], from[i]);
	if (mios_inject(garbage_desc))
		WRITE_ONCE(to->body.nr_cpus, 0x7fffffff);
	/* 0 would say that nobody has written one: garbage may lead there. */
	smp_store_release(&words[0], sequence + 1 ?: 2); /* SEQ */
}

static bool desc_apicid_ok(const struct mios_desc_body *body)
{
	u32 i;

	for (i = 0; i < body->nr_cpus; i++)
		if (body->apicid[i] == body->doorbell_apicid)
			return true;
	return false;
}

/* Whole pieces, and an end that is none of another range. */
bool mios_pool_fits(const struct mios_range *range)
{
	return !(range->base % MIOS_POOL_PIECE) &&
	       !(range->size % MIOS_POOL_PIECE) &&
	       range->base + range->size >= range->base;
}

static bool pools_overlap(const struct mios_range *a,
			  const struct mios_range *b)
{
	return a->size && b->size && a->base < b->base + b->size &&
	       b->base < a->base + a->size;
}

static int pools_check(const struct mios_area_pools *pools)
{
	u32 i, j;

	if (pools->checksum != mios_crc32(pools->of, sizeof(pools->of)))
		return -EBADMSG;
	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		if (!mios_pool_fits(&pools->of[i]))
			return -EBADMSG;
		for (j = 0; j < i; j++)
			if (pools_overlap(&pools->of[i], &pools->of[j]))
				return -EBADMSG;
	}
	return 0;
}

void mios_pools_write(void *area, const struct mios_range *of)
{
	struct mios_area_pools *to = area + MIOS_AREA_POOLS_AT;
	u32 i;

	WRITE_ONCE(to->checksum, mios_crc32(of, sizeof(to->of)));
	WRITE_ONCE(to->reserved, 0);
	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		WRITE_ONCE(to->of[i].base, of[i].base);
		WRITE_ONCE(to->of[i].size, of[i].size);
	}
}

int mios_pools_read(const void *area, struct mios_area_pools *pools)
{
	memcpy(pools, area + MIOS_AREA_POOLS_AT, sizeof(*pools));
	return pools_check(pools);
}

static u32 held_sum(const struct mios_held *held)
{
	return mios_crc32(&held->nr, sizeof(*held) - sizeof(held->checksum));
}

void mios_held_write(struct mios_held *to, const u32 *function, u32 nr)
{
	struct mios_held held = { .nr = nr };
	u32 i;

	for (i = 0; i < nr; i++)
		held.function[i] = function[i];
	WRITE_ONCE(to->checksum, held_sum(&held));
	WRITE_ONCE(to->nr, nr);
	for (i = 0; i < MIOS_HELD; i++)
		WRITE_ONCE(to->function[i], held.function[i]);
}

int mios_held_read(const struct mios_held *from, struct mios_held *held)
{
	static const struct mios_held none;
	u32 i;

	memcpy(held, from, sizeof(*held));
	if (!memcmp(held, &none, sizeof(none)))
		return 0;
	if (held->checksum != held_sum(held) || held->nr > MIOS_HELD)
		return -EBADMSG;
	for (i = 0; i < MIOS_HELD; i++)
		if (held->function[i] > 0xffff ||
		    (i >= held->nr && held->function[i]))
			return -EBADMSG;
	return 0;
}

/* No gap in the list, none of them empty or beyond what there can be. */
static bool pieces_fit(const struct mios_area_node *node)
{
	const struct mios_area_piece *p = node->pieces;
	u32 i;

	for (i = 0; i < MIOS_AREA_PIECES; i++)
		if (p[i].size ? (i && !p[i - 1].size) || p[i].base + p[i].size <
				p[i].base : p[i].base)
			return false;
	return (u64)p[0].base * MIOS_HEAD_SIZE == node->head && (!node->head || p[0].size);
}

static bool node_fits(const struct mios_area_node *node)
{
	if (!pieces_fit(node))
		return false;
	if (!node->head)
		return !node->slice && !node->cpus && !node->pieces[0].size;
	return !(node->slice % MIOS_AREA_PAGE) &&
	       node->slice >= MIOS_SLICE_FIRST &&
	       node->slice <= MIOS_SLICE_LIMIT - MIOS_SLICE_SIZE;
}

static bool pieces_meet(const struct mios_area_node *a,
			const struct mios_area_node *b)
{
	u32 i, j;

	for (i = 0; i < MIOS_AREA_PIECES; i++)
		for (j = 0; j < MIOS_AREA_PIECES; j++)
			if (a->pieces[i].base < b->pieces[j].base + b->pieces[j].size &&
			    b->pieces[j].base < a->pieces[i].base + a->pieces[i].size)
				return true;
	return false;
}

/* Two that are not to be told apart: who stops one would write over the other. */
static bool nodes_meet(const struct mios_area_node *a,
		       const struct mios_area_node *b)
{
	return a->head && b->head &&
	       (pieces_meet(a, b) ||
		(a->slice < b->slice + MIOS_SLICE_SIZE &&
		 b->slice < a->slice + MIOS_SLICE_SIZE));
}

static u32 nodes_sum(const struct mios_area_nodes *nodes)
{
	return mios_crc32(&nodes->epoch, sizeof(*nodes) - sizeof(nodes->checksum));
}

static int nodes_check(const struct mios_area_nodes *nodes)
{
	u32 i, j;

	if (nodes->checksum != nodes_sum(nodes) || nodes->of[0].head)
		return -EBADMSG;
	if (nodes->epoch && (nodes->epoch % MIOS_AREA_PAGE ||
			     nodes->epoch < MIOS_SLICE_FIRST ||
			     nodes->epoch > MIOS_SLICE_LIMIT - MIOS_AREA_PAGE))
		return -EBADMSG;
	for (i = 0; i < MIOS_AREA_INSTANCES; i++) {
		if (!node_fits(&nodes->of[i]))
			return -EBADMSG;
		if (nodes->epoch && nodes->of[i].head &&
		    nodes->epoch + MIOS_AREA_PAGE > nodes->of[i].slice &&
		    nodes->epoch < nodes->of[i].slice + MIOS_SLICE_SIZE)
			return -EBADMSG;
		for (j = 0; j < i; j++)
			if (nodes_meet(&nodes->of[i], &nodes->of[j]))
				return -EBADMSG;
	}
	return 0;
}

void mios_nodes_write(void *area, struct mios_area_nodes *nodes)
{
	u32 *to = area + MIOS_AREA_NODES_AT;
	const u32 *from = (const u32 *)nodes;
	u32 i;

	nodes->checksum = nodes_sum(nodes);
	for (i = 0; i < sizeof(*nodes) / sizeof(*to); i++)
		WRITE_ONCE(to[i], from[i]);
}

int mios_nodes_read(const void *area, struct mios_area_nodes *nodes)
{
	memcpy(nodes, area + MIOS_AREA_NODES_AT, sizeof(*nodes));
	return nodes_check(nodes);
}

static int desc_check(const struct mios_desc_body *body, u32 ring,
		      u32 instance)
{
	if (body->magic != MIOS_DESC_MAGIC)
		return -EBADMSG;
	if (body->version != MIOS_DESC_VERSION ||
	    body->area_version != MIOS_AREA_VERSION)
		return -EPROTO;
	if (body->size != sizeof(*body) || body->ring != ring ||
	    body->instance != instance || !body->incarnation ||
	    body->state >= MIOS_DESC_STATES ||
	    body->node >= MIOS_AREA_INSTANCES ||
	    (body->next >= MIOS_AREA_INSTANCES &&
	     body->next != MIOS_NO_INSTANCE) ||
	    !body->nr_cpus || body->nr_cpus > MIOS_AREA_CPUS ||
	    body->nr_ranges > MIOS_DESC_RANGES ||
	    body->doorbell_vector != MIOS_DOORBELL_VECTOR)
		return -EBADMSG;
	return desc_apicid_ok(body) ? 0 : -EBADMSG;
}

/* Both are in the order of the same CPUs, but for those that are offline. */
static bool cpu_listed(const struct mios_area_cpus *cpus, u32 nr, u32 at,
		       u32 apicid)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (READ_ONCE(cpus->apicid[(at + i) % nr]) == apicid)
			return true;
	return false;
}

/* 1: all the CPUs that it names are listed; 0; -EAGAIN: the list changes. */
static int desc_owned(const struct mios_desc_body *body,
		      const struct mios_area_cpus *cpus)
{
	u32 sequence = smp_load_acquire(&cpus->sequence); /* SEQ */
	u32 nr = READ_ONCE(cpus->nr);
	bool owned = nr <= MIOS_AREA_CPUS;
	u32 i;

	for (i = 0; i < body->nr_cpus && owned; i++)
		owned = cpu_listed(cpus, nr, i, body->apicid[i]);
	smp_rmb(); /* SEQ */
	if ((sequence & 1) || READ_ONCE(cpus->sequence) != sequence)
		return -EAGAIN;
	return owned || mios_inject(no_cpu_check);
}

/* One version of a descriptor, whatever it says, and its number. */
static int desc_copy(const struct mios_desc *from, struct mios_desc_body *body,
		     u32 *sequence)
{
	const u32 *words = (const u32 *)from;
	u32 *to = (u32 *)body;
	u32 checksum;
	size_t i;

	*sequence = smp_load_acquire(&words[0]); /* SEQ */
	if (!*sequence)
		return -ENOENT;
	checksum = READ_ONCE(words[1]);
	for (i = 0; i < sizeof(*body) / sizeof(u32); i++)
		to[i] = READ_ONCE(words[2 + i]);
	smp_rmb(); /* SEQ */
	if ((*sequence & 1) || READ_ONCE(words[0]) != *sequence)
		return -EAGAIN;
	return checksum == mios_crc32(body, sizeof(*body)) ? 0 : -EBADMSG;
}

int mios_desc_read(const struct mios_desc *from,
		   const struct mios_area_cpus *cpus,
		   struct mios_desc_body *body, u32 ring, u32 instance)
{
	u32 sequence;
	int tries;
	int ret;

	for (tries = 0; tries < SEQ_TRIES; tries++) {
		ret = desc_copy(from, body, &sequence);
		if (!ret)
			ret = desc_check(body, ring, instance);
		if (ret && ret != -EAGAIN)
			return ret;
		if (!ret)
			ret = desc_owned(body, cpus);
		if (ret == 1)
			break;
		/* An old copy may name a CPU that has been taken off the list. */
		if (!ret && READ_ONCE(from->sequence) == sequence)
			return -EPERM;
		cpu_relax();
	}
	if (tries == SEQ_TRIES)
		return -EAGAIN;
	body->release[MIOS_RELEASE_LEN - 1] = 0;
	return 0;
}
