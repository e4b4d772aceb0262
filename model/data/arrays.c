#include "data/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/min_max.h"
#include "data/array_run.h"
#include "data/slice.h"
#include "data/tally.h"

/* maximum of channels, height, width and targets per sample */
#define SIDE_MAX   65536
#define SAMPLE_MAX ((uint64_t)1 << 24) /* maximum of numbers per sample of x */
/* floats are labels, with task AUTO, only if every class has at least this many samples */
#define LOOKS_EACH 4

/* The files of x and y, either those for training or separate test files, and the samples in them
 * that the dataset gets. */
struct source {
    struct array_run x, y;
    enum dataset_look look;
    /* Without separate test files: number of training samples, which come before the test samples.
     * With separate test files: number of samples in the files x and y. */
    uint32_t learned;
    /* Indices in the files of the requested samples, training or test: from .. to-1. */
    uint32_t from, to;
    /* which of these samples are in this shard; slice.keep NULL = all */
    struct slice_of_samples slice;
};

/* State of one pass over x or y. */
struct filling {
    const struct source *source;
    struct dataset *dataset;
    struct tally tally;      /* counts of the byte values in x; unused for floats */
    double sum, squares;     /* sums over the floats in x or y and over their squares */
    int32_t lowest, highest; /* labels found in y */
    uint32_t kept;
};

static bool are_numbers(enum dataset_look look)
{
    return look != LOOK_LABELS && look != LOOK_FLOAT_LABELS;
}

static bool has_test(const struct dataset_options *options)
{
    return (options->test_x && options->test_x[0]) || (options->test_y && options->test_y[0]);
}

static bool is_kept(const struct source *source, uint32_t at)
{
    return at >= source->from && at < source->to &&
           (!source->slice.keep || source->slice.keep[at - source->from]);
}

static enum error check_y(const struct array_run *y, bool is_regression, struct problem *problem)
{
    const struct npy_file *like = &y->like;
    const char *path = y->list.path[0];
    char type[NPY_NAME_BYTES];
    if (is_regression && like->kind != 'f')
        return problem_set(problem, MISMATCH,
                           "%.300s: holds %s, and those of the training are floats, to be "
                           "predicted; write y.astype(np.float32)",
                           path, npy_file_type(type, like));
    if (!is_regression && like->size != 1)
        return problem_set(problem, MISMATCH,
                           "%.300s: has %llu numbers of %s for each sample, and a label is one; "
                           "write one label each (of one-hot labels: y.argmax(axis=1)), or, to "
                           "predict numbers, y.astype(np.float32)",
                           path, (unsigned long long)like->size, npy_file_type(type, like));
    if (like->rank > 2)
        return problem_set(problem, MISMATCH,
                           "%.300s: has %d dimensions, and y has one, or two where a sample is "
                           "predicted as several numbers; write y.reshape(len(y), -1)",
                           path, like->rank);
    if (like->size > SIDE_MAX)
        return problem_set(
            problem, TOO_BIG,
            "%.300s: has %llu numbers for each sample, and %d can be predicted; take "
            "fewer",
            path, (unsigned long long)like->size, SIDE_MAX);
    return OK;
}

static enum error check_x(const struct array_run *x, struct problem *problem)
{
    const struct npy_file *like = &x->like;
    char type[NPY_NAME_BYTES];
    if (like->kind == 'b' || like->kind == 'f' || (like->kind == 'u' && like->bytes == 1))
        return OK;
    return problem_set(problem, MISMATCH,
                       "%.300s: holds %s, and samples are uint8 or float32; convert them: "
                       "np.save(FILE, x.astype(np.float32))",
                       x->list.path[0], npy_file_type(type, like));
}

