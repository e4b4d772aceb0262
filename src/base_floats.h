/* A base as float32, as files of weights hold it.
 *
 *   weight = QUANTUM · units, exactly, while |units| < 2^24, which is while |weight| < 1
 *
 * So from weights within 1 of zero, as most are, the base comes back bit for bit, with its digest;
 * beyond, it is as near as a float32 is. Held by tests/test_start.c and tests/test_from_model.sh.
 */
#ifndef HEARSAY_BASE_FLOATS_H
#define HEARSAY_BASE_FLOATS_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define BASE_FLOATS_MAX 128.0f /* no base reaches beyond (update.h) */

/* MALFORMED: one of weights[count] is no number, or farther from zero than max <= BASE_FLOATS_MAX.
 * path: for the sentence. */
enum status base_floats_check(const char *path, const float *weights, size_t count, float max,
                              struct problem *problem) MUST_USE;

/* Of the base that is nearest to these weights, which were checked. */
uint64_t base_floats_digest(const float *weights, size_t count);

/* How many of them may be rounded, so that the digest is not known for certain. */
size_t base_floats_rounded(const float *weights, size_t count);

/* Is each a whole number of units, as those of every base are? */
bool base_floats_are_whole(const float *weights, size_t count);

#endif
