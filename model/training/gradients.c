#include "training/gradients.h"

#include "base/error.h"

void gradients_init(struct gradients *gradients, struct backend *backend, struct model *model,
                    const struct dataset *train, const struct gradients_options *options)
{
    const struct step_cut *most = &options->most;
    const size_t bytes = model_parameters(model) * sizeof(float);
    CHECK(most->part > 0 && most->part <= (uint32_t)model_batch_max(model));
    *gradients =
        (struct gradients){.backend = backend, .model = model, .smoothing = options->smoothing};
    device_dataset_init(&gradients->train, backend, train, most->part);
    augmenter_init(&gradients->augmenter, &options->augment, backend, train, most->part);
    gradients->sum = backend->alloc(backend, bytes);
    gradients->part = most->each > most->part ? backend->alloc(backend, bytes) : NULL;
    gradients->input = backend->alloc(backend, gradients_input_bytes(gradients, most->size));
    gradients->score = backend->alloc(backend, sizeof *gradients->score);
}

size_t gradients_input_bytes(const struct gradients *gradients, uint32_t size)
{
    CHECK(size > 0);
    const size_t numbers = model_drops(gradients->model) ? 2 : 1;
    return sizeof(struct step_input) + numbers * size * sizeof(uint32_t) +
           augmenter_bytes(&gradients->augmenter, size);
}

struct augmentation *gradients_augmentations(const struct gradients *gradients,
                                             struct step_input *input, uint32_t size)
{
    (void)gradients;
    return (struct augmentation *)(void *)(input->sample + size);
}

uint32_t *gradients_draws(const struct gradients *gradients, struct step_input *input,
                          uint32_t size)
{
    return input->sample + size + augmenter_bytes(&gradients->augmenter, size) / sizeof(uint32_t);
}

/* Writes the gradients of samples first .. first+samples-1 of a step of `size` samples to to[P]. */
static void learn_part(struct gradients *gradients, const float *weights, uint32_t size,
                       uint32_t first, uint32_t samples, float *to)
{
    struct backend *backend = gradients->backend;
    struct step_input *input = gradients->input;
    device_dataset_gather(&gradients->train, input->sample + first, samples);
    const struct model_part part = {
        .x = augmenter_apply(&gradients->augmenter, backend,
                             gradients_augmentations(gradients, input, size) + first,
                             gradients->train.x, samples),
        .labels = gradients->train.y_numbers ? NULL : gradients->train.y,
        .numbers = gradients->train.y_numbers,
        .samples = (int)samples,
        .of = (int)size,
        .smoothing = gradients->smoothing,
        .draws =
            model_drops(gradients->model) ? gradients_draws(gradients, input, size) + first : NULL,
    };
    model_learn_part(gradients->model, weights, to, &part, gradients->score);
}

void gradients_compute(struct gradients *gradients, const float *weights,
                       const struct step_cut *cut, uint32_t which)
{
    struct backend *backend = gradients->backend;
    const size_t parameters = model_parameters(gradients->model);
    const uint32_t begin = u32_min(which * cut->each, cut->size);
    const uint32_t end = u32_min(begin + cut->each, cut->size);
    CHECK(cut->part > 0 && cut->part <= gradients->train.batch_max);
    if (begin == end)
        backend->elements->clear(backend, parameters, gradients->sum);
    for (uint32_t first = begin; first < end; first += cut->part) {
        float *to = first == begin ? gradients->sum : gradients->part;
        learn_part(gradients, weights, cut->size, first, u32_min(cut->part, end - first), to);
        if (first > begin)
            backend->elements->add(backend, parameters, floats(gradients->sum), floats(to),
                                   floats(gradients->sum));
    }
}

void gradients_reserve(struct gradients *gradients, const float *weights, uint32_t size)
{
    const uint32_t part = u32_min(gradients->train.batch_max, size);
    learn_part(gradients, weights, size, 0, part, gradients->sum);
    (void)gradients_take_score(gradients);
}

struct score gradients_take_score(struct gradients *gradients)
{
    struct backend *backend = gradients->backend;
    struct score score;
    backend->download(backend, &score, gradients->score, sizeof score);
    backend->upload(backend, gradients->score, &(struct score){0}, sizeof score);
    return score;
}

void gradients_free(struct gradients *gradients)
{
    struct backend *backend = gradients->backend;
    device_dataset_free(&gradients->train);
    augmenter_free(&gradients->augmenter, backend);
    backend->free(backend, gradients->sum);
    if (gradients->part)
        backend->free(backend, gradients->part);
    backend->free(backend, gradients->input);
    backend->free(backend, gradients->score);
}