enum error arrays_shape(const struct npy_file *file, struct shape *shape, struct problem *problem)
{
    const int rank = file->rank;
    uint64_t sides[3] = {1, rank > 2 ? file->dims[rank - 2] : 1,
                         rank > 1 ? file->dims[rank - 1] : 1};
    for (int i = 1; i < rank - 2; i++)
        /* cannot overflow: npy_file_open has checked the product of all dimensions */
        sides[0] *= file->dims[i];
    if (file->size > SAMPLE_MAX || sides[0] > SIDE_MAX || sides[1] > SIDE_MAX ||
        sides[2] > SIDE_MAX)
        return problem_set(problem, TOO_BIG,
                           "%.200s: its samples are %llux%llux%llu (channels, height, width), and "
                           "sides of %d and %llu numbers in all can be learned; cut or shrink them",
                           file->path, (unsigned long long)sides[0], (unsigned long long)sides[1],
                           (unsigned long long)sides[2], SIDE_MAX, (unsigned long long)SAMPLE_MAX);
    *shape = (struct shape){(int)sides[0], (int)sides[1], (int)sides[2], 0};
    return OK;
}

static int64_t label_at(const struct npy_file *like, const void *labels, uint32_t i)
{
    const bool is_signed = like->kind == 'i';
    if (like->kind == 'f')
        return (int64_t)((const float *)labels)[i]; /* a whole number, as take_labels has checked */
    switch (like->bytes) {
    case 1:
        return is_signed ? ((const int8_t *)labels)[i] : ((const uint8_t *)labels)[i];
    case 2:
        return is_signed ? ((const int16_t *)labels)[i] : ((const uint16_t *)labels)[i];
    case 4:
        return is_signed ? ((const int32_t *)labels)[i] : (int64_t)((const uint32_t *)labels)[i];
    default: /* 8 bytes: a uint64 above INT64_MAX becomes negative; take_labels refuses it */
        return ((const int64_t *)labels)[i];
    }
}

static bool is_whole(float number)
{
    return number > -1e9f && number < 1e9f && number == floorf(number);
}

static enum error take_labels(void *context, const struct array_block *block,
                              struct problem *problem)
{
    struct filling *filling = context;
    const struct npy_file *like = &filling->source->y.like;
    for (uint32_t i = 0; i < block->count; i++) {
        if (like->kind == 'f' && !is_whole(((const float *)block->data)[i]))
            return problem_set(problem, MALFORMED,
                               "%.300s: the label of sample %u is %.9g, and labels are whole "
                               "numbers from 0 to %d; or predict numbers: data.task = numbers",
                               block->path, block->at + i, (double)((const float *)block->data)[i],
                               DATASET_TOKENS_MAX - 1);
        const int64_t label = label_at(like, block->data, i);
        const bool is_huge = label >= DATASET_TOKENS_MAX || (label < 0 && like->kind == 'u');
        if (is_huge || label < 0)
            return problem_set(problem, is_huge ? TOO_BIG : MALFORMED,
                               "%.300s: the label of sample %u is %s%lld, and labels are whole "
                               "numbers from 0 to %d: number the classes from 0",
                               block->path, block->at + i, is_huge && label < 0 ? "above " : "",
                               is_huge && label < 0 ? (long long)INT64_MAX : (long long)label,
                               DATASET_TOKENS_MAX - 1);
        filling->lowest = int_min(filling->lowest, (int)label);
        filling->highest = int_max(filling->highest, (int)label);
        if (is_kept(filling->source, block->at + i))
            filling->dataset->labels[filling->kept++] = (int32_t)label;
    }
    return OK;
}

size_t arrays_first_broken(const float *numbers, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(numbers[i]))
        i++;
    return i;
}

static enum error check_finite(const struct array_block *block, size_t size,
                               struct problem *problem)
{
    const float *numbers = block->data;
    const size_t at = arrays_first_broken(numbers, block->count * size);
    if (at == block->count * size)
        return OK;
    return problem_set(problem, MALFORMED,
                       "%.300s: sample %zu holds %s, and only finite numbers can be learned; take "
                       "such samples out or fill them in (np.isfinite, np.nan_to_num)",
                       block->path, block->at + at / size,
                       isnan(numbers[at]) ? "NaN" : "infinity, or a number too large for float32");
}

/* Copies the block's samples that belong to the dataset to `rows`, `size` floats each. MALFORMED:
 * a number of the block, also of other samples, is NaN or infinite. */
