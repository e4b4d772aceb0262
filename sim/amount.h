/* Amounts for people: three figures and a unit. */
#ifndef HEARSAY_AMOUNT_H
#define HEARSAY_AMOUNT_H

#define AMOUNT_BYTES 24

/* "12.3 MB" */
const char *amount_bytes(double bytes, char out[static AMOUNT_BYTES]);

/* "10.0 Mbit/s", as a scenario writes it; 0: "no limit" */
const char *amount_rate(double bytes_per_s, char out[static AMOUNT_BYTES]);

#endif
