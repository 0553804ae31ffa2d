// SPDX-License-Identifier: GPL-2.0
/*
 * Life of the link: on instance 0 it becomes able to host rings, in a child
 * it maps the ring area and joins, which is the sync point.  Called by
 * mios/core/main.c.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>

#include <asm/mios.h>

#include "../../inject/inject.h"
#include "ring.h"

MIOS_INJECT_TIMES(stuck_end, "begin to end in order and go no further");

/* What the others read about instance 0 before they know its descriptor. */
static void host_init(void)
{
	struct mios_view view = {
		.stamp = (u64)mios_link.incarnation << 32 | MIOS_STATE_UP,
		.memory = mios_self_memory(),
		.node = mios_link.node,
		.nr_cpus = num_online_cpus(),
	};

	mutex_lock(&mios_link.lock);
	mios_view_set(0, &view);
	mios_self_own(nr_cpu_ids);
	mutex_unlock(&mios_link.lock);
}

/* Nothing that a kernel has is in them: without, there is no /mios. */
static int pools_learn(const void *area)
{
	struct mios_area_pools *pools = kmalloc(sizeof(*pools), GFP_KERNEL);

	if (!pools)
		return -ENOMEM;
	if (mios_pools_read(area, pools))
		pr_err("what the ring area says of pools is damaged: nothing is shared\n");
	else
		memcpy(mios_link.pools, pools->of, sizeof(mios_link.pools));
	kfree(pools);
	return 0;
}

/* Without, this instance is never host, whoever dies. */
static int nodes_learn(const void *area)
{
	struct mios_area_nodes *nodes = kmalloc(sizeof(*nodes), GFP_KERNEL);

	if (!nodes)
		return -ENOMEM;
	if (mios_nodes_read(area, nodes))
		pr_err("what the ring area says of nodes is damaged: this instance never takes instance 0's place\n");
	else
		mios_link.nodes = *nodes;
	kfree(nodes);
	return 0;
}

/*
 * The sync point.  The first look opens our ends to everybody who is there;
 * only then the descriptor says that we are, and they look at us.
 */
static int child_join(void)
{
	const struct mios_manifest *m = mios_manifest();
	struct mios_geometry g;
	struct mios_ring *ring;
	struct mios_peer *peer;
	void *area;

	if (m->ring >= MIOS_MAX_RINGS || !m->instance)
		return -EINVAL;
	area = mios_area_map(m->ring, m->area_base, m->area_size, &g);
	if (IS_ERR(area))
		return PTR_ERR(area);
	if (m->instance >= g.nr || pools_learn(area) || nodes_learn(area)) {
		mios_area_unmap(area);
		return -EBADMSG;
	}
	mios_link.nr = g.nr;
	ring = mios_member_ring(m->ring, area, m->area_base, &g);
	if (!ring) {
		mios_area_unmap(area);
		return -ENOMEM;
	}
	/* What the last incarnation said: nobody listens to us yet. */
	memset(ring->lines, 0, sizeof(*ring->lines));
	memset(mios_area_copies(area, &g, m->instance), 0,
	       sizeof(struct mios_copies));
	mios_death_attend(ring);
	/* And what it had open with those who have gone meanwhile. */
	for_each_mios_peer(peer, ring)
		mios_peer_close(peer);
	mios_ring_use(ring);
	mios_member_scan(&ring->scan);
	mutex_lock(&mios_link.lock);
	mios_self_publish(ring, MIOS_DESC_UP);
	mutex_unlock(&mios_link.lock);
	smp_mb(); /* JOIN: pairs with the one in mios_member_scan() */
	mios_bell_ring_all(ring, MIOS_BELL_CHANGE);
	queue_work(mios_link.wq, &ring->scan);
	return 0;
}

