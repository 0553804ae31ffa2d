/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of libglex share.  An endpoint is a file of its owner's, in
 * /dev/shm, which all instances of the ring have:
 *
 *	header | registered memory | mini-packets | events
 *
 * Its owner holds a lock on it (flock()) as long as he lives, wherever he does: so
 * others know.  Who sends maps it and writes slots; what is read from it is
 * checked, whoever wrote it.
 */
#ifndef GLEX_INTERNAL_H
#define GLEX_INTERNAL_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "far.h"
#include "glex.h"

#define FILE_MAGIC	0x58454c47534f494dull	/* "MIOSGLEX" */
#define FILE_VERSION	3
/* Instances of a machine, and machines. */
#define NICS		64u
#define MACHINES	1024u
#define MP_DATA		128u
#define IMM_RDMA_DATA	128u
#define REGIONS		1024u
#define MPQ_DEFAULT	1024u
#define MPQ_HIGH	16384u
#define EQ_DEFAULT	4096u
#define EQ_HIGH		65536u
#define QUEUE_MAX	65536u
#define ERRORS		64u
#define KEY_BYTES	FAR_KEY
#define PORT_DEFAULT	20000u

/**
 * struct header - first page of an endpoint's file
 * @magic:	FILE_MAGIC, written last
 * @version:	FILE_VERSION
 * @nic_id, @ep_num: its address
 * @pid:	whose memory it is
 * @key:	of struct glex_ep_attr
 * @mpq_capacity, @eq_capacity: powers of two
 * @mp_tail, @event_tail: where the next slot is looked for: hints
 * @bell:	counts up when something has come and @waiting is not 0
 * @intent:	where the owner himself claims a slot, of which queue of whom; or 0
 * @nonce:	another one each time that the owner joins a group
 * @member:	how far he is in it (group.c)
 * @closed:	not 0: its owner has ended it, or the next one has found him dead
 * @port_intent: as @intent, of the owner's thread that serves other machines
 */
struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t nic_id;
	uint32_t ep_num;
	uint32_t pid;
	uint32_t key;
	uint32_t mpq_capacity;
	uint32_t eq_capacity;
	uint32_t reserved;
	uint8_t pad[24];

	_Atomic uint64_t mp_tail;
	uint8_t pad_mp[56];
	_Atomic uint64_t event_tail;
	uint8_t pad_event[56];
	_Atomic uint32_t bell;
	_Atomic uint32_t waiting;
	uint8_t pad_bell[56];
	_Atomic uint64_t intent;
	_Atomic uint64_t nonce;
	_Atomic uint64_t member;
	_Atomic uint32_t closed;
	uint32_t pad_closed;
	_Atomic uint64_t port_intent;
};

static_assert(offsetof(struct header, mp_tail) == 64, "layout");
static_assert(offsetof(struct header, bell) == 192, "layout");
static_assert(offsetof(struct header, intent) == 256, "layout");
static_assert(offsetof(struct header, member) == 272, "layout");
static_assert(offsetof(struct header, closed) == 280, "layout");
static_assert(offsetof(struct header, port_intent) == 288, "layout");

/**
 * struct region - registered memory
 * @sequence:	even and not 0: it is; a handle names one value of it
 * @flags:	enum glex_mem_flag
 * @address, @length: where
 */
struct region {
	_Atomic uint32_t sequence;
	_Atomic uint32_t flags;
	_Atomic uint64_t address;
	_Atomic uint64_t length;
};

struct mp_slot {
	_Atomic uint64_t stamp;
	uint64_t from;
	uint32_t len;
	uint32_t reserved;
	uint8_t data[MP_DATA];
	uint8_t pad[40];
};

struct event_slot {
	_Atomic uint64_t stamp;
	uint64_t reserved;
	glex_event_t event;
};

static_assert(sizeof(struct region) == 24, "layout");
static_assert(sizeof(struct mp_slot) == 192, "layout");
static_assert(sizeof(struct event_slot) == 32, "layout");

#define REGIONS_AT	4096u
#define MPQ_AT		(REGIONS_AT + 24576u)
static_assert(REGIONS * sizeof(struct region) == 24576, "layout");

/**
 * struct queue - one of a file's two, as one process sees it
 * @which:	of the two
 * @slots:	each begins with its stamp
 * @size:	of a slot
 * @capacity:	slots, a power of two, checked
 * @tail:	in the header
 */
enum which_queue { MPS = 1, EVENTS };

struct queue {
	enum which_queue which;
	uint8_t *slots;
	size_t size;
	uint64_t capacity;
	_Atomic uint64_t *tail;
};

/**
 * struct file - an endpoint's file, mapped
 * @fd:		it
 * @size:	bytes mapped
 * @header:	there
 * @own:	a checked copy of its constant part
 * @regions:	there
 * @mps, @events: its queues
 */
struct file {
	int fd;
	size_t size;
	struct header *header;
	struct header own;
	struct region *regions;
	struct queue mps;
	struct queue events;
};

/**
 * struct peer - an endpoint that is sent to
 * @next:	of the same sender
 * @addr:	whose it is
 * @checked:	when its owner was seen alive, ms
 * @patience:	until he is looked at again, ms
 * @file:	his
 */
struct peer {
	struct peer *next;
	glex_ep_addr_t addr;
	uint64_t checked;
	uint64_t patience;
	struct file file;
};

/* How far the owner has read, and how far he has only looked. */
struct reader {
	struct queue *queue;
	glex_ep_addr_t own;
	uint64_t head;
	uint64_t probed;
	uint64_t stuck_at;
	uint64_t stuck_since;
};

