// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring and counting, in debugfs, for tests and benchmarks:
 *   mios/probe	write "doorbell|channel INSTANCE COUNT" or "call CPU COUNT",
 *		then read "KIND TARGET COUNT FAILED MIN MEDIAN P99 MAX" (ns)
 *   mios/ask	write "INSTANCE DEPTH SLEEP_MS": a call that sleeps there and
 *		calls back, so often; any number at a time
 *   mios/counters	a line for every channel end and ring
 * "call" is the kernel's own cross-CPU call, to compare with.  One probe at a
 * time, under probe_lock; every wait is bounded, and a run ends early after five
 * that were not answered, or a minute: COUNT says how many there were.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "ring.h"

#define PROBE_MAX	100000
/* A busy host may keep a virtual CPU from running for a second. */
#define PROBE_WAIT_NS	(5 * NSEC_PER_SEC)
/* Of all of a run together: it does not wait for hours where nobody answers. */
#define PROBE_SPAN_NS	(60 * NSEC_PER_SEC)
#define PROBE_FAILURES	5
#define PROBE_SPINS	1000
/* Rounds of that many looks; who has not answered then is looked at seldom. */
#define PROBE_ROUNDS	4
#define PROBE_NAP_US	500

struct probe {
	char kind[16];
	u32 target;
	u32 count;
	u32 failed;
	u64 *ns;
};

static DEFINE_MUTEX(probe_lock);
static struct dentry *dir;
static struct probe last;
static u32 awaited;
static u32 arrived;

static void echo_reply(void *ctx, u32 instance, u32 incarnation,
		       const void *data, u32 length)
{
	struct mios_msg_echo echo;

	if (length != sizeof(echo))
		return;
	memcpy(&echo, data, sizeof(echo));
	WRITE_ONCE(arrived, echo.cookie);
}

static const struct mios_handler reply_handler = { .fn = echo_reply };

/*
 * Wait for the answer, as the kernel's own call does.  It looks at the clock
 * only when the answer takes long: that would be a good part of the time.
 */
static int probe_await(const u32 *word, u32 answer)
{
	u32 left = PROBE_SPINS;
	u32 rounds = 0;
	u64 end = 0;
	u64 now;

	do {
		while (left--) {
			if (READ_ONCE(*word) == answer)
				return 0;
			cpu_relax();
		}
		/* It may depend on what else this CPU has to do. */
		cond_resched();
		left = PROBE_SPINS;
		if (++rounds > PROBE_ROUNDS) {
			usleep_range(PROBE_NAP_US, 2 * PROBE_NAP_US);
			left = 1;
		}
		now = ktime_get_ns();
		if (!end)
			end = now + PROBE_WAIT_NS;
	} while (now < end);
	return -ETIMEDOUT;
}

/* Doorbell there, interrupt handler's answer seen by looking at its block. */
static int probe_doorbell(u32 target)
{
	struct mios_peer *peer = mios_peer_get(target);
	struct mios_lines *lines;
	u32 number;

	if (!peer)
		return -ENOTCONN;
	lines = peer->ring->lines;
	number = READ_ONCE(lines->echo_request[target]) + 1;
	WRITE_ONCE(lines->echo_request[target], number);
	mios_bell_ring(peer, MIOS_BELL_ECHO);
	return probe_await(&peer->lines->echo_reply[mios_link.self], number);
}

/* A message there, its handler's answer back: doorbells both ways. */
static int probe_channel(u32 target)
{
	struct mios_msg_echo echo = { .cookie = ++awaited };
	int err;

	err = mios_send(target, MIOS_MSG_ECHO, &echo, sizeof(echo));
	return err ?: probe_await(&arrived, echo.cookie);
}

static void nothing(void *unused)
{
}

static int probe_call(u32 target)
{
	return target < nr_cpu_ids && cpu_online(target) ?
	       smp_call_function_single(target, nothing, NULL, 1) : -ENODEV;
}

