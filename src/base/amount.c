#include "base/amount.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define LAST_MS 253402300799999ull /* last millisecond of the year 9999, counted from 1970 */

struct amount amount_of(double amount, const char *unit)
{
    static const char *const PREFIXES[] = {"", "k", "M", "G", "T", "P"};
    struct amount out = {"-"};
    int prefix = 0;
    if (!isfinite(amount))
        return out;
    while (amount >= 999.5 && prefix < 5) {
        amount /= 1000;
        prefix++;
    }
    const int digits = prefix == 0 && amount == floor(amount) ? 0
                       : amount < 9.995                       ? 2
                       : amount < 99.95                       ? 1
                                                              : 0;
    (void)snprintf(out.text, sizeof out.text, "%.*f%s%s%s", digits, amount,
                   unit[0] || prefix ? " " : "", PREFIXES[prefix], unit);
    return out;
}

struct amount amount_span(double seconds)
{
    struct amount out = {"-"};
    if (!isfinite(seconds) || seconds < 0)
        return out;
    const unsigned long long whole = (unsigned long long)seconds;
    if (seconds < 0.0095)
        (void)snprintf(out.text, sizeof out.text, "%.1f ms", seconds * 1e3);
    else if (seconds < 0.9995)
        (void)snprintf(out.text, sizeof out.text, "%.0f ms", seconds * 1e3);
    else if (seconds < 60)
        (void)snprintf(out.text, sizeof out.text, "%.1f s", floor(seconds * 10) / 10);
    else if (whole < 3600)
        (void)snprintf(out.text, sizeof out.text, "%llum%02llus", whole / 60, whole % 60);
    else if (whole < 86400)
        (void)snprintf(out.text, sizeof out.text, "%lluh%02llum", whole / 3600, whole / 60 % 60);
    else
        (void)snprintf(out.text, sizeof out.text, "%llud%02lluh", whole / 86400, whole / 3600 % 24);
    return out;
}

struct amount amount_moment(uint64_t ms)
{
    struct amount out = {.text = "-"};
    const time_t seconds = (time_t)(ms / 1000);
    struct tm moment;
    if (ms <= LAST_MS && gmtime_r(&seconds, &moment))
        (void)strftime(out.text, sizeof out.text, "%Y-%m-%d %H:%M UTC", &moment);
    return out;
}

static void scaled(double value, const char *const units[static 5], char out[static AMOUNT_BYTES])
{
    int unit = 0;
    for (; value >= 999.95 && unit < 4; unit++)
        value /= 1000;
    (void)snprintf(out, AMOUNT_BYTES, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

const char *amount_bytes(double bytes, char out[static AMOUNT_BYTES])
{
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB"};
    scaled(bytes, UNITS, out);
    return out;
}

const char *amount_rate(double bytes_per_s, char out[static AMOUNT_BYTES])
{
    static const char *const UNITS[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
    if (bytes_per_s > 0)
        scaled(8 * bytes_per_s, UNITS, out);
    else
        (void)snprintf(out, AMOUNT_BYTES, "no limit");
    return out;
}
