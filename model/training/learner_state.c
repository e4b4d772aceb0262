#include "training/learner_state.h"

#include "base/digest.h"
#include "base/error.h"

/* Rounded up to whole cache lines. */
static size_t vector_bytes(size_t parameters)
{
    return (parameters * sizeof(float) + 63) & ~(size_t)63;
}

size_t learner_state_bytes(size_t parameters, uint32_t moments)
{
    CHECK(moments <= LEARNER_MOMENTS_MAX);
    return (3 + moments) * vector_bytes(parameters);
}

void learner_state_init(struct learner_state *state, void *memory, size_t parameters,
                        uint32_t moments)
{
    const size_t bytes = vector_bytes(parameters);
    unsigned char *vectors = memory;
    *state = (struct learner_state){
        .parameters = parameters,
        .base = (void *)vectors,
        .base_at_last_publish = (void *)(vectors + bytes),
        .weights = (void *)(vectors + 2 * bytes),
        .moments = moments,
    };
    CHECK(moments <= LEARNER_MOMENTS_MAX);
    for (uint32_t i = 0; i < moments; i++)
        state->moment[i] = (void *)(vectors + (3 + i) * bytes);
}

uint64_t learner_state_digest(const struct learner_state *state)
{
    uint64_t digest = 0;
    for (size_t c = 0; c < state->parameters; c++)
        digest = digest_add(digest, digest_of_entry((uint32_t)c, (uint32_t)state->base[c]));
    return digest;
}