static void rings_destroy(void)
{
	struct mios_ring *ring;
	void *area;
	u32 i;

	for (i = 0; i < MIOS_MAX_RINGS; i++) {
		struct mios_geometry g;

		ring = mios_link.rings[i];
		if (!ring)
			continue;
		area = ring->area;
		g = ring->g;
		clear_bit(i, mios_link.in_use);
		WRITE_ONCE(mios_link.rings[i], NULL);
		mios_ring_destroy(ring);
		if (mios_link.host)
			mios_area_free(area, &g);
		else
			mios_area_unmap(area);
	}
}

static int workers_start(void)
{
	if (mios_link.host && mios_cpu_owner_init())
		return -ENOMEM;
	mios_link.wq = alloc_ordered_workqueue("mios-link", WQ_MEM_RECLAIM);
	if (!mios_link.wq)
		goto cpu_owner;
	mios_link.mail = alloc_workqueue("mios-mail", WQ_MEM_RECLAIM, 0);
	if (mios_link.mail)
		return 0;
	destroy_workqueue(mios_link.wq);
cpu_owner:
	mios_cpu_owner_exit();
	return -ENOMEM;
}

static void workers_stop(void)
{
	destroy_workqueue(mios_link.mail);
	destroy_workqueue(mios_link.wq);
	mios_cpu_owner_exit();
}

void mios_link_quiet(void)
{
	mios_role_leave();
	WRITE_ONCE(mios_link.ops, NULL);
	flush_workqueue(mios_link.wq);
	flush_workqueue(mios_link.mail);
}

/* The kernel is about to end in order; the end itself is in the manifest. */
static int link_reboot(struct notifier_block *nb, unsigned long action,
		       void *data)
{
	mios_role_leave();
	mutex_lock(&mios_link.lock);
	mios_self_publish_all(MIOS_DESC_STOPPING);
	mutex_unlock(&mios_link.lock);
	while (mios_inject(stuck_end))
		msleep(100);
	return NOTIFY_DONE;
}

static int link_panic(struct notifier_block *nb, unsigned long action,
		      void *data)
{
	mios_quiet_panic();
	mios_self_publish_all(MIOS_DESC_PANICKED);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = { .notifier_call = link_reboot };
static struct notifier_block panic_nb = { .notifier_call = link_panic };

static void end_watch(void)
{
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
}

static void end_unwatch(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
}

int mios_link_init(const struct mios_link_ops *ops,
		   const struct mios_link_host *host)
{
	int err;

	mios_link_identify(ops, host);
	err = workers_start();
	if (err)
		return err;
	err = mios_bell_init(mios_bulk_receive);
	if (err)
		goto workers;
	err = mios_message_init();
	if (err)
		goto bell;
	err = mios_call_init();
	if (err)
		goto message;
	err = mios_self_watch();
	if (err)
		goto call;
	end_watch();
	err = mios_quiet_init();
	if (err)
		goto watch;
	err = mios_beat_init();
	if (err)
		goto quiet;
	if (mios_link.host)
		host_init();
	else
		err = child_join();
	if (err)
		goto beat;
	if (mios_link.host) {
		mios_hostlog_init();
		mios_range_owner_init();
	}
	mios_probe_init();
	return 0;

beat:
	mios_beat_exit();
quiet:
	mios_quiet_exit();
watch:
	end_unwatch();
	mios_self_unwatch();
call:
	mios_call_exit();
message:
	mios_message_exit();
bell:
	mios_bell_exit();
	rings_destroy();
workers:
	workers_stop();
	return err;
}

void mios_link_exit(void)
{
	struct mios_ring *ring;
	u32 i;

	mios_probe_exit();
	if (mios_link.host) {
		mios_range_owner_exit();
		mios_hostlog_exit();
	}
	mios_beat_exit();
	mios_quiet_exit();
	end_unwatch();
	mios_self_unwatch();
	mutex_lock(&mios_link.lock);
	mios_self_publish_all(MIOS_DESC_LEFT);
	mutex_unlock(&mios_link.lock);
	mios_bell_exit();
	for_each_mios_ring(ring, i) {
		cancel_work_sync(&ring->scan);
		mios_member_drop_all(ring);
	}
	mios_call_exit();
	mios_message_exit();
	rings_destroy();
	workers_stop();
}