static int (*probe_kind(const char *kind))(u32 target)
{
	if (!strcmp(kind, "doorbell"))
		return probe_doorbell;
	if (!strcmp(kind, "channel"))
		return probe_channel;
	return strcmp(kind, "call") ? NULL : probe_call;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int probe_run(struct probe *p)
{
	int (*one)(u32 target) = probe_kind(p->kind);
	u64 start, end;
	u32 i;

	if (!one || !p->count || p->count > PROBE_MAX)
		return -EINVAL;
	p->ns = kvcalloc(p->count, sizeof(*p->ns), GFP_KERNEL);
	if (!p->ns)
		return -ENOMEM;
	start = ktime_get_ns();
	end = start + PROBE_SPAN_NS;
	for (i = 0; i < p->count && !signal_pending(current) &&
	     p->failed < PROBE_FAILURES && start < end; i++) {
		start = ktime_get_ns();
		if (one(p->target))
			p->failed++;
		p->ns[i] = ktime_get_ns() - start;
		cond_resched();
	}
	p->count = i;
	sort(p->ns, p->count, sizeof(*p->ns), compare, NULL);
	return 0;
}

static ssize_t probe_write(struct file *file, const char __user *buf,
			   size_t size, loff_t *pos)
{
	struct probe p = {};
	char line[64] = {};
	int err;

	if (size >= sizeof(line) || copy_from_user(line, buf, size))
		return -EINVAL;
	if (sscanf(line, "%15s %u %u", p.kind, &p.target, &p.count) != 3)
		return -EINVAL;
	mutex_lock(&probe_lock);
	err = probe_run(&p);
	if (!err) {
		kvfree(last.ns);
		last = p;
	} else {
		kvfree(p.ns);
	}
	mutex_unlock(&probe_lock);
	return err ?: size;
}

static int probe_show(struct seq_file *s, void *unused)
{
	const struct probe *p = &last;

	mutex_lock(&probe_lock);
	if (p->ns && p->count)
		seq_printf(s, "%s %u %u %u %llu %llu %llu %llu\n", p->kind,
			   p->target, p->count, p->failed, p->ns[0],
			   p->ns[p->count / 2],
			   p->ns[(u64)p->count * 99 / 100],
			   p->ns[p->count - 1]);
	mutex_unlock(&probe_lock);
	return 0;
}

static int probe_open(struct inode *inode, struct file *file)
{
	return single_open(file, probe_show, NULL);
}

static const struct file_operations probe_fops = {
	.owner = THIS_MODULE,
	.open = probe_open,
	.read = seq_read,
	.write = probe_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* So long may a chain of calls take. */
#define ASK_MS		60000
#define ASK_DEPTH_MAX	6

static int probe_ask(u32 instance, u32 sleep_ms, u32 depth)
{
	struct mios_call_probe ask = { .sleep_ms = sleep_ms, .depth = depth };
	u32 left;
	int ret;

	ret = mios_call(instance, MIOS_CALL_PROBE, &ask, sizeof(ask), &left,
			sizeof(left), ASK_MS);
	if (ret < 0)
		return ret;
	return ret == sizeof(left) && left == depth ? 0 : -EPROTO;
}

/* Served on the other side: sleep, call back, say how deep it was. */
static int probe_serve(void *ctx, u32 instance, u32 incarnation,
		       const void *data, u32 length, void *answer, u32 *size)
{
	struct mios_call_probe ask;
	int err = 0;

	if (length != sizeof(ask))
		return -EINVAL;
	memcpy(&ask, data, sizeof(ask));
	if (ask.depth > ASK_DEPTH_MAX || ask.sleep_ms > ASK_MS)
		return -EINVAL;
	msleep(ask.sleep_ms);
	if (ask.depth)
		err = probe_ask(instance, ask.sleep_ms, ask.depth - 1);
	memcpy(answer, &ask.depth, sizeof(ask.depth));
	*size = sizeof(ask.depth);
	return err;
}

static const struct mios_callee ask_callee = { .fn = probe_serve };

static ssize_t ask_write(struct file *file, const char __user *buf,
			 size_t size, loff_t *pos)
{
	u32 instance, depth, sleep_ms;
	char line[64] = {};
	int err;

	if (size >= sizeof(line) || copy_from_user(line, buf, size))
		return -EINVAL;
	if (sscanf(line, "%u %u %u", &instance, &depth, &sleep_ms) != 3)
		return -EINVAL;
	err = probe_ask(instance, sleep_ms, depth);
	return err ?: size;
}

static const struct file_operations ask_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ask_write,
	.llseek = noop_llseek,
};

static void counters_peer(struct seq_file *s, const struct mios_peer *peer)
{
	static const char * const names[] = { "control", "console", "net" };
	u32 class;

	for (class = 0; class < MIOS_CLASSES; class++) {
		const struct mios_producer *p = &peer->out[class].p;
		const struct mios_consumer *c = &peer->in[class].c;

		seq_printf(s, "channel %u %s sent %llu full %llu resyncs %llu broken %llu received %llu garbage %llu stale %llu\n",
			   peer->instance, names[class], p->messages, p->full,
			   p->resyncs, p->garbage, c->messages, c->garbage,
			   c->stale);
	}
}

static int counters_show(struct seq_file *s, void *unused)
{
	struct mios_ring *ring;
	struct mios_peer *peer;
	u32 i;

	seq_printf(s, "doorbells strays %llu\n", mios_bell_strays());
	for_each_mios_ring(ring, i) {
		seq_printf(s, "ring %u lost_doorbells %llu unknown_messages %llu area_bytes %llu net_slots %u\n",
			   ring->id, ring->lost, ring->unknown,
			   ring->g.area_size,
			   ring->g.shape[MIOS_CLASS_NET].nr_slots);
		for_each_mios_peer(peer, ring) {
			if (READ_ONCE(peer->state) == MIOS_PEER_ABSENT)
				continue;
			seq_printf(s, "peer %u refused %llu\n",
				   peer->instance, peer->refused);
			counters_peer(s, peer);
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

void mios_probe_init(void)
{
	mios_handler_register(MIOS_MSG_ECHO_REPLY, &reply_handler);
	mios_callee_register(MIOS_CALL_PROBE, &ask_callee);
	dir = debugfs_create_dir("mios", NULL);
	debugfs_create_file("probe", 0600, dir, NULL, &probe_fops);
	debugfs_create_file("ask", 0200, dir, NULL, &ask_fops);
	mios_scribble_init(dir);
	debugfs_create_file("counters", 0400, dir, NULL, &counters_fops);
}

void mios_probe_exit(void)
{
	debugfs_remove(dir);
	mios_callee_unregister(MIOS_CALL_PROBE);
	mios_handler_unregister(MIOS_MSG_ECHO_REPLY);
	kvfree(last.ns);
	last.ns = NULL;
}