static enum error take_rows(struct filling *filling, const struct array_block *block, size_t size,
                            float *rows, struct problem *problem)
{
    const enum error error = check_finite(block, size, problem);
    for (uint32_t i = 0; error == OK && i < block->count; i++)
        if (is_kept(filling->source, block->at + i))
            memcpy(rows + filling->kept++ * size, (const float *)block->data + i * size,
                   size * sizeof *rows);
    return error;
}

/* Sums the floats of every sample, also of other shards' samples. Copies the samples that belong to
 * the dataset to `rows`, `size` floats each. */
static enum error take_floats(struct filling *filling, const struct array_block *block, size_t size,
                              float *rows, struct problem *problem)
{
    const float *numbers = block->data;
    for (size_t i = 0; i < block->count * size; i++) {
        filling->sum += (double)numbers[i];
        filling->squares += (double)numbers[i] * (double)numbers[i];
    }
    return take_rows(filling, block, size, rows, problem);
}

static enum error take_targets(void *context, const struct array_block *block,
                               struct problem *problem)
{
    struct filling *filling = context;
    return take_floats(filling, block, (size_t)filling->source->y.like.size,
                       filling->dataset->targets, problem);
}

static enum error take_numbers(void *context, const struct array_block *block,
                               struct problem *problem)
{
    struct filling *filling = context;
    return take_floats(filling, block, (size_t)filling->source->x.like.size,
                       filling->dataset->numbers, problem);
}

/* Sets the mean and the standard deviation of the `count` floats that `filling` has added up. */
static void set_moments(const struct filling *filling, double count, float *mean, float *deviation)
{
    const double middle = filling->sum / count;
    *mean = (float)middle;
    *deviation = (float)sqrt(fmax(filling->squares / count - middle * middle, 0));
}

/* Counts the byte values of every training or test sample, also of other shards' samples. Copies
 * the samples that belong to the dataset. */
static enum error take_pixels(void *context, const struct array_block *block,
                              struct problem *problem)
{
    struct filling *filling = context;
    const size_t size = (size_t)filling->source->x.like.size;
    (void)problem;
    tally_add(&filling->tally, block->data, block->count * size);
    for (uint32_t i = 0; i < block->count; i++)
        if (is_kept(filling->source, block->at + i))
            memcpy(filling->dataset->pixels + filling->kept++ * size,
                   (const uint8_t *)block->data + i * size, size);
    return OK;
}

/* Allocates the dataset's arrays of samples and of labels or targets. dataset->count and shape must
 * be set. FAILED: no memory. */
static enum error take_memory(struct dataset *dataset, const struct source *source,
                              struct problem *problem)
{
    const size_t count = dataset->count, size = shape_size(dataset->shape);
    const size_t width = (size_t)source->y.like.size;
    if (source->x.like.kind == 'f')
        dataset->numbers = malloc(count * size * sizeof *dataset->numbers);
    else
        dataset->pixels = malloc(count * size);
    if (are_numbers(source->look))
        dataset->targets = malloc(count * width * sizeof *dataset->targets);
    else
        dataset->labels = malloc(count * sizeof *dataset->labels);
    if ((dataset->pixels || dataset->numbers) && (dataset->labels || dataset->targets))
        return OK;
    return problem_set(problem, FAILED,
                       "no memory left for %zu samples of %zu numbers; use more shards or a larger "
                       "machine",
                       count, size);
}

static enum error read_y(struct dataset *dataset, const struct source *source,
                         struct problem *problem)
{
    struct filling filling = {.source = source, .dataset = dataset, .lowest = INT32_MAX};
    const bool is_regression = dataset->targets != NULL;
    const enum error error =
        array_run_read(&source->y, 0, source->y.count, is_regression ? take_targets : take_labels,
                       &filling, problem);
    CHECK(error != OK || filling.kept == dataset->count);
    if (is_regression) {
        dataset->classes = (int)source->y.like.size;
        set_moments(&filling, (double)source->y.count * (double)source->y.like.size,
                    &dataset->target_mean, &dataset->target_deviation);
    } else {
        dataset->lowest_label = filling.lowest;
        dataset->highest_label = filling.highest;
        dataset->classes = int_max(filling.highest, 1) + 1; /* at least two */
    }
    return error;
}

