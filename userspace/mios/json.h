/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one form of what commands print as JSON: an object that begins with the
 * number of its schema.  The number grows when a name or its meaning changes;
 * new names may come without.
 */
#ifndef MIOS_JSON_H
#define MIOS_JSON_H

struct libscols_table;

void json_begin(void);
void json_table(struct libscols_table *table);
void json_string(const char *text);	/* null for NULL */
void json_end(void);

#endif /* MIOS_JSON_H */
