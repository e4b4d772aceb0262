/* `hearsay compare`: plays every strategy under the same nodes, links, data, seeds and computing.
 */
#ifndef HEARSAY_SIM_COMPARISON_COMPARISON_H
#define HEARSAY_SIM_COMPARISON_COMPARISON_H

/* Runs the command and returns its exit code. */
int comparison_run(int argc, char **argv);

#endif
