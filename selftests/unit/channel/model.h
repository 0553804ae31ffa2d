/* SPDX-License-Identifier: GPL-2.0 */
/* A sound area of four instances, for who breaks it (checked.c). */
#ifndef _MODEL_H
#define _MODEL_H

#include "check.h"
#include "test.h"

#define NR	4
#define DEAD	2	/* after having been up */
#define UNBORN	3

struct model {
	struct area_copy copy;
	void *then;		/* backs copy.before */
	struct mios_producer p[NR][NR][MIOS_CLASSES];
	struct mios_consumer c[NR][NR][MIOS_CLASSES];
};

static inline u32 incarnation(u32 i)
{
	return i ? 4 + i : 1;
}

static inline struct mios_lines *lines(const struct model *m, u32 i)
{
	return mios_area_lines(m->copy.area, &m->copy.g, i);
}

static inline struct mios_chan *chan(const struct model *m, u32 from, u32 to)
{
	return mios_area_chan(m->copy.area, &m->copy.g, to, from,
			      MIOS_CLASS_CONTROL);
}

static inline struct mios_slot *slot(const struct model *m, u32 position)
{
	return (struct mios_slot *)((u8 *)(chan(m, 0, 1) + 1) +
				    MIOS_CONTROL_SLOT * position);
}

void desc_make(const struct model *m, u32 i, u32 state, u32 next);
void model_make(struct model *m);
void model_free(struct model *m);

#endif /* _MODEL_H */
