// SPDX-License-Identifier: GPL-2.0
/*
 * The ring area: geometry for every number of instances, headers and
 * descriptors that must be refused.
 */
#include "test.h"

static void geometry(void)
{
	struct mios_geometry g;
	u32 nr, slots, class;
	u8 *area = NULL;
	u64 end;

	for (nr = 2; nr <= MIOS_AREA_INSTANCES; nr++)
		for (slots = MIOS_NET_SLOTS_MIN; slots <= MIOS_NET_SLOTS_MAX;
		     slots *= 2) {
			CHECK(!mios_geometry(&g, nr, slots));
			class = MIOS_CLASSES - 1;
			end = (u64)((u8 *)mios_area_chan(area, &g, nr - 1,
							 nr - 2, class) - area);
			end += sizeof(struct mios_chan) +
			       (u64)g.shape[class].slot_size *
			       g.shape[class].nr_slots;
			CHECK(end <= g.log);
			CHECK(g.log - end < MIOS_AREA_PAGE);
			CHECK(g.log + MIOS_AREA_LOG_SIZE == g.area_size);
		}
	for (class = 0; class < MIOS_CLASSES; class++)
		CHECK(g.shape[class].max_total <=
		      (g.shape[class].slot_size - sizeof(struct mios_slot)) *
		      MIOS_NET_SLOTS_MIN);
	CHECK(mios_geometry(&g, 0, 128) == -EINVAL);
	CHECK(mios_geometry(&g, 65, 128) == -EINVAL);
	CHECK(mios_geometry(&g, 4, 100) == -EINVAL);
	CHECK(mios_geometry(&g, 4, 32) == -EINVAL);
	CHECK(mios_geometry(&g, 4, 0x80000000) == -EINVAL);
}

/* What instance 0 may have written, though its checksum is right. */
static void pools(void)
{
	static const struct mios_range bad[] = {
		{ 0x1000, MIOS_POOL_PIECE }, { 0, MIOS_POOL_PIECE / 2 },
		{ 0x80000000, MIOS_POOL_PIECE }, { 0x7fe00000, 1 << 30 },
		{ -MIOS_POOL_PIECE, 2 * MIOS_POOL_PIECE },
	};
	struct mios_range of[MIOS_AREA_INSTANCES] = {
		[1] = { 0x80000000, 3 * MIOS_POOL_PIECE },
		[3] = { 0x40000000, MIOS_POOL_PIECE },
	};
	u8 *area = calloc(1, MIOS_AREA_BLOCKS_AT);
	struct mios_area_pools copy;
	u32 i;

	CHECK(area);
	CHECK(mios_pools_read(area, &copy) == -EBADMSG);
	mios_pools_write(area, of);
	CHECK(!mios_pools_read(area, &copy));
	CHECK(!memcmp(copy.of, of, sizeof(of)));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		of[2] = bad[i];
		mios_pools_write(area, of);
		CHECK(mios_pools_read(area, &copy) == -EBADMSG);
	}
	free(area);
}

#define HEAD(N)		((u64)(N) * MIOS_HEAD_SIZE)

/* The same of nodes: each bad one beside two good ones. */
static void nodes(void)
{
	static const struct mios_area_node bad[] = {
		{ 0x100000, 0x20000, 7, { { 0, 9 } } },
		{ HEAD(1536), 0x20800, 7, { { 1536, 9 } } },
		{ HEAD(1536), 0xf000, 7, { { 1536, 9 } } },
		{ HEAD(1536), 0x92000, 7, { { 1536, 9 } } },
		{ HEAD(1536), 0x17000, 7, { { 1536, 9 } } },
		{ HEAD(1536), 0xb000, 7, { { 1536, 9 } } },
		{ HEAD(512), 0x30000, 7, { { 512, 9 } } },
		{ HEAD(515), 0x30000, 7, { { 515, 9 } } },
		{ HEAD(1536), 0x30000, 7, { { 1536, 9 }, { 514, 1 } } },
		{ HEAD(1536), 0x30000, 7, { { 1537, 9 } } },
		{ HEAD(1536), 0x30000, 7, { { 1536, 0 } } },
		{ HEAD(1536), 0x30000, 7, { { 1536, 9 }, { 9, 0 } } },
		{ HEAD(1536), 0x30000, 7, { { 1536, 9 }, { }, { 9, 1 } } },
		{ HEAD(1536), 0x30000, 7, { { 1536, -1u } } },
		{ .slice = 0x30000 }, { .cpus = 7 }, { .pieces = { { 0, 9 } } },
	};
	static struct mios_area_nodes all = { .of = {
		[1] = { HEAD(1024), 0x11000, 5, { { 1024, 9 }, { 4096, 9 } } },
		[3] = { HEAD(512), 0x91000, 6, { { 512, 9 } } },
	} };
	static const u32 pages[] = { 0x10800, 0xf000, MIOS_SLICE_LIMIT, 0x12000, 0x17000 };
	u8 *area = calloc(1, MIOS_AREA_BLOCKS_AT);
	struct mios_area_nodes copy;
	u32 i;

	CHECK(area);
	CHECK(mios_nodes_read(area, &copy) == -EBADMSG);
	mios_nodes_write(area, &all);
	CHECK(!mios_nodes_read(area, &copy));
	CHECK(!memcmp(&copy, &all, sizeof(all)));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		all.of[2] = bad[i];
		mios_nodes_write(area, &all);
		CHECK(mios_nodes_read(area, &copy) == -EBADMSG);
	}
	all.of[2] = (struct mios_area_node){};
	for (i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		all.epoch = pages[i];
		mios_nodes_write(area, &all);
		CHECK(mios_nodes_read(area, &copy) == -EBADMSG);
	}
	all.epoch = 0x10000;
	mios_nodes_write(area, &all);
	CHECK(!mios_nodes_read(area, &copy));
	all.of[0] = (struct mios_area_node){ HEAD(1536), 0x30000, 7, { { 1536, 9 } } };
	mios_nodes_write(area, &all);
	CHECK(mios_nodes_read(area, &copy) == -EBADMSG);
	free(area);
}

