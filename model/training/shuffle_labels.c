#include "training/shuffle_labels.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "training/learner_private.h"

void learner_shuffle_labels(struct learner *learner, uint64_t seed)
{
    const struct device_dataset *train = &learner->gradients.train;
    const size_t bytes = train->count * sizeof *train->labels;
    struct rng rng = rng_new(seed, 0);
    if (!train->labels)
        return;
    int32_t *labels = memory_new(train->count, sizeof *labels);
    learner->backend->download(learner->backend, labels, train->labels, bytes);
    for (uint32_t i = train->count; i-- > 1;) {
        const uint32_t other = rng_below(&rng, i + 1);
        const int32_t label = labels[i];
        labels[i] = labels[other];
        labels[other] = label;
    }
    learner->backend->upload(learner->backend, train->labels, labels, bytes);
    free(labels);
}
