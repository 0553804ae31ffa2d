// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's thread: takes what has come for it (INIT, a start-up interrupt, NMI,
 * interrupts by priority, its timer), runs the guest, sees why that ended, and
 * again.  Who interrupts it changes its APIC under the lock and sends it a
 * signal, upon which KVM_RUN returns or does not begin.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../mios-dsm/runtime/mios_dsm.h"
#include "clock.h"
#include "cpu.h"
#include "end.h"

#define STOP_PAUSE	10000000	/* ns; then it is told again */
#define VIEW_WAIT	100000000	/* ns for a CPU to say where it is */

static const struct shape *shape;
static struct cpu cpus[VMM_CPUS_EACH];
static __thread struct cpu *self;
static atomic_bool there;

static void kicked(int signal)
{
	(void)signal;
	if (self)
		self->kvm.run->immediate_exit = 1;
}

/* Under its lock: a thread that has ended may be gone, and takes no signal. */
static void kick(struct cpu *c)
{
	pthread_cond_signal(&c->wake);
	if (c != self && !c->ended)
		pthread_kill(c->thread, CLOCK_SIGNAL);
}

/* None before all are there, whatever a peer says. */
static struct cpu *own(uint32_t id)
{
	uint16_t node, index;

	if (!there)
		return NULL;
	return shape_place(shape, id, &node, &index) && node == shape->self ?
		&cpus[index] : NULL;
}

void cpu_interrupt(const struct apic_ipi *ipi)
{
	for (uint16_t i = 0; there && i < shape->cpus_each; i++) {
		struct cpu *c = &cpus[i];

		if (!apic_meant(ipi, c->id))
			continue;
		pthread_mutex_lock(&c->lock);
		apic_deliver(&c->apic, ipi);
		kick(c);
		pthread_mutex_unlock(&c->lock);
	}
}

void cpu_asks(uint32_t id)
{
	struct cpu *c = own(id);

	pthread_mutex_lock(&c->lock);
	c->asks = true;
	c->answered = false;
	pthread_mutex_unlock(&c->lock);
}

uint64_t cpu_await_answer(uint32_t id)
{
	struct cpu *c = own(id);
	uint64_t value;

	pthread_mutex_lock(&c->lock);
	while (!c->answered && !c->stop)
		pthread_cond_wait(&c->wake, &c->lock);
	c->asks = false;
	value = c->answer;
	pthread_mutex_unlock(&c->lock);
	return value;
}

bool cpu_answer(uint32_t id, uint64_t value)
{
	struct cpu *c = own(id);
	bool asked;

	if (!c)
		return false;
	pthread_mutex_lock(&c->lock);
	asked = c->asks && !c->answered;
	if (asked) {
		c->answer = value;
		c->answered = true;
		pthread_cond_signal(&c->wake);
	}
	pthread_mutex_unlock(&c->lock);
	return asked;
}

/*
 * It cannot go on: one line; the end for all when its thread has no lock any more,
 * as all must be told.
 */
static void failed(struct cpu *c, const char *what)
{
	say("CPU %u: %s: %s", c->id, what, strerror(errno));
	c->failed = true;
	c->stop = true;
}

static void registers_set(struct cpu *c, const struct kvm_sregs *sregs,
			  const struct kvm_regs *regs)
{
	if (ioctl(c->kvm.fd, KVM_SET_SREGS, sregs) ||
	    ioctl(c->kvm.fd, KVM_SET_REGS, regs))
		failed(c, "its registers cannot be set");
}

/*
 * What an access began must be over, or KVM would end it afterwards.  Without the
 * lock, as it may stop at a page: the library's thread takes the lock, too.
 */
static void complete(struct cpu *c)
{
	pthread_mutex_unlock(&c->lock);
	c->kvm.run->immediate_exit = 1;
	if (ioctl(c->kvm.fd, KVM_RUN, 0) < 0 && errno != EINTR)
		failed(c, "KVM_RUN");
	c->kvm.run->immediate_exit = 0;
	pthread_mutex_lock(&c->lock);
}

