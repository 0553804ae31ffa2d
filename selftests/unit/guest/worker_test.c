// SPDX-License-Identifier: GPL-2.0
/*
 * A device with its thread: a request is done and told of; a reset waits for
 * what is under way, and what was of before it does not come afterwards; what
 * makes no sense stops the device until it is reset.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "../../../userspace/mios-dsm/runtime/mios_dsm.h"
#include "../../../userspace/mios-vmm/bus.h"
#include "driver.h"

#define AT	(VMM_VIRTIO + 3 * VMM_PAGE)

static atomic_int served, held, rests;
static atomic_bool high, hold;

void bus_line(int pin, bool is)
{
	CHECK(pin == VMM_VIRTIO_PIN + 3);
	high = is;
}

void mios_dsm_cpu_rests(void)
{
	rests++;
}

/* Takes as long as the test wants, and then writes. */
static int64_t serve(struct worker *w, uint32_t queue,
		     const struct virtq_chain *c)
{
	CHECK(!strcmp(w->name, "one") && !queue);
	held++;
	while (hold)
		usleep(1000);
	if (c->in)
		return -1;
	CHECK(virtq_write(c, 0, "done", 4));
	served++;
	return 4;
}

static struct worker w = {
	.name = "one", .serve = serve,
	.virtio = { .id = 2, .queues = 1, .offers = 1ull << VIRTIO_F_VERSION_1 },
};

static void until(atomic_int *what, int value)
{
	for (int i = 0; *what < value; i++) {
		CHECK(i < 10000);
		usleep(1000);
	}
}

static void requests(void)
{
	desc(DESC, 0, DATA, 4, WRITE, 0);
	offer(0);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&served, 2);
	until_set(AT, VIRTIO_MMIO_INTERRUPT_STATUS, 1);
	CHECK(high && word(DATA, 4) == 0x656e6f64);
	device_set(AT + VIRTIO_MMIO_INTERRUPT_ACK, 1);
	/* Who polls is not told. */
	put(AVAIL, "\1", 1);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&served, 3);
	usleep(10000);
	CHECK(!device_reg(AT + VIRTIO_MMIO_INTERRUPT_STATUS));
	CHECK(device_reg(AT + VMM_PAGE) == (uint32_t)BUS_NOBODY);
}

static void *let_go(void *arg)
{
	usleep(100000);
	hold = false;
	return arg;
}

static void resets(void)
{
	pthread_t thread;
	int before = served;

	put(AVAIL, "\0", 1);
	hold = true;
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&held, before + 1);
	CHECK(!pthread_create(&thread, NULL, let_go, NULL));
	device_set(AT + VIRTIO_MMIO_STATUS, 0);
	/* From here on its memory is the guest's alone. */
	CHECK(served == before + 1 && rests);
	memory_begin();
	pthread_join(thread, NULL);
	CHECK(!high && !device_reg(AT + VIRTIO_MMIO_STATUS));
	driver_begins(AT, 1);
	usleep(10000);
	CHECK(!word(USED + 2, 2) && !high && served == before + 1);
	desc(DESC, 0, DATA, 4, WRITE, 0);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&served, before + 2);
	until_set(AT, VIRTIO_MMIO_INTERRUPT_STATUS, 1);
	CHECK(word(USED + 2, 2) == 1);
}

static void nonsense(void)
{
	int before = served;

	desc(DESC, 0, DATA, 4, 0, 0);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&held, before + 1);
	until_set(AT, VIRTIO_MMIO_STATUS, 0x40);
	CHECK(device_reg(AT + VIRTIO_MMIO_INTERRUPT_STATUS) & 2 && word(USED + 2, 2) == 1);
	desc(DESC, 0, DATA, 4, WRITE, 0);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	usleep(10000);
	CHECK(served == before);
	device_set(AT + VIRTIO_MMIO_STATUS, 0);
	memory_begin();
	driver_begins(AT, 1);
	desc(DESC, 0, DATA, 4, WRITE, 0);
	offer(0);
	device_set(AT + VIRTIO_MMIO_QUEUE_NOTIFY, 0);
	until(&served, before + 1);
}

static void views(void)
{
	struct worker_view v;

	CHECK(worker_view(3, 0, &v) && !strcmp(v.name, "one"));
	CHECK(v.live && !v.busy && v.done == (uint64_t)served);
	CHECK(!worker_view(3, 1, &v) && !worker_view(2, 0, &v) &&
	      !worker_view(VMM_VIRTIO_MAX, 0, &v));
}

void worker_tests(void)
{
	memory_begin();
	CHECK(!worker_start(&w, 3));
	driver_begins(AT, 1);
	requests();
	resets();
	nonsense();
	until_set(AT, VIRTIO_MMIO_INTERRUPT_STATUS, 1);
	views();
	workers_stop();
}
