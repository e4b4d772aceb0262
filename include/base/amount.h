/* Formats numbers for people, with a unit. */
#ifndef HEARSAY_BASE_AMOUNT_H
#define HEARSAY_BASE_AMOUNT_H

#include <stdint.h>

#define AMOUNT_BYTES 24

const char *amount_bytes(double bytes, char out[static AMOUNT_BYTES]); /* "123.4 MB", "812 B" */

/* Formats a rate in bits per second, as in scenario files: "10.0 Mbit/s"; "no limit" for a rate of
 * 0. */
const char *amount_rate(double bytes_per_s, char out[static AMOUNT_BYTES]);

/* A formatted number, at least 0, with at most three digits and a unit: "1.23 MB", "45.6 kB/s",
 * "812"; "-" if the number is not finite. */
struct amount {
    char text[AMOUNT_BYTES];
};
struct amount amount_of(double amount, const char *unit);

/* Formats a duration: "0.3 ms", "850 ms", "12.3 s", "5m03s", "2h13m", "3d04h"; "-" if the duration
 * is negative or not finite. */
struct amount amount_span(double seconds);

/* Formats milliseconds since 1970 as "2026-11-24 13:00 UTC"; "-" after the year 9999. */
struct amount amount_moment(uint64_t ms);

#endif
