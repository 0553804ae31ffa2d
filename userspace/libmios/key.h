/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The secret that all instances of this machine share: miosd's alone, handed
 * on by "mios boot".
 */
#ifndef LIBMIOS_KEY_H
#define LIBMIOS_KEY_H

#define MIOS_KEY_LEN	32
#define MIOS_KEY_PATH	"/run/mios/key"

/* key.c APIs: */
int mios_key_read(unsigned char key[MIOS_KEY_LEN]);
const char *mios_key_error(int err);

#endif /* LIBMIOS_KEY_H */
