// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: how members find each other, and know of each other that they are there.
 *
 * Who joins puts a random number (nonce) into his file, then waits until all others
 * are there, and makes of all numbers the group's.  It changes with each of them, so
 * what is left of an earlier group of the same endpoints is not taken for this one's.
 *
 * MEMBER: in his file each says how far he is, and whether he still is:
 *
 *	hash of the group and the rest (32 bits) | state (2) | calls done (30)
 *
 * Whatever else somebody writes there is noticed.
 */
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "coll.h"
#include "../mios/inject/inject.h"

enum member_state { NOT_THERE, MEMBER_IN, MEMBER_LEFT, MEMBER_BROKEN };

/*
 * Between two looks at what others say, ms; and at first, and then, at whether they
 * live, which takes the lock of all names from all instances.
 */
#define LOOK_MS		10
#define ASK_MS		10
#define ASK_MAX_MS	320
/* Between two tries of who waits for all to come, or to leave, us. */
#define JOIN_US		1000
#define JOIN_MAX_US	32000

MIOS_INJECT_UNIT(coll_no_look);

uint64_t coll_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 29;
}

/* --- MEMBER */

static uint64_t word_of(uint64_t group, enum member_state state, uint32_t sequence)
{
	uint32_t low = (uint32_t)state << 30 | (sequence & SEQUENCE_MASK);

	return coll_mix(group, low) << 32 | low;
}

static void say(struct glex_coll *coll, enum member_state state)
{
	atomic_store(&coll->ep->file.header->member,
		     word_of(coll->group, state, coll->sequence));
}

static enum member_state said(const struct glex_coll *coll, uint32_t who,
			      uint32_t *sequence)
{
	uint64_t word = atomic_load(&coll->file[who].header->member);
	enum member_state state = (uint32_t)word >> 30;

	*sequence = word & SEQUENCE_MASK;
	return word == word_of(coll->group, state, *sequence) ? state : NOT_THERE;
}

bool coll_break(struct glex_coll *coll, uint32_t who, enum glex_err_req_status status)
{
	const struct file *f = who == coll->rank ? &coll->ep->file :
						    &coll->file[who];

	if (coll->broken)
		return false;
	coll->broken = true;
	coll->error = (struct glex_err_req){
		.op = GLEX_ERR_OP_IMM_MP, .status = status,
		.rmt_nic_id = f->own.nic_id, .rmt_ep_num = f->own.ep_num,
		.data0 = coll->sequence,
	};
	say(coll, MEMBER_BROKEN);
	return false;
}

void coll_done(struct glex_coll *coll)
{
	coll->sequence = (coll->sequence + 1) & SEQUENCE_MASK;
	say(coll, MEMBER_IN);
}

bool coll_has_left(const struct glex_coll *coll, uint32_t who)
{
	uint32_t sequence;

	return said(coll, who, &sequence) == MEMBER_LEFT;
}

/* May he be sent packets of this call?  He may be one behind, and no more. */
bool coll_has_room(const struct glex_coll *coll, uint32_t who)
{
	uint32_t sequence;

	return said(coll, who, &sequence) == MEMBER_IN &&
	       ((coll->sequence - sequence) & SEQUENCE_MASK) < COLL_WINDOW;
}

/* For how long it may wait. */
void coll_begin(struct glex_coll *coll, int32_t timeout)
{
	const uint64_t now = now_ms();

	coll->end = timeout < 0 ? UINT64_MAX : now + timeout;
	coll->asked = now;
	coll->patience = ASK_MS;
}

static bool is_time_to_ask(struct glex_coll *coll, uint64_t now)
{
	if (now - coll->asked < coll->patience)
		return false;
	coll->asked = now;
	coll->patience = longer(coll->patience, ASK_MAX_MS);
	return true;
}

/* One who has left has sent all that he had to; @ask: does who is in it live? */
static bool is_there(struct glex_coll *coll, uint32_t who, bool ask)
{
	uint32_t sequence;

	switch (said(coll, who, &sequence)) {
	case MEMBER_IN:
		if (!ask || file_owner_lives(&coll->file[who]) ||
		    coll_has_left(coll, who))
			return true;
		return coll_break(coll, who, GLEX_ERR_STATUS_DEST_VP_STOP);
	case MEMBER_LEFT:
		return true;
	case MEMBER_BROKEN:
		return coll_break(coll, who, GLEX_ERR_STATUS_CONNECTION_NACK);
	default:
		return coll_break(coll, who, GLEX_ERR_STATUS_FORMAT);
	}
}

