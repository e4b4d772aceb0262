/* Lines that make a scenario invalid, and words of the expected error message. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_REFUSED_H
#define HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_REFUSED_H

#include <stddef.h>

#include "support/sim/scenario_text.h"

struct refused {
    const char *text;
    const char *words;
};

extern const struct refused refused[];
extern const size_t refused_count;

#endif
