// SPDX-License-Identifier: GPL-2.0
/*
 * Images meet: those of an instance at the first of them, these with each
 * other, and then the first lets the others go.  So a line goes between
 * instances once for each.
 *
 * If a member has stopped or died, those who wait look at all seats themselves:
 * each of them is waited for until it has come or is lost.  Both ways agree, as
 * nobody is let go before all have come.
 */
#include "caf.h"

struct meeting {
	struct caf_team *team;
	struct caf_seat *seats;
	uint32_t round;
	bool patient;			/* the program goes on without the lost */
	bool broken;			/* by who is lost */
};

static bool is_behind(uint32_t value, uint32_t round)
{
	return (int32_t)(value - round) < 0;
}

/* Somebody is lost, and all others have come or need not. */
static bool survivors_came(struct meeting *m)
{
	bool active, behind, missed = false;
	uint32_t i, lost = 0;

	if (!atomic_load(&caf_self.window->losses))
		return false;
	for (i = 0; i < team_size(m->team); i++) {
		behind = is_behind(atomic_load(&m->seats[i].arrived), m->round);
		active = image_state(m->seats[i].image) == CAF_ACTIVE;
		lost += !active;
		if (behind && !active && !m->patient)
			m->broken = true;
		missed |= behind && active;
	}
	m->broken |= lost && !missed;
	return m->broken;
}

static bool instance_came(void *ctx)
{
	struct meeting *m = ctx;
	uint32_t i, me = m->team->me;

	for (i = me + 1; i < team_size(m->team); i++)
		if (m->seats[i].first == me &&
		    is_behind(atomic_load(&m->seats[i].arrived), m->round))
			return survivors_came(m);
	return true;
}

static bool instances_came(void *ctx)
{
	struct meeting *m = ctx;
	uint32_t i;

	for (i = 0; i < team_size(m->team); i++)
		if (m->seats[i].first == i &&
		    is_behind(atomic_load(&m->seats[i].gathered), m->round))
			return survivors_came(m);
	return true;
}

static bool is_released(void *ctx)
{
	struct meeting *m = ctx;
	struct caf_seat *first = &m->seats[m->seats[m->team->me].first];

	return !is_behind(atomic_load(&first->released), m->round) ||
	       survivors_came(m);
}

/* Those of the own instance, or the first ones of all. */
static void ring_seats(struct meeting *m, bool own)
{
	uint32_t i, me = m->team->me;

	for (i = 0; i < team_size(m->team); i++)
		if (i != me && m->seats[i].first == (own ? me : i))
			bell_ring(m->seats[i].image);
}

static void lead(struct meeting *m, const struct meeting_hooks *hooks)
{
	struct caf_seat *seat = &m->seats[m->team->me];

	wait_until(instance_came, m);
	if (m->broken)
		return;
	if (hooks)
		hooks->gathered(m->team, hooks->ctx);
	atomic_store(&seat->gathered, m->round);
	ring_seats(m, false);
	wait_until(instances_came, m);
	if (m->broken)
		return;
	if (hooks)
		hooks->all(m->team, hooks->ctx);
	atomic_store(&seat->released, m->round);
	ring_seats(m, true);
}

/* 0 if all have come, else what has become of one who has not. */
static int missing(struct meeting *m)
{
	uint32_t i;
	int stat = 0;

	if (!m->broken)
		return 0;
	for (i = 0; i < team_size(m->team) && stat != CAF_STAT_STOPPED; i++)
		if (is_behind(atomic_load(&m->seats[i].arrived), m->round) &&
		    image_state(m->seats[i].image) != CAF_ACTIVE)
			stat = image_state(m->seats[i].image) == CAF_STOPPED ?
			       CAF_STAT_STOPPED : CAF_STAT_FAILED;
	return stat;
}

/*
 * With hooks the first of each instance does something for all on the way.
 * @patient: those who are there are waited for, even if some are lost.
 */
int team_meet(struct caf_team *team, const struct meeting_hooks *hooks,
	      bool patient)
{
	struct meeting m = { team, team->area->seats, ++team->rounds, patient,
			     false };
	struct caf_seat *seat = &m.seats[team->me];
	int stat;

	atomic_store(&seat->arrived, m.round);
	if (atomic_load(&caf_self.window->losses))
		bell_ring_all();
	else if (seat->first != team->me)
		bell_ring(m.seats[seat->first].image);
	if (seat->first == team->me)
		lead(&m, hooks);
	else
		wait_until(is_released, &m);
	stat = missing(&m);
	return stat || !m.broken || !hooks ? stat : CAF_STAT_FAILED;
}

