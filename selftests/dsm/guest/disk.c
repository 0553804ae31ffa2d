// SPDX-License-Identifier: GPL-2.0
/*
 * A guest that uses its first disk as an operating system does, alone, without
 * one: finds the device, sets its queue up, reads what the host has put there,
 * writes to it across the border of two nodes' memory, flushes, reads it back,
 * each time until the interrupt of the I/O APIC; sends it nonsense, sees it
 * stop, resets it and goes on; then what a disk must refuse.  It says so at the
 * serial port, and ends.
 */
#include <linux/virtio_blk.h>
#include <linux/virtio_config.h>
#include <linux/virtio_mmio.h>
#include <linux/virtio_ring.h>

#define DEVICE		0xd0000000u
#define PIN		16
#define IOAPIC		0xfec00000u
#define VECTOR		0x41
#define COM1		0x3f8
#define END		0x600
#define X2APIC_ID	0x802
#define X2APIC_SVR	0x80f

#define NUM		8
#define DESC		((struct vring_desc *)0x100000)
#define AVAIL		((struct vring_avail *)0x101000)
#define USED		((volatile struct vring_used *)0x102000)
#define ASK		((struct virtio_blk_outhdr *)0x103000)
#define ANSWER		((volatile __u8 *)0x104000)
/* EACH: bytes of memory at each node. */
#define DATA		((__u8 *)(EACH - 3072))
#define BACK		((__u8 *)(2 * EACH - 16384))
#define SECTORS		12

static volatile __u32 interrupts;

static void out(__u16 port, __u8 value)
{
	asm volatile("outb %0, %1" : : "a"(value), "d"(port));
}

static __u32 msr_read(__u32 msr)
{
	__u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return low;
}

static void msr_write(__u32 msr, __u32 value)
{
	asm volatile("wrmsr" : : "a"(value), "d"(0), "c"(msr));
}

static volatile __u32 *reg(__u32 offset)
{
	return (volatile __u32 *)(DEVICE + offset);
}

static void say(const char *text)
{
	while (*text)
		out(COM1, *text++);
	out(COM1, '\n');
}

static void need(int good, const char *what)
{
	if (good)
		return;
	say(what);
	out(END, 9);
	for (;;)
		asm volatile("hlt");
}

void interrupted(void)
{
	__u32 status = *reg(VIRTIO_MMIO_INTERRUPT_STATUS);

	*reg(VIRTIO_MMIO_INTERRUPT_ACK) = status;
	interrupts++;
}

static void interrupts_on(void)
{
	volatile __u32 *select = (__u32 *)IOAPIC, *window = select + 4;

	msr_write(X2APIC_SVR, 0x1ff);
	*select = 0x11 + 2 * PIN;
	*window = msr_read(X2APIC_ID) << 24;
	*select = 0x10 + 2 * PIN;
	*window = 0x8000 | VECTOR;
}

static void device_on(void)
{
	*reg(VIRTIO_MMIO_STATUS) = 0;
	need(!*reg(VIRTIO_MMIO_STATUS), "no reset");
	*reg(VIRTIO_MMIO_STATUS) = 3;
	*reg(VIRTIO_MMIO_DRIVER_FEATURES_SEL) = 1;
	*reg(VIRTIO_MMIO_DRIVER_FEATURES) = 1;
	*reg(VIRTIO_MMIO_DRIVER_FEATURES_SEL) = 0;
	*reg(VIRTIO_MMIO_DRIVER_FEATURES) = 1 << VIRTIO_BLK_F_FLUSH;
	*reg(VIRTIO_MMIO_STATUS) = 11;
	need(*reg(VIRTIO_MMIO_STATUS) == 11, "features are refused");
	*reg(VIRTIO_MMIO_QUEUE_SEL) = 0;
	*reg(VIRTIO_MMIO_QUEUE_NUM) = NUM;
	*reg(VIRTIO_MMIO_QUEUE_DESC_LOW) = (__u32)DESC;
	*reg(VIRTIO_MMIO_QUEUE_AVAIL_LOW) = (__u32)AVAIL;
	*reg(VIRTIO_MMIO_QUEUE_USED_LOW) = (__u32)USED;
	AVAIL->idx = USED->idx = 0;
	*reg(VIRTIO_MMIO_QUEUE_READY) = 1;
	*reg(VIRTIO_MMIO_STATUS) = 15;
	need(*reg(VIRTIO_MMIO_STATUS) == 15, "it does not begin");
}

