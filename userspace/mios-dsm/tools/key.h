/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The key that nodes on a wire prove to each other: a line of 64 digits, in a file
 * that nobody else may read, or on standard input.
 */
#ifndef KEY_H
#define KEY_H

#include <stdbool.h>

#include "../runtime/seal.h"

#define KEY_LINE	(2 * SEAL_KEY + 1)	/* characters, with its end */

/* False after a line.  "-": of standard input so much, and no more. */
bool key_read(const char *path, u8 *key);
bool key_draw(u8 *key);
void key_text(const u8 *key, char *line);

#endif /* KEY_H */