static enum error read_x(struct dataset *dataset, const struct source *source,
                         struct problem *problem)
{
    struct filling filling = {.source = source, .dataset = dataset};
    const bool has_pixels = dataset->pixels != NULL;
    const enum error error =
        array_run_read(&source->x, source->from, source->to,
                       has_pixels ? take_pixels : take_numbers, &filling, problem);
    if (error != OK)
        return error;
    CHECK(filling.kept == dataset->count);
    dataset->mean = 0;
    dataset->scale = 1;
    if (has_pixels) {
        tally_normalise(&filling.tally, dataset);
    } else {
        set_moments(&filling, (double)(source->to - source->from) * (double)source->x.like.size,
                    &dataset->input_mean, &dataset->input_deviation);
    }
    return OK;
}

/* Statistics that decide whether the floats in y are labels. */
struct look {
    uint64_t of[ARRAYS_LABELS_MAX]; /* samples with each number 0 .. ARRAYS_LABELS_MAX-1 */
    float lowest, highest;
    bool is_whole;   /* all numbers are whole */
    size_t size;     /* numbers per sample */
    bool is_one_hot; /* each sample has a single 1 and otherwise zeros */
};

static enum error look_at_labels(void *context, const struct array_block *block,
                                 struct problem *problem)
{
    struct look *look = context;
    const float *numbers = block->data;
    (void)problem;
    for (uint32_t i = 0; i < block->count && look->is_whole; i++) {
        look->is_whole = is_whole(numbers[i]);
        look->lowest = fminf(look->lowest, numbers[i]);
        look->highest = fmaxf(look->highest, numbers[i]);
        if (look->is_whole && numbers[i] >= 0 && numbers[i] < ARRAYS_LABELS_MAX)
            look->of[(int)numbers[i]]++;
    }
    return OK;
}

static enum error look_at_rows(void *context, const struct array_block *block,
                               struct problem *problem)
{
    struct look *look = context;
    const float *row = block->data;
    (void)problem;
    for (uint32_t i = 0; i < block->count && look->is_one_hot; i++, row += look->size) {
        size_t ones = 0, zeros = 0;
        for (size_t k = 0; k < look->size; k++) {
            ones += row[k] == 1;
            zeros += row[k] == 0;
        }
        look->is_one_hot = ones == 1 && ones + zeros == look->size;
    }
    return OK;
}

bool arrays_are_like_labels(const uint64_t *counts, double lowest, double highest)
{
    if (lowest != 0 || !(highest >= 1 && highest < ARRAYS_LABELS_MAX))
        return false;
    for (int label = 0; label <= (int)highest; label++)
        if (counts[label] < LOOKS_EACH)
            return false;
    return true;
}

/* Sets *found to the meaning of y. */
static enum error find_task(const struct array_run *y, enum dataset_task task,
                            enum dataset_look *found, struct problem *problem)
{
    const struct npy_file *like = &y->like;
    struct look look = {.is_whole = true,
                        .lowest = INFINITY,
                        .highest = -INFINITY,
                        .size = (size_t)like->size,
                        .is_one_hot = like->size > 1};
    if (task == DATASET_NUMBERS && like->kind != 'f')
        return problem_set(problem, MISMATCH,
                           "%.300s: holds integers, and data.task = numbers predicts floats; write "
                           "y.astype(np.float32)",
                           y->list.path[0]);
    *found = task == DATASET_CLASSES || like->kind != 'f' ? LOOK_LABELS : LOOK_NUMBERS;
    if (*found == LOOK_LABELS || task == DATASET_NUMBERS)
        return OK;
    const enum error error = array_run_read(
        y, 0, y->count, look.is_one_hot ? look_at_rows : look_at_labels, &look, problem);
    if (like->size > 1)
        *found = look.is_one_hot ? LOOK_ONE_HOT : LOOK_NUMBERS;
    else if (like->stored_bytes == sizeof(double) && look.is_whole &&
             arrays_are_like_labels(look.of, (double)look.lowest, (double)look.highest))
        *found = LOOK_FLOAT_LABELS;
    else if (look.is_whole && look.highest - look.lowest < ARRAYS_LABELS_MAX)
        *found = LOOK_WHOLE_NUMBERS;
    return error;
}

