/* Statistics of numbers: mean, deviation, minimum, maximum; and the count of each class.
 */
#ifndef HEARSAY_COMMANDS_DATA_DATA_STATISTICS_H
#define HEARSAY_COMMANDS_DATA_DATA_STATISTICS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zeroed at first (Welford 1962). */
struct moments {
    uint64_t count;
    double mean;
    double squares; /* of the distances from the mean, added up */
    double least;
    double most;
};

void moments_add(struct moments *moments, double number);
double moments_deviation(const struct moments *moments);

/* "mean 12.3, deviation 4.5, from 0 to 255" */
void moments_print(FILE *out, const struct moments *moments);

/* {"mean": …, "deviation": …, "least": …, "most": …}; NULL: there was no number. */
json_t *moments_json(const struct moments *moments);

/* [count, …] */
json_t *counts_json(const uint64_t *counts, size_t classes);

/* How often each class from 0 comes, in the training and, unless test is NULL, in the test: a line
 * each, or of many classes the rarest and the most frequent. */
void counts_print(FILE *out, const uint64_t *train, const uint64_t *test, size_t classes);

/* Classes that come at least once. */
size_t counts_present(const uint64_t *counts, size_t classes);

/* Entropy of a class drawn by its frequency, in bits (Shannon 1948). */
double counts_bits(const uint64_t *counts, size_t classes);

#endif
