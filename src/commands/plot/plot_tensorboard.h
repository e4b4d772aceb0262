/* Writes series as a TensorBoard log folder: DIR/CURVE/events.out.tfevents.… per curve, with a tag
 * per requested number.
 *
 * Held by tests/process/test_plot.sh and test_tensorboard.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H
#define HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H

#include "commands/plot/series.h"

/* One more tag for all curves of a set; steps are x, rounded. Called again it adds to the files
 * that it began in this run of the program, and replaces those of earlier ones. FAILED: a folder or
 * a file cannot be made. */
enum error plot_tensorboard_add(const char *dir, const struct series_set *set, bool is_first,
                                struct problem *problem) MUST_USE;

#endif