static enum error find_task_of(const char *y, enum dataset_task task, enum dataset_look *look,
                               struct problem *problem)
{
    struct array_run run;
    enum error error = array_run_open(&run, y, "data.y", NPY_CHANNELS_FIRST, problem);
    if (error != OK)
        return error;
    error = find_task(&run, task, look, problem);
    array_run_close(&run);
    return error;
}

static enum error open_pair(struct source *source, const struct dataset_options *options, bool test,
                            struct problem *problem)
{
    const char *x = test ? options->test_x : options->x, *y = test ? options->test_y : options->y;
    enum error error =
        array_run_open(&source->x, x, test ? "data.test_x" : "data.x", options->channels, problem);
    if (error == OK)
        error = array_run_open(&source->y, y, test ? "data.test_y" : "data.y", NPY_CHANNELS_FIRST,
                               problem);
    if (error == OK)
        error = check_x(&source->x, problem);
    if (error == OK) /* data.y decides for both sets, because data.test_y may lack some classes */
        error = find_task_of(options->y && options->y[0] ? options->y : y, options->task,
                             &source->look, problem);
    if (error == OK)
        error = check_y(&source->y, are_numbers(source->look), problem);
    if (error == OK && source->x.count != source->y.count)
        error = problem_set(problem, MISMATCH,
                            "%s has %u samples and %s %u; name files that belong together",
                            source->x.key, source->x.count, source->y.key, source->y.count);
    return error;
}

/* Checks that no file is both in data.x and in data.test_x. MISMATCH: a file is in both. */
static enum error check_apart(const struct source *source, const char *test_x,
                              struct problem *problem)
{
    struct file_list test;
    enum error error = file_list_read(&test, test_x, "data.test_x", problem);
    if (error != OK)
        return error;
    error = file_list_apart(&source->x.list, &test, "data.test_x", problem);
    file_list_free(&test);
    return error;
}

static enum error open_source(struct source *source, const struct dataset_options *options,
                              bool train, struct problem *problem)
{
    const bool apart = has_test(options), of_test = apart && !train;
    enum error error = open_pair(source, options, of_test, problem);
    if (error == OK && apart && train)
        error = check_apart(source, options->test_x, problem);
    if (error != OK)
        return error;
    const uint32_t count = source->x.count;
    source->learned = apart ? count : (uint32_t)((uint64_t)count * 9 / 10);
    source->from = train || apart ? 0 : source->learned;
    source->to = train ? source->learned : count;
    if (source->from == source->to)
        return problem_set(
            problem, MISMATCH,
            "%s has %u samples, and the last tenth is the test; give more, or arrays "
            "of their own for the test (data.test_x and data.test_y)",
            source->x.key, count);
    return train ? slice_new(&source->slice, options, source->to - source->from, problem) : OK;
}

static enum error load(struct dataset *dataset, struct source *source,
                       const struct dataset_options *options, bool train, struct problem *problem)
{
    enum error error = open_source(source, options, train, problem);
    if (error == OK)
        error = arrays_shape(&source->x.like, &dataset->shape, problem);
    if (error != OK)
        return error;
    dataset->channels_last = source->x.like.channels_last;
    dataset->look = source->look;
    dataset->count = source->slice.keep ? source->slice.kept : source->to - source->from;
    error = take_memory(dataset, source, problem);
    if (error == OK)
        error = read_y(dataset, source, problem);
    return error == OK ? read_x(dataset, source, problem) : error;
}

enum error arrays_are_regression(const char *y, enum dataset_task task, bool *is_regression,
                                 struct problem *problem)
{
    enum dataset_look look = LOOK_LABELS;
    const enum error error = find_task_of(y, task, &look, problem);
    *is_regression = are_numbers(look);
    return error;
}

enum error arrays_load(struct dataset *dataset, const struct dataset_options *options, bool train,
                       struct problem *problem)
{
    struct source source = {.learned = 0};
    struct dataset loaded = {0};
    const enum error error = load(&loaded, &source, options, train, problem);
    array_run_close(&source.x);
    array_run_close(&source.y);
    free(source.slice.keep);
    if (error == OK)
        *dataset = loaded;
    else
        dataset_free(&loaded);
    return error;
}
