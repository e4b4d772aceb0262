/* Loads the data sets that the configuration of a node names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/setup.h"

struct dataset_options setup_dataset_options(const struct config_data *data)
{
    return (struct dataset_options){
        .source = data->source,
        .directory = data->dir,
        .files = config_data_text(data, dataset_sources[data->source].files),
        .valid = data->valid,
        .x = data->x,
        .y = data->y,
        .test_x = data->test_x,
        .test_y = data->test_y,
        .task = data->task == DATASET_TASK_AUTO && data->classes > 0 ? DATASET_CLASSES : data->task,
        .channels = data->channels,
        .context = data->context,
        .seed = data->seed,
        .train_count = data->train_count,
        .test_count = data->test_count,
        .shard = data->shard.index,
        .shards = data->shard.count,
    };
}

/* Checks that training and test set fit together, and gives the test set the normalisation of the
 * training set. With tokens, the larger vocabulary counts. Otherwise the test set may have no class
 * that the training set lacks. */
static enum error match_sets(const char *named, struct dataset *train, struct dataset *test,
                             struct problem *problem)
{
    if (train->tokens && test->classes > train->classes)
        train->classes = test->classes;
    if (dataset_is_regression(train) != dataset_is_regression(test) ||
        (dataset_is_regression(train) && test->classes != train->classes) ||
        !train->numbers != !test->numbers)
        return problem_set(problem, MISMATCH,
                           "%.300s: the test samples or their targets differ in type or count from "
                           "the training set; store both in the same format",
                           named);
    if (memcmp(&train->shape, &test->shape, sizeof train->shape) != 0 ||
        test->classes > train->classes)
        return problem_set(problem, MISMATCH,
                           "%.300s: the test samples have another shape or more classes than the "
                           "training samples; take both from the same data set",
                           named);
    test->mean = train->mean;
    test->scale = train->scale;
    return OK;
}

/* Replaces the properties of the files by configured ones (classes, mean, deviation). The
 * configured properties hold for the whole swarm. The files may be those of only one node. */
static enum error set_task(const struct config_data *data, struct dataset *train,
                           struct dataset *test, struct problem *problem)
{
    const int labels = int_max(train->classes, test->classes);
    if (data->classes > 0 && dataset_is_regression(train))
        return problem_set(problem, WRONG_SETTING,
                           "data.classes = %u, but data.task = numbers; remove one of them",
                           data->classes);
    if (data->classes == 1)
        return problem_set(problem, WRONG_SETTING,
                           "data.classes = 1, but a model distinguishes at least two classes; set "
                           "the number of all nodes' classes");
    if (data->classes > 0 && labels > (int)data->classes)
        return problem_set(problem, WRONG_SETTING,
                           "data.classes = %u, but local labels go up to %d; count classes from 0, "
                           "and set the same number on all nodes",
                           data->classes, labels - 1);
    if (data->classes > 0)
        train->classes = test->classes = (int)data->classes;
    if ((data->mean >= 0 || data->deviation > 0) && !train->pixels)
        return problem_set(
            problem, WRONG_SETTING,
            "data.%s applies to byte samples only, and these samples are not bytes; remove it",
            data->mean >= 0 ? "mean" : "deviation");
    const float mean = data->mean >= 0 ? (float)data->mean : train->mean;
    const float scale = data->deviation > 0 ? (float)(1 / data->deviation) : train->scale;
    if (train->pixels) {
        train->input_mean = (train->mean - mean) * scale;
        train->input_deviation *= scale / train->scale;
    }
    train->mean = mean;
    train->scale = scale;
    return OK;
}

/* If augmentation is wanted, checks that the samples are images, because tables cannot be flipped
 * or cropped. Also checks that crop and cutout fit the size of the images. */
static enum error check_augment(const struct augment_options *augment, struct shape shape,
                                struct problem *problem)
{
    const uint32_t height = (uint32_t)shape.height, width = (uint32_t)shape.width;
    const uint32_t side = u32_min(height, width);
    if (!augment_is_wanted(augment))
        return OK;
    if (side < 2)
        return problem_set(problem, WRONG_SETTING,
                           "data.flip, crop and cutout apply to images only, but the samples are "
                           "%d x %d; remove them",
                           shape.height, shape.width);
    if (augment->crop < side && augment->cutout <= side)
        return OK;
    return problem_set(
        problem, WRONG_SETTING, "data.%s = %u is too large for images of %d x %d; lower it",
        augment->crop < side ? "cutout" : "crop",
        augment->crop < side ? augment->cutout : augment->crop, shape.height, shape.width);
}

