#include "training/shuffle_labels.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "training/learner_private.h"

/* Copies the labels of the training samples to the host; NULL if the samples have none. */
static int32_t *download_labels(const struct learner *learner)
{
    const struct device_dataset *train = &learner->gradients.train;
    if (!train->labels)
        return NULL;
    int32_t *labels = memory_new(train->count, sizeof *labels);
    learner->backend->download(learner->backend, labels, train->labels,
                               train->count * sizeof *labels);
    return labels;
}

/* Replaces the labels on the backend, and frees those on the host. */
static void upload_labels(struct learner *learner, int32_t *labels)
{
    const struct device_dataset *train = &learner->gradients.train;
    learner->backend->upload(learner->backend, train->labels, labels,
                             train->count * sizeof *labels);
    free(labels);
}

void learner_shuffle_labels(struct learner *learner, uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    int32_t *labels = download_labels(learner);
    if (!labels)
        return;
    for (uint32_t i = learner->gradients.train.count; i-- > 1;) {
        const uint32_t other = rng_below(&rng, i + 1);
        const int32_t label = labels[i];
        labels[i] = labels[other];
        labels[other] = label;
    }
    upload_labels(learner, labels);
}

void learner_shift_labels(struct learner *learner)
{
    const int classes = model_outputs(learner->model);
    int32_t *labels = download_labels(learner);
    if (!labels)
        return;
    for (uint32_t i = 0; i < learner->gradients.train.count; i++)
        labels[i] = (labels[i] + 1) % classes;
    upload_labels(learner, labels);
}
