/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What travels in the channels: message types and their payloads.  A type
 * belongs to one class of channels; mios/core/link/, mios/console/ and
 * mios/net/ are the readers, and each checks the length before it looks inside.
 */
#ifndef _MIOS_MSG_H
#define _MIOS_MSG_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <mios/layout.h>

#define MIOS_TYPES_PER_CLASS	16u

enum mios_msg_type {
	/* control */
	MIOS_MSG_NONE = 0,
	MIOS_MSG_SHUTDOWN,	/* to a child: power off in order; no payload */
	MIOS_MSG_ECHO,		/* struct mios_msg_echo; comes back */
	MIOS_MSG_ECHO_REPLY,
	MIOS_MSG_CALL,		/* struct mios_msg_call, then what is asked */
	MIOS_MSG_ANSWER,	/* struct mios_msg_answer, then the answer */
	MIOS_MSG_LOCK_WAKE,	/* a lock of miosfs may be yours; no payload */
	MIOS_MSG_FILE_LOCK_TURN, /* one of a file may be; no payload */
	MIOS_MSG_COPY_ASK,	/* struct mios_msg_copy_ask */
	MIOS_MSG_COPY_PAGES,	/* struct mios_msg_copy_pages, its answer */
	MIOS_MSG_COPY_STOP,	/* struct mios_msg_copy_stop: it is not wanted any more */
	/* console */
	MIOS_MSG_CONSOLE_ATTACH = MIOS_CLASS_CONSOLE * MIOS_TYPES_PER_CLASS,
	MIOS_MSG_CONSOLE_DETACH,
	MIOS_MSG_CONSOLE_STATUS, /* answer to ATTACH: struct mios_msg_status */
	MIOS_MSG_CONSOLE_OUTPUT, /* bytes that the console prints */
	MIOS_MSG_CONSOLE_INPUT,	/* bytes that were typed */
	MIOS_MSG_CONSOLE_TAKEN,	/* some of them were taken: struct mios_msg_taken */
	/* net */
	MIOS_MSG_FRAME = MIOS_CLASS_NET * MIOS_TYPES_PER_CLASS,
	MIOS_MSG_TYPES = MIOS_CLASSES * MIOS_TYPES_PER_CLASS
};

#define MIOS_CONTROL_MAX	1024u	/* bytes of a control message */
#define MIOS_CONSOLE_MAX	224u	/* of a console one: one slot */
#define MIOS_CONSOLE_WINDOW	4096u	/* of input that a terminal has not taken */

/* Comes back as it went, but for the type. */
struct mios_msg_echo {
	__u32 cookie;
	__u32 flags;
};

/* What is called: see mios_call(). */
enum mios_call_type {
	MIOS_CALL_NONE = 0,
	MIOS_CALL_PROBE,	/* struct mios_call_probe; for tests */
	MIOS_CALL_WAKE,		/* struct mios_call_wake: how many were */
	MIOS_CALL_REVOKE,	/* struct mios_call_revoke: who is pinned */
	MIOS_CALL_LOAN,		/* struct mios_call_loan */
	MIOS_CALL_REGISTER,	/* struct mios_call_register */
	MIOS_CALL_RANGE_OWNER,	/* struct mios_call_range_owner, to instance 0 */
	MIOS_CALL_DEVICE,	/* struct mios_call_device, from instance 0 */
	MIOS_CALL_PID,		/* struct mios_call_pid */
	MIOS_CALLS
};

/**
 * struct mios_msg_call - begins a call
 * @id:		the caller's number of it, which he never uses again
 * @deadline:	time stamp counter, which is one for the machine: nobody waits
 *		for it any more, and it is not begun
 * @what:	enum mios_call_type
 * @reserved:	0
 */
struct mios_msg_call {
	__u64 id;
	__u64 deadline;
	__u32 what;
	__u32 reserved;
};

/**
 * struct mios_msg_answer - begins the answer to a call
 * @id:		of the call
 * @result:	0, or -errno: then nothing follows
 * @reserved:	0
 */
struct mios_msg_answer {
	__u64 id;
	__s32 result;
	__u32 reserved;
};

static_assert(sizeof(struct mios_msg_call) == 24);
static_assert(sizeof(struct mios_msg_answer) == 16);

#define MIOS_CALL_MAX	(MIOS_CONTROL_MAX - 24)	/* bytes either way */

/**
 * struct mios_call_probe - a call that sleeps, then calls its caller
 * @sleep_ms:	how long it sleeps
 * @depth:	how often the call goes on, there and back
 */
struct mios_call_probe {
	__u32 sleep_ms;
	__u32 depth;
};

static_assert(sizeof(struct mios_call_probe) == 8);

/**
 * struct mios_call_wake - wake tasks that wait on a futex; see mios/fs.h
 * @sequence, @page, @offset: its key, as the kernel has it
 * @nr:		at most so many; 0: whoever waits on any that is shared
 * @bitset:	of these
 * @reserved:	0
 *
 * The answer is how many were woken, 4 bytes.
 */
struct mios_call_wake {
	__u64 sequence;
	__u64 page;
	__u32 offset;
	__u32 nr;
	__u32 bitset;
	__u32 reserved;
};

