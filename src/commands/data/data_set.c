#include "commands/data/data_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/data/data_show.h"
#include "commands/data/data_statistics.h"
#include "commands/json_output.h"
#include "config/setup.h"

#define TEXT_SHOWN   400
#define TOKENS_SHOWN 24
/* An image that is at most this wide, and higher, may have its channels last. A note of the report
 * says so. */
#define CHANNELS_LAST 4

struct report {
    FILE *out;
    const struct config *config;
    struct dataset train, test;
    struct moments numbers; /* statistics of the training samples */
    struct moments targets; /* statistics of all training targets together */
    uint64_t *train_counts; /* [classes] training samples, or tokens, per class */
    uint64_t *test_counts;  /* [classes] test samples, or tokens, per class */
};

static int64_t token_at(const struct dataset *set, size_t i)
{
    if (set->token_bytes == 1)
        return ((const uint8_t *)set->tokens)[i];
    if (set->token_bytes == 2)
        return ((const uint16_t *)set->tokens)[i];
    return ((const uint32_t *)set->tokens)[i];
}

static void count_all(const struct dataset *set, uint64_t *counts)
{
    for (size_t i = 0; i < set->tokens_count; i++)
        counts[token_at(set, i)]++;
    for (size_t i = 0; set->labels && i < set->count; i++)
        counts[set->labels[i]]++;
}

static float number_at(const struct dataset *set, size_t i)
{
    return set->pixels ? (float)set->pixels[i] : set->numbers[i];
}

static void look_at(struct report *report)
{
    const struct dataset *train = &report->train;
    const size_t size = shape_size(train->shape);
    report->train_counts = memory_new((size_t)train->classes, sizeof *report->train_counts);
    report->test_counts = memory_new((size_t)train->classes, sizeof *report->test_counts);
    count_all(train, report->train_counts);
    count_all(&report->test, report->test_counts);
    for (size_t i = 0; !train->tokens && i < train->count * size; i++)
        moments_add(&report->numbers, (double)number_at(train, i));
    for (size_t i = 0; train->targets && i < train->count * (size_t)train->classes; i++)
        moments_add(&report->targets, (double)train->targets[i]);
}

static void print_counts(const struct report *report)
{
    const struct dataset *train = &report->train;
    const struct slice shard = report->config->data.shard;
    const struct setup_input input = setup_input(train);
    (void)fprintf(report->out, "training    %u samples of %s (shard %u/%u)", train->count,
                  input.text, shard.index + 1, shard.count);
    if (train->tokens)
        (void)fprintf(report->out, ", cut from %zu tokens", train->tokens_count);
    (void)fprintf(report->out, "\ntest        %u samples", report->test.count);
    if (train->tokens)
        (void)fprintf(report->out, ", cut from %zu tokens", report->test.tokens_count);
    (void)fputc('\n', report->out);
}

static void print_numbers(const struct report *report)
{
    (void)fprintf(report->out, "numbers     %s: ", report->train.pixels ? "bytes" : "float32");
    moments_print(report->out, &report->numbers);
    (void)fputs(report->train.pixels ? "; normalised to mean 0 and deviation 1\n"
                                     : "; used without normalisation\n",
                report->out);
}

static void print_predicted(const struct report *report)
{
    const struct dataset *train = &report->train;
    const size_t classes = (size_t)train->classes;
    if (train->targets) {
        (void)fprintf(report->out, "predicted   %d number%s per sample: ", train->classes,
                      train->classes == 1 ? "" : "s");
        moments_print(report->out, &report->targets);
        (void)fputc('\n', report->out);
        return;
    }
    (void)fprintf(
        report->out, "%s %zu, of which %zu occur in the training data; entropy %.3f bits each\n",
        train->tokens ? "vocabulary " : "classes    ", classes,
        counts_present(report->train_counts, classes), counts_bits(report->train_counts, classes));
    if (!train->tokens)
        counts_print(report->out, report->train_counts, report->test_counts, classes);
}

/* The functions named note_… print notes on recognised properties and possible mistakes; the data
 * are used nevertheless. */