/*
 * Called over and over by one who waits for @who: looks at him and, in turn, at
 * another one, since whom he waits for may wait for that one.
 */
bool coll_look(struct glex_coll *coll, uint32_t who)
{
	uint64_t now = now_ms();
	bool ask;

	if (now >= coll->end)
		return coll_break(coll, who, GLEX_ERR_STATUS_CONNECTION_MAX_RETRY);
	if (now - coll->checked < LOOK_MS || inject_coll_no_look)
		return true;
	coll->checked = now;
	ask = is_time_to_ask(coll, now);
	/* The next one, when it has been asked whether that one lives. */
	if (ask)
		coll->next = (coll->next + 1) % coll->count;
	return is_there(coll, who, ask) &&
	       (coll->next == coll->rank || is_there(coll, coll->next, ask));
}

/* --- who joins */

/* What came before is of nobody's that is in this group. */
static void queue_drain(struct glex_ep *ep)
{
	while (reader_look(&ep->mps, ep->mps.head))
		reader_free(&ep->mps, ep->mps.head + 1);
}

static int nonce_new(struct glex_ep *ep)
{
	uint64_t nonce;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return -1;
	atomic_store(&ep->file.header->member, 0);
	atomic_store(&ep->file.header->nonce, nonce);
	return 0;
}

static bool open_member(struct glex_coll *coll, uint32_t who, glex_ep_addr_t addr)
{
	struct file *f = &coll->file[who];

	if (f->header)
		return true;
	if (!file_open(f, addr))
		return true;
	f->header = NULL;
	return false;
}

/*
 * NOT_THERE of one who has ended, and may come back: his file is another one then.
 * One who has joined, and has left or seen the group break since, does not come
 * back to it: who waits for him has joined, too, and learns the rest by a call.
 */
static bool has_joined(struct glex_coll *coll, uint32_t who)
{
	enum member_state state;
	uint32_t sequence;

	if (who == coll->rank)
		return true;
	state = said(coll, who, &sequence);
	if (state == NOT_THERE && !file_owner_lives(&coll->file[who])) {
		file_close(&coll->file[who]);
		coll->file[who].header = NULL;
	}
	return state != NOT_THERE;
}

/* One look at all; the first one that is not there, or @count. */
static uint32_t first_missing(struct glex_coll *coll, const glex_ep_addr_t *members)
{
	uint64_t group = coll->count;
	uint32_t i;

	for (i = 0; i < coll->count; i++) {
		if (i != coll->rank && !open_member(coll, i, members[i]))
			return i;
		group = coll_mix(group, members[i].v);
		group = coll_mix(group, atomic_load(i == coll->rank ?
					&coll->ep->file.header->nonce :
					&coll->file[i].header->nonce));
	}
	coll->group = group;
	say(coll, MEMBER_IN);
	for (i = 0; i < coll->count; i++)
		if (!has_joined(coll, i))
			return i;
	return coll->count;
}

/* The longest message whose packets always have room in everybody's queue. */
static bool fast_set(struct glex_coll *coll)
{
	uint32_t i, capacity, least = coll->ep->file.own.mpq_capacity;

	for (i = 0; i < coll->count; i++) {
		capacity = i == coll->rank ? least : coll->file[i].own.mpq_capacity;
		if (capacity < least)
			least = capacity;
	}
	coll->fast = (least / (COLL_WINDOW * COLL_LINKS) - 1) * COLL_DATA;
	if (coll->fast > threshold())
		coll->fast = threshold();
	return least >= COLL_CAPACITY;
}

static glex_ret_t join(struct glex_coll *coll, const glex_ep_addr_t *members)
{
	struct glex_err_req error = {
		.op = GLEX_ERR_OP_IMM_MP, .status = GLEX_ERR_STATUS_DEST_VP_STOP,
	};
	uint64_t wait = JOIN_US;
	uint32_t missing;

	queue_drain(coll->ep);
	if (nonce_new(coll->ep))
		return GLEX_SYS_ERR;
	while ((missing = first_missing(coll, members)) < coll->count) {
		if (now_ms() >= coll->end) {
			error.rmt_nic_id = members[missing].nic_id;
			error.rmt_ep_num = members[missing].ep_num;
			return request_refused(coll->ep, &error);
		}
		usleep(wait);
		wait = longer(wait, JOIN_MAX_US);
	}
	return fast_set(coll) ? GLEX_SUCCESS : GLEX_INVALID_PARAM;
}

