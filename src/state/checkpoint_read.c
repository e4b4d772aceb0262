#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "state/checkpoint_file.h"
#include "state/checkpoint_owner.h"
#include "state/checksummed_stream.h"

/* A file being read. */
struct source {
    const char *path;                 /* for messages */
    uint64_t generation;              /* in its name */
    struct checkpoint_header header;  /* as read */
    struct problem *problem;          /* takes the sentence of a failure */
    struct checksummed_reader reader; /* of the file */
};

static enum error not_read(const struct source *source, int error)
{
    return problem_set(source->problem, FAILED,
                       "%.300s: cannot be read: %s; check the disk and who may read the file",
                       source->path, strerror(-error));
}

static enum error take(struct source *source, void *to, size_t bytes)
{
    const enum error error = checksummed_read(&source->reader, to, bytes);
    if (error == FAILED)
        return not_read(source, source->reader.error);
    if (error != OK)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: chunk %" PRIu64 " is damaged or missing (a power cut, a bad "
                           "disk, or a file that was renamed); check the disk if this comes again",
                           source->path, source->reader.number);
    return OK;
}

/* The checksum holds, so the header is as it was written, by this program or by another. */
static enum error check_format(const struct source *source)
{
    const struct checkpoint_header *header = &source->header;
    if (memcmp(header->magic, CHECKPOINT_MAGIC, sizeof header->magic) != 0)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: is no checkpoint; give it another name", source->path);
    if (header->format != CHECKPOINT_FORMAT && header->format != CHECKPOINT_FORMAT_1)
        return problem_set(source->problem, MISMATCH,
                           "%.300s: has format %" PRIu32 ", and this program reads formats %d and "
                           "%d; start it with the program that wrote it",
                           source->path, header->format, CHECKPOINT_FORMAT_1, CHECKPOINT_FORMAT);
    return OK;
}

static enum error check_header(const struct source *source, const struct checkpoint *checkpoint)
{
    const struct checkpoint_header *header = &source->header;
    if (header->moments > LEARNER_MOMENTS_MAX || header->model_bytes > CHECKPOINT_MODEL_MAX ||
        header->own_bytes > CHECKPOINT_OWN_MAX || header->parameters > INT32_MAX ||
        header->generation != source->generation ||
        header->total_bytes != checkpoint_total_bytes(header))
        return problem_set(source->problem, MALFORMED,
                           "%.300s: its header contradicts itself; it is of no use", source->path);
    if (header->parameters != checkpoint->state.parameters)
        return problem_set(source->problem, MISMATCH,
                           "%.300s: is of another model (%" PRIu64 " parameters, here %zu); give "
                           "each model a folder of its own",
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

static enum error take_header(struct source *source, const struct checkpoint *checkpoint)
{
    char model[CHECKPOINT_MODEL_MAX + 1] = "";
    struct checkpoint_header *header = &source->header;
    enum error error = take(source, header, CHECKPOINT_HEADER_1_BYTES);
    if (error == OK)
        error = check_format(source);
    header->swarm_samples = header->samples;
    if (error == OK && header->format == CHECKPOINT_FORMAT)
        error = take(source, (uint8_t *)header + CHECKPOINT_HEADER_1_BYTES,
                     sizeof *header - CHECKPOINT_HEADER_1_BYTES);
    if (error == OK)
        error = check_header(source, checkpoint);
    if (error == OK)
        error = take(source, model, source->header.model_bytes);
    if (error == OK && strcmp(model, checkpoint->model) != 0)
        error = refuse_owner(source, checkpoint, model);
    return error;
}

static enum error take_moments(struct source *source, const struct learner_state *state)
{
    const size_t bytes = state->parameters * sizeof(float);
    const bool are_ours = source->header.moments == state->moments;
    enum error error = OK;
    CHECK(source->header.moments <= LEARNER_MOMENTS_MAX && state->moments <= LEARNER_MOMENTS_MAX);
    for (uint32_t i = 0; i < source->header.moments && error == OK; i++)
        error = take(source, are_ours ? state->moment[i] : NULL, bytes);
    for (uint32_t i = 0; i < state->moments && !are_ours; i++)
        memset(state->moment[i], 0, bytes);
    return error;
}

static enum error take_vectors(struct source *source, const struct learner_state *state)
{
    const size_t bytes = state->parameters * sizeof(float);
    CHECK(source->header.parameters == state->parameters);
    enum error error = take(source, state->base, bytes);
    if (error == OK)
        error = take(source, state->base_at_last_publish, bytes);
    if (error == OK)
        error = take(source, state->weights, bytes);
    return error == OK ? take_moments(source, state) : error;
}

static enum error take_end(struct source *source, const struct learner_state *state)
{
    const enum error error = checksummed_read_end(&source->reader);
    if (error == FAILED)
        return not_read(source, source->reader.error);
    if (error != OK)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: is longer than its header says; check the disk", source->path);
    if (learner_state_digest(state) != source->header.digest)
        return problem_set(source->problem, MALFORMED,
                           "%.300s: its base does not have the digest in its header; check this "
                           "machine's memory",
                           source->path);
    return OK;
}

static enum error take_all(struct source *source, struct checkpoint *checkpoint)
{
    enum error error = take_header(source, checkpoint);
    if (error == OK)
        error = take(source, checkpoint->own, source->header.own_bytes);
    if (error == OK)
        error = take_vectors(source, &checkpoint->state);
    if (error == OK)
        error = take_end(source, &checkpoint->state);
    return error;
}

static void copy_numbers(const struct checkpoint_header *header, struct checkpoint *checkpoint)
{
    CHECK(header->own_bytes <= CHECKPOINT_OWN_MAX);
    checkpoint->own_bytes = header->own_bytes;
    checkpoint->incarnation = header->incarnation;
    checkpoint->digest = header->digest;
    checkpoint->state.steps = header->moments == checkpoint->state.moments ? header->steps : 0;
    checkpoint->state.samples = header->samples;
    checkpoint->state.swarm_samples = header->swarm_samples;
    checkpoint->state.epoch = header->epoch;
    checkpoint->state.at = header->at;
    checkpoint->state.batch = header->batch;
    checkpoint->state.random_walk = header->random_walk;
}

enum error checkpoint_read(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, uint64_t generation,
                           struct problem *problem)
{
    char name[CHECKPOINT_NAME_MAX], path[DISK_PATH_MAX] = "";
    struct source source = {.path = path, .generation = generation, .problem = problem};
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
        copy_numbers(&source.header, checkpoint);
    return error;
}
