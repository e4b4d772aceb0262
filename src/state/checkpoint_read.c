#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "state/checkpoint_file.h"
#include "state/checkpoint_owner.h"

#define OUTER_STEP_BEFORE 4 /* record kind of an outer step in CHECKPOINT_FORMAT_BEFORE */

struct source {
    const char *path;
    uint64_t generation; /* generation in the file's name */
    struct checkpoint_header header;
    struct checkpoint_head head;       /* head of the record being read */
    struct checkpoint_numbers numbers; /* the numbers at the end of the file */
    struct snapshot_record record;     /* the record as the target gets it */
    void *memory;                      /* memory of the vectors of record.part */
    /* [SNAPSHOT_ENTRIES_MAX] for record.update */
    uint32_t *index;
    /* [SNAPSHOT_ENTRIES_MAX] for record.update */
    int8_t *level;
    size_t end;      /* number of parameters read so far */
    uint64_t digest; /* digest of the base as read so far */
    const struct checkpoint_target *target;
    struct problem *problem;
    struct checksummed_reader reader;
};

static enum error not_read(const struct source *source, int error)
{
    return problem_set(source->problem, FAILED,
                       "%.300s: cannot be read: %s; check the disk and the file's permissions",
                       source->path, strerror(-error));
}

static enum error take(struct source *source, void *to, size_t bytes)
{
    const enum error error = checksummed_read(&source->reader, to, bytes);
    if (error == FAILED)
        return not_read(source, source->reader.error);
    if (error != OK)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: chunk %" PRIu64
                           " is damaged or missing (a power cut, a bad disk, or a renamed file); "
                           "check the disk if this happens again",
                           source->path, source->reader.number);
    return OK;
}

static bool is_of_before(const struct source *source)
{
    return source->header.format == CHECKPOINT_FORMAT_BEFORE;
}

/* The checksum of the header was right, so a wrong value is not damage: some program has written
 * it. */
static enum error check_format(const struct source *source)
{
    const struct checkpoint_header *header = &source->header;
    if (memcmp(header->magic, CHECKPOINT_MAGIC, sizeof header->magic) != 0)
        return problem_set(source->problem, MALFORMED, "%.300s: is not a checkpoint; rename it",
                           source->path);
    if (header->format != CHECKPOINT_FORMAT && !is_of_before(source))
        return problem_set(
            source->problem, MISMATCH,
            "%.300s: has format %" PRIu32 ", but this program reads formats %d and %d; start the "
            "node with the program that wrote the file",
            source->path, header->format, CHECKPOINT_FORMAT_BEFORE, CHECKPOINT_FORMAT);
    return OK;
}

static enum error check_header(const struct source *source, const struct checkpoint *checkpoint)
{
    const struct checkpoint_header *header = &source->header;
    if (header->moments > LEARNER_MOMENTS_MAX || header->model_bytes > CHECKPOINT_MODEL_MAX ||
        header->parameters > INT32_MAX || header->generation != source->generation ||
        header->part_parameters == 0 || header->part_parameters > header->parameters ||
        learner_state_bytes(header->part_parameters, header->moments) > CHECKPOINT_PART_BYTES_MAX)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: its header is inconsistent; the file is unusable",
                           source->path);
    if (header->parameters != checkpoint->state.parameters)
        return problem_set(source->problem, MISMATCH,
                           "%.300s: is of another model (%" PRIu64
                           " parameters, here %zu); give each model its own folder",
                           source->path, header->parameters, checkpoint->state.parameters);
    return OK;
}

static enum error refuse_owner(const struct source *source, const struct checkpoint *checkpoint,
                               const char *theirs)
{
    char difference[CHECKPOINT_DIFFERENCE_MAX];
    CHECK(strcmp(theirs, checkpoint->model) != 0);
    checkpoint_owner_difference(difference, theirs, checkpoint->model);
    return problem_set(source->problem, MISMATCH, "%.180s: is of %s", source->path, difference);
}

