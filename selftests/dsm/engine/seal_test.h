/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wire in memory and processes on it: what seal_test.c and seal_hostile_test.c
 * share.
 */
#ifndef SEAL_TEST_H
#define SEAL_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seal.h"

#define WIRE	512
#define demand(what, why) do { if (!(what)) { \
	printf("FAILED: %s (line %d)\n", why, __LINE__); exit(1); } } while (0)

struct on_wire {
	u8 from[ETHER_MAC], to[ETHER_MAC];	/* to: zeros for all */
	u32 len;
	u8 *bytes;				/* as long, for the sanitizer */
};

struct process {
	struct seal seal;
	u64 taken;
	u32 len;			/* of what it took last */
	u8 last[DSM_FRAME_MAX];
};

extern struct on_wire wire[WIRE];
extern u32 sent, carried;
extern struct process a, b, *two[];

void hear(struct process *p, const struct on_wire *w);
void carry(struct process **p, int nr);
void clean(void);
void born(struct process *p, int at, int key, int birth, u16 magic);
u64 dropped(const struct process *p);
void say(struct process *from, const struct process *to, const char *text);
bool heard(const struct process *p, const char *text);
void pair(int key);
void changed(const struct on_wire *w, struct process *p);
void cut(const struct on_wire *w, struct process *p);

/* seal_hostile_test.c */
void hostile(void);

#endif /* SEAL_TEST_H */