static void note_classes(const struct report *report)
{
    const size_t classes = (size_t)report->train.classes;
    size_t unseen = 0, untested = 0;
    for (size_t i = 0; i < classes; i++) {
        unseen += report->train_counts[i] == 0 && report->test_counts[i] > 0;
        untested += report->train_counts[i] > 0 && report->test_counts[i] == 0;
    }
    if (report->train.tokens || !report->train.labels)
        return;
    if (unseen > 0)
        (void)fprintf(report->out,
                      "note        %zu %s of the test data %s in no training sample of this node\n",
                      unseen, unseen == 1 ? "class" : "classes", unseen == 1 ? "is" : "are");
    if (untested * 10 > classes && report->test.count > 10 * classes)
        (void)fprintf(report->out,
                      "note        the test data lack %zu of the %zu classes: if they are the last "
                      "tenth of the file, shuffle it, or name separate test files\n",
                      untested, classes);
}

static void note_numbers(const struct report *report)
{
    const struct dataset *train = &report->train;
    if (!train->tokens && report->config->data.channels == NPY_CHANNELS_AUTO &&
        train->shape.width <= CHANNELS_LAST && train->shape.height > CHANNELS_LAST &&
        train->shape.channels > CHANNELS_LAST)
        (void)fprintf(report->out,
                      "note        the samples are %d columns wide: if the columns are channels, "
                      "move them to the front: np.moveaxis(x, -1, 1)\n",
                      train->shape.width);
    if (report->numbers.count > 0 && report->numbers.squares == 0)
        (void)fputs("note        all numbers of x are equal, so the model cannot learn from them\n",
                    report->out);
}

static void note_lines(const struct report *report, const char *lines)
{
    for (const char *at = lines, *end; (end = strchr(at, '\n')); at = end + 1)
        (void)fprintf(report->out, "note        %.*s\n", (int)(end - at), at);
}

/* Prints what a node with these data also says: recognised properties, and likely mistakes. */
static void note_as_a_node(const struct report *report)
{
    char text[SETUP_DATA_TEXT];
    setup_data_notes(text, &report->train);
    note_lines(report, text);
    setup_data_warnings(text, &report->train);
    note_lines(report, text);
}

/* Writes the caption of sample i: its class, or its first targets. */
static void caption(char text[32], const struct dataset *set, size_t i)
{
    int length = 0;
    if (set->labels) {
        (void)snprintf(text, 32, "%d", set->labels[i]);
        return;
    }
    for (int k = 0; k < set->classes && length < 24; k++)
        length += snprintf(text + length, 32 - (size_t)length, "%s%.4g", k > 0 ? " " : "",
                           (double)set->targets[i * (size_t)set->classes + (size_t)k]);
}

/* Prints augmented copies of the samples, as a first epoch might have them. Samples are normalised
 * first, because augmentation erases with 0, the mean of normalised pixels. */
static void show_augmented(const struct report *report, struct data_show *show)
{
    const struct dataset *train = &report->train;
    const struct config_data *data = &report->config->data;
    const uint32_t count = (uint32_t)show->count;
    const size_t numbers = count * shape_size(train->shape);
    struct backend *cpu = backend_cpu(1);
    struct augmenter augmenter;
    struct augmentation each[DATA_SHOW_MAX];
    float *x = cpu->alloc(cpu, numbers * sizeof *x);
    augmenter_init(&augmenter, &data->augment, cpu, train, count);
    for (size_t i = 0; i < numbers; i++)
        x[i] = (number_at(train, i) - train->mean) * train->scale;
    for (uint32_t i = 0; i < count; i++)
        each[i] = augment_draw(&data->augment, train->shape, data->seed, 0, 0, i);
    show->samples = augmenter_apply(&augmenter, cpu, each, x, count);
    show->low = (show->low - (double)train->mean) * (double)train->scale;
    show->high = (show->high - (double)train->mean) * (double)train->scale;
    (void)fputs("augmented, as in training:\n", report->out);
    data_show_samples(report->out, show);
    augmenter_free(&augmenter, cpu);
    cpu->free(cpu, x);
    cpu->close(cpu);
}