static enum error take_header(struct source *source, struct checkpoint *checkpoint)
{
    char model[CHECKPOINT_MODEL_MAX + 1] = "";
    enum error error = take(source, &source->header, sizeof source->header);
    if (error == OK)
        error = check_format(source);
    if (error == OK)
        error = check_header(source, checkpoint);
    if (error == OK)
        error = take(source, model, source->header.model_bytes);
    checkpoint->has_taken_first =
        error == OK &&
        checkpoint_owner_is_of_swarm(model, checkpoint->model, checkpoint->model_hash);
    if (error == OK && !checkpoint->has_taken_first && strcmp(model, checkpoint->model) != 0)
        error = refuse_owner(source, checkpoint, model);
    return error;
}

static enum error makes_no_sense(const struct source *source)
{
    return problem_set(source->problem, MALFORMED,
                       "%.300s: the record after entry %zu is invalid; the file is unusable",
                       source->path, source->end);
}

/* If the file's number of moments is not the learner's, skips the file's moments and sets the
 * learner's to 0. */
static enum error take_moments(struct source *source, const struct learner_state *part)
{
    const size_t bytes = part->parameters * sizeof(float);
    const bool are_ours = source->header.moments == part->moments;
    enum error error = OK;
    for (uint32_t i = 0; i < source->header.moments && error == OK; i++)
        error = take(source, are_ours ? part->moment[i] : NULL, bytes);
    for (uint32_t i = 0; i < part->moments && !are_ours; i++)
        memset(part->moment[i], 0, bytes);
    return error;
}

static enum error take_part(struct source *source)
{
    struct learner_state *part = &source->record.part;
    const struct checkpoint_header *header = &source->header;
    const size_t left = header->parameters - source->end;
    part->first = source->end;
    part->parameters = size_min(left, header->part_parameters);
    const size_t bytes = part->parameters * sizeof(float);
    if (left == 0 || source->head.count != part->parameters)
        return makes_no_sense(source);
    enum error error = take(source, part->base, bytes);
    if (error == OK && is_of_before(source))
        error = take(source, NULL, bytes);
    if (error == OK)
        error = take(source, part->weights, bytes);
    if (error == OK)
        error = take_moments(source, part);
    source->end += part->parameters;
    return error;
}

static bool is_in_order(const struct update *update, size_t end)
{
    for (uint32_t i = 0; i < update->count; i++)
        if (update->index[i] >= end || (i > 0 && update->index[i] <= update->index[i - 1]) ||
            update->level[i] < -LEVEL_MAX)
            return false;
    return true;
}

static enum error take_update(struct source *source)
{
    struct update *update = &source->record.update;
    const struct checkpoint_head *head = &source->head;
    source->record.beta = head->beta;
    *update = (struct update){.tau = head->tau,
                              .amount = head->amount,
                              .count = head->count,
                              .index = source->index,
                              .level = source->level};
    if (!(head->tau > 0 && head->tau <= TAU_MAX) || head->amount > AMOUNT_MAX ||
        !isfinite(head->beta) || head->count > SNAPSHOT_ENTRIES_MAX)
        return makes_no_sense(source);
    enum error error = take(source, update->index, update->count * sizeof *update->index);
    if (error == OK)
        error = take(source, update->level, update->count * sizeof *update->level);
    return error == OK && !is_in_order(update, source->end) ? makes_no_sense(source) : error;
}

static enum error take_record(struct source *source)
{
    struct snapshot_record *record = &source->record;
    enum error error;
    record->kind = (enum snapshot_kind)source->head.kind;
    record->end = source->end;
    switch (record->kind) {
    case SNAPSHOT_PART:
        error = take_part(source);
        break;
    case SNAPSHOT_APPLIED:
    case SNAPSHOT_OWN:
        error = take_update(source);
        break;
    default:
        error = makes_no_sense(source);
    }
    if (error != OK)
        return error;
    source->digest = digest_add(source->digest, checkpoint_digest_of(record));
    if (source->target->replay)
        source->target->replay(source->target->self, record);
    return OK;
}