static void init(struct cpu *c)
{
	complete(c);
	apic_init(&c->apic);
	c->state = CPU_WAITS;
}

static void start_up(struct cpu *c)
{
	const struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs = c->kvm.reset;

	c->apic.sipi = false;
	if (c->state != CPU_WAITS)
		return;
	sregs.cs.selector = c->apic.sipi_vector << 8;
	sregs.cs.base = (uint64_t)c->apic.sipi_vector << 12;
	registers_set(c, &sregs, &regs);
	c->state = CPU_RUNS;
}

/* The highest interrupt goes in, if the guest takes one now. */
static void inject(struct cpu *c)
{
	struct kvm_run *run = c->kvm.run;
	int vector = apic_next(&c->apic);
	struct kvm_interrupt irq = { .irq = vector };

	if (vector >= 0 && run->ready_for_interrupt_injection && run->if_flag) {
		if (ioctl(c->kvm.fd, KVM_INTERRUPT, &irq))
			failed(c, "an interrupt is not taken");
		apic_taken(&c->apic, vector);
		run->ready_for_interrupt_injection = 0;
		c->state = CPU_RUNS;
		vector = apic_next(&c->apic);
	}
	run->request_interrupt_window = vector >= 0;
}

static void timer(struct cpu *c)
{
	struct apic_time now = clock_now();
	uint64_t due;

	apic_expire(&c->apic, &now);
	due = apic_due(&c->apic, &now);
	if (due != c->armed)
		clock_arm(c->timer, due);
	c->armed = due;
}

/* Sleeps until it is told of something; the timer's signal wakes it, too. */
static void doze(struct cpu *c)
{
	uint64_t ns = c->armed ? c->armed : clock_now().ns + 1000000000;
	const struct timespec until = { ns / 1000000000, ns % 1000000000 };

	pthread_cond_timedwait(&c->wake, &c->lock, &until);
}

/* Where it is, for who has asked. */
static void view(struct cpu *c)
{
	struct kvm_sregs sregs = { };
	struct kvm_regs regs = { };

	c->viewed = false;
	if (ioctl(c->kvm.fd, KVM_GET_REGS, &regs) ||
	    ioctl(c->kvm.fd, KVM_GET_SREGS, &sregs))
		return;
	c->view = (struct cpu_view){
		.answered = true, .rip = regs.rip, .cr3 = sregs.cr3,
		.flags = regs.rflags,
	};
	pthread_cond_broadcast(&c->seen);
}

void cpu_view(uint16_t index, struct cpu_view *v)
{
	struct cpu *c = &cpus[index];
	struct apic_time now = clock_now();
	uint64_t until_ns = now.ns + VIEW_WAIT, due;
	const struct timespec until = {
		until_ns / 1000000000, until_ns % 1000000000
	};

	pthread_mutex_lock(&c->lock);
	c->view.answered = false;
	c->viewed = true;
	kick(c);
	while (c->viewed && !c->ended)
		if (pthread_cond_timedwait(&c->seen, &c->lock, &until))
			break;
	*v = c->view;
	v->id = c->id;
	v->tid = c->tid;
	v->state = c->state;
	v->asks = c->asks;
	memcpy(v->pending, c->apic.irr, sizeof(v->pending));
	memcpy(v->in_service, c->apic.isr, sizeof(v->in_service));
	now = clock_now();
	due = apic_due(&c->apic, &now);
	v->due_ns = due ? (int64_t)(due - now.ns) : 0;
	pthread_mutex_unlock(&c->lock);
}

