#include "report/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* Returns the length of the UTF-8 sequence that starts with byte `first` (RFC 3629); 0 = the byte
 * is invalid or a control character. */
static size_t sequence_bytes(uint8_t first)
{
    if (first < 0x80)
        return first >= 0x20 && first != 0x7f;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Returns true if `second` may follow `first` in UTF-8. Rejects overlong forms, surrogates, code
 * points above U+10FFFF, and the control characters U+0080 to U+009F. */
static bool second_fits(uint8_t first, uint8_t second)
{
    const uint8_t low = first == 0xe0 || first == 0xc2 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

/* Returns the length of the text's first character; 0 = the character must not be shown. */
static size_t character_bytes(const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    const size_t bytes = sequence_bytes(at[0]);
    if (bytes > 1 && !second_fits(at[0], at[1]))
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

void escape_clean(char *out, size_t bytes, const char *text)
{
    CHECK(bytes > 0);
    size_t used = 0;
    while (*text) {
        const size_t whole = character_bytes(text);
        const size_t taken = whole ? whole : 1;
        if (used + taken >= bytes)
            break;
        memcpy(out + used, whole ? text : "?", taken);
        used += taken;
        text += taken;
    }
    out[used] = 0;
}

size_t escape_width(const char *clean)
{
    size_t width = 0;
    for (; *clean; clean++)
        width += ((uint8_t)*clean & 0xc0) != 0x80;
    return width;
}

static void write_instead(FILE *out, const char *text, char quote, const char *instead)
{
    while (*text) {
        const size_t whole = character_bytes(text);
        if (*text == quote)
            (void)fputs(instead, out);
        else
            (void)fwrite(whole ? text : "?", 1, whole ? whole : 1, out);
        text += whole ? whole : 1;
    }
}

void escape_csv(FILE *out, const char *text)
{
    const bool is_formula = text[0] && strchr("=+-@", text[0]);
    if (!is_formula && !strpbrk(text, "\",;")) {
        write_instead(out, text, 0, "");
        return;
    }
    (void)fputs(is_formula ? "\"'" : "\"", out);
    write_instead(out, text, '"', "\"\"");
    (void)fputc('"', out);
}
