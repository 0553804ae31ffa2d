/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk: a file of this host, and what a guest asks of it.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include "virtq.h"

#define BLOCK_ID	20	/* bytes of a disk's name */
/* The parts of a request beside its data: what is asked, and how it went. */
#define BLOCK_PARTS	(VIRTQ_MAX - 2)
#define BLOCK_PART_MAX	65536	/* bytes */

struct block {
	int fd;
	bool read_only;
	uint64_t sectors;
	char id[BLOCK_ID];
	bool lost;		/* what was to be on the medium */
	bool complained;	/* of the file, once */
};

/* FILE, or FILE,ro.  0, or -1 after a line. */
int block_open(struct block *b, const char *what);
/*
 * One request, with its answer; stable: what is written is on the medium before
 * that.  How many bytes the guest has got from the first one on; -1: it has no
 * place for the answer.
 */
int64_t block_serve(struct block *b, const struct virtq_chain *c,
		    bool stable);

#endif /* BLOCK_H */
