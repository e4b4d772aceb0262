/* Samples in a terminal: images as shades, tables as numbers, text as characters. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_SHOW_H
#define HEARSAY_COMMANDS_DATA_DATA_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/shape.h"

#define DATA_SHOW_MAX 16 /* maximum number of samples shown */

/* Samples to show. samples[count, shape]: numbers from `low` (black) to `high` (white).
 * caption[count]: the line below each sample, or NULL. in_colour: draw half blocks in 24-bit
 * colours. */
struct data_show {
    struct shape shape;
    const float *samples;
    const char (*caption)[32];
    int count;
    double low, high;
    bool in_colour;
};

void data_show_samples(FILE *out, const struct data_show *show);

/* Prints the beginning of a text, with a dot for each control character except tab and line
 * feed. */
void data_show_text(FILE *out, const char *text, size_t bytes);

#endif