/**
 * struct writer - one thread at a time that writes to queues
 * @from:	its endpoint, as a stamp has it
 * @intent:	in its own file: where it claims a slot
 */
struct writer {
	uint32_t from;
	_Atomic uint64_t *intent;
};

/**
 * struct machines - what the file that GLEX_MACHINES names says
 * @self:	the number of this one
 * @port:	endpoint N listens at port @port + N
 * @has_key, @key: what who connects has to know
 * @address:	of each machine's instance 0, in the host's order; 0: there is none
 */
struct machines {
	uint32_t self;
	uint32_t port;
	bool has_key;
	uint8_t key[KEY_BYTES];
	uint32_t address[MACHINES];
};

/* @machines, @far: NULL where there is but this one. */
struct glex_device {
	uint32_t nic_id;
	const struct machines *machines;
	const struct far_ops *far;
};

struct glex_ep {
	pthread_mutex_t mutex;	/* of all that follows */
	glex_ep_addr_t addr;
	struct glex_ep_attr attr;
	struct file file;
	struct writer writer;
	struct peer *peers;
	struct reader mps;
	struct reader events;
	struct glex_coll *coll;	/* whose packets the mini-packets are */
	const struct far_ops *far_ops;
	const struct machines *machines;
	struct far *far;	/* NULL: it goes nowhere */
	struct writer port;	/* who puts here what comes from there */
	struct glex_err_req error[ERRORS];
	uint32_t errors;
};

/* device.c */
bool instance_is_up(uint32_t nic_id);
uint64_t now_ms(void);

/* What is waited for in vain is asked for half as often each time. */
static inline uint64_t longer(uint64_t wait, uint64_t most)
{
	return 2 * wait < most ? 2 * wait : most;
}

/* machines.c */
const struct machines *machines_get(uint32_t instance);
uint32_t machines_address(const struct machines *m, uint32_t nic_id);

/* far.c */
glex_ret_t far_load(const struct far_ops **ops);
glex_ret_t far_open(struct glex_ep *ep, const struct glex_device *dev);
void far_close(struct glex_ep *ep);
glex_ret_t far_send(struct glex_ep *ep, const struct glex_imm_mp_req *req,
		    enum glex_err_req_status *why);
glex_ret_t far_copy(struct glex_ep *ep, const struct far_move *m,
		    enum glex_err_req_status *why);
struct far_memory *far_pin(struct glex_ep *ep, void *addr, uint64_t len, int32_t flag);
void far_unpin(struct glex_ep *ep, struct far_memory *memory);
void far_publish(struct glex_ep *ep, uint32_t index, uint32_t sequence,
		 struct far_memory *memory);
struct far_memory *far_withdraw(struct glex_ep *ep, uint32_t index);

/* Is it of this machine? */
static inline bool is_near(const struct glex_ep *ep, glex_ep_addr_t addr)
{
	return addr.nic_id / NICS == ep->addr.nic_id / NICS;
}

/* threshold.c */
glex_ret_t threshold_set(void);
uint32_t threshold(void);

/* file.c */
glex_ret_t file_create(struct file *f, uint32_t nic_id, uint32_t ep_num,
		       const struct glex_ep_attr *attr);
int file_open(struct file *f, glex_ep_addr_t addr);
void file_close(struct file *f);
void file_remove(struct file *f);
bool file_owner_lives(const struct file *f);

/* queue.c */
void queue_empty(struct queue *q);
struct writer queue_writer(glex_ep_addr_t from, _Atomic uint64_t *intent);
void *queue_claim(const struct writer *w, struct file *f, struct queue *q,
		  uint64_t *position);
void queue_publish(const struct writer *w, struct file *f, void *slot,
		   uint64_t position);
void *reader_look(struct reader *r, uint64_t position);
void reader_free(struct reader *r, uint64_t up_to);
bool reader_is_sound(const struct reader *r);
glex_ret_t reader_wait(struct glex_ep *ep, struct reader *r, int32_t timeout,
		       void **slot);

/* Shows the first, waiting for it; the next one; lets go what has been shown. */
glex_ret_t reader_probe(struct glex_ep *ep, struct reader *r, int32_t timeout,
			void **slot);
void *reader_probe_next(struct glex_ep *ep, struct reader *r);
glex_ret_t reader_discard(struct glex_ep *ep, struct reader *r);

/* request.c */
typedef glex_ret_t request_do(struct glex_ep *ep, const void *request);

glex_ret_t requests_do(struct glex_ep *ep, void *first, size_t next,
		       request_do *one, void **bad);
glex_ret_t request_refused(struct glex_ep *ep, const struct glex_err_req *error);

/* memory.c */
int region_find(const struct file *f, glex_mem_handle_t mh, uint64_t offset,
		uint64_t len, uint32_t flag, uint64_t *address);

/* rdma.c */
int memory_copy(enum glex_err_req_op op, uint64_t here, uint64_t len, uint32_t pid,
		uint64_t there);

/* peer.c */
struct peer *peer_get(struct glex_ep *ep, glex_ep_addr_t addr);
void peers_drop(struct glex_ep *ep);
glex_ret_t mp_put(const struct writer *w, struct file *f, glex_ep_addr_t from,
		  const void *data, uint32_t len);
glex_ret_t peer_refused(struct glex_ep *ep, struct peer *peer,
			const struct glex_err_req *error);
glex_ret_t event_put(const struct writer *w, struct file *f, const glex_event_t *event);

#endif /* GLEX_INTERNAL_H */
