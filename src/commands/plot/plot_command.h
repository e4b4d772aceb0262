/* hearsay plot: draws curves from logs and simulations.
 *
 *   files ─► series.h ─┬► struct chart ─► characters, SVG, PNG
 *                      └► JSON, events for TensorBoard
 *
 * Tests: tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_COMMAND_H
#define HEARSAY_COMMANDS_PLOT_PLOT_COMMAND_H

#include "config/command.h"

extern const struct command plot_command;

#endif
