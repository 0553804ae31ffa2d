// SPDX-License-Identifier: GPL-2.0
/*
 * Events: a count on the image that waits for it.  Any other one posts.
 */
#include "caf.h"

struct caf_event {
	_Atomic int32_t count;
} __attribute__((aligned(CAF_LINE)));

struct event_wait {
	struct caf_event *event;
	int32_t until;
	int lost;			/* enum caf_stat: nobody may post */
};

static struct caf_event *event_at(void *token, size_t index, uint32_t image)
{
	return (struct caf_event *)token_at(token, image,
					    index * sizeof(struct caf_event));
}

void _gfortran_caf_event_post(void *token, size_t index, int image, int *stat,
			      char *text, size_t len)
{
	uint32_t number = team_image(caf_team, image);

	atomic_fetch_add(&event_at(token, index, number)->count, 1);
	bell_ring(number);
	caf_ok(&(struct caf_report){ stat, text, len });
}

/*
 * Who was to post may be any image: so the wait ends if one has failed, or if
 * all others have stopped.
 */
static int losses_in(const struct caf_team *team)
{
	uint32_t i, active = 0;
	int state;

	for (i = 0; i < team_size(team); i++) {
		state = image_state(team->area->seats[i].image);
		if (state == CAF_DEAD)
			return CAF_STAT_FAILED;
		active += state == CAF_ACTIVE;
	}
	return active == 1 && i > 1 ? CAF_STAT_STOPPED : 0;
}

static bool event_came(void *ctx)
{
	struct event_wait *wait = ctx;

	if (atomic_load(&wait->event->count) >= wait->until)
		return true;
	if (atomic_load(&caf_self.window->losses))
		wait->lost = losses_in(caf_team);
	return wait->lost;
}

void _gfortran_caf_event_wait(void *token, size_t index, int until, int *stat,
			      char *text, size_t len)
{
	struct event_wait wait = {
		.event = event_at(token, index, caf_self.number),
		.until = until > 1 ? until : 1,
	};

	wait_until(event_came, &wait);
	if (!wait.lost)
		atomic_fetch_sub(&wait.event->count, wait.until);
	sync_end(caf_team, wait.lost, &(struct caf_report){ stat, text, len });
}

void _gfortran_caf_event_query(void *token, size_t index, int image,
			       int *count, int *stat)
{
	uint32_t number = team_image(caf_team, image);

	*count = atomic_load(&event_at(token, index, number)->count);
	caf_ok(&(struct caf_report){ .stat = stat });
}
