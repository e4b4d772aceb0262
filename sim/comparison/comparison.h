/* `hearsay compare`: plays every strategy under the same nodes, links, data, seeds and computing.
 */
#ifndef HEARSAY_SIM_COMPARISON_COMPARISON_H
#define HEARSAY_SIM_COMPARISON_COMPARISON_H

#include "config/command.h"

extern const struct command comparison_command;

#endif
