/* Writes a chart to a file: FILE.svg, or FILE.png with librsvg's rsvg-convert. */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_FILE_H
#define HEARSAY_COMMANDS_PLOT_PLOT_FILE_H

#include "base/error.h"
#include "plot/chart.h"

/* Returns MALFORMED if the file's name ends in neither .svg nor .png. */
enum error plot_file_check(const char *path, struct problem *problem) MUST_USE;

/* Draws the chart into the file. Returns MISSING if rsvg-convert is not installed, and FAILED if
 * the chart cannot be drawn or written. Removes an incomplete file. */
enum error plot_file_write(const char *path, const struct chart *chart,
                           struct problem *problem) MUST_USE;

#endif
