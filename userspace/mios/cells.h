/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that commands show, for a person or as JSON: see json.h. */
#ifndef MIOS_CELLS_H
#define MIOS_CELLS_H

#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL: it is not for a person, or not in JSON. */
struct column {
	const char *title, *json;
	int flags, type;
};

/* @columns end with one without names; whoever has no memory ends. */
struct libscols_table *table_create(const char *name,
				    const struct column *columns, bool json);
void table_add_column(struct libscols_table *table, const char *name, int flags,
		      int type);
struct libscols_line *table_add_line(struct libscols_table *table);
void cell_set(struct libscols_line *line, int column, const char *text);
void cell_set_number(struct libscols_line *line, int column, int64_t value);
void cell_set_size(struct libscols_line *line, int column, uint64_t bytes,
		   bool json);

/* All that a command prints; it is gone afterwards. */
void table_show(struct libscols_table *table, bool json);

#endif /* MIOS_CELLS_H */