/* Which one @ep is; -1: none, or somebody is there twice. */
static int rank_of(struct glex_ep *ep, const glex_ep_addr_t *members, uint32_t count)
{
	uint32_t i, j;
	int rank = -1;

	for (i = 0; i < count; i++) {
		if (members[i].v == ep->addr.v)
			rank = i;
		for (j = 0; j < i; j++)
			if (members[i].v == members[j].v)
				return -1;
	}
	return rank;
}

void coll_free(struct glex_coll *coll)
{
	uint32_t i;

	if (!coll)
		return;
	for (i = 0; coll->file && i < coll->count; i++)
		if (coll->file[i].header)
			file_close(&coll->file[i]);
	free(coll->file);
	free(coll->early);
	free(coll);
}

static struct glex_coll *coll_new(struct glex_ep *ep, uint32_t count, int rank,
				  int32_t timeout)
{
	struct glex_coll *coll = calloc(1, sizeof(*coll));

	if (!coll)
		return NULL;
	*coll = (struct glex_coll){
		.ep = ep, .count = count, .rank = rank,
		.file = calloc(count, sizeof(*coll->file)),
		.early = calloc(ep->file.own.mpq_capacity, sizeof(*coll->early)),
	};
	coll_begin(coll, timeout);
	if (coll->file && coll->early)
		return coll;
	coll_free(coll);
	return NULL;
}

/* What members say of themselves is in files, which are of one machine. */
static bool all_near(const struct glex_ep *ep, const glex_ep_addr_t members[],
		     uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!is_near(ep, members[i]))
			return false;
	return true;
}

glex_ret_t glex_coll_join(glex_ep_handle_t ep, const glex_ep_addr_t members[],
			  uint32_t count, int32_t timeout, glex_coll_handle_t *coll)
{
	struct glex_coll *new;
	glex_ret_t ret;
	int rank;

	if (!ep || !members || !count || count > GLEX_COLL_MAX_MEMBERS || !coll)
		return GLEX_INVALID_PARAM;
	rank = rank_of(ep, members, count);
	if (rank < 0)
		return GLEX_INVALID_PARAM;
	if (!all_near(ep, members, count))
		return GLEX_NOT_IMPLEMENTED;
	pthread_mutex_lock(&ep->mutex);
	new = ep->coll ? NULL : coll_new(ep, count, rank, timeout);
	if (new) {
		ret = join(new, members);
		if (!ret) {
			ep->coll = new;
			*coll = new;
		} else {
			atomic_store(&ep->file.header->member, 0);
			coll_free(new);
		}
	} else {
		ret = ep->coll ? GLEX_BUSY : GLEX_SYS_ERR;
	}
	pthread_mutex_unlock(&ep->mutex);
	return ret;
}

/*
 * Until nobody is in a call of the group any more, who could still look at this
 * member: only then may he join another one, which changes what he says.
 */
static bool all_have_left(struct glex_coll *coll)
{
	uint32_t i, sequence;
	uint64_t now;

	for (i = 0; i < coll->count; i++) {
		if (i == coll->rank)
			continue;
		/* Each anew: several may be dead. */
		coll->patience = ASK_MS;
		while (said(coll, i, &sequence) == MEMBER_IN) {
			now = now_ms();
			if ((now >= coll->end || is_time_to_ask(coll, now)) &&
			    !file_owner_lives(&coll->file[i]))
				break;
			if (now >= coll->end)
				return coll_break(coll, i,
						  GLEX_ERR_STATUS_CONNECTION_MAX_RETRY);
			usleep(JOIN_US);
		}
	}
	return true;
}

glex_ret_t glex_coll_leave(glex_coll_handle_t coll, int32_t timeout)
{
	glex_ret_t ret = GLEX_SUCCESS;
	struct glex_ep *ep;

	if (!coll)
		return GLEX_INVALID_PARAM;
	ep = coll->ep;
	pthread_mutex_lock(&ep->mutex);
	coll_begin(coll, timeout);
	if (!coll->broken)
		say(coll, MEMBER_LEFT);
	if (!coll->broken && !all_have_left(coll))
		ret = request_refused(ep, &coll->error);
	ep->coll = NULL;
	coll_free(coll);
	pthread_mutex_unlock(&ep->mutex);
	return ret;
}
