/* SPDX-License-Identifier: GPL-2.0 */
/* What the wire tests share: lots from a seed, and how one fails. */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"
#include "miosd/miosd.h"

/* Bytes on the heap, no more than these: one further is an error. */
struct bytes {
	unsigned char *at;
	size_t len;
};

uint32_t lot(uint32_t below);
void bytes_add(struct bytes *b, const void *data, size_t len);
void bytes_free(struct bytes *b);

/* Change, cut, double or insert something; often a length or a count. */
void mutate(struct bytes *b);

/* pair[1] delivers these bytes and then ends; what it says stays unread. */
void bytes_arrive(const struct bytes *b, int pair[2]);

/* Each is one round. */
void fuzz_spec(void);
void fuzz_frames(void);
void fuzz_flow(void);
void fuzz_hello(void);

#endif
