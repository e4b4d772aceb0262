/* Writes the points of series as JSON: {"what": "loss", "by": "time", "curves": [{"name": "node1",
 * "x": [...], "y": [...]}]}; x in seconds, samples or bytes. */
#ifndef HEARSAY_COMMANDS_PLOT_PLOT_JSON_H
#define HEARSAY_COMMANDS_PLOT_PLOT_JSON_H

#include <stdio.h>

#include "commands/plot/series.h"

void plot_json_write(FILE *out, const struct series_set *set, const char *by);

#endif