static void offer(__u16 head)
{
	__u32 before = interrupts;

	AVAIL->ring[AVAIL->idx % NUM] = head;
	__atomic_store_n(&AVAIL->idx, AVAIL->idx + 1, __ATOMIC_SEQ_CST);
	*reg(VIRTIO_MMIO_QUEUE_NOTIFY) = 0;
	/* It comes after HLT has begun, or before, but not between. */
	while (interrupts == before)
		asm volatile("sti\n\thlt\n\tcli" : : : "memory");
}

static void part(int i, const volatile void *at, __u32 len, __u16 flags)
{
	DESC[i] = (struct vring_desc){ (__u32)at, len, flags, i + 1 };
}

/* How it went; it is told of exactly once. */
static int request(__u32 type, __u64 sector, __u8 *at, __u32 len, __u16 flags)
{
	__u16 used = USED->idx;

	*ASK = (struct virtio_blk_outhdr){ .type = type, .sector = sector };
	*ANSWER = 0xee;
	part(0, ASK, sizeof(*ASK), VRING_DESC_F_NEXT);
	part(1, at, len, VRING_DESC_F_NEXT | flags);
	part(2, ANSWER, 1, VRING_DESC_F_WRITE);
	offer(0);
	need((__u16)(used + 1) == USED->idx, "it is not told of");
	return *ANSWER;
}

static int disk_read(__u64 sector, __u8 *at, __u32 len)
{
	return request(VIRTIO_BLK_T_IN, sector, at, len, VRING_DESC_F_WRITE);
}

static int disk_write(__u64 sector, __u8 *at, __u32 len)
{
	return request(VIRTIO_BLK_T_OUT, sector, at, len, 0);
}

static __u8 pattern(__u32 i)
{
	return i * 7 + i / 512;
}

static void transfers(void)
{
	need(!disk_read(0, BACK, 512), "sector 0 is not read");
	BACK[23] = 0;
	say((char *)BACK);
	for (__u32 i = 0; i < SECTORS * 512; i++)
		DATA[i] = pattern(i);
	need(!disk_write(5, DATA, SECTORS * 512), "it is not written");
	need(!request(VIRTIO_BLK_T_FLUSH, 0, DATA, 0, 0), "no flush");
	need(!disk_read(5, BACK, SECTORS * 512), "it is not read");
	for (__u32 i = 0; i < SECTORS * 512; i++)
		need(BACK[i] == pattern(i), "it reads something else");
	say("written, flushed and read");
}

static void nonsense(void)
{
	part(0, (void *)0xfffffff0u, 512, VRING_DESC_F_WRITE);
	offer(0);
	need(*reg(VIRTIO_MMIO_STATUS) == 0x4f, "it does not mind nonsense");
	device_on();
	need(!disk_read(0, BACK, 512), "a reset does not help");
	say("stopped by nonsense, reset");
}

static void refused(__u64 sectors)
{
	need(disk_read(sectors, BACK, 512) == VIRTIO_BLK_S_IOERR, "read behind the end");
	need(disk_write(sectors - 1, DATA, 1024) == VIRTIO_BLK_S_IOERR,
	     "written behind the end");
	need(disk_write(0, DATA, 100) == VIRTIO_BLK_S_IOERR, "a part of a sector");
	need(request(99, 0, BACK, 512, VRING_DESC_F_WRITE) == VIRTIO_BLK_S_UNSUPP,
	     "what nobody knows");
	say("refused");
}

void disk(void)
{
	need(*reg(VIRTIO_MMIO_MAGIC_VALUE) == 0x74726976 &&
	     *reg(VIRTIO_MMIO_VERSION) == 2 && *reg(VIRTIO_MMIO_DEVICE_ID) == 2,
	     "there is no disk");
	interrupts_on();
	device_on();
	if (*reg(VIRTIO_MMIO_DEVICE_FEATURES) & 1 << VIRTIO_BLK_F_RO) {
		need(disk_write(0, DATA, 512) == VIRTIO_BLK_S_IOERR,
		     "a disk that is only read is written");
		say("only read");
	} else {
		transfers();
		nonsense();
		refused(*reg(VIRTIO_MMIO_CONFIG));
	}
	out(END, 0);
	for (;;)
		asm volatile("hlt");
}
