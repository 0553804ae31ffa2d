/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libcaf_mios: the images of a coarray program are processes, on one instance
 * or on several, and a coarray is memory that all of them have at the same
 * address.  What is called by compiled code has gfortran's names; the rest is
 * below, by file.
 */
#ifndef CAF_H
#define CAF_H

#include <string.h>

#include "abi.h"
#include "caf_window.h"

/* Where the program wants to be told of an error; otherwise it ends. */
struct caf_report {
	int *stat;
	char *text;
	size_t len;
};

/* A member of a team in the window; its own but for the release of others. */
struct caf_seat {
	_Atomic uint32_t arrived;	/* how often it has come */
	_Atomic uint32_t gathered;	/* first of an instance: its all have */
	_Atomic uint32_t released;	/* the same: and all others' */
	uint32_t image;			/* from 0 */
	uint32_t first;			/* the seat of its instance's first */
	uint32_t pad;
	uint64_t slot[2];		/* for each other: what it has to say */
	void *result;			/* first of an instance: see collective.c */
} __attribute__((aligned(CAF_LINE)));

static_assert(sizeof(struct caf_seat) == CAF_LINE, "a line");

struct caf_team_area {
	uint32_t nr_seats;
	struct caf_seat seats[];
};

/* A team as one of its members sees it; private. */
struct caf_team {
	struct caf_team_area *area;
	struct caf_team *parent;
	int64_t number;
	uint32_t me;			/* this image's seat */
	uint32_t rounds, exchanges;	/* how many there have been */
};

/* A coarray, or what an allocatable component of one has; private. */
struct caf_token {
	uint32_t magic;
	enum caf_register_type type;
	size_t size;
	struct caf_desc *desc;		/* NULL: a scalar */
	void *own;			/* here */
	struct caf_team *team;		/* NULL: a component */
	struct caf_token *next;
	char *at[];			/* on each image; NULL: not there */
};

/* A section of an array, and where one is in it. */
struct caf_section {
	char *at;
	size_t elem_len;
	int type, kind, rank;
	size_t count[CAF_MAX_RANK], done[CAF_MAX_RANK];
	ptrdiff_t step[CAF_MAX_RANK];	/* in bytes */
	struct {
		const void *list;	/* NULL: no vector subscript */
		int kind;
		ptrdiff_t lower;	/* a subscript of that value is at 0 */
	} vector[CAF_MAX_RANK];
};

/* image.c APIs: */
static inline struct caf_image *image_at(uint32_t number)
{
	return &caf_self.window->images[number];
}

static inline uint32_t image_state(uint32_t number)
{
	return atomic_load(&image_at(number)->state);
}

void _gfortran_caf_finalize(void);

/* self.c APIs: */
extern bool image_ended;
bool image_end(int status, const char *line);
_Noreturn void image_leave(void);

/* error.c APIs: */
void caf_ok(const struct caf_report *report);
void caf_error(const struct caf_report *report, int stat, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* bell.c APIs: */
typedef bool (*wait_fn)(void *ctx);
void wait_until(wait_fn done, void *ctx);
void bell_ring(uint32_t image);
void bell_ring_all(void);
void image_lost(uint32_t number, enum caf_state state);

/* caf_team.c APIs: */
extern struct caf_team *caf_team;	/* the current one */
void team_first(void);
void team_find_first(struct caf_team_area *area);
uint32_t team_member(const struct caf_team *team, int index);
uint32_t team_image(const struct caf_team *team, int index);

static inline size_t team_area_size(uint32_t seats)
{
	return sizeof(struct caf_team_area) + seats * sizeof(struct caf_seat);
}

static inline uint32_t team_size(const struct caf_team *team)
{
	return team->area->nr_seats;
}

/* sync.c APIs: */
struct meeting_hooks {
	void (*gathered)(struct caf_team *team, void *ctx);
	void (*all)(struct caf_team *team, void *ctx);
	void *ctx;
};

int team_meet(struct caf_team *team, const struct meeting_hooks *hooks,
	      bool patient);
int team_exchange(struct caf_team *team, uint64_t mine, unsigned int *slot,
		  bool patient);
void sync_end(const struct caf_team *team, int status,
	      const struct caf_report *report);
void _gfortran_caf_sync_all(int *stat, char *text, size_t len);

/* register.c APIs: */
struct caf_token *token_of(void *token);
char *token_at(void *token, uint32_t image, size_t offset);
void team_free_coarrays(struct caf_team *team);

/* transfer.c APIs: */
bool image_selected(int index, struct caf_team **team, const int *number,
		    int *stat, uint32_t *image);

/* section.c APIs: */
void section_scalar(struct caf_section *s, void *at, size_t len, int type,
		    int kind);
void section_desc(struct caf_section *s, const struct caf_desc *desc,
		  void *at, int kind);
void section_vectors(struct caf_section *s, const struct caf_desc *desc,
		     const struct caf_vector *vectors);
void section_dim(struct caf_section *s, size_t count, ptrdiff_t step);
size_t section_count(const struct caf_section *s);
void section_next(struct caf_section *s);
void section_copy(struct caf_section *to, struct caf_section *from,
		  bool overlaps);

/* convert.c APIs: */
void convert(void *to, const struct caf_section *to_form, const void *from,
	     const struct caf_section *from_form);
int64_t integer_at(const void *p, int kind);

#endif /* CAF_H */
