/* hearsay plot: draws curves from logs and simulations.
 *
 *   files ─► series.h ─┬► struct chart ─► characters, SVG, PNG
 *                      └► JSON, events for TensorBoard
 *
 * Tests: tests/process/test_plot.sh.
 */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_COMMAND_H
#define HEARSAY_COMMANDS_PLOT_PLOT_COMMAND_H

extern const char plot_usage[];

/* Runs the command. argv[0] begins its messages. Returns the exit code: 0 drawn, 1 failed, 2 wrong
 * usage. */
int plot_run(int argc, char **argv);

#endif
