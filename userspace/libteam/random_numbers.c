// SPDX-License-Identifier: GPL-2.0
/*
 * libc's random numbers, random(3) and drand48(3): one sequence for all members, as
 * threads have it.  In a libc of its own each process would begin with the same ones,
 * whatever the program has sown.
 */
#include <stdlib.h>

#include "files.h"

#define STATE_SIZE	128		/* as random() begins */
#define SEED		1

struct numbers {
	_Atomic uint32_t lock;
	struct random_data random;
	struct drand48_data drand48;
	char state[STATE_SIZE];
};

static struct numbers *take(void)
{
	const struct omp_window *w = mios_omp_place.window;
	struct numbers *n = w ? (struct numbers *)w->numbers : NULL;

	if (n)
		word_lock(&n->lock);
	return n;
}

static void give(struct numbers *n)
{
	word_unlock(&n->lock);
}

void numbers_create(struct omp_window *w)
{
	struct numbers *n = mios_omp_zalloc(sizeof(*n));

	if (!n || initstate_r(SEED, n->state, sizeof(n->state), &n->random))
		omp_die("no memory left in the window for random numbers");
	w->numbers = (uint64_t)n;
}

long random(void)
{
	struct numbers *n = take();
	int32_t result;

	if (!n)
		return REAL(random)();
	random_r(&n->random, &result);
	give(n);
	return result;
}

int rand(void)
{
	return random();
}

void srandom(unsigned int seed)
{
	struct numbers *n = take();

	if (!n) {
		REAL(srandom)(seed);
		return;
	}
	srandom_r(seed, &n->random);
	give(n);
}

void srand(unsigned int seed)
{
	srandom(seed);
}

/* What was the state before lies a word below where it is worked on. */
static char *state_of(const struct numbers *n)
{
	return (char *)(n->random.state - 1);
}

char *initstate(unsigned int seed, char *state, size_t size)
{
	struct numbers *n = take();
	char *before;

	if (!n)
		return REAL(initstate)(seed, state, size);
	before = state_of(n);
	if (initstate_r(seed, state, size, &n->random))
		before = NULL;
	give(n);
	return before;
}

char *setstate(char *state)
{
	struct numbers *n = take();
	char *before;

	if (!n)
		return REAL(setstate)(state);
	before = state_of(n);
	if (setstate_r(state, &n->random))
		before = NULL;
	give(n);
	return before;
}

/* The next one. */
double drand48(void)
{
	struct numbers *n = take();
	double result;

	if (!n)
		return REAL(drand48)();
	drand48_r(&n->drand48, &result);
	give(n);
	return result;
}

long lrand48(void)
{
	struct numbers *n = take();
	long result;

	if (!n)
		return REAL(lrand48)();
	lrand48_r(&n->drand48, &result);
	give(n);
	return result;
}

long mrand48(void)
{
	struct numbers *n = take();
	long result;

	if (!n)
		return REAL(mrand48)();
	mrand48_r(&n->drand48, &result);
	give(n);
	return result;
}

/* Of a state of the caller's own, by what lcong48() has said. */
double erand48(unsigned short state[3])
{
	struct numbers *n = take();
	double result;

	if (!n)
		return REAL(erand48)(state);
	erand48_r(state, &n->drand48, &result);
	give(n);
	return result;
}

long nrand48(unsigned short state[3])
{
	struct numbers *n = take();
	long result;

	if (!n)
		return REAL(nrand48)(state);
	nrand48_r(state, &n->drand48, &result);
	give(n);
	return result;
}

long jrand48(unsigned short state[3])
{
	struct numbers *n = take();
	long result;

	if (!n)
		return REAL(jrand48)(state);
	jrand48_r(state, &n->drand48, &result);
	give(n);
	return result;
}

void srand48(long seed)
{
	struct numbers *n = take();

	if (!n) {
		REAL(srand48)(seed);
		return;
	}
	srand48_r(seed, &n->drand48);
	give(n);
}

unsigned short *seed48(unsigned short seed[3])
{
	struct numbers *n = take();

	if (!n)
		return REAL(seed48)(seed);
	seed48_r(seed, &n->drand48);
	give(n);
	return n->drand48.__old_x;
}

void lcong48(unsigned short words[7])
{
	struct numbers *n = take();

	if (!n) {
		REAL(lcong48)(words);
		return;
	}
	lcong48_r(words, &n->drand48);
	give(n);
}
