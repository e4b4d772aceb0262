#include "commands/data/data_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/min_max.h"
#include "commands/data/data_reader.h"
#include "commands/data/data_show.h"
#include "commands/data/data_statistics.h"
#include "commands/json_output.h"
#include "commands/progress.h"
#include "data/arrays.h"

#define BLOCK_BYTES ((uint64_t)1 << 20)
/* A table with at most this many columns gets statistics of each column. */
#define COLUMNS_MAX    16
#define TEXT_SHOWN     400
#define TOKENS_SHOWN   24
#define BROKEN_NOWHERE UINT64_MAX

/* Findings of one pass over the file. */
struct summary {
    struct moments all;
    struct moments column[COLUMNS_MAX];
    /* [DATASET_TOKENS_MAX] number of samples with each label or token; NULL = not counted. */
    uint64_t *counts;
    double odd;         /* first number that cannot be a label */
    bool has_odd;       /* false = all numbers can be labels */
    uint64_t odd_at;    /* index of that sample */
    uint64_t broken_at; /* index of the first sample with NaN or infinity; BROKEN_NOWHERE = none */
    double broken;
    void *first; /* the first samples, to be printed; read them with data_reader_number */
    uint64_t first_count;
};

/* Returns true if each sample is one whole number: a label, a token or a byte of text. */
static bool has_counts(const struct data_reader *reader)
{
    return reader->size == 1 && reader->kind != 'f';
}

/* Returns true if each sample of an array is one float64 number, which a node may take for a
 * label. */
static bool has_float64(const struct data_reader *reader)
{
    return reader->size == 1 && reader->format == DATA_NPY && reader->kind == 'f' &&
           reader->npy.stored_bytes == sizeof(double);
}

static bool is_table(const struct data_reader *reader)
{
    return reader->rank == 2 && reader->size > 1 && reader->size <= COLUMNS_MAX;
}

static void count_label(struct summary *summary, double number, uint64_t sample)
{
    const bool is_label = number >= 0 && number < DATASET_TOKENS_MAX && number == floor(number);
    if (is_label)
        summary->counts[(size_t)number]++;
    else if (!summary->has_odd) {
        summary->has_odd = true;
        summary->odd = number;
        summary->odd_at = sample;
    }
}

static void look_at(struct summary *summary, const struct data_reader *reader, const void *block,
                    uint64_t first, uint64_t samples)
{
    const bool table = is_table(reader);
    for (uint64_t i = 0; i < samples * reader->size; i++) {
        const double number = data_reader_number(reader, block, i);
        if (!isfinite(number)) {
            if (summary->broken_at == BROKEN_NOWHERE) {
                summary->broken_at = first + i / reader->size;
                summary->broken = number;
            }
            continue;
        }
        moments_add(&summary->all, number);
        if (table)
            moments_add(&summary->column[i % reader->size], number);
        if (summary->counts)
            count_label(summary, number, first + i);
    }
}

static enum error read_all(struct summary *summary, struct data_reader *reader, uint64_t keep,
                           struct problem *problem)
{
    const uint64_t each = reader->size * (uint64_t)reader->bytes;
    const uint64_t most = each < BLOCK_BYTES ? BLOCK_BYTES / each : 1;
    char *block = malloc(most * each);
    enum error error = OK;
    uint64_t at = 0, got = 1;
    struct progress progress;
    summary->first = malloc(keep * each + 1);
    if (!block || !summary->first) {
        free(block);
        return problem_set(problem, FAILED,
                           "%.300s: no memory left for a sample of %" PRIu64 " bytes; free some",
                           reader->path, each);
    }
    progress_begin(&progress, "reading");
    while (error == OK && got > 0) {
        error = data_reader_next(reader, block, most, &got, problem);
        if (error != OK)
            break;
        look_at(summary, reader, block, at, got);
        const uint64_t kept = at < keep ? u64_min(got, keep - at) : 0;
        memcpy((char *)summary->first + at * each, block, kept * each);
        summary->first_count += kept;
        at += got;
        progress_at(&progress, (double)at / (double)reader->dims[0]);
    }
    progress_end(&progress);
    free(block);
    return error;
}

static void print_shape(FILE *out, const uint64_t *dims, int rank)
{
    for (int i = 0; i < rank; i++)
        (void)fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "(", dims[i]);
    (void)fputs(rank == 1 ? ",)" : ")", out);
}

static bool has_channels_last(const struct data_reader *reader)
{
    return reader->format == DATA_NPY && reader->npy.channels_last;
}

/* Returns the dimensions in the order of the file. */
static const uint64_t *stored_dims(const struct data_reader *reader)
{
    return reader->format == DATA_NPY ? reader->npy.stored_dims : reader->dims;
}

