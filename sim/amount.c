#include "amount.h"

#include <stdio.h>

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
