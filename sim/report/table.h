/* A table of texts, built once and written to a terminal or into the story of a page.
 *
 *   table_init ─► table_add … row by row ─► table_trim ─► table_print, table_story ─► table_free
 */
#ifndef HEARSAY_SIM_REPORT_TABLE_H
#define HEARSAY_SIM_REPORT_TABLE_H

#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 12
#define TABLE_CELL_BYTES  192
#define TABLE_WIDTH       80 /* of a terminal */

struct table {
    const char *title;
    const char *note; /* a sentence below it; NULL: none */
    const char *heads[TABLE_COLUMNS_MAX];
    uint32_t columns;                /* number of columns */
    uint32_t texts;                  /* the first columns are texts, the others figures */
    char (*cells)[TABLE_CELL_BYTES]; /* row by row */
    uint32_t cells_count;            /* cells so far */
    uint32_t cells_max;              /* room for cells */
};

/* heads: a list that ends with NULL; it must outlive the table, and so must title and note. */
void table_init(struct table *table, const char *title, const char *const *heads, uint32_t texts);

/* The next cell, row by row. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next cell: a figure, or "-" when it is not a number. format takes one double. */
void table_add_figure(struct table *table, const char *format, double value);

/* Without the columns of figures in which no row has one; without rows when no column is left. */
void table_trim(struct table *table);

uint32_t table_rows(const struct table *table);
const char *table_cell(const struct table *table, uint32_t row, uint32_t column);

/* To a FILE, within TABLE_WIDTH columns: a first column that is too wide is cut; or into a story,
 * a json_t (page/story.h). Nothing for no rows. */
void table_print(void *out, const struct table *table);
void table_story(void *story, const struct table *table);

void table_free(struct table *table);

/* Words, wrapped at TABLE_WIDTH; lines after the first begin with indent blanks. The first line
 * begins at column indent, wherever the caller has put it. */
void table_print_words(FILE *out, const char *text, int indent);

#endif
