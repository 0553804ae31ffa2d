// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that waits for SIGUSR2 and then says how the guest is.  It asks each
 * CPU, which answers when it is out of the guest, and does not wait for long: one
 * that KVM holds at a page (before Linux 6.2) cannot answer, and that is said.
 * So it does with each queue of the devices.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "cpu.h"
#include "memory.h"
#include "state.h"
#include "worker.h"

#define TEXT	320
#define MS	1000000ull

static const struct shape *shape;

static void signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR2);
}

static void node(void)
{
	struct mios_dsm_counts c;

	if (mios_dsm_count(&c))
		return;
	say("%llu pages read and %llu written, %llu ms of waiting, %llu at most; %llu messages, "
	    "%llu KiB",
	    (unsigned long long)c.reads, (unsigned long long)c.writes,
	    (unsigned long long)(c.stall / MS),
	    (unsigned long long)(c.longest / MS),
	    (unsigned long long)c.messages,
	    (unsigned long long)(c.bytes >> 10));
}

/* More of a line, as far as there is room. */
static void __attribute__((format(printf, 2, 3)))
add(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + len, TEXT - len, fmt, args);
	va_end(args);
}

static void vectors(char *text, const char *what, const uint32_t *bits)
{
	const char *before = what;

	for (int i = 0; i < 256; i++)
		if (bits[i / 32] >> i % 32 & 1) {
			add(text, "%s %#x", before, i);
			before = "";
		}
}

static void stand(char *text, int tid)
{
	struct mios_dsm_stand s;
	uint64_t guest;

	if (mios_dsm_stands(tid, &s))
		return;
	if (memory_guest(s.at, &guest))
		add(text, "; %s page %#llx", s.write ? "writes" : "reads",
		    (unsigned long long)guest);
	else
		add(text, "; at a page of the library's");
	add(text, ", for %llu ms", (unsigned long long)(s.ns / MS));
}

static void cpu(uint16_t index)
{
	static const char *const states[] = { "waits for its start", "runs",
		"halts" };
	char text[TEXT] = "";
	struct cpu_view v;

	cpu_view(index, &v);
	add(text, "CPU %u %s", v.id, states[v.state]);
	if (v.answered)
		add(text, " at %#llx, CR3 %#llx, flags %#llx",
		    (unsigned long long)v.rip, (unsigned long long)v.cr3,
		    (unsigned long long)v.flags);
	else
		add(text, ", and does not leave the guest");
	stand(text, v.tid);
	vectors(text, "; pending", v.pending);
	vectors(text, "; in service", v.in_service);
	if (v.asks)
		add(text, "; asks a device");
	if (v.due_ns)
		add(text, "; timer in %lld ms", (long long)v.due_ns / (long long)MS);
	say("%s", text);
}

static void device(uint16_t number)
{
	struct worker_view v;

	for (uint32_t i = 0; worker_view(number, i, &v); i++) {
		char text[TEXT] = "";

		add(text, "%s, queue %u: %llu requests done, %s", v.name, i,
		    (unsigned long long)v.done, v.busy ? "at one" :
		    v.live ? "none waits" : "not in use");
		stand(text, v.tid);
		say("%s", text);
	}
}

static void *tell(void *arg)
{
	sigset_t set;

	signals(&set);
	for (;;) {
		if (sigwaitinfo(&set, NULL) != SIGUSR2)
			continue;
		node();
		for (uint16_t i = 0; i < shape->cpus_each; i++)
			cpu(i);
		for (uint16_t i = 0; i < VMM_VIRTIO_MAX; i++)
			device(i);
	}
	return arg;
}

void state_deaf(void)
{
	sigset_t set;

	signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int state_start(const struct shape *s)
{
	pthread_t thread;

	shape = s;
	if (!pthread_create(&thread, NULL, tell, NULL))
		return 0;
	return say("no thread that tells the guest's state");
}
