/* What it takes to say an update. */
#ifndef HEARSAY_TESTS_SUPPORT_NET_RUMOR_BYTES_H
#define HEARSAY_TESTS_SUPPORT_NET_RUMOR_BYTES_H

#include "wire/rumor.h"

/* Bytes of the rumors that say it, none larger than `most`. */
double rumor_bytes(const struct update *update, size_t most, const struct identity *identity);

#endif
