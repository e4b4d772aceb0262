#include "learner_state.h"

/* Whole cache lines. */
static size_t vector_bytes(size_t parameters)
{
    return (parameters * sizeof(float) + 63) & ~(size_t)63;
}

size_t learner_state_bytes(size_t parameters, bool trains)
{
    return (trains ? 4 : 3) * vector_bytes(parameters);
}

void learner_state_init(struct learner_state *state, void *memory, size_t parameters, bool trains)
{
    const size_t bytes = vector_bytes(parameters);
    unsigned char *vectors = memory;
    *state = (struct learner_state){
        .parameters = parameters,
        .base = (void *)vectors,
        .since = (void *)(vectors + bytes),
        .weights = (void *)(vectors + 2 * bytes),
        .momentum = trains ? (void *)(vectors + 3 * bytes) : NULL,
    };
}
