/* Samples in a terminal: images as shades, tables as numbers, text as text. */
#ifndef HEARSAY_COMMANDS_DATA_DATA_SHOW_H
#define HEARSAY_COMMANDS_DATA_DATA_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/shape.h"

#define DATA_SHOW_MAX 16 /* samples */

/* samples[count, shape] as numbers of which `low` is black and `high` white; caption[count] below
 * each, or NULL. In colour: half blocks on a terminal of 24-bit colours. */
struct data_show {
    struct shape shape;
    const float *samples;
    const char (*caption)[32];
    int count;
    double low, high;
    bool in_colour;
};

void data_show_samples(FILE *out, const struct data_show *show);

/* The beginning of a text, with a dot for what cannot be printed. */
void data_show_text(FILE *out, const char *text, size_t bytes);

#endif