/*
 * Each says @mine, and reads what the others say in their seat's ->slot[*slot].
 * That stays for one more exchange: whoever writes there again has met those
 * who read it.
 */
int team_exchange(struct caf_team *team, uint64_t mine, unsigned int *slot,
		  bool patient)
{
	*slot = team->exchanges++ & 1;
	team->area->seats[team->me].slot[*slot] = mine;
	return team_meet(team, NULL, patient);
}

void sync_end(const struct caf_team *team, int status,
	      const struct caf_report *report)
{
	enum caf_state lost = status == CAF_STAT_STOPPED ? CAF_STOPPED :
							   CAF_DEAD;
	uint32_t i;

	if (!status) {
		caf_ok(report);
		return;
	}
	for (i = 0; i < team_size(team) - 1; i++)
		if (image_state(team->area->seats[i].image) == lost)
			break;
	caf_error(report, status, "image %u has %s", i + 1,
		  lost == CAF_STOPPED ? "stopped" : "failed");
}

void _gfortran_caf_sync_all(int *stat, char *text, size_t len)
{
	sync_end(caf_team, team_meet(caf_team, NULL, stat),
		 &(struct caf_report){ stat, text, len });
}

void _gfortran_caf_sync_memory(int *stat, char *text, size_t len)
{
	atomic_thread_fence(memory_order_seq_cst);
	caf_ok(&(struct caf_report){ stat, text, len });
}

/* Of sync images: the n-th call of each is the n-th of the other. */
struct pairs {
	const int *images;		/* NULL: all others */
	int count;
	bool patient;
};

static uint32_t pair_image(const struct pairs *p, int i)
{
	return p->images ? team_image(caf_team, p->images[i]) :
			   caf_team->area->seats[i].image;
}

static bool pair_behind(uint32_t image)
{
	struct caf_window *w = caf_self.window;
	uint32_t self = caf_self.number;

	return image != self && is_behind(atomic_load(&w->pairs[image][self]),
					  atomic_load(&w->pairs[self][image]));
}

static bool pairs_came(void *ctx)
{
	const struct pairs *p = ctx;
	bool missed = false;
	uint32_t image;
	int i;

	for (i = 0; i < p->count; i++) {
		image = pair_image(p, i);
		if (!pair_behind(image))
			continue;
		if (image_state(image) == CAF_ACTIVE)
			missed = true;
		else if (!p->patient)
			return true;
	}
	return !missed;
}

static int pairs_missing(const struct pairs *p)
{
	uint32_t image;
	int i, stat = 0;

	for (i = 0; i < p->count && stat != CAF_STAT_STOPPED; i++) {
		image = pair_image(p, i);
		if (pair_behind(image) && image_state(image) != CAF_ACTIVE)
			stat = image_state(image) == CAF_STOPPED ?
			       CAF_STAT_STOPPED : CAF_STAT_FAILED;
	}
	return stat;
}

/* Each one once, and one that there is: false, and it has been told. */
static bool pairs_valid(const struct pairs *p, const struct caf_report *report)
{
	int i, j;

	for (i = 0; p->images && i < p->count; i++)
		for (j = 0; j < i; j++) {
			if (p->images[i] != p->images[j])
				continue;
			caf_error(report, CAF_STAT_NAMED_TWICE, "image %d is "
				  "named twice", p->images[i]);
			return false;
		}
	for (i = 0; p->images && i < p->count; i++) {
		if (p->images[i] > 0 && p->images[i] <= team_size(caf_team))
			continue;
		caf_error(report, 1, "there is no image %d: the team has %u",
			  p->images[i], team_size(caf_team));
		return false;
	}
	return true;
}

void _gfortran_caf_sync_images(int count, int images[], int *stat, char *text,
			       size_t len)
{
	struct pairs p = { count < 0 ? NULL : images,
			   count < 0 ? (int)team_size(caf_team) : count, stat };
	_Atomic uint32_t *row = caf_self.window->pairs[caf_self.number];
	struct caf_report report = { stat, text, len };
	uint32_t image;
	int i;

	if (!pairs_valid(&p, &report))
		return;
	for (i = 0; i < p.count; i++) {
		image = pair_image(&p, i);
		atomic_fetch_add(&row[image], 1);
		bell_ring(image);
	}
	wait_until(pairs_came, &p);
	sync_end(caf_team, pairs_missing(&p), &report);
}
