// SPDX-License-Identifier: GPL-2.0
/*
 * Puts the machine's key in front of an initrd, as the file /mios-key of an
 * archive of its own: so it reaches the instance through the node's memory
 * and lies in no file that others, or other instances, can read.  Beside it
 * lies /mios-network, which the instance needs before it can read any file of
 * instance 0's, and /mios-init, which names its first process, or /mios-root and
 * /mios-host: the file system that is its own root, and instance 0's name, which
 * it can read in no file then; and /mios-server, who serves the root of others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "boot.h"
#include "libmios/key.h"
#include "libmios/libmios.h"

#define KEY		"mios-key"
#define NETWORK		"mios-network"
#define INIT		"mios-init"
#define ROOT		"mios-root"
#define HOST		"mios-host"
#define SERVER		"mios-server"
#define ALIGN		512	/* of what follows an archive */

/* One entry of a "newc" archive, everything padded to four bytes. */
static size_t put_entry(unsigned char *to, const char *name, unsigned int mode,
			const void *data, size_t size)
{
	size_t len;

	/* number, mode, uid, gid, links, time, size, devices, name, sum */
	len = sprintf((char *)to, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x"
		      "%08x%08x%08zx%08x", 0, mode, 0, 0, 1, 0, size, 0, 0, 0,
		      0, strlen(name) + 1, 0);
	len += sprintf((char *)to + len, "%s", name) + 1;
	len = loader_align_up(len, 4);
	if (size)
		memcpy(to + len, data, size);
	return loader_align_up(len + size, 4);
}

/* What the instance reads before it has a root; all fits in two times ALIGN. */
static size_t put_words(unsigned char *to, const struct boot_start *how)
{
	char server[4];
	char network[MIOS_NETWORK_LEN + 1];
	struct utsname uts;
	size_t len;

	if (mios_network_text(network))
		mios_die(MIOS_EXIT_FAILED, "boot: %s", MIOS_NO_NETWORK);
	strcat(network, "\n");
	len = put_entry(to, NETWORK, 0100644, network, strlen(network));
	snprintf(server, sizeof(server), "%u", how->server % MIOS_MAX_INSTANCES);
	len += put_entry(to + len, SERVER, 0100644, server, strlen(server));
	if (!how->root)
		return len + put_entry(to + len, INIT, 0100644, how->init,
				       strlen(how->init));
	uname(&uts);
	len += put_entry(to + len, ROOT, 0100644, how->root, strlen(how->root));
	return len + put_entry(to + len, HOST, 0100644, uts.nodename,
			       strlen(uts.nodename));
}

/*
 * In front, since what follows may be compressed in a way that reads to its
 * end.  Only an instance that @must run miosd, or has another first process than
 * the usual one, or a root of its own, cannot do without.
 */
void add_key(const struct loader_file *initrd, struct loader_file *both,
	     int must, const struct boot_start *how)
{
	unsigned char key[MIOS_KEY_LEN], head[2 * ALIGN] = "";
	int err = mios_key_read(key);
	size_t len;

	if (err && !must && !how->root && !strcmp(how->init, "busybox"))
		goto without;
	if (err)
		mios_die(MIOS_EXIT_FAILED, "boot: %s", mios_key_error(err));
	len = put_entry(head, KEY, 0100600, key, sizeof(key));
	len += put_words(head + len, how);
	len += put_entry(head + len, "TRAILER!!!", 0, NULL, 0);
	len = loader_align_up(len, ALIGN);
	*both = (struct loader_file) {
		.data = malloc(len + initrd->size),
		.size = len + initrd->size,
	};
	if (!both->data)
		mios_die(MIOS_EXIT_FAILED, "boot: no memory left");
	memcpy(both->data, head, len);
	memcpy(both->data + len, initrd->data, initrd->size);
	return;
without:
	*both = *initrd;
}
