#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "state/checkpoint_file.h"

void checkpoint_name(char *name, uint64_t generation)
{
    const int length = snprintf(name, CHECKPOINT_NAME_MAX, CHECKPOINT_NAME "%" PRIu64, generation);
    CHECK(length > 0 && length < CHECKPOINT_NAME_MAX);
}

uint64_t checkpoint_digest_of(const struct snapshot_record *record)
{
    const struct learner_state *part = &record->part;
    uint64_t digest = 0;
    if (record->kind != SNAPSHOT_PART)
        return digest_of_update(&record->update);
    for (size_t i = 0; i < part->parameters; i++)
        digest = digest_add(digest,
                            digest_of_entry((uint32_t)(part->first + i), (uint32_t)part->base[i]));
    return digest;
}

void checkpoint_begin(struct checkpoint_writer *writer, const struct disk *disk, const char *folder,
                      const struct checkpoint *checkpoint, size_t part_parameters,
                      struct checkpoint_series *series)
{
    const struct learner_state *state = &checkpoint->state;
    const size_t model_bytes = strlen(checkpoint->model);
    CHECK(model_bytes <= CHECKPOINT_MODEL_MAX && series->good < series->next);
    CHECK(part_parameters > 0 && part_parameters <= state->parameters);
    CHECK(state->parameters <= INT32_MAX);
    writer->disk = disk;
    writer->folder = folder;
    writer->generation = series->next++;
    writer->digest = 0;
    const struct checkpoint_header header = {
        .magic = CHECKPOINT_MAGIC,
        .format = CHECKPOINT_FORMAT,
        .moments = state->moments,
        .generation = writer->generation,
        .parameters = state->parameters,
        .part_parameters = (uint32_t)part_parameters,
        .model_bytes = (uint32_t)model_bytes,
    };
    checkpoint_name(writer->name, writer->generation);
    atomic_file_begin(&writer->file, disk, folder, writer->name, ATOMIC_FILE_PRIVATE);
    checksummed_writer_init(&writer->stream, &writer->file, writer->generation);
    checksummed_write(&writer->stream, &header, sizeof header);
    checksummed_write(&writer->stream, checkpoint->model, model_bytes);
}

static void write_head(struct checkpoint_writer *writer, uint32_t kind, size_t count)
{
    const struct checkpoint_head head = {.kind = kind, .count = (uint32_t)count};
    checksummed_write(&writer->stream, &head, sizeof head);
}

static void write_part(struct checkpoint_writer *writer, const struct learner_state *part)
{
    const size_t bytes = part->parameters * sizeof(float);
    CHECK(part->parameters > 0 && part->moments <= LEARNER_MOMENTS_MAX);
    write_head(writer, SNAPSHOT_PART, part->parameters);
    checksummed_write(&writer->stream, part->base, bytes);
    checksummed_write(&writer->stream, part->weights, bytes);
    for (uint32_t i = 0; i < part->moments; i++)
        checksummed_write(&writer->stream, part->moment[i], bytes);
}

static void write_update(struct checkpoint_writer *writer, const struct snapshot_record *record)
{
    const struct update *update = &record->update;
    const struct checkpoint_head head = {.kind = record->kind,
                                         .count = update->count,
                                         .tau = update->tau,
                                         .amount = update->amount,
                                         .beta = record->beta};
    CHECK(update->count > 0 && update->count <= SNAPSHOT_ENTRIES_MAX);
    checksummed_write(&writer->stream, &head, sizeof head);
    checksummed_write(&writer->stream, update->index, update->count * sizeof *update->index);
    checksummed_write(&writer->stream, update->level, update->count * sizeof *update->level);
}

void checkpoint_put(struct checkpoint_writer *writer, const struct snapshot_record *record)
{
    writer->digest = digest_add(writer->digest, checkpoint_digest_of(record));
    if (record->kind == SNAPSHOT_PART)
        write_part(writer, &record->part);
    else
        write_update(writer, record);
}

static void write_the_end(struct checkpoint_writer *writer, const struct checkpoint *checkpoint)
{
    const struct learner_state *state = &checkpoint->state;
    const struct checkpoint_numbers numbers = {
        .incarnation = checkpoint->incarnation,
        .samples = state->samples,
        .swarm_samples = state->swarm_samples,
        .steps = state->steps,
        .epoch = state->epoch,
        .random_walk = state->random_walk,
        .at = state->at,
        .batch = state->batch,
        .digest = checkpoint->digest,
    };
    CHECK(checkpoint->own_bytes <= CHECKPOINT_OWN_MAX);
    write_head(writer, CHECKPOINT_THE_END, checkpoint->own_bytes);
    checksummed_write(&writer->stream, checkpoint->own, checkpoint->own_bytes);
    checksummed_write(&writer->stream, &numbers, sizeof numbers);
    checksummed_write_end(&writer->stream);
}

enum error checkpoint_write_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                                struct problem *problem)
{
    char path[DISK_PATH_MAX];
    checkpoint->digest = writer->digest;
    write_the_end(writer, checkpoint);
    const int error = atomic_file_end(&writer->file);
    if (error == 0)
        return OK;
    /* The file may exist under its final name. It must not be loaded after a restart, because its
     * save was reported as failed. */
    if (disk_path(path, writer->folder, writer->name, "") == 0)
        (void)writer->disk->remove(writer->disk->self, path);
    return problem_set(problem, FAILED,
                       "%.300s: cannot save a checkpoint: %s; older checkpoints stay valid; free "
                       "disk space, or check the disk",
                       writer->folder, strerror(-error));
}

void checkpoint_abandon(struct checkpoint_writer *writer)
{
    atomic_file_abandon(&writer->file);
}
