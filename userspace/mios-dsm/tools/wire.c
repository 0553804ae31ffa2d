// SPDX-License-Identifier: GPL-2.0
/* See wire.h.  Called by cmd_run.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../libmios/cli.h"
#include "key.h"
#include "wire.h"

#define ENDS		10	/* times that the others are told of an end */
#define END_PAUSE	10000	/* us */

int wire_key(struct wire *w, bool hosts)
{
	if (!w->interface && !hosts && (w->key || w->trust))
		return cli_error("run: --key and --trust-wire are for --interface and --hosts");
	if (w->key && w->trust)
		return cli_error("run: --trust-wire is for a run without a key");
	if (w->key)
		return key_read(w->key, w->secret.key) ? 0 : 2;
	if (w->interface && !hosts && !w->trust)
		return cli_error("run: who else is on the wire of '%s' could read and write all memory: give --key FILE (mios-dsm key makes one), or --trust-wire",
				 w->interface);
	return 0;
}

/* seal.put */
static void put(void *ether, const u8 *mac, const void *frame, u32 len)
{
	ether_send(ether, mac, frame, len);
}

static int secret_make(struct wire *w)
{
	struct seal_secret *s = &w->secret;

	w->secret_fd = -1;
	w->seal.put = put;
	w->seal.arg = &w->ether;
	w->ether.seal = &w->seal;
	if (w->key) {
		w->secret_fd = memfd_create("mios-dsm-key", MFD_CLOEXEC);
		if (getrandom(s->birth, SEAL_NUMBER, 0) != SEAL_NUMBER ||
		    w->secret_fd < 0 ||
		    write(w->secret_fd, s, sizeof(*s)) != sizeof(*s))
			return cli_error("run: %s", strerror(errno));
	}
	return seal_open(&w->seal, SEAL_RUN, w->cluster, w->ether.mac,
			 w->key ? s : NULL) ? 2 : 0;
}

int wire_open(struct wire *w)
{
	int err;

	if (getrandom(&w->life, sizeof(w->life), 0) != sizeof(w->life))
		return cli_error("run: %s", strerror(errno));
	if (ether_open(&w->ether, w->interface, SOCK_DGRAM))
		return 2;
	/* One that comes back must be the only one that is there. */
	if (ether_claim(&w->ether, w->cluster) < 0)
		return 2;
	err = ether_notes_only(&w->ether);
	if (err)
		return cli_error("run: %s", strerror(-err));
	return secret_make(w);
}

void wire_text(const struct wire *w, int sockets, char *text)
{
	if (w->secret_fd >= 0)
		fcntl(w->secret_fd, F_SETFD, 0);
	snprintf(text, WIRE_TEXT, "%" PRIu64 ":%u:%d:%d:%s", w->cluster,
		 w->life, sockets, w->secret_fd, w->interface);
}

void wire_end(struct wire *w, struct ether_note end)
{
	end.what = ETHER_END;
	/* Each may be lost; so many are not, unless the wire is down. */
	for (int i = 0; i < ENDS; i++) {
		seal_state(&w->seal, &end);
		usleep(END_PAUSE);
	}
}
