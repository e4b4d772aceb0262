#include "plot/utf8.h"

#include <string.h>

#include "base/error.h"

static bool follows(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t utf8_length(const char *text)
{
    const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];
    CHECK(first);
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || !follows(text[1]))
        return 0;
    if (first < 0xe0)
        return 2;
    /* overlong forms, surrogates and code points above U+10FFFF */
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) || !follows(text[2]))
        return 0;
    if (first < 0xf0)
        return 3;
    return follows(text[3]) ? 4 : 0;
}

static const char *next(const char *text)
{
    const size_t bytes = utf8_length(text);
    return text + (bytes > 0 ? bytes : 1);
}

size_t utf8_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text = next(text))
        columns++;
    return columns;
}

bool utf8_is_printable(const char *text)
{
    switch (utf8_length(text)) {
    case 0:
        return false;
    case 1:
        return *text >= ' ' && *text != 0x7f;
    case 2:
        return strncmp(text, "\xc2\xa0", 2) >= 0;
    default:
        return strncmp(text, "\xef\xbf\xbe", 3) != 0 && strncmp(text, "\xef\xbf\xbf", 3) != 0;
    }
}

void utf8_print(FILE *out, const char *text)
{
    for (; *text; text = next(text))
        if (utf8_is_printable(text))
            (void)fwrite(text, 1, (size_t)(next(text) - text), out);
        else
            (void)fputc('?', out);
}
