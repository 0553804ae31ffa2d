/* SPDX-License-Identifier: GPL-2.0 */
/* A member of a group, and what it calls. */
#ifndef _TEST_GLEX_CALLS_H
#define _TEST_GLEX_CALLS_H

#include "../../../libglex/coll.h"

#define MEMBERS	16u

struct member {
	uint32_t rank;
	glex_ep_handle_t ep;
	glex_coll_handle_t coll;
};

/* How many there are, and where; what the lots are drawn from. */
extern uint32_t members, seed;
extern glex_ep_addr_t address[MEMBERS];

/* Between two looks of who joins; 0: as the library has it. */
extern uint32_t look_ms;

/* Ends the test, if it is not so. */
void check(int ok, const char *what);
uint32_t lot(uint64_t *state, uint32_t below);

void member_begin(struct member *m);
void member_joins(struct member *m, int32_t timeout);
/* How many calls were right before one was not, or all. */
uint32_t calls(struct member *m, uint32_t from, uint32_t to);

#endif /* _TEST_GLEX_CALLS_H */