static enum error check_end(struct source *source)
{
    const enum error error = checksummed_read_end(&source->reader);
    if (error == FAILED)
        return not_read(source, source->reader.error);
    if (error != OK)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: has bytes after its end; check the disk", source->path);
    if (source->digest != source->numbers.digest)
        return problem_set(
            source->problem, MALFORMED,
            "%.300s: its base contradicts the digest at its end; check this machine's memory",
            source->path);
    return OK;
}

static enum error take_end(struct source *source, struct checkpoint *checkpoint)
{
    if (source->end != source->header.parameters || source->head.count > CHECKPOINT_OWN_MAX)
        return makes_no_sense(source);
    enum error error = take(source, checkpoint->own, source->head.count);
    if (error == OK)
        error = take(source, &source->numbers, sizeof source->numbers);
    return error == OK ? check_end(source) : error;
}

/* Reads the next head. In a file of format 4, skips outer steps, and converts the head to format 5.
 */
static enum error take_head(struct source *source)
{
    struct checkpoint_head *head = &source->head;
    const size_t bytes = offsetof(struct checkpoint_head, beta);
    enum error error;
    if (!is_of_before(source))
        return take(source, head, sizeof *head);
    head->beta = 0;
    do {
        error = take(source, head, bytes);
    } while (error == OK && head->kind == OUTER_STEP_BEFORE);
    if (error == OK && head->kind > OUTER_STEP_BEFORE)
        head->kind--;
    return error;
}

static enum error take_records(struct source *source, struct checkpoint *checkpoint)
{
    for (;;) {
        enum error error = take_head(source);
        if (error == OK && source->head.kind == CHECKPOINT_THE_END)
            return take_end(source, checkpoint);
        if (error == OK)
            error = take_record(source);
        if (error != OK)
            return error;
    }
}

static enum error take_all(struct source *source, struct checkpoint *checkpoint)
{
    enum error error = take_header(source, checkpoint);
    if (error != OK)
        return error;
    const size_t entries = source->header.part_parameters;
    const uint32_t moments = checkpoint->state.moments;
    source->memory = memory_new(learner_state_bytes(entries, moments), 1);
    source->index = memory_new(SNAPSHOT_ENTRIES_MAX, sizeof *source->index);
    source->level = memory_new(SNAPSHOT_ENTRIES_MAX, sizeof *source->level);
    learner_state_init(&source->record.part, source->memory, entries, moments);
    error = take_records(source, checkpoint);
    free(source->memory);
    free(source->index);
    free(source->level);
    return error;
}

static void copy_numbers(const struct source *source, struct checkpoint *checkpoint)
{
    const struct checkpoint_numbers *numbers = &source->numbers;
    struct learner_state *state = &checkpoint->state;
    checkpoint->own_bytes = source->head.count;
    checkpoint->incarnation = numbers->incarnation;
    checkpoint->digest = numbers->digest;
    state->steps = source->header.moments == state->moments ? numbers->steps : 0;
    state->samples = numbers->samples;
    state->swarm_samples = numbers->swarm_samples;
    state->epoch = numbers->epoch;
    state->at = numbers->at;
    state->batch = numbers->batch;
    state->random_walk = numbers->random_walk;
}

enum error checkpoint_read(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           uint64_t generation, struct problem *problem)
{
    char name[CHECKPOINT_NAME_MAX], path[DISK_PATH_MAX] = "";
    struct source source = {
        .path = path, .generation = generation, .target = target, .problem = problem};
    CHECK(generation > 0);
    checkpoint_name(name, generation);
    int handle = disk_path(path, folder, name, "");
    if (handle == 0)
        handle = disk->open(disk->self, path);
    if (handle < 0)
        return not_read(&source, handle);
    checksummed_reader_init(&source.reader, disk, handle, generation);
    const enum error error = take_all(&source, checkpoint);
    (void)disk->close(disk->self, handle);
    if (error == OK)
        copy_numbers(&source, checkpoint);
    return error;
}
