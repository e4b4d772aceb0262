#include "training/label_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "training/learner_private.h"

/* A class with more compared samples weighs no more than one with this number. */
#define CLASS_MOST 20

/* Compared samples, and what the base predicts for them. */
struct comparison {
    uint32_t samples;
    uint32_t classes;
    int32_t *labels;                   /* [samples] */
    float *logits;                     /* [samples, classes] */
    uint32_t count[LABEL_FIT_CLASSES]; /* number of samples by label */
};

/* Predicts `size` samples from number `first` on. The samples are spread over the training set. */
static void compare_batch(struct learner *learner, struct comparison *comparison, uint32_t first,
                          uint32_t size)
{
    struct backend *backend = learner->backend;
    struct device_dataset *train = &learner->gradients.train;
    uint32_t *sample = learner->gradients.input->sample; /* free between two steps */
    uint32_t *host_sample = memory_new(size, sizeof *host_sample);
    const size_t classes = comparison->classes;
    for (uint32_t i = 0; i < size; i++)
        host_sample[i] =
            (uint32_t)((uint64_t)(first + i) * train->count / comparison->samples) * train->stride;
    backend->upload(backend, sample, host_sample, size * sizeof *sample);
    free(host_sample);
    device_dataset_gather(train, sample, size);
    const float *y =
        model_forward(learner->model, evaluator_weights(learner->evaluator), train->x, (int)size);
    backend->download(backend, comparison->logits + first * classes, y, size * classes * sizeof *y);
    backend->download(backend, comparison->labels + first, train->y, size * sizeof *train->y);
}

/* Returns true if this node has enough samples of the class. */
static bool has(const struct comparison *comparison, uint32_t class)
{
    return comparison->count[class] >= LABEL_FIT_LEAST;
}

/* Returns the class with the largest logit, of all classes or of those that this node has. */
static uint32_t predict(const struct comparison *comparison, const float *logits, bool of_all)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < comparison->classes; k++)
        if ((of_all || has(comparison, k)) && (best == UINT32_MAX || logits[k] > logits[best]))
            best = k;
    CHECK(best < comparison->classes);
    return best;
}

/* Returns the prediction's probability among the same classes. */
static double confidence(const struct comparison *comparison, const float *logits,
                         uint32_t prediction, bool of_all)
{
    double sum = 0;
    for (uint32_t k = 0; k < comparison->classes; k++)
        if (of_all || has(comparison, k))
            sum += exp((double)logits[k] - (double)logits[prediction]);
    return 1 / sum;
}

/* Adds the class to the named ones if most of its samples are predicted as one other class. */
static void name_moved(struct label_fit *fit, const struct comparison *comparison, uint32_t class)
{
    uint32_t predicted[LABEL_FIT_CLASSES] = {0};
    for (uint32_t i = 0; i < comparison->samples; i++)
        if ((uint32_t)comparison->labels[i] == class)
            predicted[predict(comparison, comparison->logits + (size_t)i * comparison->classes,
                              true)]++;
    for (uint32_t k = 0; k < comparison->classes && fit->moved_count < LABEL_FIT_MOVED; k++) {
        if (k == class || 2 * predicted[k] <= comparison->count[class])
            continue;
        fit->moved[fit->moved_count].label = (uint16_t) class;
        fit->moved[fit->moved_count++].prediction = (uint16_t)k;
    }
}

/* Each sample has the weight of its class divided by the number of the class's samples. */
static struct label_predictions predictions_of(const struct comparison *comparison, bool of_all)
{
    struct label_predictions sum = {0};
    double weights = 0, parts[LABEL_FIT_CLASSES] = {0}, most = 0;
    for (uint32_t i = 0; i < comparison->samples; i++) {
        const float *logits = comparison->logits + (size_t)i * comparison->classes;
        const uint32_t label = (uint32_t)comparison->labels[i];
        if (!has(comparison, label))
            continue;
        const uint32_t prediction = predict(comparison, logits, of_all);
        const double weight = fmin(comparison->count[label], CLASS_MOST) / comparison->count[label];
        weights += weight;
        parts[prediction] += weight;
        most = fmax(most, parts[prediction]);
        sum.agreement += prediction == label ? weight : 0;
        sum.confidence += weight * confidence(comparison, logits, prediction, of_all);
    }
    CHECK(weights > 0);
    return (struct label_predictions){.agreement = sum.agreement / weights,
                                      .confidence = sum.confidence / weights,
                                      .variety = 1 - most / weights};
}

static struct label_fit fit_of(const struct comparison *comparison)
{
    struct label_fit fit = {.samples = 0};
    for (uint32_t k = 0; k < comparison->classes; k++) {
        if (!has(comparison, k))
            continue;
        fit.samples = comparison->samples;
        name_moved(&fit, comparison, k);
    }
    if (fit.samples == 0)
        return fit;
    fit.all = predictions_of(comparison, true);
    fit.known = predictions_of(comparison, false);
    return fit;
}

struct label_fit label_fit_of(struct learner *learner)
{
    const struct device_dataset *train = &learner->gradients.train;
    if (!learner_can_step(learner) || !train->labels || !learner->evaluator ||
        model_outputs(learner->model) > LABEL_FIT_CLASSES)
        return (struct label_fit){0};
    struct comparison comparison = {.samples = u32_min(train->count, LABEL_FIT_SAMPLES),
                                    .classes = (uint32_t)model_outputs(learner->model)};
    const uint32_t most = u32_min(train->batch_max, learner->size);
    comparison.labels = memory_new(comparison.samples, sizeof *comparison.labels);
    comparison.logits =
        memory_new((size_t)comparison.samples * comparison.classes, sizeof *comparison.logits);
    learner_show_base(learner);
    for (uint32_t first = 0; first < comparison.samples; first += most)
        compare_batch(learner, &comparison, first, u32_min(comparison.samples - first, most));
    for (uint32_t i = 0; i < comparison.samples; i++) {
        CHECK((uint32_t)comparison.labels[i] < comparison.classes);
        comparison.count[comparison.labels[i]]++;
    }
    const struct label_fit fit = fit_of(&comparison);
    free(comparison.labels);
    free(comparison.logits);
    return fit;
}
