// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what a session is to run from its caller, who has fifteen seconds to say
 * it.  What the frame holds spec.c checks.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "miosd.h"

/* The first frame, copied to where the task can see it. */
int errand_read(struct mios_link *l, struct errand *e)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	struct mios_frame f;
	const void *data;
	int err;

	for (;;) {
		err = link_next(l, &f, &data);
		if (err)
			break;
		if (poll(&p, 1, SPEC_SECONDS * 1000) <= 0)
			return -ETIMEDOUT;
		err = link_fill(l);
		if (err)
			return err;
		if (l->ended)
			return -ECONNRESET;
	}
	if (err < 0)
		return err;
	if (f.type != MIOS_FRAME_SPEC)
		return -EPROTO;
	l->max = MIOS_FRAME_MAX;
	memcpy(e->bytes, data, f.len);
	return spec_parse(&e->spec, e->bytes, f.len, e->words,
			  sizeof(e->words) / sizeof(e->words[0]));
}
