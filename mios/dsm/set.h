/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of nodes as bitmaps: copysets, awaited acknowledgements, the live
 * nodes.  Read by every file of the engine and by its callers, which get
 * the receivers of a message as such a set.  Plain values, no lock.
 */
#ifndef DSM_SET_H
#define DSM_SET_H

#include "os.h"

#define DSM_NODES_MAX	256
#define DSM_SET_WORDS	(DSM_NODES_MAX / 64)

struct dsm_set {
	u64 word[DSM_SET_WORDS];
};

static inline void set_clear(struct dsm_set *s)
{
	memset(s, 0, sizeof(*s));
}

static inline void set_add(struct dsm_set *s, unsigned int n)
{
	s->word[n / 64] |= 1ULL << (n % 64);
}

static inline void set_del(struct dsm_set *s, unsigned int n)
{
	s->word[n / 64] &= ~(1ULL << (n % 64));
}

static inline bool set_has(const struct dsm_set *s, unsigned int n)
{
	return s->word[n / 64] >> (n % 64) & 1;
}

static inline bool set_empty(const struct dsm_set *s)
{
	return !(s->word[0] | s->word[1] | s->word[2] | s->word[3]);
}

static inline void set_and(struct dsm_set *s, const struct dsm_set *with)
{
	for (int i = 0; i < DSM_SET_WORDS; i++)
		s->word[i] &= with->word[i];
}

static inline void set_minus(struct dsm_set *s, const struct dsm_set *what)
{
	for (int i = 0; i < DSM_SET_WORDS; i++)
		s->word[i] &= ~what->word[i];
}

static inline void set_or(struct dsm_set *s, const struct dsm_set *with)
{
	for (int i = 0; i < DSM_SET_WORDS; i++)
		s->word[i] |= with->word[i];
}

/* The lowest member at or above from, DSM_NODES_MAX if there is none. */
static inline unsigned int set_next(const struct dsm_set *s,
				    unsigned int from)
{
	while (from < DSM_NODES_MAX) {
		u64 rest = s->word[from / 64] >> (from % 64);

		if (rest)
			return from + __builtin_ctzll(rest);
		from = (from / 64 + 1) * 64;
	}
	return DSM_NODES_MAX;
}

#define set_for_each(n, s)					\
	for ((n) = set_next((s), 0); (n) < DSM_NODES_MAX;	\
	     (n) = set_next((s), (n) + 1))

#endif /* DSM_SET_H */
