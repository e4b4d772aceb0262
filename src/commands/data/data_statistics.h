/* Statistics of numbers, and the count of each class. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_STATISTICS_H
#define HEARSAY_COMMANDS_DATA_DATA_STATISTICS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Running statistics (Welford 1962). Initialize with zeros. */
struct moments {
    uint64_t count;
    double mean;
    double squares; /* sum of the numbers' squared distances from their mean */
    double least;
    double most;
};

void moments_add(struct moments *moments, double number);
double moments_deviation(const struct moments *moments);

/* Prints the statistics, such as "mean 12.3, deviation 4.5, from 0 to 255". */
void moments_print(FILE *out, const struct moments *moments);

/* Returns {"mean": …, "deviation": …, "least": …, "most": …}; NULL if there was no number. */
json_t *moments_json(const struct moments *moments);

json_t *counts_json(const uint64_t *counts, size_t classes);

/* Prints how often each class occurs in the training data and, unless test is NULL, in the test
 * data. If there are many classes, prints only the rarest and the most frequent ones of the
 * training data. */
void counts_print(FILE *out, const uint64_t *train, const uint64_t *test, size_t classes);

/* Returns the number of classes that occur at least once. */
size_t counts_present(const uint64_t *counts, size_t classes);

/* Returns the entropy of a class drawn by its frequency, in bits (Shannon 1948). */
double counts_bits(const uint64_t *counts, size_t classes);

#endif
