// SPDX-License-Identifier: GPL-2.0
/*
 * The devices of node 0, under one lock but for the virtio devices, each of
 * which has its own; the thread that serves the other nodes' CPUs, each of which
 * waits for its answer; and that which reads the console.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "bus.h"
#include "cpu.h"
#include "end.h"
#include "ioapic.h"
#include "serial.h"
#include "worker.h"

#define INPUT_PAUSE	20000	/* us, while the guest does not read */

static const struct shape *shape;

static struct {
	pthread_mutex_t lock;
	struct ioapic ioapic;
	struct serial serial;
} devices = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Each CPU has one access at a time, so that many always find room. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct access access[VMM_NODES * VMM_CPUS_EACH];
	uint32_t head, tail;
} queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER,
};

#define QUEUE_MAX	(sizeof(queue.access) / sizeof(queue.access[0]))

static uint64_t com1(const struct access *a)
{
	if (!a->write)
		return serial_read(&devices.serial, a->at - VMM_COM1);
	serial_write(&devices.serial, a->at - VMM_COM1, a->value);
	return 0;
}

static uint64_t end_port(const struct access *a)
{
	if (a->write)
		end_guest(a->value);
	return 0;
}

static uint64_t ioapic(const struct access *a)
{
	if (!a->write)
		return ioapic_read(&devices.ioapic, a->at - VMM_IOAPIC);
	ioapic_write(&devices.ioapic, a->at - VMM_IOAPIC, a->value);
	return 0;
}

static uint64_t end_of_interrupt(const struct access *a)
{
	ioapic_end(&devices.ioapic, a->value);
	return 0;
}

static const struct device {
	uint8_t space;
	bool own_lock;
	uint64_t first, last;
	uint64_t (*access)(const struct access *a);
} table[] = {
	{ ROUTE_PORT, false, VMM_COM1, VMM_COM1 + 7, com1 },
	{ ROUTE_PORT, false, VMM_END_PORT, VMM_END_PORT, end_port },
	{ ROUTE_MEMORY, false, VMM_IOAPIC, VMM_IOAPIC + VMM_PAGE - 1, ioapic },
	{ ROUTE_MEMORY, true, VMM_VIRTIO,
	  VMM_VIRTIO + VMM_VIRTIO_MAX * VMM_PAGE - 1, worker_access },
	{ ROUTE_EOI, false, 0, 0, end_of_interrupt },
};

static const struct device *find(const struct access *a)
{
	for (uint32_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].space == a->space && a->at >= table[i].first &&
		    a->at <= table[i].last)
			return &table[i];
	return NULL;
}

static uint64_t perform(const struct access *a)
{
	const struct device *d = find(a);
	uint64_t value;

	if (!d)
		return BUS_NOBODY;
	if (d->own_lock)
		return d->access(a);
	pthread_mutex_lock(&devices.lock);
	value = d->access(a);
	pthread_mutex_unlock(&devices.lock);
	return value;
}

uint64_t bus_access(const struct access *a)
{
	/* Where nobody is, all nodes know without asking. */
	if (!find(a))
		return BUS_NOBODY;
	if (!shape->self)
		return perform(a);
	cpu_asks(a->cpu);
	route_access(a);
	return cpu_await_answer(a->cpu);
}

bool bus_queue(const struct access *a)
{
	bool room;

	pthread_mutex_lock(&queue.lock);
	room = queue.tail - queue.head < QUEUE_MAX;
	if (room)
		queue.access[queue.tail++ % QUEUE_MAX] = *a;
	pthread_cond_signal(&queue.more);
	pthread_mutex_unlock(&queue.lock);
	return room;
}

void bus_line(int pin, bool high)
{
	pthread_mutex_lock(&devices.lock);
	ioapic_line(&devices.ioapic, pin, high);
	pthread_mutex_unlock(&devices.lock);
}

static void *serve(void *arg)
{
	struct access a;

	for (;;) {
		pthread_mutex_lock(&queue.lock);
		while (queue.head == queue.tail)
			pthread_cond_wait(&queue.more, &queue.lock);
		a = queue.access[queue.head++ % QUEUE_MAX];
		pthread_mutex_unlock(&queue.lock);
		route_answer(a.cpu, perform(&a));
	}
	return arg;
}

static void console_put(uint8_t byte)
{
	/* A console that is gone takes nothing from the guest. */
	while (write(STDOUT_FILENO, &byte, 1) < 0 && errno == EINTR)
		;
}

static void console_line(bool high)
{
	ioapic_line(&devices.ioapic, VMM_COM1_PIN, high);
}

static void *console_read(void *arg)
{
	uint8_t byte;
	bool room;

	while (read(STDIN_FILENO, &byte, 1) == 1) {
		do {
			pthread_mutex_lock(&devices.lock);
			room = serial_room(&devices.serial);
			if (room)
				serial_receive(&devices.serial, byte);
			pthread_mutex_unlock(&devices.lock);
			if (!room)
				usleep(INPUT_PAUSE);
		} while (!room);
	}
	return arg;
}

int bus_start(const struct shape *s)
{
	pthread_t thread;

	shape = s;
	if (s->self)
		return 0;
	ioapic_reset(&devices.ioapic, route_interrupt);
	serial_reset(&devices.serial, console_put, console_line);
	if (pthread_create(&thread, NULL, serve, NULL) ||
	    pthread_create(&thread, NULL, console_read, NULL))
		return say("no threads for the devices");
	return 0;
}
