#include "backend/optimizers.h"

#define OPTIMIZER_ROW(CONSTANT, word, ...) {.name = #word, __VA_ARGS__},

const struct optimizer_row optimizers[] = {
    OPTIMIZERS(OPTIMIZER_ROW){.name = "auto", .moments = 2, .withholds = true, .adds_up = true}};
