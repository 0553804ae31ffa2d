/* SPDX-License-Identifier: GPL-2.0 */
/* Settings that last: the table of them, and the file, for set.c and boot.c. */
#ifndef MIOS_SET_H
#define MIOS_SET_H

#include <stdint.h>

#define SET_VALUE	128		/* bytes of a value, its end included */
#define ROOT_FORM	"/dev/..., LABEL=..., UUID=... or none"

struct setting {
	const char *name;
	const char *choices;		/* words, or NULL: seconds or a count */
	const char *fallback;		/* of what is no module's parameter */
	const char *help;
};

/* settings.c */
const struct setting *setting_find(const char *name);
const struct setting *setting_give(unsigned int instance);
const struct setting *setting_root(unsigned int instance);
const struct setting *setting_init(unsigned int instance);
const struct setting *setting_next(const struct setting *before);
const char *setting_guess(const char *name);
int setting_valid(const struct setting *setting, const char *value);
int setting_live(const struct setting *setting, char *value);
int setting_now(const struct setting *setting, char *value);
int setting_change(const struct setting *setting, const char *value);
int setting_unsaid(void);

/* set_file.c: 0 or -errno, @why has the line about it */
int set_file_change(const char *name, const char *value, char *why,
		    unsigned int size);

/* boot.c's: the nodes of the setting "boot"; 1: all */
int setting_boot(uint64_t *nodes);

/* boot_node.c's: may it be host? */
int setting_successor(unsigned int instance);

#endif /* MIOS_SET_H */
