#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "data/idx.h"
#include "data/slice.h"
#include "data/synthetic_digits.h"
#include "data/tally.h"

/* Allocates pixels and labels of dataset->count samples; count and shape must be set. The pixels
 * have space for one more image, because read_images also reads images of other shards. FAILED: no
 * memory. */
static enum error take_memory(struct dataset *dataset, struct problem *problem)
{
    dataset->pixels = malloc((dataset->count + (size_t)1) * shape_size(dataset->shape));
    dataset->labels = malloc(dataset->count * sizeof *dataset->labels);
    if (dataset->pixels && dataset->labels)
        return OK;
    return problem_set(problem, FAILED,
                       "no memory left for %u samples of %zu bytes; use more shards or a larger "
                       "machine",
                       dataset->count, shape_size(dataset->shape));
}

static enum error read_labels(struct idx *labels, const struct slice_of_samples *slice,
                              struct dataset *dataset, struct problem *problem)
{
    uint8_t lowest = UINT8_MAX, highest = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < labels->count; i++) {
        uint8_t label;
        enum error error = idx_next(labels, &label, problem);
        if (error != OK)
            return error;
        lowest = label < lowest ? label : lowest;
        highest = label > highest ? label : highest;
        if (slice->keep[i])
            dataset->labels[at++] = label;
    }
    dataset->lowest_label = lowest;
    dataset->highest_label = highest;
    dataset->classes = int_max(highest, 1) + 1; /* at least two */
    return idx_end(labels, problem);
}

/* Reads all images of the file for mean and scale, and keeps the images of the slice. */
static enum error read_images(struct idx *images, const struct slice_of_samples *slice,
                              struct dataset *dataset, struct problem *problem)
{
    const size_t size = shape_size(dataset->shape);
    struct tally tally = {0};
    uint32_t at = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        uint8_t *image = dataset->pixels + size * at;
        enum error error = idx_next(images, image, problem);
        if (error != OK)
            return error;
        tally_add(&tally, image, size);
        at += slice->keep[i];
    }
    tally_normalise(&tally, dataset);
    return idx_end(images, problem);
}

static enum error read_pair(struct idx *images, struct idx *labels,
                            const struct dataset_options *options, struct dataset *dataset,
                            struct problem *problem)
{
    struct slice_of_samples slice;
    if (images->count != labels->count)
        return problem_set(problem, MALFORMED,
                           "%s: holds %u images for the %u labels beside it; %s", images->path,
                           images->count, labels->count, idx_remedy(images));
    enum error error = slice_new(&slice, options, images->count, problem);
    if (error != OK)
        return error;
    dataset->count = slice.kept;
    dataset->shape = images->shape;
    error = take_memory(dataset, problem);
    if (error == OK)
        error = read_labels(labels, &slice, dataset, problem);
    if (error == OK)
        error = read_images(images, &slice, dataset, problem);
    free(slice.keep);
    return error;
}

enum error dataset_load_idx(struct dataset *dataset, const struct dataset_options *options,
                            bool train, struct problem *problem)
{
    struct idx images, labels;
    const char *part = train ? "train" : "t10k";
    enum error error = idx_open(&images, options->directory, part, IDX_IMAGES, problem);
    if (error != OK)
        return error;
    error = idx_open(&labels, options->directory, part, IDX_LABELS, problem);
    if (error == OK) {
        error = read_pair(&images, &labels, options, dataset, problem);
        idx_close(&labels);
    }
    idx_close(&images);
    return error;
}

static void tally_digits(struct dataset *dataset, uint64_t seed, uint32_t train_count)
{
    uint8_t pixels[DIGIT_PIXELS];
    struct tally tally = {0};
    const uint32_t count = train_count < DATASET_TALLIED ? train_count : DATASET_TALLIED;
    for (uint32_t i = 0; i < count; i++) {
        (void)synthetic_digits_draw(seed, DIGITS_TRAIN, i, pixels);
        tally_add(&tally, pixels, sizeof pixels);
    }
    tally_normalise(&tally, dataset);
}

enum error dataset_load_generated(struct dataset *dataset, const struct dataset_options *options,
                                  bool train, struct problem *problem)
{
    struct slice_of_samples slice;
    const uint32_t count = train ? options->train_count : options->test_count;
    enum error error = slice_new(&slice, options, count, problem);
    if (error != OK)
        return error;
    dataset->count = slice.kept;
    dataset->shape = (struct shape){1, DIGIT_SIDE, DIGIT_SIDE, 0};
    dataset->classes = DIGIT_CLASSES;
    dataset->highest_label = DIGIT_CLASSES - 1;
    error = take_memory(dataset, problem);
    const enum digits_set set = train ? DIGITS_TRAIN : DIGITS_TEST;
    for (uint32_t i = 0, at = 0; error == OK && i < count; i++)
        if (slice.keep[i]) {
            uint8_t *pixels = dataset->pixels + (size_t)at * DIGIT_PIXELS;
            dataset->labels[at++] = synthetic_digits_draw(options->seed, set, i, pixels);
        }
    free(slice.keep);
    if (error == OK && train)
        tally_digits(dataset, options->seed, count);
    return error;
}

enum error dataset_load_xor(struct dataset *dataset, const struct dataset_options *options,
                            bool train, struct problem *problem)
{
    static const uint8_t pixels[4][2] = {{0, 0}, {0, 255}, {255, 0}, {255, 255}};
    static const int32_t labels[4] = {0, 1, 1, 0};
    struct tally tally = {0};
    (void)options, (void)train;
    *dataset =
        (struct dataset){.count = 4, .shape = {1, 1, 2, 0}, .classes = 2, .highest_label = 1};
    enum error error = take_memory(dataset, problem);
    if (error != OK)
        return error;
    memcpy(dataset->pixels, pixels, sizeof pixels);
    memcpy(dataset->labels, labels, sizeof labels);
    tally_add(&tally, dataset->pixels, sizeof pixels);
    tally_normalise(&tally, dataset);
    return OK;
}

#define DATASET_ROW(CONSTANT, word, loader, ...) {.name = #word, .load = (loader), __VA_ARGS__},

const struct dataset_source_row dataset_sources[] = {DATASET_SOURCES(DATASET_ROW)};

static enum error load(struct dataset *dataset, const struct dataset_options *options, bool train,
                       struct problem *problem)
{
    struct dataset loaded = {0};
    enum error error = slice_check(options, UINT32_MAX, problem);
    if (error == OK)
        error = dataset_sources[options->source].load(&loaded, options, train, problem);
    if (error == OK)
        *dataset = loaded;
    else
        dataset_free(&loaded);
    return error;
}

enum error dataset_load_train(struct dataset *dataset, const struct dataset_options *options,
                              struct problem *problem)
{
    return load(dataset, options, true, problem);
}

enum error dataset_load_test(struct dataset *dataset, const struct dataset_options *options,
                             struct problem *problem)
{
    struct dataset_options whole = *options;
    whole.shard = 0;
    whole.shards = 1;
    enum error error = load(dataset, &whole, false, problem);
    if (error == OK)
        dataset->mean = dataset->scale = 0;
    return error;
}

void dataset_free(struct dataset *dataset)
{
    free(dataset->pixels);
    free(dataset->numbers);
    free(dataset->labels);
    free(dataset->targets);
    free(dataset->tokens);
    *dataset = (struct dataset){0};
}