static void show_samples(const struct report *report, int samples, bool in_colour)
{
    const struct dataset *train = &report->train;
    const size_t size = shape_size(train->shape);
    char captions[DATA_SHOW_MAX][32];
    struct data_show show = {.shape = train->shape,
                             .caption = (const char(*)[32])captions,
                             .count = samples,
                             .low = train->pixels ? 0 : report->numbers.least,
                             .high = train->pixels ? 255 : report->numbers.most,
                             .in_colour = in_colour};
    if ((uint32_t)samples > train->count)
        show.count = (int)train->count;
    float *numbers = memory_new((size_t)show.count * size + 1, sizeof *numbers);
    for (size_t i = 0; i < (size_t)show.count * size; i++)
        numbers[i] = number_at(train, i);
    for (int i = 0; i < show.count; i++)
        caption(captions[i], train, (size_t)i);
    show.samples = numbers;
    data_show_samples(report->out, &show);
    if (augment_is_wanted(&report->config->data.augment))
        show_augmented(report, &show);
    free(numbers);
}

static void show_tokens(const struct report *report)
{
    const struct dataset *train = &report->train;
    if (train->token_bytes == 1) {
        const size_t bytes = size_min(train->tokens_count, TEXT_SHOWN);
        data_show_text(report->out, train->tokens, bytes);
        return;
    }
    (void)fputs("  ", report->out);
    for (size_t i = 0; i < TOKENS_SHOWN && i < train->tokens_count; i++)
        (void)fprintf(report->out, "%" PRId64 " ", token_at(train, i));
    (void)fputs("...\n", report->out);
}

static void print(struct report *report, int samples, bool in_colour)
{
    look_at(report);
    print_counts(report);
    if (!report->train.tokens)
        print_numbers(report);
    print_predicted(report);
    note_classes(report);
    note_numbers(report);
    note_as_a_node(report);
    if (samples > 0 && report->train.tokens)
        show_tokens(report);
    else if (samples > 0)
        show_samples(report, samples, in_colour);
    free(report->train_counts);
    free(report->test_counts);
}

enum error data_set_report(FILE *out, const struct config *config, int samples, bool in_colour,
                           struct problem *problem)
{
    struct report report = {.out = out, .config = config};
    const enum error error = setup_data(config, &report.train, &report.test, problem);
    if (error == OK)
        print(&report, samples, in_colour);
    dataset_free(&report.train);
    dataset_free(&report.test);
    return error;
}

static json_t *notes_json(struct report *report)
{
    char *text = NULL;
    size_t bytes = 0;
    json_t *list = json_array();
    report->out = open_memstream(&text, &bytes);
    if (!report->out)
        memory_missing(BUFSIZ);
    note_classes(report);
    note_numbers(report);
    note_as_a_node(report);
    CHECK(fclose(report->out) == 0);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        CHECK(json_array_append_new(list, json_string(line + strcspn(line, " ") +
                                                      strspn(line + strcspn(line, " "), " "))) ==
              0);
    free(text);
    return list;
}

static void print_json(struct report *report)
{
    const struct dataset *train = &report->train;
    const struct slice shard = report->config->data.shard;
    const size_t classes = (size_t)train->classes;
    char text[32];
    json_t *object = json_object();
    look_at(report);
    (void)snprintf(text, sizeof text, "%u/%u", shard.index + 1, shard.count);
    json_output_put(object, "training_samples", json_integer(train->count));
    json_output_put(object, "test_samples", json_integer(report->test.count));
    json_output_put(object, "sample", json_string(setup_input(train).text));
    json_output_put(object, "shard", json_string(text));
    json_output_put(object, "numbers", moments_json(&report->numbers));
    json_output_put(object, "predicted", moments_json(&report->targets));
    json_output_put(object, "outputs", json_integer(train->classes));
    json_output_put(object, "training_counts",
                    train->targets ? NULL : counts_json(report->train_counts, classes));
    json_output_put(object, "test_counts",
                    train->targets ? NULL : counts_json(report->test_counts, classes));
    json_output_put(object, "notes", notes_json(report));
    json_output(object);
    free(report->train_counts);
    free(report->test_counts);
}

enum error data_set_json(const struct config *config, struct problem *problem)
{
    struct report report = {.config = config};
    const enum error error = setup_data(config, &report.train, &report.test, problem);
    if (error == OK)
        print_json(&report);
    dataset_free(&report.train);
    dataset_free(&report.test);
    return error;
}
