/* Output of `hearsay model --time` and `--json`: a table of times, and everything as JSON. */
#ifndef HEARSAY_COMMANDS_MODEL_REPORT_H
#define HEARSAY_COMMANDS_MODEL_REPORT_H

#include "commands/model_time.h"

/* Prints a table with a row for each layer: output shape; mean, standard deviation and median of
 * its time in milliseconds; and its part of a sample's time. device: name of the timed device. */
void model_report_times(const struct model *model, const struct model_times *times,
                        const char *device);

/* Prints one JSON object in a line. times: NULL = not timed. A layer that computes nothing by
 * itself has null for its times. */
void model_report_json(const struct model *model, const struct model_times *times,
                       const char *device);

#endif