enum error setup_data(const struct config *config, struct dataset *train, struct dataset *test,
                      struct problem *problem)
{
    const struct dataset_options options = setup_dataset_options(&config->data);
    CHECK(options.shard < options.shards);
    enum error error = dataset_load_train(train, &options, problem);
    if (error == OK)
        error = dataset_load_test(test, &options, problem);
    if (error != OK)
        return error;
    const char *named = options.test_x[0] ? options.test_x : options.files;
    error = set_task(&config->data, train, test, problem);
    if (error == OK)
        error = match_sets(named, train, test, problem);
    return error == OK ? check_augment(&config->data.augment, train->shape, problem) : error;
}

void setup_data_notes(char text[static SETUP_DATA_TEXT], const struct dataset *train)
{
    char labels[200] = "";
    if (train->look == LOOK_FLOAT_LABELS)
        (void)snprintf(labels, sizeof labels,
                       "data.y: its float64 values look like %d classes and are learned as "
                       "classes; to predict numbers, set data.task = numbers\n",
                       train->classes);
    (void)snprintf(
        text, SETUP_DATA_TEXT, "%s%s",
        train->channels_last ? "data.x stores the channels of images last (data.channels)\n" : "",
        labels);
}

static void warn_of_whole_numbers(FILE *text, const struct dataset *train)
{
    float lowest = INFINITY, highest = -INFINITY;
    for (uint32_t i = 0; i < train->count; i++) {
        lowest = fminf(lowest, train->targets[i]);
        highest = fmaxf(highest, train->targets[i]);
    }
    (void)fprintf(text,
                  "data.y holds whole numbers %.9g .. %.9g and is learned as numbers (regression); "
                  "for classes, set data.classes on all nodes, and number them from 0 on all; "
                  "data.task = numbers ends this warning\n",
                  (double)lowest, (double)highest);
}

static bool is_unscaled(double mean, double deviation)
{
    return fabs(mean) > 3 || deviation > 10 || (deviation < 0.1 && deviation > 0);
}

void setup_data_warnings(char text[static SETUP_DATA_TEXT], const struct dataset *train)
{
    FILE *file = fmemopen(text, SETUP_DATA_TEXT, "w");
    if (!file)
        memory_missing(SETUP_DATA_TEXT);
    if (train->look == LOOK_WHOLE_NUMBERS)
        warn_of_whole_numbers(file, train);
    if (train->numbers && is_unscaled((double)train->input_mean, (double)train->input_deviation))
        (void)fprintf(file,
                      "data.x holds floats of mean %.4g and deviation %.4g, which are not "
                      "normalised; bring each column to about mean 0 and deviation 1, with the "
                      "same numbers on all nodes\n",
                      (double)train->input_mean, (double)train->input_deviation);
    if (train->targets && is_unscaled((double)train->target_mean, (double)train->target_deviation))
        (void)fprintf(file,
                      "data.y holds numbers of mean %.4g and deviation %.4g, which are not "
                      "normalised; bring them to about mean 0 and deviation 1, with the same "
                      "numbers on all nodes, and scale the predictions back\n",
                      (double)train->target_mean, (double)train->target_deviation);
    if (train->look == LOOK_ONE_HOT)
        (void)fputs("data.y holds one-hot labels (a one and otherwise zeros in each row) and is "
                    "learned as numbers (regression); for classes, save y.argmax(axis=1) on all "
                    "nodes; data.task = numbers ends this warning\n",
                    file);
    if (train->labels && train->lowest_label > 0) {
        (void)fprintf(file, "no sample has label 0, only label%s %d",
                      train->lowest_label < train->highest_label ? "s" : "", train->lowest_label);
        if (train->lowest_label < train->highest_label)
            (void)fprintf(file, " .. %d", train->highest_label);
        (void)fputs(": number the classes from 0 on all nodes, unless this node merely lacks "
                    "samples of class 0\n",
                    file);
    }
    (void)fputc('\0', file);
    CHECK(fclose(file) == 0);
    /* the text was not cut off */
    CHECK(memchr(text, '\0', SETUP_DATA_TEXT));
}

struct setup_input setup_input(const struct dataset *dataset)
{
    struct setup_input input;
    const struct shape shape = dataset->shape;
    if (shape.length > 0)
        (void)snprintf(input.text, sizeof input.text, "%d %s", shape.length,
                       dataset->token_bytes == 1 ? "bytes" : "tokens");
    else
        (void)snprintf(input.text, sizeof input.text, "%dx%dx%d", shape.channels, shape.height,
                       shape.width);
    return input;
}
