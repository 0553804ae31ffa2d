// SPDX-License-Identifier: GPL-2.0
/*
 * Usage: seal BYTES FRAMES.  Two processes in one that have a key: so many frames of
 * so many bytes are sealed and opened.  Run by dsm.py under callgrind, which counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seal.h"

static u8 last[SEAL_MAX];
static u32 last_len;

static void put(void *arg, const u8 *mac, const void *frame, u32 len)
{
	(void)arg;
	(void)mac;
	memcpy(last, frame, len);
	last_len = len;
}

static const void *take(struct seal *to, const struct seal *from)
{
	u32 len = last_len;

	return seal_take(to, last, &len, from->mac);
}

int main(int argc, char **argv)
{
	static struct seal a = { .put = put }, b = { .put = put };
	static const struct seal_secret secret = { { 1 }, { 2 } };
	static const u8 mac[2][ETHER_MAC] = { { 2, 1 }, { 2, 2 } };
	static u8 frame[DSM_FRAME_MAX];
	u32 len = argc > 2 ? atoi(argv[1]) : 0;
	int frames = argc > 2 ? atoi(argv[2]) : 0;

	if (!len || len > sizeof(frame) ||
	    seal_open(&a, SEAL_NODE, 0, mac[0], &secret) ||
	    seal_open(&b, SEAL_NODE, 0, mac[1], &secret))
		return 2;
	seal_send(&a, NULL, frame, len);	/* who is there? */
	take(&b, &a);
	take(&a, &b);
	take(&b, &a);
	for (int i = 0; i < frames; i++) {
		seal_send(&a, mac[1], frame, len);
		if (!take(&b, &a))
			return 1;
	}
	return 0;
}