static void print_header(FILE *out, const struct data_reader *reader)
{
    char what[64];
    (void)fprintf(out, "%s: %s", reader->path, data_reader_describe(what, reader));
    if (reader->format == DATA_TEXT || reader->format == DATA_TOKENS) {
        (void)fprintf(out, ", %" PRIu64 " %s\n", reader->dims[0],
                      reader->format == DATA_TEXT ? "bytes" : "tokens");
        return;
    }
    (void)fputs(", shape ", out);
    print_shape(out, stored_dims(reader), reader->rank);
    if (has_channels_last(reader)) {
        (void)fputs(", channels last: read as ", out);
        print_shape(out, reader->dims, reader->rank);
    }
    (void)fputc('\n', out);
}

static void print_columns(FILE *out, const struct summary *summary, uint64_t columns)
{
    for (uint64_t k = 0; k < columns; k++) {
        (void)fprintf(out, "  column %-4" PRIu64, k);
        moments_print(out, &summary->column[k]);
        (void)fputc('\n', out);
    }
}

static void print_counts(FILE *out, const struct summary *summary, const struct data_reader *reader)
{
    const size_t classes = (size_t)summary->all.most + 1;
    const size_t present = counts_present(summary->counts, classes);
    const double bits = counts_bits(summary->counts, classes);
    if (reader->format == DATA_TEXT) {
        (void)fprintf(out, "  bytes     %zu of 256 values occur; entropy %.3f bits per byte\n",
                      present, bits);
        return;
    }
    (void)fprintf(out, "  %-9s %zu different value%s, from %.0f to %.0f; entropy %.3f bits each\n",
                  reader->format == DATA_TOKENS ? "tokens" : "labels", present,
                  present == 1 ? "" : "s", summary->all.least, summary->all.most, bits);
    if (has_float64(reader))
        (void)fputs("  note      these float64 values look like labels: as data.y they are learned "
                    "as classes; data.task = numbers predicts them\n",
                    out);
    if (present < classes)
        (void)fprintf(out,
                      "  note      %zu of the %zu classes from 0 to the highest %s not occur%s\n",
                      classes - present, classes, classes - present == 1 ? "does" : "do",
                      summary->counts[0] == 0 && reader->format != DATA_TOKENS
                          ? "; class 0 is one of them: number the classes from 0"
                          : "");
    counts_print(out, summary->counts, NULL, classes);
}

/* Returns true if a node would take the numbers for labels or tokens. */
static bool are_labels(const struct summary *summary, const struct data_reader *reader)
{
    if (!summary->counts || summary->has_odd || summary->all.count == 0)
        return false;
    return has_counts(reader) ||
           arrays_are_like_labels(summary->counts, summary->all.least, summary->all.most);
}

static void print_statistics(FILE *out, const struct summary *summary,
                             const struct data_reader *reader)
{
    if (are_labels(summary, reader)) {
        print_counts(out, summary, reader);
        return;
    }
    (void)fputs("  numbers   ", out);
    moments_print(out, &summary->all);
    (void)fputc('\n', out);
    if (is_table(reader))
        print_columns(out, summary, reader->size);
}

/* Checks that a node would accept the numbers as samples, labels or targets. Returns OK, or the
 * error that the node would report. */
static enum error check(const struct summary *summary, const struct data_reader *reader,
                        struct problem *problem)
{
    struct shape shape;
    char type[NPY_NAME_BYTES];
    if (summary->broken_at != BROKEN_NOWHERE)
        return problem_set(problem, MALFORMED,
                           "%.300s: sample %" PRIu64 " holds %s, and only finite numbers can be "
                           "learned; take such samples out or fill them in (np.isfinite, "
                           "np.nan_to_num)",
                           reader->path, summary->broken_at,
                           isnan(summary->broken) ? "NaN" : "infinity");
    if (reader->format != DATA_NPY)
        return OK;
    const bool is_samples = reader->kind == 'f' || reader->bytes == 1;
    if (summary->has_odd && !(is_samples && reader->kind != 'i'))
        return problem_set(problem, MALFORMED,
                           "%.300s: the label of sample %" PRIu64 " is %.0f, and labels are whole "
                           "numbers from 0 to %d: number the classes from 0",
                           reader->path, summary->odd_at, summary->odd, DATASET_TOKENS_MAX - 1);
    if (!has_counts(reader) && (!is_samples || reader->kind == 'i'))
        return problem_set(problem, MISMATCH,
                           "%.300s: holds %s, and samples are uint8 or float32; convert them: "
                           "np.save(FILE, x.astype(np.float32))",
                           reader->path, npy_file_type(type, &reader->npy));
    return arrays_shape(&reader->npy, &shape, problem);
}

