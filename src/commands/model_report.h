/* Output of `hearsay model`: a table of times, and everything as JSON. */
#ifndef HEARSAY_COMMANDS_MODEL_REPORT_H
#define HEARSAY_COMMANDS_MODEL_REPORT_H

#include "commands/model_time.h"

/* Prints a table: layer, output, mean, deviation and median in milliseconds, and part of the
 * sample's time. device: name of the device that was timed. */
void model_report_times(const struct model *model, const struct model_times *times,
                        const char *device);

/* Prints one JSON object on a line. times: NULL = none; a layer that the layer before it computes
 * has null. */
void model_report_json(const struct model *model, const struct model_times *times,
                       const char *device);

#endif
