/* Writes series as a TensorBoard log folder: DIR/CURVE/events.out.tfevents.… per curve, with a tag
 * per requested number.
 *
 * Held by tests/process/test_plot.sh and test_tensorboard.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H
#define HEARSAY_COMMANDS_PLOT_PLOT_TENSORBOARD_H

#include "commands/plot/series.h"

/* Adds a tag for all curves of a set; steps are x, rounded. Further calls add to the files of this
 * run of the program; files of earlier runs are replaced. FAILED: a folder or a file cannot be
 * created. */
enum error plot_tensorboard_add(const char *dir, const struct series_set *set, bool is_first,
                                struct problem *problem) MUST_USE;

#endif
