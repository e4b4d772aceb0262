#include "world/sim_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void forget(struct saved *saved)
{
    free(saved->memory);
    free(saved->history);
    *saved = (struct saved){0};
}

static void drop_newest(struct sim_disk *disk)
{
    forget(&disk->saved[0]);
    memmove(disk->saved, disk->saved + 1, (SIM_DISK_GENERATIONS - 1) * sizeof *disk->saved);
    disk->saved[SIM_DISK_GENERATIONS - 1] = (struct saved){0};
}

void sim_disk_save(struct sim_disk *disk, struct sim_learner *sim_learner, struct node *node,
                   const struct node_options *options, uint64_t now_ns, uint64_t durable_ns)
{
    struct saved saved = {.durable_ns = durable_ns};
    saved.history = malloc(node_history_max(options));
    saved.memory = malloc(
        learner_state_bytes(sim_learner_parameters(sim_learner), sim_learner_moments(sim_learner)));
    CHECK(saved.history && saved.memory);
    learner_state_init(&saved.state, saved.memory, sim_learner_parameters(sim_learner),
                       sim_learner_moments(sim_learner));
    sim_learner_save(sim_learner, &saved.state);
    saved.history_bytes = node_on_saved(node, now_ns, saved.history);
    if (saved.history_bytes == 0) {
        forget(&saved);
        return;
    }
    forget(&disk->saved[SIM_DISK_GENERATIONS - 1]);
    memmove(disk->saved + 1, disk->saved, (SIM_DISK_GENERATIONS - 1) * sizeof *disk->saved);
    disk->saved[0] = saved;
}

void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns)
{
    while (disk->saved[0].memory && disk->saved[0].durable_ns > now_ns)
        drop_newest(disk);
}

const struct saved *sim_disk_newest(const struct sim_disk *disk)
{
    return disk->saved[0].memory ? &disk->saved[0] : NULL;
}

void sim_disk_rot(struct sim_disk *disk)
{
    drop_newest(disk);
}

void sim_disk_clear(struct sim_disk *disk)
{
    for (int i = 0; i < SIM_DISK_GENERATIONS; i++)
        forget(&disk->saved[i]);
    disk->incarnation = 0;
}
