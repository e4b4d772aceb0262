/* Writes series as a TensorBoard log folder: a file DIR/CURVE/events.out.tfevents.… for each curve,
 * with a tag for each requested number.
 *
 * Tests: tests/process/test_plot.sh and test_tensorboard.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H
#define HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H

#include "commands/plot/series.h"

/* Adds a tag with its points to the file of each curve of a set. The step of a point is its x,
 * rounded. is_first: replaces files of earlier runs; later calls append. Returns FAILED if a folder
 * or file cannot be created. */
enum error plot_tensorboard_add(const char *dir, const struct series_set *set, bool is_first,
                                struct problem *problem) MUST_USE;

#endif