static void show_numbers(FILE *out, const struct summary *summary, const struct data_reader *reader,
                         bool in_colour)
{
    struct data_show show = {.count = (int)summary->first_count,
                             .low = reader->bytes == 1 ? 0 : summary->all.least,
                             .high = reader->bytes == 1 ? 255 : summary->all.most,
                             .in_colour = in_colour};
    struct problem problem;
    const size_t count = summary->first_count * reader->size;
    float *numbers = memory_new(count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)data_reader_number(reader, summary->first, i);
    show.samples = numbers;
    if (reader->format == DATA_IDX)
        show.shape = reader->idx.shape;
    if (reader->format == DATA_IDX || arrays_shape(&reader->npy, &show.shape, &problem) == OK)
        data_show_samples(out, &show);
    free(numbers);
}

static void show_tokens(FILE *out, const struct summary *summary, const struct data_reader *reader)
{
    (void)fputs("  ", out);
    for (uint64_t i = 0; i < summary->first_count; i++)
        (void)fprintf(out, "%.0f ", data_reader_number(reader, summary->first, i));
    (void)fputs("...\n", out);
}

static void show(FILE *out, const struct summary *summary, const struct data_reader *reader,
                 bool in_colour)
{
    if (summary->first_count == 0)
        return;
    if (reader->format == DATA_TEXT)
        data_show_text(out, summary->first, summary->first_count);
    else if (has_counts(reader))
        show_tokens(out, summary, reader);
    else
        show_numbers(out, summary, reader, in_colour);
}

/* Returns how many bytes, tokens or samples to print. samples: value of --samples. */
static uint64_t shown(const struct data_reader *reader, int samples)
{
    const uint64_t most = samples == 0                  ? 0
                          : reader->format == DATA_TEXT ? TEXT_SHOWN
                          : has_counts(reader)          ? TOKENS_SHOWN
                                                        : (uint64_t)samples;
    return u64_min(most, reader->dims[0]);
}

static json_t *shape_json(const uint64_t *dims, int rank)
{
    json_t *shape = json_array();
    for (int i = 0; i < rank; i++)
        CHECK(json_array_append_new(shape, json_integer((json_int_t)dims[i])) == 0);
    return shape;
}

static json_t *about_json(const struct data_reader *reader, const struct summary *summary)
{
    char what[64];
    json_t *object = json_object();
    json_output_put(object, "file", json_string(reader->path));
    json_output_put(object, "holds", json_string(data_reader_describe(what, reader)));
    json_output_put(object, "shape", shape_json(stored_dims(reader), reader->rank));
    json_output_put(object, "read_as",
                    has_channels_last(reader) ? shape_json(reader->dims, reader->rank) : NULL);
    json_output_put(object, "numbers", moments_json(&summary->all));
    json_output_put(object, "counts",
                    are_labels(summary, reader)
                        ? counts_json(summary->counts, (size_t)summary->all.most + 1)
                        : NULL);
    return object;
}

enum error data_file_json(json_t **object, const char *path, struct problem *problem)
{
    struct data_reader reader;
    struct summary summary = {.broken_at = BROKEN_NOWHERE};
    enum error error = data_reader_open(&reader, path, problem);
    if (error != OK) {
        *object = json_object();
        json_output_put(*object, "file", json_string(path));
        return error;
    }
    if (has_counts(&reader) || has_float64(&reader))
        summary.counts = memory_new(DATASET_TOKENS_MAX, sizeof *summary.counts);
    error = read_all(&summary, &reader, 0, problem);
    if (error == OK)
        error = check(&summary, &reader, problem);
    *object = about_json(&reader, &summary);
    data_reader_close(&reader);
    free(summary.counts);
    free(summary.first);
    return error;
}

enum error data_file_report(FILE *out, const char *path, int samples, bool in_colour,
                            struct problem *problem)
{
    struct data_reader reader;
    struct summary summary = {.broken_at = BROKEN_NOWHERE};
    enum error error = data_reader_open(&reader, path, problem);
    if (error != OK)
        return error;
    print_header(out, &reader);
    if (has_counts(&reader) || has_float64(&reader))
        summary.counts = memory_new(DATASET_TOKENS_MAX, sizeof *summary.counts);
    error = read_all(&summary, &reader, shown(&reader, samples), problem);
    if (error == OK) {
        print_statistics(out, &summary, &reader);
        error = check(&summary, &reader, problem);
        show(out, &summary, &reader, in_colour);
    }
    data_reader_close(&reader);
    free(summary.counts);
    free(summary.first);
    return error;
}
