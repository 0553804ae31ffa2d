/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies between libglex and the way to other machines, which is a library of its
 * own (verbs/): a program that stays on its machine loads none of what that needs.
 */
#ifndef GLEX_FAR_H
#define GLEX_FAR_H

#include <stdint.h>

#include "glex.h"

#define FAR_LIBRARY	"libglex-verbs.so.1"
#define FAR_VERSION	1u
#define FAR_REGIONS	1024u
#define FAR_KEY		32u
/* The longest packet, and put without registered memory. */
#define FAR_DATA	128u
/* Numbers of instances (nic_id) are below. */
#define FAR_NICS	65536u

/**
 * struct far_setting - an endpoint that others may reach
 * @addr:	it
 * @key:	of struct glex_ep_attr
 * @secret:	what who connects has to know
 * @address, @port: where it listens, in the host's order
 * @address_of:	where another one listens; 0: nowhere
 * @packet, @event: puts one into its queue; GLEX_BUSY: there is no room.  One thread
 *		calls them, which is not one of the program's.
 * @context:	their first argument
 */
struct far_setting {
	glex_ep_addr_t addr;
	uint32_t key;
	uint8_t secret[FAR_KEY];
	uint32_t address;
	uint16_t port;
	uint32_t (*address_of)(void *context, glex_ep_addr_t to, uint16_t *port);
	glex_ret_t (*packet)(void *context, glex_ep_addr_t from, const void *data,
			     uint32_t len);
	glex_ret_t (*event)(void *context, const glex_event_t *event);
	void *context;
};

/**
 * struct far_move - bytes between here and another machine
 * @type:	put or get
 * @to:		whose endpoint
 * @here, @len:	own memory
 * @own:	the registered memory that it is in; v is 0: in none, and FAR_DATA at most
 * @mh, @offset, @key: of the memory there
 * @event:	to be left there behind the bytes, or NULL
 */
struct far_move {
	enum glex_rdma_type type;
	glex_ep_addr_t to;
	uint64_t here;
	uint32_t len;
	glex_mem_handle_t own;
	glex_mem_handle_t mh;
	uint32_t offset;
	uint32_t key;
	const glex_event_t *event;
};

struct far;		/* an endpoint's way out */
struct far_memory;	/* memory that is pinned for it */

/*
 * Any thread may call any of them, but close() when no other one is in a call.
 * packet() and move() are done when they return, which is within some seconds of the
 * last progress; GLEX_ACCESS_ERR: @why says why.
 */
struct far_ops {
	uint32_t version;
	/* GLEX_NO_EP_RESOURCE: somebody listens there; GLEX_SYS_ERR: it has said why. */
	glex_ret_t (*open)(struct far **far, const struct far_setting *setting);
	void (*close)(struct far *far);
	/* NULL: it cannot be had; it has said why. */
	struct far_memory *(*pin)(struct far *far, void *addr, uint64_t len, int32_t flag);
	/* Waits for requests that use it. */
	void (*unpin)(struct far *far, struct far_memory *memory);
	/* From now on it is region @index, with this number; and what it was. */
	void (*publish)(struct far *far, uint32_t index, uint32_t sequence,
			struct far_memory *memory);
	struct far_memory *(*withdraw)(struct far *far, uint32_t index);
	glex_ret_t (*packet)(struct far *far, glex_ep_addr_t to, const void *data,
			     uint32_t len, enum glex_err_req_status *why);
	glex_ret_t (*move)(struct far *far, const struct far_move *m,
			   enum glex_err_req_status *why);
};

extern const struct far_ops glex_far_ops;

#endif /* GLEX_FAR_H */
