/* A chart in a file: FILE.svg, or FILE.png, which librsvg's rsvg-convert makes of it. */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_FILE_H
#define HEARSAY_COMMANDS_PLOT_PLOT_FILE_H

#include "base/error.h"
#include "plot/chart.h"

/* MALFORMED: the name of the file ends in neither .svg nor .png. */
enum error plot_file_check(const char *path, struct problem *problem) MUST_USE;

/* MISSING: rsvg-convert is not there; FAILED: it cannot be drawn or written; an incomplete file is
 * removed. */
enum error plot_file_write(const char *path, const struct chart *chart,
                           struct problem *problem) MUST_USE;

#endif
