/* What `hearsay model` prints of times, and of everything as JSON. */
#ifndef HEARSAY_COMMANDS_MODEL_REPORT_H
#define HEARSAY_COMMANDS_MODEL_REPORT_H

#include "commands/model_time.h"

/* A table: layer, output, mean, deviation and median in milliseconds, part of the sample's time.
 * device: what computed. */
void model_report_times(const struct model *model, const struct model_times *times,
                        const char *device);

/* One object on a line. times: NULL, or those to be in it; a layer that the one before it computes
 * has null. */
void model_report_json(const struct model *model, const struct model_times *times,
                       const char *device);

#endif
