/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The knobs of mios/inject/inject.h, found by their names: every unit test that
 * is to fail on purpose includes this once, in its main.c.
 */
#ifndef _TEST_INJECT_H
#define _TEST_INJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "../../mios/inject/inject.h"

extern const struct mios_injection __start_injections[], __stop_injections[];

/* On the command line a word of a name is parted by "-". */
static inline bool inject_is(const struct mios_injection *i, const char *name)
{
	const char *own = i->name;

	while (*own && (*own == *name || (*own == '_' && *name == '-'))) {
		own++;
		name++;
	}
	return !*own && !*name;
}

/* From now on, so many @times if that is counted; false: no such knob. */
static inline bool inject_on(const char *name, int times)
{
	const struct mios_injection *i;
	bool found = false;

	for (i = __start_injections; i < __stop_injections; i++) {
		if (!inject_is(i, name))
			continue;
		if (i->size == sizeof(bool))
			*(bool *)i->knob = true;
		else
			*(int *)i->knob = times;
		found = true;
	}
	return found;
}

#endif /* _TEST_INJECT_H */
