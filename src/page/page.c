#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The page that the build has made. */
__asm__(".section .rodata\n"
        "page_begin: .incbin \"" PAGE_FILE "\"\n"
        "page_end: .byte 0\n"
        ".previous\n");
extern const char page_begin[], page_end[];

/* The snapshot is inserted after this tag, which occurs once. */
static const char PLACE[] = "<script type=\"application/json\" id=\"snapshot\">";

const char *page_live(size_t *bytes)
{
    *bytes = (size_t)(page_end - page_begin);
    return page_begin;
}

/* Escapes JSON, so that no text in it can end the script element or begin a comment. */
static void write_escaped(FILE *out, const char *json)
{
    for (; *json; json++)
        if (*json == '<')
            (void)fputs("\\u003c", out);
        else
            (void)fputc(*json, out);
}

void page_write(FILE *out, const json_t *snapshot)
{
    const char *place = strstr(page_begin, PLACE);
    char *json = json_dumps(snapshot, JSON_COMPACT | JSON_REAL_PRECISION(7));
    CHECK(place && json);
    const char *rest = place + sizeof PLACE - 1;
    (void)fwrite(page_begin, 1, (size_t)(rest - page_begin), out);
    write_escaped(out, json);
    (void)fwrite(rest, 1, (size_t)(page_end - rest), out);
    free(json);
}