static_assert(sizeof(struct mios_call_wake) == 32);

/**
 * struct mios_call_revoke - unmap pages of a file of miosfs
 * @image:	physical address of the image
 * @inode:	number of the file
 * @id:		and its id
 * @first:	from this page on
 * @nr:		so many; 0: to the end of the file
 * @copies:	1: private copies of them, too
 *
 * The answer, when no page table and no TLB of the instance has them any more:
 * bit i of MIOS_REVOKE_PAGES is set if page @first + i is in use there still; of
 * the bytes behind the last such bit none.  Of a directory, when none of its
 * names is known there any more that nobody uses.
 */
struct mios_call_revoke {
	__u64 image;
	__u64 inode;
	__u64 id;
	__u64 first;
	__u64 nr;
	__u64 copies;
};

#define MIOS_REVOKE_PAGES	4096u

/**
 * struct mios_call_range_owner - is it memory of an instance's node?
 * @base:	physical address
 * @size:	bytes
 * @instance:	whose it is said to be
 * @reserved:	0
 */
struct mios_call_range_owner {
	__u64 base;
	__u64 size;
	__u32 instance;
	__u32 reserved;
};

/* What is said about loans; see mios/swap/. */
enum mios_loan_op {
	MIOS_LOAN_NONE = 0,
	MIOS_LOAN_TAKE,		/* to a lender; the answer: struct mios_loan */
	MIOS_LOAN_GIVE,		/* to him: @base, 0: all, up to @ticket is mapped no more */
	MIOS_LOAN_RECALL,	/* from him: answer when @base is not in use */
	MIOS_LOAN_FORGET,	/* to him: what was taken with @ticket, or will be */
	MIOS_LOAN_STOP,		/* lend nothing any more: you are to be stopped */
	MIOS_LOAN_TELL,		/* to a borrower; the answer: struct mios_loan_line[] */
};

/**
 * struct mios_call_loan - about memory to swap into
 * @base:	physical address of a loan
 * @ticket:	number of a TAKE, of which a borrower uses none twice, nor a lower
 *		one after a higher one, in all his boot; of which loan a RECALL
 *		is; up to which a GIVE is; else 0
 * @op:		enum mios_loan_op
 * @reserved:	0
 */
struct mios_call_loan {
	__u64 base;
	__u64 ticket;
	__u32 op;
	__u32 reserved;
};

/**
 * struct mios_loan - memory that is lent
 * @base:	physical address
 * @size:	MIOS_LOAN_SIZE
 */
struct mios_loan {
	__u64 base;
	__u64 size;
};

#define MIOS_LOAN_SIZE	(2ull << 20)

/**
 * struct mios_loan_line - what one has borrowed of another
 * @lender:	who, MIOS_NO_INSTANCE: it is on the borrower's block device
 * @loans:	how many
 * @lost:	those whose lender is dead
 * @frames:	pages in them that hold something
 */
struct mios_loan_line {
	__u32 lender;
	__u32 loans;
	__u32 lost;
	__u32 frames;
};

#define MIOS_LOAN_LINES	(MIOS_CALL_MAX / 16)
static_assert(sizeof(struct mios_loan_line) == 16);

/* What is said about the register of register locks; see mios/reglock/. */
enum mios_register_op {
	MIOS_REGISTER_NONE = 0,
	MIOS_REGISTER_ATTACH,	/* to instance 0; the answer: struct mios_register_place */
	MIOS_REGISTER_DETACH,	/* to it: nothing of that is mapped any more */
};

/**
 * struct mios_call_register - to use it, and no more
 * @op:		enum mios_register_op
 * @version:	MIOS_REGISTER_VERSION
 * @ticket:	a higher one each time: nothing is done after what came later
 */
struct mios_call_register {
	__u32 op;
	__u32 version;
	__u64 ticket;
};

/**
 * struct mios_register_place - where it is
 * @page:	physical address of the page that holds it
 * @at:		the register, from there
 * @flush:	one that is read without effect, after a write
 * @words:	physical address of what stands beside it, mios/register.h
 * @size:	bytes of that, whole pages
 */
struct mios_register_place {
	__u64 page;
	__u32 at;
	__u32 flush;
	__u64 words;
	__u64 size;
};

/* What is said about a PCI function; see mios/devices/. */
enum mios_device_op {
	MIOS_DEVICE_NONE = 0,
	MIOS_DEVICE_GIVE,	/* it is the callee's */
	MIOS_DEVICE_TAKE,	/* answer when nobody uses it any more */
};

#define MIOS_DEVICE_BARS	6u

/**
 * struct mios_call_device - about a PCI function of segment 0
 * @ticket:	time since the boot of instance 0, a higher one each time: nothing is
 *		done after what came later
 * @config:	physical address of its configuration space, a page
 * @op:		enum mios_device_op
 * @function:	bus << 8 | device << 3 | function
 * @id:		vendor, and device << 16
 * @incarnation: of the callee, who is given it in no other life
 * @bar:	what its base addresses are to be; size 0: not used
 */
