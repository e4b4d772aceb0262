#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/min_max.h"
#include "page/page_snapshot.h"
#include "report/escape.h"

#define GAP_WIDTH       2
#define FIRST_WIDTH_MIN 6
#define NOT_KNOWN       "-"

void table_init(struct table *table, const char *title, const char *const *heads, uint32_t texts)
{
    *table = (struct table){.title = title, .texts = texts};
    for (; heads[table->columns]; table->columns++) {
        CHECK(table->columns < TABLE_COLUMNS_MAX);
        table->heads[table->columns] = heads[table->columns];
    }
}

static char *new_cell(struct table *table)
{
    if (table->cells_count == table->cells_max) {
        table->cells_max = table->cells_max ? 2 * table->cells_max : 64;
        table->cells = memory_more(table->cells, table->cells_max, sizeof *table->cells);
    }
    return table->cells[table->cells_count++];
}

void table_add(struct table *table, const char *format, ...)
{
    char text[2 * TABLE_CELL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    escape_clean(new_cell(table), TABLE_CELL_BYTES, text);
}

void table_add_figure(struct table *table, const char *format, double value)
{
    char *cell = new_cell(table);
    if (isfinite(value))
        (void)snprintf(cell, TABLE_CELL_BYTES, format, value);
    else
        (void)snprintf(cell, TABLE_CELL_BYTES, NOT_KNOWN);
}

uint32_t table_rows(const struct table *table)
{
    CHECK(table->cells_count % table->columns == 0);
    return table->cells_count / table->columns;
}

const char *table_cell(const struct table *table, uint32_t row, uint32_t column)
{
    CHECK(row < table_rows(table) && column < table->columns);
    return table->cells[row * table->columns + column];
}

static bool has_figures(const struct table *table, uint32_t column)
{
    for (uint32_t row = 0; row < table_rows(table); row++)
        if (strcmp(table_cell(table, row, column), NOT_KNOWN) != 0)
            return true;
    return false;
}

void table_trim(struct table *table)
{
    uint32_t columns = 0, cells = 0, kept[TABLE_COLUMNS_MAX];
    for (uint32_t i = 0; i < table->columns; i++)
        if (i < table->texts || has_figures(table, i))
            kept[columns++] = i;
    for (uint32_t row = 0; row < table_rows(table); row++)
        for (uint32_t i = 0; i < columns; i++)
            memmove(table->cells[cells++], table_cell(table, row, kept[i]), TABLE_CELL_BYTES);
    for (uint32_t i = 0; i < columns; i++)
        table->heads[i] = table->heads[kept[i]];
    table->columns = columns;
    table->cells_count = columns > table->texts ? cells : 0;
}

static size_t column_width(const struct table *table, uint32_t column)
{
    size_t width = escape_width(table->heads[column]);
    for (uint32_t row = 0; row < table_rows(table); row++) {
        const size_t cell = escape_width(table_cell(table, row, column));
        width = size_max(cell, width);
    }
    return width;
}

static void fit_columns(const struct table *table, size_t widths[static TABLE_COLUMNS_MAX])
{
    size_t others = 0;
    for (uint32_t i = 0; i < table->columns; i++) {
        widths[i] = column_width(table, i);
        others += i > 0 ? widths[i] + GAP_WIDTH : 0;
    }
    const size_t room =
        others + FIRST_WIDTH_MIN < TABLE_WIDTH ? TABLE_WIDTH - others : FIRST_WIDTH_MIN;
    widths[0] = size_min(widths[0], room);
}

static void print_blanks(FILE *out, size_t count)
{
    (void)fprintf(out, "%*s", (int)count, "");
}

/* If the text is wider than `width`, prints its beginning and a tilde. */
static void print_cut(FILE *out, const char *clean, size_t width)
{
    const bool cut = escape_width(clean) > width;
    size_t shown = 0;
    for (; *clean; clean++) {
        shown += ((unsigned char)*clean & 0xc0) != 0x80;
        if (cut && shown == width)
            break;
        (void)fputc(*clean, out);
    }
    if (cut)
        (void)fputc('~', out);
}

static void print_cell(FILE *out, const char *text, size_t width, bool is_text, bool is_last)
{
    const size_t shown = escape_width(text);
    const size_t blanks = shown < width ? width - shown : 0;
    if (!is_text)
        print_blanks(out, blanks);
    print_cut(out, text, width);
    if (is_text && !is_last)
        print_blanks(out, blanks);
    (void)fputs(is_last ? "\n" : "  ", out);
}

void table_print(void *out, const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];
    if (table_rows(table) == 0)
        return;
    fit_columns(table, widths);
    (void)fputc('\n', out);
    for (uint32_t i = 0; i < table->columns; i++)
        print_cell(out, table->heads[i], widths[i], i < table->texts, i + 1 == table->columns);
    for (uint32_t row = 0; row < table_rows(table); row++)
        for (uint32_t i = 0; i < table->columns; i++)
            print_cell(out, table_cell(table, row, i), widths[i], i < table->texts,
                       i + 1 == table->columns);
    if (table->note)
        table_print_words(out, table->note, 0);
}

void table_snapshot(void *snapshot, const struct table *table)
{
    const char *heads[TABLE_COLUMNS_MAX + 1] = {NULL};
    if (table_rows(table) == 0)
        return;
    for (uint32_t i = 0; i < table->columns; i++)
        heads[i] = table->heads[i];
    json_t *shown = page_snapshot_table(snapshot, table->title, table->note, heads, table->texts);
    for (uint32_t row = 0; row < table_rows(table); row++)
        for (uint32_t i = 0; i < table->columns; i++)
            page_snapshot_cell(shown, table_cell(table, row, i));
}

void table_free(struct table *table)
{
    free(table->cells);
    *table = (struct table){0};
}

void table_print_words(FILE *out, const char *text, int indent)
{
    size_t column = (size_t)indent;
    while (*text) {
        char word[TABLE_CELL_BYTES];
        const size_t length = strcspn(text, " ");
        escape_clean(word, size_min(length + 1, sizeof word), text);
        const size_t width = escape_width(word);
        if (column > (size_t)indent && column + 1 + width > TABLE_WIDTH) {
            (void)fprintf(out, "\n%*s", indent, "");
            column = (size_t)indent;
        }
        (void)fprintf(out, "%s%s", column > (size_t)indent ? " " : "", word);
        column += width + (column > (size_t)indent);
        text += length + (text[length] == ' ');
    }
    (void)fputc('\n', out);
}
