#include "exchange/learner_state.h"

#include "base/error.h"

/* Returns the size of one vector in bytes, rounded up to whole cache lines. */
static size_t vector_bytes(size_t parameters)
{
    return (parameters * sizeof(float) + 63) & ~(size_t)63;
}

size_t learner_state_bytes(size_t parameters, uint32_t moments)
{
    CHECK(moments <= LEARNER_MOMENTS_MAX);
    return (2 + moments) * vector_bytes(parameters);
}

void learner_state_init(struct learner_state *state, void *memory, size_t parameters,
                        uint32_t moments)
{
    const size_t bytes = vector_bytes(parameters);
    unsigned char *vectors = memory;
    *state = (struct learner_state){
        .parameters = parameters,
        .base = (void *)vectors,
        .weights = (void *)(vectors + bytes),
        .moments = moments,
    };
    CHECK(moments <= LEARNER_MOMENTS_MAX);
    for (uint32_t i = 0; i < moments; i++)
        state->moment[i] = (void *)(vectors + (2 + i) * bytes);
}