static void header(void)
{
	struct mios_area_header good, bad;
	struct mios_geometry g;

	CHECK(!mios_geometry(&g, 4, 128));
	good = (struct mios_area_header){
		.magic = MIOS_AREA_MAGIC, .version = MIOS_AREA_VERSION,
		.size = sizeof(good), .self = 0x1000000, .ring = 2, .nr = 4,
		.area_size = g.area_size, .net_slots = 128,
	};
	CHECK(!mios_header_check(&good, 0x1000000, g.area_size, 2, &g));
	CHECK(mios_header_check(&good, 0x2000000, g.area_size, 2, &g) ==
	      -EBADMSG);
	CHECK(mios_header_check(&good, 0x1000000, g.area_size - 1, 2, &g) ==
	      -EBADMSG);
	CHECK(mios_header_check(&good, 0x1000000, g.area_size, 1, &g) ==
	      -EBADMSG);
	bad = good;
	bad.version++;
	CHECK(mios_header_check(&bad, 0x1000000, g.area_size, 2, &g) == -EPROTO);
	bad = good;
	bad.nr = 5;
	CHECK(mios_header_check(&bad, 0x1000000, g.area_size, 2, &g) ==
	      -EBADMSG);
}

static struct mios_desc_body sample(void)
{
	return (struct mios_desc_body){
		.instance = 2, .ring = 1, .incarnation = 3,
		.state = MIOS_DESC_UP, .node = 2, .next = MIOS_NO_INSTANCE,
		.doorbell_apicid = 5, .doorbell_vector = 0xf7, .nr_cpus = 2,
		.area_version = MIOS_AREA_VERSION, .release = "6.12",
		.apicid = { 4, 5 },
	};
}

static struct mios_desc *desc;
static struct mios_area_cpus cpus;

static int look(struct mios_desc_body *copy, u32 ring, u32 instance)
{
	return mios_desc_read(desc, &cpus, copy, ring, instance);
}

static void damaged(u64 seed)
{
	struct mios_desc_body body, copy;
	u32 i;

	CHECK(look(&copy, 1, 2) == -ENOENT);
	body = sample();
	mios_desc_write(desc, &body);
	CHECK(!look(&copy, 1, 2));
	CHECK(!memcmp(&body, &copy, sizeof(body)));
	CHECK(look(&copy, 1, 3) == -EBADMSG);
	CHECK(look(&copy, 0, 2) == -EBADMSG);
	for (i = 0; i < 20000; i++) {
		body = sample();
		mios_desc_write(desc, &body);
		((u8 *)&desc->body)[test_random(&seed) % sizeof(body)] ^=
			1 << test_random(&seed) % 8;
		CHECK(look(&copy, 1, 2) == -EBADMSG);
	}
	body = sample();	/* a good checksum does not make it good */
	body.nr_cpus = MIOS_AREA_CPUS + 1;
	mios_desc_write(desc, &body);
	CHECK(look(&copy, 1, 2) == -EBADMSG);
	body = sample();
	body.doorbell_apicid = 9;
	mios_desc_write(desc, &body);
	CHECK(look(&copy, 1, 2) == -EBADMSG);
	desc->sequence |= 1;	/* its writer was stopped in the middle */
	CHECK(look(&copy, 1, 2) == -EAGAIN);
	body = sample();
	mios_desc_write(desc, &body);
	CHECK(!look(&copy, 1, 2));
	desc->sequence = ~0u;	/* what comes next must not be "none" */
	mios_desc_write(desc, &body);
	CHECK(!look(&copy, 1, 2));
}

/* CPUs 4 and 5 are its own, 9 is somebody else's. */
static void foreign(void)
{
	struct mios_desc_body body = sample(), copy;

	body.apicid[0] = 9;
	mios_desc_write(desc, &body);
	CHECK(look(&copy, 1, 2) == -EPERM);
	body.doorbell_apicid = 9;
	mios_desc_write(desc, &body);
	CHECK(look(&copy, 1, 2) == -EPERM);
	cpus.sequence++;	/* the list is being written */
	CHECK(look(&copy, 1, 2) == -EAGAIN);
	cpus.sequence++;
	cpus.nr = MIOS_AREA_CPUS + 1;
	CHECK(look(&copy, 1, 2) == -EPERM);
	cpus.nr = 0;
	CHECK(look(&copy, 1, 2) == -EPERM);
	cpus.nr = 2;
	body = sample();
	body.nr_cpus = 1;	/* the others are offline */
	body.apicid[0] = 5;
	mios_desc_write(desc, &body);
	CHECK(!look(&copy, 1, 2));
}

static void descriptor(u64 seed)
{
	desc = calloc(1, sizeof(*desc));
	CHECK(desc);
	cpus = (struct mios_area_cpus){ .nr = 2, .apicid = { 4, 5 } };
	damaged(seed);
	foreign();
	free(desc);
}

void test_layout(u64 seed)
{
	geometry();
	header();
	pools();
	nodes();
	descriptor(seed);
}
