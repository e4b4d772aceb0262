/* A table of texts, built once and written to a terminal or to a page.
 *
 *   table_init ─► table_add … row by row ─► table_trim ─► table_print, table_snapshot ─► table_free
 */
#ifndef HEARSAY_SIM_REPORT_TABLE_H
#define HEARSAY_SIM_REPORT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 12
#define TABLE_CELL_BYTES  192
#define TABLE_WIDTH       80 /* columns of a terminal */

struct table {
    const char *title;
    const char *note; /* sentence below the table; NULL = none */
    const char *heads[TABLE_COLUMNS_MAX];
    uint32_t columns;
    uint32_t texts; /* number of leading text columns; the later columns are numbers */
    char (*cells)[TABLE_CELL_BYTES]; /* [cells_count] texts of the cells, row by row */
    uint32_t cells_count;
    uint32_t cells_max;
};

/* heads ends with NULL. The texts of heads, title and note must outlive the table. */
void table_init(struct table *table, const char *title, const char *const *heads, uint32_t texts);

/* Adds the next cell; cells are added row by row. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the next cell: a number, or "-" if it is not finite. format takes one double. */
void table_add_figure(struct table *table, const char *format, double value);

/* Removes number columns without any number, and all rows if no number column is left. */
void table_trim(struct table *table);

uint32_t table_rows(const struct table *table);
const char *table_cell(const struct table *table, uint32_t row, uint32_t column);

/* Write a table, unless it has no rows. table_print: out is a FILE; a wide first column is cut to
 * fit TABLE_WIDTH. table_snapshot: snapshot is a json_t (page/page_snapshot.h). */
void table_print(void *out, const struct table *table);
void table_snapshot(void *snapshot, const struct table *table);

void table_free(struct table *table);

/* Prints a text, wrapped at TABLE_WIDTH. Its first line begins at the present column, which must be
 * `indent`; later lines begin with `indent` blanks. */
void table_print_words(FILE *out, const char *text, int indent);

#endif