struct mios_call_device {
	__u64 ticket;
	__u64 config;
	__u32 op;
	__u32 function;
	__u32 id;
	__u32 incarnation;
	struct {
		__u64 start;
		__u64 size;
	} bar[MIOS_DEVICE_BARS];
};

static_assert(sizeof(struct mios_call_device) == 128);
static_assert(sizeof(struct mios_call_register) == 16);
static_assert(sizeof(struct mios_register_place) == 32);
static_assert(sizeof(struct mios_call_loan) == 24);
static_assert(sizeof(struct mios_loan) == 16);
static_assert(sizeof(struct mios_call_range_owner) == 24);
static_assert(sizeof(struct mios_call_revoke) == 48);
static_assert(MIOS_REVOKE_PAGES / 8 <= MIOS_CALL_MAX);

/**
 * struct mios_who - on whose behalf something is asked for about a process
 * @uid, @euid, @gid: his, in the first user namespace
 * @reserved:	0
 * @permitted, @effective: his capabilities
 */
struct mios_who {
	__u32 uid;
	__u32 euid;
	__u32 gid;
	__u32 reserved;
	__u64 permitted;
	__u64 effective;
};

/* What is asked about a process. */
enum mios_pid_op {
	MIOS_PID_NONE = 0,
	MIOS_PID_KILL,		/* no answer but its result */
	MIOS_PID_STAT,		/* struct mios_pid_stat */
};

/**
 * struct mios_call_pid - about a process of the callee
 * @op:		enum mios_pid_op
 * @pid:	which
 * @signal:	to be sent to it
 * @from:	PID of who sends it, of the caller
 * @who:	and his identity
 */
struct mios_call_pid {
	__u32 op;
	__u32 pid;
	__u32 signal;
	__u32 from;
	struct mios_who who;
};

/**
 * struct mios_pid_stat - what /proc/PID/stat says
 * @uid, @gid:	whose files in /proc its own are
 * @length:	bytes of @text
 * @reserved:	0
 * @text:	a line
 */
struct mios_pid_stat {
	__u32 uid;
	__u32 gid;
	__u32 length;
	__u32 reserved;
	char text[768];
};

static_assert(sizeof(struct mios_call_pid) == 48);
static_assert(sizeof(struct mios_pid_stat) == 784);
static_assert(sizeof(struct mios_pid_stat) <= MIOS_CALL_MAX);

#define MIOS_COPY_PAGES		64u	/* that one message can ask for */

/**
 * struct mios_msg_copy_ask - where are these pages of a process?
 * @id:		of this question; sent again with it where no answer comes
 * @address:	of the first, in the process
 * @pid:	of it
 * @nr:		how many pages; 0: only whether it may be asked
 * @write:	1: to write there; the answer is for reading only else
 * @reserved:	0
 * @who:	may he attach to it?
 */
struct mios_msg_copy_ask {
	__u64 id;
	__u64 address;
	__u32 pid;
	__u32 nr;
	__u32 write;
	__u32 reserved;
	struct mios_who who;
};

/**
 * struct mios_msg_copy_pages - the answer
 * @id:		of the question
 * @result:	how many there are from the first one on, or -errno; -EBUSY: ask again
 * @slot:	the process is watched there,
 * @generation:	and this holds as long as its generation is so (struct mios_copies)
 * @pfn:	the pages
 */
struct mios_msg_copy_pages {
	__u64 id;
	__s32 result;
	__u32 slot;
	__u64 generation;
	__u64 pfn[MIOS_COPY_PAGES];
};

struct mios_msg_copy_stop {
	__u64 id;
};

static_assert(sizeof(struct mios_who) == 32);
static_assert(sizeof(struct mios_msg_copy_ask) == 64);
static_assert(offsetof(struct mios_msg_copy_pages, pfn) == 24);
static_assert(sizeof(struct mios_msg_copy_pages) <= MIOS_CONTROL_MAX);

struct mios_msg_status {
	__s32 error;	/* 0 or -EBUSY: somebody else is attached */
	__u32 reserved;
};

/**
 * struct mios_msg_taken - how much input a terminal has taken
 * @bytes:	since the ATTACH, modulo 2^32; what comes more than
 *		MIOS_CONSOLE_WINDOW beyond that is lost
 * @reserved:	0
 */
struct mios_msg_taken {
	__u32 bytes;
	__u32 reserved;
};

static_assert(sizeof(struct mios_msg_taken) == 8);

#define MIOS_FRAME_CSUM		(1u << 0)	/* checksum still to be filled */

/**
 * struct mios_msg_frame - stands before an Ethernet frame
 * @flags:	MIOS_FRAME_*
 * @reserved:	0
 * @csum_start, @csum_offset: where, as in struct sk_buff, from the frame's
 *		first byte; for MIOS_FRAME_CSUM
 */
struct mios_msg_frame {
	__u16 flags;
	__u16 csum_start;
	__u16 csum_offset;
	__u16 reserved;
};

static_assert(sizeof(struct mios_msg_frame) == 8);

#define MIOS_FRAME_MAX	(65520u + 18u)	/* largest MTU, Ethernet, VLAN tag */

#endif /* _MIOS_MSG_H */
