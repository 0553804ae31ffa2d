/* SPDX-License-Identifier: GPL-2.0 */
/* A place, as a set of members: see places.c. */
#ifndef MIOS_GOMP_PLACES_H
#define MIOS_GOMP_PLACES_H

#include <stdio.h>

#include "../libteam/team.h"

#define PLACE_WORD	64		/* bits */

struct place {
	uint64_t bits[OMP_MAX_MEMBERS / PLACE_WORD];
};

static inline void place_add(struct place *place, uint32_t member)
{
	place->bits[member / PLACE_WORD] |= 1ull << member % PLACE_WORD;
}

static inline bool place_has(const struct place *place, uint32_t member)
{
	return place->bits[member / PLACE_WORD] >> member % PLACE_WORD & 1;
}

/* place_list.c APIs: */
int place_list_read(const char *text, uint32_t members, struct place *places);
int place_cpus_read(const char *text, uint32_t members, struct place *places);
void place_say(const struct place *place, FILE *out);

#endif /* MIOS_GOMP_PLACES_H */
