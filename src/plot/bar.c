#include "plot/bar.h"

#include <math.h>

#include "base/error.h"

void bar_print(FILE *out, double part, int columns, bool is_utf8)
{
    static const char *const EIGHTHS[] = {"░", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    CHECK(columns > 0);
    const int eighths = (int)floor(fmin(fmax(part, 0), 1) * columns * 8);
    for (int x = 0; x < columns; x++) {
        const int fill = eighths - 8 * x;
        if (!is_utf8)
            (void)fputc(fill >= 4 ? '#' : '.', out);
        else
            (void)fputs(fill >= 8 ? "█" : EIGHTHS[fill > 0 ? fill : 0], out);
    }
}
