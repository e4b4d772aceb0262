#include "commands/lately.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "base/error.h"

void lately_note(struct lately *lately, double at_s, const char *format, ...)
{
    va_list arguments;
    memmove(lately->item + 1, lately->item, (LATELY_LINES - 1) * sizeof lately->item[0]);
    lately->item[0].at_s = at_s;
    va_start(arguments, format);
    (void)vsnprintf(lately->item[0].text, LATELY_TEXT_BYTES, format, arguments);
    va_end(arguments);
    if (lately->count < LATELY_LINES)
        lately->count++;
}

const char *lately_line(const struct lately *lately, size_t i, double now_s,
                        char out[static LATELY_TEXT_BYTES + 24])
{
    CHECK(i < lately->count && now_s >= lately->item[i].at_s);
    const double passed_s = now_s - lately->item[i].at_s;
    const struct amount age = amount_span(passed_s);
    (void)snprintf(out, LATELY_TEXT_BYTES + 24, "%s%s %s", passed_s < 1 ? "now:" : age.text,
                   passed_s < 1 ? "" : " ago:", lately->item[i].text);
    return out;
}
