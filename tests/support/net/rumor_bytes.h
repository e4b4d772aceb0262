/* Sizes of updates when encoded as rumors. */
#ifndef HEARSAY_TESTS_SUPPORT_NET_RUMOR_BYTES_H
#define HEARSAY_TESTS_SUPPORT_NET_RUMOR_BYTES_H

#include "wire/rumor.h"

/* Returns the total bytes of an update's rumors, each of at most `most` bytes. */
double rumor_bytes(const struct update *update, size_t most, const struct identity *identity);

#endif
