// SPDX-License-Identifier: GPL-2.0
/*
 * A stencil in two dimensions, its rows shared out among processes, on one instance or
 * several: the value of a cell becomes the mean of its four neighbours'.  Each process
 * puts its first and last row into its neighbours' memory and leaves an event there.
 *
 *	halo RANK NIC:NUM...	one of the processes, each of which is told the addresses
 *				of all, in the same order: its own is the RANKth
 *
 * The first one prints a number made of all cells, which is the same for any number of
 * processes.
 */
#include <glex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE	192u
#define STEPS	100u
#define KEY	2012u
#define RANKS	16u
#define WAIT_MS	60000

enum { ABOVE, BELOW };

static glex_ep_handle_t ep;
static glex_coll_handle_t group;
static glex_ep_addr_t address[RANKS];
static uint32_t rank, ranks;
/* Two copies of the own rows, one of which is computed from the other. */
static double *cells[2];
static glex_mem_handle_t own[2], theirs[RANKS][2];
/* The own rows, and from which on; one of others lies above and below. */
static uint32_t rows, first;
static uint64_t come[2];

static void must(const char *what, glex_ret_t ret)
{
	if (ret == GLEX_SUCCESS)
		return;
	fprintf(stderr, "halo: %s: %s\n", what, glex_error_str(ret));
	exit(1);
}

static uint32_t rows_before(uint32_t who)
{
	return who * SIDE / ranks;
}

static double *row(int which, uint32_t number)
{
	return cells[which] + (size_t)number * SIDE;
}

/* --- begin: everybody tells everybody where his cells are */

static void begin(void)
{
	struct glex_ep_attr attr = { .num = address[rank].ep_num, .key = KEY };
	glex_device_handle_t dev;
	uint32_t i, j;
	size_t size;

	first = rows_before(rank);
	rows = rows_before(rank + 1) - first;
	size = (size_t)(rows + 2) * SIDE * sizeof(double);
	must("device", glex_open_device(0, &dev));
	must("endpoint", glex_create_ep(dev, &attr, &ep));
	for (i = 0; i < 2; i++) {
		cells[i] = calloc(1, size);
		if (!cells[i])
			exit(1);
		must("memory", glex_register_mem(ep, cells[i], size, GLEX_MEM_WRITE,
						 &own[i]));
	}
	for (i = 0; i < rows + 2; i++)
		for (j = 0; j < SIDE; j++)
			row(0, i)[j] = ((first + i) * 31 + j * 17) % 101;
	memcpy(cells[1], cells[0], size);
	must("group", glex_coll_join(ep, address, ranks, WAIT_MS, &group));
	memcpy(theirs[rank], own, sizeof(own));
	for (i = 0; i < ranks; i++)
		must("handles", glex_coll_bcast(group, i, theirs[i], sizeof(own), WAIT_MS));
}

/* --- a step */

static void compute(int to)
{
	uint32_t i, j;

	for (i = 1; i <= rows; i++) {
		/* The outermost cells of all stay as they are. */
		if (first + i == 1 || first + i == SIDE)
			continue;
		for (j = 1; j < SIDE - 1; j++)
			row(to, i)[j] = (row(!to, i - 1)[j] + row(!to, i + 1)[j] +
					 row(!to, i)[j - 1] + row(!to, i)[j + 1]) / 4;
	}
}

/* An own row into that one of a neighbour's which stands for it there. */
static void put(uint32_t to, int which, uint32_t from_row, uint32_t to_row, int side,
		uint64_t step)
{
	struct glex_rdma_req req = {
		.rmt_ep_addr = address[to], .local_mh = own[which],
		.local_offset = from_row * SIDE * sizeof(double),
		.len = SIDE * sizeof(double), .rmt_mh = theirs[to][which],
		.rmt_offset = to_row * SIDE * sizeof(double),
		.type = GLEX_RDMA_TYPE_PUT, .rmt_key = KEY,
		.flag = GLEX_FLAG_REMOTE_EVT,
	};

	req.rmt_evt.cookie_0 = side;
	req.rmt_evt.cookie_1 = step;
	must("put", glex_rdma(ep, &req, NULL));
}

static void wait_for(int side, uint64_t step)
{
	glex_event_t *event;

	while (come[side] < step) {
		must("event", glex_probe_first_event(ep, WAIT_MS, &event));
		come[event->cookie_0 == ABOVE ? ABOVE : BELOW] = event->cookie_1;
		must("discard", glex_discard_probed_event(ep));
	}
}

/*
 * A neighbour may be a step ahead, and writes the other copy then: for that step he
 * has needed what is sent here.
 */
static void exchange(int which, uint64_t step)
{
	if (rank > 0)
		put(rank - 1, which, 1, rows_before(rank) - rows_before(rank - 1) + 1,
		    BELOW, step);
	if (rank + 1 < ranks)
		put(rank + 1, which, rows, 0, ABOVE, step);
	if (rank > 0)
		wait_for(ABOVE, step);
	if (rank + 1 < ranks)
		wait_for(BELOW, step);
}

/* --- the result: each bit of each cell counts, and the order does not */

static uint64_t result(int which)
{
	union glex_coll_data_loc sum = { 0 };
	uint32_t i, j;
	uint64_t bits;

	for (i = 1; i <= rows; i++) {
		for (j = 0; j < SIDE; j++) {
			memcpy(&bits, &row(which, i)[j], sizeof(bits));
			sum.uint64_s.data += bits * (2 * ((first + i) * SIDE + j) + 1);
		}
	}
	must("sum", glex_coll_allreduce(group, &sum, &sum, 1,
					GLEX_COLL_REDUCE_DATA_BITS_64,
					GLEX_COLL_REDUCE_SUM_UNSIGNED, WAIT_MS));
	return sum.uint64_s.data;
}

static int is_address(const char *word, glex_ep_addr_t *to)
{
	unsigned int nic, num;
	char more;

	return sscanf(word, "%u:%u%c", &nic, &num, &more) == 2 &&
	       !glex_compose_ep_addr(nic, num, GLEX_EP_TYPE_FAST, to);
}

int main(int argc, char **argv)
{
	uint64_t step, sum;
	uint32_t i;

	ranks = argc - 2;
	rank = argc > 2 ? atoi(argv[1]) : 0;
	if (argc < 3 || ranks > RANKS || rank >= ranks) {
		fprintf(stderr, "usage: halo RANK NIC:NUM... (up to %u)\n", RANKS);
		return 2;
	}
	for (i = 0; i < ranks; i++) {
		if (!is_address(argv[2 + i], &address[i])) {
			fprintf(stderr, "halo: %s is no address\n", argv[2 + i]);
			return 2;
		}
	}
	begin();
	for (step = 1; step <= STEPS; step++) {
		compute(step % 2);
		exchange(step % 2, step);
	}
	sum = result(STEPS % 2);
	if (!rank)
		printf("after %u steps: %016lx\n", STEPS, sum);
	must("leave", glex_coll_leave(group, WAIT_MS));
	must("end", glex_destroy_ep(ep));
	return 0;
}
