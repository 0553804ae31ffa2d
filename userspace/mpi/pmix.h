/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The little of PMIx's client interface that peers.c answers for: keys and
 * layouts are those of the PMIx standard, the same in versions 3 to 5, so that
 * one object serves every Open MPI from 4.1 on, and none is needed to build it.
 */
#ifndef MIOS_MPI_PMIX_H
#define MIOS_MPI_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMIX_SUCCESS		0
#define PMIX_ERR_NOT_FOUND	(-46)

/* Who may read what a rank has put: those on its node, or all. */
#define PMIX_LOCAL		1
#define PMIX_GLOBAL		3

#define PMIX_BOOL		1
#define PMIX_STRING		3
#define PMIX_UINT16		13
#define PMIX_UINT32		14

#define PMIX_OWN		"pmix."		/* none that a rank has put */
#define PMIX_HOSTNAME		"pmix.hname"
#define PMIX_OPTIONAL		"pmix.optional"	/* asks no server */
#define PMIX_LOCAL_PEERS	"pmix.lpeers"
#define PMIX_LOCAL_RANK		"pmix.lrank"
#define PMIX_LOCAL_SIZE		"pmix.local.size"
#define PMIX_LOCALITY_STRING	"pmix.locstr"

struct pmix_proc {
	char nspace[256];
	uint32_t rank;
};

struct pmix_value {
	uint16_t type;
	union {
		bool flag;
		char *string;
		uint16_t uint16;
		uint32_t uint32;
		uint64_t room[3];
	} data;
};

struct pmix_info {
	char key[512];
	uint32_t flags;
	struct pmix_value value;
};

_Static_assert(sizeof(struct pmix_proc) == 260, "PMIx's layout");
_Static_assert(offsetof(struct pmix_value, data) == 8, "PMIx's layout");
_Static_assert(sizeof(struct pmix_info) == 552, "PMIx's layout");

int PMIx_Get(const struct pmix_proc *proc, const char *key,
	     const struct pmix_info *info, size_t ninfo,
	     struct pmix_value **value);

int PMIx_Put(uint8_t scope, const char *key, struct pmix_value *value);

#endif /* MIOS_MPI_PMIX_H */
