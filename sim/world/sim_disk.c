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

static void drop_newest(struct drive *drive)
{
    forget(&drive->saved[0]);
    memmove(drive->saved, drive->saved + 1, (DRIVE_GENERATIONS - 1) * sizeof *drive->saved);
    drive->saved[DRIVE_GENERATIONS - 1] = (struct saved){0};
}

void drive_save(struct drive *drive, struct mind *mind, struct node *node,
                const struct node_options *options, uint64_t now_ns, uint64_t durable_ns)
{
    struct saved saved = {.durable_ns = durable_ns};
    saved.history = malloc(node_history_max(options));
    saved.memory = malloc(learner_state_bytes(mind_parameters(mind), mind_moments(mind)));
    CHECK(saved.history && saved.memory);
    learner_state_init(&saved.state, saved.memory, mind_parameters(mind), mind_moments(mind));
    mind_save(mind, &saved.state);
    saved.history_bytes = node_on_saved(node, now_ns, saved.history);
    if (saved.history_bytes == 0) {
        forget(&saved);
        return;
    }
    forget(&drive->saved[DRIVE_GENERATIONS - 1]);
    memmove(drive->saved + 1, drive->saved, (DRIVE_GENERATIONS - 1) * sizeof *drive->saved);
    drive->saved[0] = saved;
}

void drive_settle(struct drive *drive, uint64_t now_ns)
{
    while (drive->saved[0].memory && drive->saved[0].durable_ns > now_ns)
        drop_newest(drive);
}

const struct saved *drive_newest(const struct drive *drive)
{
    return drive->saved[0].memory ? &drive->saved[0] : NULL;
}

void drive_rot(struct drive *drive)
{
    drop_newest(drive);
}

void drive_clear(struct drive *drive)
{
    for (int i = 0; i < DRIVE_GENERATIONS; i++)
        forget(&drive->saved[i]);
    drive->incarnation = 0;
}
