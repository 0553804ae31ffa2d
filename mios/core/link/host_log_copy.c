// SPDX-License-Identifier: GPL-2.0
/*
 * The log of instance 0, copied into the area of every ring as it grows: when
 * instance 0 has died nobody can ask it any more, but its members read the log
 * there (proc/host_log.c).  A child's log needs none of this: it is a ring in
 * the child's memory from the first line on, which instance 0 reads.
 *
 * What is copied are the kernel's records, whatever the console's log level:
 * ten times a second by the heartbeat, and at once when a line goes to the
 * consoles, as a panic's do.  Any context, an NMI's too; host_log_lock guards
 * how far each ring has got.
 */
#include <linux/console.h>
#include <linux/delay.h>
#include <linux/kmsg_dump.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>

#include <asm/mios.h>

#include "../../inject/inject.h"
#include "ring.h"

static_assert(MIOS_AREA_LOG_SIZE > MIOS_AREA_PAGE);

#define TEXT_SIZE	(MIOS_AREA_LOG_SIZE - MIOS_AREA_PAGE)
static_assert((TEXT_SIZE & (TEXT_SIZE - 1)) == 0);
/* Longer than any line with its time; what is longer is cut. */
#define LINE_MAX	2048
/* Lines at once, with interrupts off, as long as there is another time. */
#define LINES_AT_ONCE	32
/* How long one that is dying waits for a CPU that may have been stopped. */
#define LOCK_WAIT_US	10000

static DEFINE_RAW_SPINLOCK(host_log_lock); /* mios_ring.logged */
static char line[LINE_MAX];		   /* under host_log_lock */

MIOS_INJECT_TIMES(no_host_log, "do not copy the log of instance 0");

static struct mios_log *ring_log(const struct mios_ring *ring)
{
	return ring->area + ring->g.log;
}

static void line_write(struct mios_log *log, size_t len)
{
	u32 head = log->head;
	size_t i;

	for (i = 0; i < len; i++)
		log->text[head++ & (TEXT_SIZE - 1)] = line[i];
	/* Pairs with the acquire of a reader: see struct mios_log. */
	smp_store_release(&log->head, head);
}

static void ring_copy(struct mios_ring *ring)
{
	unsigned int left = oops_in_progress ? UINT_MAX : LINES_AT_ONCE;
	size_t len;

	while (left-- && kmsg_dump_get_line(&ring->logged, false, line,
					    sizeof(line), &len))
		line_write(ring_log(ring), len);
}

static void copy_all(void)
{
	struct mios_ring *ring;
	u32 i;

	for_each_mios_ring(ring, i)
		ring_copy(ring);
}

/*
 * Who finds it locked leaves it to the other one; but in a panic that may be a
 * CPU which has been stopped, and a line that is garbled is better than none.
 */
void mios_hostlog_tick(void)
{
	unsigned int waited = 0;
	unsigned long flags;

	if (inject_no_host_log)
		return;
	local_irq_save(flags);
	while (!raw_spin_trylock(&host_log_lock)) {
		if (!oops_in_progress)
			goto out;
		if (waited++ == LOCK_WAIT_US) {
			copy_all();
			goto out;
		}
		udelay(1);
	}
	copy_all();
	raw_spin_unlock(&host_log_lock);
out:
	local_irq_restore(flags);
}

/* Its text has been copied, or will be, with what was not for consoles. */
static void host_console_write(struct console *con, const char *text,
			       unsigned int count)
{
	mios_hostlog_tick();
}

static struct console host_console = {
	.name	= "mioslog",
	.write	= host_console_write,
	.flags	= CON_ENABLED | CON_ANYTIME,
	.index	= 0,
};

/* What is constant in it; again and again, for anybody may overwrite it. */
void mios_hostlog_restore(struct mios_ring *ring)
{
	struct mios_log *log = ring_log(ring);

	WRITE_ONCE(log->size, TEXT_SIZE);
	/* A magic number that is there says that the rest is, too. */
	smp_store_release(&log->magic, MIOS_LOG_MAGIC);
}

/* Before anybody else knows the ring; it begins with the oldest line. */
void mios_hostlog_start(struct mios_ring *ring)
{
	kmsg_dump_rewind(&ring->logged);
	mios_hostlog_restore(ring);
}

const void *mios_link_hostlog(size_t *size)
{
	struct mios_ring *ring;
	u32 i;

	*size = MIOS_AREA_LOG_SIZE;
	for_each_mios_ring(ring, i)
		return ring_log(ring);
	return NULL;
}

void mios_hostlog_init(void)
{
	register_console(&host_console);
}

void mios_hostlog_exit(void)
{
	unregister_console(&host_console);
}
