/* SPDX-License-Identifier: GPL-2.0 */
/* The machine's settings that last, /etc/mios.conf: see conf.c. */
#ifndef LIBMIOS_CONF_H
#define LIBMIOS_CONF_H

#include <stddef.h>
#include <stdint.h>

#define CONF_PATH	"/etc/mios.conf"
#define CONF_LINE	1024	/* bytes of a line, its end included */

/* One setting; what it returns other than 0 ends conf_read(). */
typedef int (*conf_fn)(void *arg, const char *key, const char *value,
		       unsigned int line);

int conf_read(const char *path, conf_fn each, void *arg, char *why,
	      size_t size);
int conf_get(const char *path, const char *key, char *value, size_t room,
	     char *why, size_t size);

#endif /* LIBMIOS_CONF_H */
