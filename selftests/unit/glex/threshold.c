// SPDX-License-Identifier: GPL-2.0
/*
 * By which way a broadcast of so many bytes goes: the copies out of another's memory
 * are counted.
 *
 *	threshold CAPACITY BYTES...	of each: how many copies; without them the threshold
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../../libglex/internal.h"

static atomic_uint copies;
static glex_ep_addr_t address[2];
static glex_ep_handle_t ep[2];
static uint32_t bytes;

ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nr,
			 const struct iovec *there, unsigned long nr_there,
			 unsigned long flags)
{
	copies++;
	return syscall(SYS_process_vm_readv, pid, here, nr, there, nr_there, flags);
}

static void must(glex_ret_t ret)
{
	if (!ret)
		return;
	printf("FAILED: %s\n", glex_error_str(ret));
	exit(1);
}

static void *broadcast(void *arg)
{
	static uint8_t data[2][100000];
	glex_coll_handle_t coll;
	size_t rank = (size_t)arg;

	must(glex_coll_join(ep[rank], address, 2, -1, &coll));
	must(glex_coll_bcast(coll, 0, data[rank], bytes, -1));
	must(glex_coll_leave(coll, -1));
	return NULL;
}

static uint32_t copies_of(uint32_t len)
{
	pthread_t other;

	copies = 0;
	bytes = len;
	pthread_create(&other, NULL, broadcast, (void *)1);
	broadcast((void *)0);
	pthread_join(other, NULL);
	return copies;
}

int main(int argc, char **argv)
{
	struct glex_ep_attr attr = {
		.num = GLEX_ANY_EP_NUM, .mpq_capacity = argc > 1 ? atoi(argv[1]) : 0,
	};
	glex_device_handle_t dev, again;
	uint32_t is, is_still;
	int i;

	must(glex_open_device(0, &dev));
	must(glex_query_threshold(dev, &is));
	if (argc < 3)
		printf("%u, %u copies\n", is, copies);
	is_still = copies;
	must(glex_open_device(0, &again));
	if (copies != is_still)
		puts("measured again");
	for (i = 0; i < 2; i++) {
		must(glex_create_ep(dev, &attr, &ep[i]));
		must(glex_get_ep_addr(ep[i], &address[i]));
	}
	for (i = 2; i < argc; i++)
		printf("%u%c", copies_of(atoi(argv[i])), i + 1 < argc ? ' ' : '\n');
	for (i = 0; i < 2; i++)
		must(glex_destroy_ep(ep[i]));
	must(glex_close_device(again));
	must(glex_close_device(dev));
	return 0;
}
