#include "world/sim_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "node/expulsion_api.h"
#include "node/inspect.h"
#include "node/quarantine_api.h"

/* A record of a checkpoint, followed by its data. */
struct sim_record {
    struct sim_record *next;
    struct snapshot_record record;
};

static void forget(struct saved *saved)
{
    while (saved->records) {
        struct sim_record *first = saved->records;
        saved->records = first->next;
        free(first);
    }
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

/* The functions below write checkpoints. */

void sim_disk_begin(struct sim_disk *disk, const struct sim_learner *sim_learner, uint32_t parts)
{
    const size_t parameters = sim_learner_parameters(sim_learner);
    const size_t part = (parameters + parts - 1) / parts;
    const uint32_t moments = sim_learner_moments(sim_learner);
    CHECK(!disk->queue && parts > 0);
    arena_init(&disk->arena,
               sizeof *disk->queue + snapshot_queue_bytes(part, moments, parameters) + 4096);
    disk->queue = arena_alloc(&disk->arena, 1, sizeof *disk->queue);
    snapshot_queue_init(disk->queue, &disk->arena, parameters, part, moments, parameters);
    disk->end = &disk->draft.records;
}

static struct sim_record *copy_of_part(const struct snapshot_record *record)
{
    const struct learner_state *part = &record->part;
    const size_t bytes = part->parameters * sizeof(float);
    struct sim_record *copy =
        memory_new(sizeof *copy + learner_state_bytes(part->parameters, part->moments), 1);
    copy->record = *record;
    struct learner_state *to = &copy->record.part;
    learner_state_init(to, copy + 1, part->parameters, part->moments);
    memcpy(to->base, part->base, bytes);
    memcpy(to->weights, part->weights, bytes);
    for (uint32_t i = 0; i < part->moments; i++)
        memcpy(to->moment[i], part->moment[i], bytes);
    to->first = part->first;
    return copy;
}

static struct sim_record *copy_of_update(const struct snapshot_record *record)
{
    const struct update *update = &record->update;
    const size_t index_bytes = update->count * sizeof *update->index;
    struct sim_record *copy = memory_new(sizeof *copy + index_bytes + update->count, 1);
    copy->record = *record;
    struct update *to = &copy->record.update;
    to->index = (uint32_t *)(copy + 1);
    to->level = (int8_t *)(to->index + to->count);
    if (update->count > 0) {
        memcpy(to->index, update->index, index_bytes);
        memcpy(to->level, update->level, update->count);
    }
    return copy;
}

void sim_disk_write(struct sim_disk *disk)
{
    const struct snapshot_record *record;
    while (disk->queue && (record = snapshot_next(disk->queue))) {
        const bool is_part = record->kind == SNAPSHOT_PART;
        struct sim_record *copy = is_part ? copy_of_part(record) : copy_of_update(record);
        if (is_part)
            disk->draft.last_part = record->part.first;
        copy->next = NULL;
        *disk->end = copy;
        disk->end = &copy->next;
        snapshot_done(disk->queue);
    }
}

size_t sim_disk_written(const struct sim_disk *disk)
{
    return disk->queue->end;
}

static void close_draft(struct sim_disk *disk)
{
    if (disk->queue)
        arena_release(&disk->arena);
    disk->queue = NULL;
    disk->draft = (struct saved){0};
}

void sim_disk_end(struct sim_disk *disk, const struct sim_learner *sim_learner, uint8_t *history,
                  size_t history_bytes, const uint8_t model_hash[static 16], uint64_t durable_ns)
{
    const size_t parameters = sim_learner_parameters(sim_learner);
    const uint32_t moments = sim_learner_moments(sim_learner);
    struct saved *draft = &disk->draft;
    CHECK(disk->queue && draft->records && sim_disk_written(disk) == parameters);
    draft->memory = memory_new(learner_state_bytes(parameters, moments), 1);
    learner_state_init(&draft->state, draft->memory, parameters, moments);
    sim_learner_save(sim_learner, &draft->state);
    draft->history = history;
    draft->history_bytes = history_bytes;
    memcpy(draft->model_hash, model_hash, sizeof draft->model_hash);
    draft->durable_ns = durable_ns;
    forget(&disk->saved[SIM_DISK_GENERATIONS - 1]);
    memmove(disk->saved + 1, disk->saved, (SIM_DISK_GENERATIONS - 1) * sizeof *disk->saved);
    disk->saved[0] = *draft;
    close_draft(disk);
}

void sim_disk_abandon(struct sim_disk *disk)
{
    forget(&disk->draft);
    close_draft(disk);
}

bool sim_disk_knows_model(const struct sim_disk *disk, const struct node *node, uint64_t now_ns)
{
    const struct saved *newest = sim_disk_newest(disk);
    return !node_has_taken_first(node) ||
           (newest && newest->durable_ns <= now_ns &&
            memcmp(newest->model_hash, node_model_hash(node), sizeof newest->model_hash) == 0);
}

void sim_disk_keep_orders(struct sim_disk *disk, const struct node *node)
{
    if (node_orders_count(node) == disk->orders_count)
        return;
    disk->orders = memory_more(disk->orders, NODE_ORDERS_MAX, 1);
    disk->orders_count = node_orders_count(node);
    disk->orders_bytes = node_orders(node, disk->orders);
}

/* A starting node reads the proofs on its disk and counts changes from 0. So 0 means that the disk
 * has all proofs. */
void sim_disk_keep_proofs(struct sim_disk *disk, const struct node *node)
{
    if (node_proofs_changes(node) == 0)
        return;
    if (!disk->proofs)
        disk->proofs = memory_new(NODE_PROOFS_MAX, 1);
    disk->proofs_bytes = node_proofs(node, disk->proofs);
}

void sim_disk_keep_votes(struct sim_disk *disk, const struct node *node)
{
    if (node_votes_changes(node) == 0)
        return;
    if (!disk->votes)
        disk->votes = memory_new(NODE_VOTES_MAX, 1);
    disk->votes_bytes = node_votes(node, disk->votes);
}

void sim_disk_keep_swarm_keys(struct sim_disk *disk, const struct node *node)
{
    if (node_swarm_keys_changes(node) > 0)
        disk->swarm_keys_bytes = node_swarm_keys(node, disk->swarm_keys);
}

/* The functions below read checkpoints. */

const struct saved *sim_disk_newest(const struct sim_disk *disk)
{
    return disk->saved[0].records ? &disk->saved[0] : NULL;
}

void sim_disk_restore(const struct saved *saved, struct sim_learner *sim_learner)
{
    struct learner_state numbers = saved->state;
    numbers.parameters = 0;
    for (const struct sim_record *at = saved->records; at; at = at->next)
        sim_learner_replay(sim_learner, &at->record);
    sim_learner_restore(sim_learner, &numbers);
}

/* The functions below simulate crashes and damage. */

void sim_disk_settle(struct sim_disk *disk, uint64_t now_ns)
{
    sim_disk_abandon(disk);
    while (disk->saved[0].records && disk->saved[0].durable_ns > now_ns)
        drop_newest(disk);
}

void sim_disk_rot(struct sim_disk *disk)
{
    drop_newest(disk);
}

void sim_disk_clear(struct sim_disk *disk)
{
    sim_disk_abandon(disk);
    for (int i = 0; i < SIM_DISK_GENERATIONS; i++)
        forget(&disk->saved[i]);
    free(disk->orders);
    disk->orders = NULL;
    disk->orders_bytes = disk->orders_count = 0;
    free(disk->proofs);
    disk->proofs = NULL;
    disk->proofs_bytes = 0;
    free(disk->votes);
    disk->votes = NULL;
    disk->votes_bytes = 0;
    disk->swarm_keys_bytes = 0;
    disk->incarnation = 0;
}
