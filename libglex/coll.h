/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collectives.  A group is a list of endpoints, the same in each member; a call is
 * a tree of messages between them, made of mini-packets, or of one that says where
 * the bytes lie, which the receiver then gets and acknowledges.
 *
 * What goes wrong for one ends the group for all: who notices says so in the header
 * of his file (@member), at which each who waits looks, as at whether its owner
 * lives.  So nobody waits for one who will not come.
 */
#ifndef GLEX_COLL_H
#define GLEX_COLL_H

#include "internal.h"

#define COLL_DATA	88u
/* Neighbours in the tree of the largest group, and calls under way at once. */
#define COLL_LINKS	8u
#define COLL_WINDOW	2u
#define COLL_CAPACITY	64u

static_assert(1u << COLL_LINKS == GLEX_COLL_MAX_MEMBERS, "depth of the tree");

enum coll_phase { COLL_UP = 1, COLL_DOWN, COLL_UP_ACK, COLL_DOWN_ACK };
enum coll_way { COLL_FAST = 1, COLL_NORMAL };

/**
 * struct coll_packet - a mini-packet of a group
 * @check:	of all that follows
 * @group:	which one
 * @len:	bytes of the message
 * @sequence:	how many calls there were before
 * @at:		where in the message these bytes are
 * @shape:	call, root, and operation, which must be the receiver's, too
 * @from:	whose, the place in the list
 * @phase:	enum coll_phase
 * @way:	enum coll_way
 * @data:	the bytes, or the address where they are
 */
struct coll_packet {
	uint64_t check;
	uint64_t group;
	uint64_t len;
	uint32_t sequence;
	uint32_t at;
	uint32_t shape;
	uint16_t from;
	uint8_t phase;
	uint8_t way;
	uint8_t data[COLL_DATA];
};

static_assert(sizeof(struct coll_packet) == MP_DATA, "a mini-packet");
static_assert(offsetof(struct coll_packet, data) == 40, "layout");

/**
 * struct glex_coll - a member's view of its group
 * @ep:		its endpoint
 * @count, @rank: members, and which one it is
 * @group:	its number
 * @file:	of the others
 * @fast:	the longest message that goes in packets
 * @sequence:	calls that are done
 * @shape:	of the one that is under way
 * @end:	when its time is up, ms
 * @checked:	when others were looked at, ms
 * @asked:	and whether they live
 * @patience:	until that is asked again, ms
 * @next:	who of all is looked at next
 * @broken:	nothing more is done; why:
 * @error:	that
 * @early:	packets that nobody has asked for yet
 * @earlies:	how many
 */
struct glex_coll {
	struct glex_ep *ep;
	uint32_t count;
	uint32_t rank;
	uint64_t group;
	struct file *file;
	uint64_t fast;
	uint32_t sequence;
	uint32_t shape;
	uint64_t end;
	uint64_t checked;
	uint64_t asked;
	uint64_t patience;
	uint32_t next;
	bool broken;
	struct glex_err_req error;
	struct coll_packet *early;
	uint32_t earlies;
};

/* All below: under the endpoint's mutex; false: the group is broken. */

/* group.c */
#define SEQUENCE_MASK	0x3fffffffu

void coll_free(struct glex_coll *coll);
void coll_begin(struct glex_coll *coll, int32_t timeout);
uint64_t coll_mix(uint64_t hash, uint64_t word);
bool coll_break(struct glex_coll *coll, uint32_t who,
		enum glex_err_req_status status);
void coll_done(struct glex_coll *coll);
bool coll_has_left(const struct glex_coll *coll, uint32_t who);
bool coll_has_room(const struct glex_coll *coll, uint32_t who);
bool coll_look(struct glex_coll *coll, uint32_t who);

/* message.c */
uint64_t coll_check_of(const struct coll_packet *packet);
bool coll_send(struct glex_coll *coll, const uint32_t *to, uint32_t nr,
	       enum coll_phase phase, const void *data, uint64_t len);
bool coll_receive(struct glex_coll *coll, uint32_t from, enum coll_phase phase,
		  void *data, uint64_t len);

/* reduce.c */
void coll_combine(union glex_coll_data_loc *to, const union glex_coll_data_loc *from,
		  uint32_t count, enum glex_coll_reduce_data_bits bits,
		  enum glex_coll_reduce_op op);

#endif /* GLEX_COLL_H */
