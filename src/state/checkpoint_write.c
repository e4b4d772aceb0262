#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state/atomic_file.h"
#include "state/checkpoint_file.h"
#include "state/checksummed_stream.h"

void checkpoint_name(char *name, uint64_t generation)
{
    const int length = snprintf(name, CHECKPOINT_NAME_MAX, CHECKPOINT_NAME "%" PRIu64, generation);
    CHECK(length > 0 && length < CHECKPOINT_NAME_MAX);
}

uint64_t checkpoint_total_bytes(const struct checkpoint_header *header)
{
    const size_t bytes =
        header->format == CHECKPOINT_FORMAT_1 ? CHECKPOINT_HEADER_1_BYTES : sizeof *header;
    return checksummed_file_bytes(bytes + header->model_bytes + header->own_bytes +
                                  (3 + header->moments) * header->parameters * sizeof(float));
}

static struct checkpoint_header header_of(const struct checkpoint *checkpoint, uint64_t generation)
{
    const struct learner_state *state = &checkpoint->state;
    const size_t model_bytes = strlen(checkpoint->model);
    CHECK(model_bytes <= CHECKPOINT_MODEL_MAX && checkpoint->own_bytes <= CHECKPOINT_OWN_MAX);
    CHECK(state->parameters <= INT32_MAX);
    struct checkpoint_header header = {
        .magic = CHECKPOINT_MAGIC,
        .format = CHECKPOINT_FORMAT,
        .moments = state->moments,
        .generation = generation,
        .incarnation = checkpoint->incarnation,
        .parameters = state->parameters,
        .digest = learner_state_digest(state),
        .samples = state->samples,
        .epoch = state->epoch,
        .random_walk = state->random_walk,
        .at = state->at,
        .model_bytes = (uint32_t)model_bytes,
        .own_bytes = (uint32_t)checkpoint->own_bytes,
        .batch = state->batch,
        .steps = state->steps,
        .swarm_samples = state->swarm_samples,
    };
    header.total_bytes = checkpoint_total_bytes(&header);
    return header;
}

static void write_stream(struct atomic_file *file, const struct checkpoint *checkpoint,
                         uint64_t generation)
{
    const struct learner_state *state = &checkpoint->state;
    const struct checkpoint_header header = header_of(checkpoint, generation);
    const size_t bytes = state->parameters * sizeof(float);
    struct checksummed_writer writer;
    checksummed_writer_init(&writer, file, generation);
    checksummed_write(&writer, &header, sizeof header);
    checksummed_write(&writer, checkpoint->model, header.model_bytes);
    checksummed_write(&writer, checkpoint->own, header.own_bytes);
    checksummed_write(&writer, state->base, bytes);
    checksummed_write(&writer, state->base_at_last_publish, bytes);
    checksummed_write(&writer, state->weights, bytes);
    for (uint32_t i = 0; i < state->moments; i++)
        checksummed_write(&writer, state->moment[i], bytes);
    checksummed_write_end(&writer);
}

enum error checkpoint_write(const struct disk *disk, const char *folder,
                            const struct checkpoint *checkpoint, uint64_t generation,
                            struct problem *problem)
{
    struct atomic_file file;
    char name[CHECKPOINT_NAME_MAX], path[DISK_PATH_MAX];
    checkpoint_name(name, generation);
    atomic_file_begin(&file, disk, folder, name, ATOMIC_FILE_PRIVATE);
    if (file.error == 0)
        write_stream(&file, checkpoint, generation);
    const int error = atomic_file_end(&file);
    if (error == 0)
        return OK;
    /* The name may be there and not durable: a generation reported as failed must not come back. */
    if (disk_path(path, folder, name, "") == 0)
        (void)disk->remove(disk->self, path);
    return problem_set(problem, FAILED,
                       "%.300s: a checkpoint cannot be saved: %s; what was saved before still "
                       "holds: check that the disk has room and is sound",
                       folder, strerror(-error));
}
