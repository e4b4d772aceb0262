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
#define TABLE_WIDTH       80 /* width of a terminal in columns */

struct table {
    const char *title;
    const char *note; /* sentence below the table; NULL = none */
    const char *heads[TABLE_COLUMNS_MAX];
    uint32_t columns;                /* number of columns */
    uint32_t texts;                  /* number of leading text columns; the others are numbers */
    char (*cells)[TABLE_CELL_BYTES]; /* texts of the cells, row by row */
    uint32_t cells_count;            /* number of cells added so far */
    uint32_t cells_max;              /* number of cells for which `cells` has space */
};

/* Starts a table. heads ends with NULL; heads, title and note must outlive the table. */
void table_init(struct table *table, const char *title, const char *const *heads, uint32_t texts);

/* Adds the next cell; cells are added row by row. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the next cell: a number, or "-" if it is not finite. format takes one double. */
void table_add_figure(struct table *table, const char *format, double value);

/* Removes number columns without any number, and all rows if no column is left. */
void table_trim(struct table *table);

uint32_t table_rows(const struct table *table);
const char *table_cell(const struct table *table, uint32_t row, uint32_t column);

/* table_print writes a table to a FILE within TABLE_WIDTH columns, and cuts a wide first column.
 * table_snapshot writes it to a page, a json_t (page/page_snapshot.h). Both write nothing for a
 * table without rows. */
void table_print(void *out, const struct table *table);
void table_snapshot(void *snapshot, const struct table *table);

void table_free(struct table *table);

/* Prints a text, wrapped at TABLE_WIDTH. The first line continues at column `indent`; later lines
 * begin with `indent` blanks. */
void table_print_words(FILE *out, const char *text, int indent);

#endif