/* What has come for it; true: it runs. */
static bool ready(struct cpu *c)
{
	bool runs;

	pthread_mutex_lock(&c->lock);
	if (c->viewed)
		view(c);
	if (c->begins)
		c->state = CPU_RUNS;
	c->begins = false;
	if (c->apic.init)
		init(c);
	if (c->apic.sipi)
		start_up(c);
	timer(c);
	if (c->state != CPU_WAITS) {
		if (c->apic.nmi) {
			c->apic.nmi = false;
			if (ioctl(c->kvm.fd, KVM_NMI))
				failed(c, "an NMI is not taken");
			c->state = CPU_RUNS;
		}
		inject(c);
	}
	runs = c->state == CPU_RUNS;
	if (!runs && !c->stop)
		doze(c);
	c->kvm.run->cr8 = c->apic.tpr >> 4;
	pthread_mutex_unlock(&c->lock);
	return runs && !c->stop;
}

static void run(struct cpu *c)
{
	int err = ioctl(c->kvm.fd, KVM_RUN, 0) < 0 ? errno : 0;

	c->kvm.run->immediate_exit = 0;
	pthread_mutex_lock(&c->lock);
	if (c->kvm.run->cr8 != c->apic.tpr >> 4)
		c->apic.tpr = c->kvm.run->cr8 << 4;
	pthread_mutex_unlock(&c->lock);
	if (err == EINTR || err == EAGAIN)
		return;
	errno = err;
	if (err)
		failed(c, "KVM_RUN");
	else
		cpu_exit(c);
}

static void *live(void *arg)
{
	struct cpu *c = arg;
	int err = mios_dsm_cpu(c->quantum);

	self = c;
	c->tid = gettid();
	if (!err)
		err = clock_timer(&c->timer);
	if (err) {
		errno = -err;
		failed(c, "cannot begin");
	}
	while (!c->stop)
		if (ready(c))
			run(c);
	if (c->failed)
		end_guest(END_FAULT);
	pthread_mutex_lock(&c->lock);
	c->ended = true;
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static int begin(struct cpu *c, uint16_t index, uint64_t quantum)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &monotonic);
	pthread_cond_init(&c->seen, &monotonic);
	pthread_mutex_init(&c->lock, NULL);
	c->id = shape_cpu(shape, shape->self, index);
	c->quantum = quantum;
	apic_reset(&c->apic, c->id);
	return kvm_cpu_create(&c->kvm, shape, index);
}

int cpus_start(const struct shape *s, const struct boot *b, uint64_t quantum)
{
	struct sigaction act = {
		.sa_handler = kicked, .sa_flags = SA_RESTART,
	};
	struct kvm_sregs sregs;
	struct kvm_regs regs;

	shape = s;
	sigaction(CLOCK_SIGNAL, &act, NULL);
	for (uint16_t i = 0; i < s->cpus_each; i++)
		if (begin(&cpus[i], i, quantum))
			return -1;
	if (!s->self) {
		sregs = cpus[0].kvm.reset;
		boot_registers(b, &sregs, &regs);
		registers_set(&cpus[0], &sregs, &regs);
	}
	for (uint16_t i = 0; i < s->cpus_each; i++)
		if (pthread_create(&cpus[i].thread, NULL, live, &cpus[i]))
			return say("no thread for CPU %u", cpus[i].id);
	/* The first interrupts another one only when all are there. */
	there = true;
	if (end_barrier())
		return -1;
	if (s->self)
		return 0;
	pthread_mutex_lock(&cpus[0].lock);
	cpus[0].begins = true;
	kick(&cpus[0]);
	pthread_mutex_unlock(&cpus[0].lock);
	return 0;
}

void cpus_stop(void)
{
	struct timespec until;

	for (uint16_t i = 0; i < shape->cpus_each; i++) {
		struct cpu *c = &cpus[i];

		do {
			pthread_mutex_lock(&c->lock);
			c->stop = true;
			kick(c);
			pthread_mutex_unlock(&c->lock);
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += STOP_PAUSE;
			until.tv_sec += until.tv_nsec / 1000000000;
			until.tv_nsec %= 1000000000;
		} while (pthread_timedjoin_np(c->thread, NULL, &until));
	}
}
