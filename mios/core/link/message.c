// SPDX-License-Identifier: GPL-2.0
/*
 * Control and console messages: sending from any context, and handing what
 * arrives to the handler of its type, in softirq context.  The doorbell starts
 * it; nothing is polled.  What has to sleep is called (call.c).
 *
 * No lock is held while a handler runs.  A handler that is slow fills its
 * channel, then the sender gets -EAGAIN: nothing grows without bound.
 */
#define pr_fmt(fmt) "mios: " fmt

#include <linux/export.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>

#include "ring.h"

/* Messages read from one channel before others get a turn. */
#define POLL_BUDGET	64

static const struct mios_handler __rcu *handlers[MIOS_MSG_TYPES];
static DEFINE_MUTEX(handlers_lock);

int mios_handler_register(u32 type, const struct mios_handler *handler)
{
	int err = -EBUSY;

	if (!type || type >= MIOS_MSG_TYPES)
		return -EINVAL;
	mutex_lock(&handlers_lock);
	if (!rcu_access_pointer(handlers[type])) {
		rcu_assign_pointer(handlers[type], handler);
		err = 0;
	}
	mutex_unlock(&handlers_lock);
	return err;
}
EXPORT_SYMBOL_NS_GPL(mios_handler_register, MIOS);

void mios_handler_unregister(u32 type)
{
	mutex_lock(&handlers_lock);
	RCU_INIT_POINTER(handlers[type], NULL);
	mutex_unlock(&handlers_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_NS_GPL(mios_handler_unregister, MIOS);

/* --- sending */

static struct mios_out *out_for(struct mios_peer *peer, u32 type)
{
	u32 class = type / MIOS_TYPES_PER_CLASS;

	return class < MIOS_CLASS_NET ? &peer->out[class] : NULL;
}

static int peer_send(struct mios_peer *peer, u32 type, const void *data,
		     u32 length, bool wish)
{
	struct mios_out *out = out_for(peer, type);
	unsigned long flags;
	int ret;

	if (!out)
		return -EINVAL;
	spin_lock_irqsave(&out->lock, flags);
	ret = mios_producer_write(&out->p, type, data, length);
	if (ret == -EAGAIN && wish && mios_producer_wish(&out->p, length))
		ret = mios_producer_write(&out->p, type, data, length);
	spin_unlock_irqrestore(&out->lock, flags);
	if (ret > 0)
		mios_bell_ring(peer, type / MIOS_TYPES_PER_CLASS);
	if (ret == -ESHUTDOWN)
		mios_out_broken(peer, out);
	return ret < 0 ? ret : 0;
}

int mios_send(u32 instance, u32 type, const void *data, u32 length)
{
	struct mios_peer *peer = mios_peer_get(instance);

	return peer ? peer_send(peer, type, data, length, true) : -ENOTCONN;
}
EXPORT_SYMBOL_NS_GPL(mios_send, MIOS);

int mios_send_wait(u32 instance, u32 type, const void *data, u32 length,
		   u32 timeout_ms)
{
	struct mios_peer *peer = mios_peer_get(instance);
	int ret = -ENOTCONN;

	if (!peer)
		return ret;
	/* Each look sends, or wishes for room: whoever makes some wakes us. */
	wait_event_timeout(peer->space,
			   (ret = peer_send(peer, type, data, length, true)) !=
			   -EAGAIN, msecs_to_jiffies(timeout_ms));
	return ret == -EAGAIN ? -ETIMEDOUT : ret;
}
EXPORT_SYMBOL_NS_GPL(mios_send_wait, MIOS);

/* --- receiving */

/* Take one message out of the channel into ring->buffer; false: none. */
static bool message_take(struct mios_ring *ring, struct mios_peer *peer,
			 u32 class, struct mios_message *m, bool *bell)
{
	struct mios_in *in = &peer->in[class];
	int ret;

	ret = mios_consumer_peek(&in->c, m);
	if (ret < 0) {
		mios_consumer_resync(&in->c);
		pr_warn_ratelimited("instance %u: garbage in a channel from it; begun anew\n",
				    peer->instance);
	}
	if (ret <= 0)
		return false;
	if (m->type / MIOS_TYPES_PER_CLASS != class)
		m->type = MIOS_MSG_NONE;
	mios_consumer_copy(&in->c, m, ring->buffer, sizeof(ring->buffer));
	*bell |= mios_consumer_pop(&in->c, m);
	return true;
}

static void message_deliver(struct mios_ring *ring, struct mios_peer *peer,
			    u32 incarnation, const struct mios_message *m)
{
	const struct mios_handler *handler;
	u32 length = min_t(u32, m->total, sizeof(ring->buffer));

	rcu_read_lock();
	handler = rcu_dereference(handlers[m->type]);
	if (handler)
		handler->fn(handler->ctx, peer->instance, incarnation,
			    ring->buffer, length);
	else
		ring->unknown++;
	rcu_read_unlock();
}

/* Read one channel; true: its turn is over, but there is more. */
static bool channel_poll(struct mios_ring *ring, struct mios_peer *peer,
			 u32 class)
{
	struct mios_in *in = &peer->in[class];
	struct mios_message m;
	bool bell = false, more = false, taken = true;
	u32 incarnation;
	int budget;

	for (budget = POLL_BUDGET; budget; budget--) {
		spin_lock_bh(&in->lock);
		mios_consumer_disarm(&in->c);
		taken = message_take(ring, peer, class, &m, &bell);
		incarnation = in->c.peer;
		if (!taken) {
			bell |= mios_consumer_flush(&in->c);
			more = mios_consumer_arm(&in->c);
		}
		spin_unlock_bh(&in->lock);
		if (!taken)
			break;
		message_deliver(ring, peer, incarnation, &m);
	}
	if (bell)
		mios_bell_ring(peer, MIOS_BELL_SPACE);
	return more || taken;
}

/* Softirq context (system_bh_wq), never twice at a time for one ring. */
void mios_message_bh(struct work_struct *work)
{
	struct mios_ring *ring = container_of(work, struct mios_ring, bh);
	struct mios_peer *peer;
	u64 todo[MIOS_BELLS];
	u64 again;
	u32 class;

	todo[MIOS_BELL_SPACE] = atomic64_xchg(&ring->todo[MIOS_BELL_SPACE], 0);
	for (class = 0; class < MIOS_CLASS_NET; class++) {
		again = 0;
		todo[class] = atomic64_xchg(&ring->todo[class], 0);
		for_each_mios_peer(peer, ring)
			if ((todo[class] & BIT_ULL(peer->instance)) &&
			    channel_poll(ring, peer, class))
				again |= BIT_ULL(peer->instance);
		if (again) {
			atomic64_or(again, &ring->todo[class]);
			queue_work(system_bh_wq, &ring->bh);
		}
	}
	for_each_mios_peer(peer, ring) {
		if (todo[MIOS_BELL_SPACE] & BIT_ULL(peer->instance)) {
			wake_up_all(&peer->space);
			mios_bulk_space(peer->instance);
		}
	}
}

/* Look at every channel, whether or not a doorbell asked for it. */
void mios_message_poll_all(struct mios_ring *ring)
{
	u32 class;

	for (class = 0; class < MIOS_CLASS_NET; class++)
		atomic64_or(ring->others, &ring->todo[class]);
	queue_work(system_bh_wq, &ring->bh);
}

/*
 * A producer that says that it is ahead, of a slot that is not published at
 * two ticks in a row: something has overwritten the stamp.
 */
void mios_message_stuck(struct mios_ring *ring)
{
	struct mios_peer *peer;
	u32 class;

	for_each_mios_peer(peer, ring)
		for (class = 0; class < MIOS_CLASSES; class++) {
			struct mios_in *in = &peer->in[class];
			struct mios_message m;

			spin_lock_bh(&in->lock);
			if (!mios_consumer_behind(&in->c) ||
			    mios_consumer_peek(&in->c, &m) ||
			    in->c.head != in->stuck_head)
				in->stuck = 0;
			else if (++in->stuck == 2)
				mios_consumer_resync(&in->c);
			in->stuck_head = in->c.head;
			spin_unlock_bh(&in->lock);
		}
}

/* --- messages of the link itself */

static void echo(void *ctx, u32 instance, u32 incarnation, const void *data,
		 u32 length)
{
	if (length == sizeof(struct mios_msg_echo))
		mios_send(instance, MIOS_MSG_ECHO_REPLY, data, length);
}

static void shutdown(void *ctx, u32 instance, u32 incarnation,
		     const void *data, u32 length)
{
	if (mios_link.host || instance != READ_ONCE(mios_link.holder))
		return;		/* only who is host may ask for that */
	pr_info("instance %u asks to power off\n", instance);
	orderly_poweroff(true);		/* leaves the work to a work item */
}

static const struct mios_handler echo_handler = { .fn = echo };
static const struct mios_handler shutdown_handler = { .fn = shutdown };

int mios_message_init(void)
{
	int err;

	err = mios_handler_register(MIOS_MSG_ECHO, &echo_handler);
	if (!err)
		err = mios_handler_register(MIOS_MSG_SHUTDOWN,
					    &shutdown_handler);
	return err;
}

void mios_message_exit(void)
{
	mios_handler_unregister(MIOS_MSG_SHUTDOWN);
	mios_handler_unregister(MIOS_MSG_ECHO);
}
