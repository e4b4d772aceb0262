#include "training/snapshot.h"

#include <string.h>

#include "base/error.h"

#define PARTS          128 /* parts per snapshot, except for very small and very large models */
#define PART_BYTES_MIN ((size_t)1 << 20)
#define PART_BYTES_MAX ((size_t)16 << 20)
#define ENTRY_BYTES    (sizeof(uint32_t) + sizeof(int8_t))
#define RECORD_MAX     (sizeof(struct snapshot_record) + SNAPSHOT_ENTRIES_MAX * ENTRY_BYTES)

void snapshot_replay(const struct snapshot_record *record, struct replica *replica)
{
    CHECK(record->kind != SNAPSHOT_PART && record->kind < SNAPSHOT_KINDS);
    if (record->kind == SNAPSHOT_OWN)
        replica_apply_own(replica, &record->update, record->beta);
    else
        replica_apply(replica, &record->update, record->beta);
}

size_t snapshot_part_parameters(size_t parameters, uint32_t moments)
{
    const size_t entry_bytes = (2 + moments) * sizeof(float);
    const size_t bytes = parameters * entry_bytes / PARTS;
    const size_t part_bytes =
        bytes < PART_BYTES_MIN ? PART_BYTES_MIN : size_min(bytes, PART_BYTES_MAX);
    const size_t most = part_bytes / entry_bytes;
    CHECK(parameters > 0);
    return size_min(parameters, most);
}

static uint64_t records_bytes(size_t entries)
{
    return ring_bytes(entries * ENTRY_BYTES + 2 * RECORD_MAX);
}

size_t snapshot_queue_bytes(size_t part_parameters, uint32_t moments, size_t entries)
{
    return learner_state_bytes(part_parameters, moments) + records_bytes(entries) + 4096;
}

void snapshot_queue_init(struct snapshot_queue *queue, struct arena *arena, size_t parameters,
                         size_t part_parameters, uint32_t moments, size_t entries)
{
    CHECK(part_parameters > 0 && part_parameters <= parameters);
    *queue = (struct snapshot_queue){.parameters = parameters, .part_parameters = part_parameters};
    void *memory = arena_alloc(arena, learner_state_bytes(part_parameters, moments), 1);
    learner_state_init(&queue->part, memory, part_parameters, moments);
    ring_init(&queue->ring, arena, records_bytes(entries));
    atomic_init(&queue->part_is_out, false);
}

size_t snapshot_average_bytes(size_t part_parameters)
{
    return part_parameters * sizeof(float) + 64;
}

void snapshot_take_average(struct snapshot_queue *queue, struct arena *arena)
{
    queue->part.average = arena_alloc(arena, queue->part_parameters, sizeof(float));
}

bool snapshot_is_under_way(const struct snapshot_queue *queue)
{
    return queue->end > 0 && queue->end < queue->parameters && !queue->is_broken;
}

/* Reserves space in the ring. If the ring has none, breaks off the snapshot and returns NULL. */
static struct snapshot_record *begin_record(struct snapshot_queue *queue, uint32_t entries)
{
    const size_t bytes = sizeof(struct snapshot_record) + entries * ENTRY_BYTES;
    CHECK(entries <= SNAPSHOT_ENTRIES_MAX);
    struct snapshot_record *record = ring_room(&queue->ring, (uint32_t)bytes);
    queue->is_broken = !record;
    return record;
}

static void end_record(struct snapshot_queue *queue, uint32_t entries)
{
    ring_put(&queue->ring, (uint32_t)(sizeof(struct snapshot_record) + entries * ENTRY_BYTES));
    if (queue->wake)
        queue->wake(queue->waker);
}

size_t snapshot_take(struct snapshot_queue *queue, size_t first, snapshot_save *save, void *learner)
{
    if (first == 0) {
        queue->end = 0;
        queue->is_broken = false;
    }
    CHECK(first == queue->end && first < queue->parameters && snapshot_has_room(queue));
    struct snapshot_record *record = queue->is_broken ? NULL : begin_record(queue, 0);
    if (!record)
        return 0;
    const size_t left = queue->parameters - first;
    queue->part.first = first;
    queue->part.parameters = size_min(left, queue->part_parameters);
    save(learner, &queue->part);
    *record = (struct snapshot_record){.kind = SNAPSHOT_PART, .part = queue->part};
    queue->end += queue->part.parameters;
    atomic_store(&queue->part_is_out, true);
    end_record(queue, 0);
    return record->part.parameters;
}

/* Returns the number of the update's entries with an index below `end`. */
static uint32_t entries_before(const struct update *update, size_t end)
{
    uint32_t from = 0, to = update->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (update->index[middle] < end)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void note_entries(struct snapshot_queue *queue, enum snapshot_kind kind,
                         const struct update *update, float beta, uint32_t first, uint32_t count)
{
    struct snapshot_record *record = begin_record(queue, count);
    if (!record)
        return;
    *record =
        (struct snapshot_record){.kind = kind, .beta = beta, .end = queue->end, .update = *update};
    record->update.count = count;
    record->update.index = (uint32_t *)(record + 1);
    record->update.level = (int8_t *)(record->update.index + count);
    memcpy(record->update.index, update->index + first, count * sizeof *update->index);
    memcpy(record->update.level, update->level + first, count * sizeof *update->level);
    end_record(queue, count);
}

void snapshot_note_update(struct snapshot_queue *queue, enum snapshot_kind kind,
                          const struct update *update, float beta)
{
    CHECK(kind == SNAPSHOT_APPLIED || kind == SNAPSHOT_OWN);
    const uint32_t entries = snapshot_is_under_way(queue) ? entries_before(update, queue->end) : 0;
    for (uint32_t first = 0; first < entries && snapshot_is_under_way(queue);) {
        const uint32_t left = entries - first;
        const uint32_t count = u32_min(left, SNAPSHOT_ENTRIES_MAX);
        note_entries(queue, kind, update, beta, first, count);
        first += count;
    }
}

void snapshot_break(struct snapshot_queue *queue)
{
    queue->is_broken = true;
}

const struct snapshot_record *snapshot_next(struct snapshot_queue *queue)
{
    return ring_peek(&queue->ring);
}

void snapshot_done(struct snapshot_queue *queue)
{
    const struct snapshot_record *record = ring_peek(&queue->ring);
    CHECK(record);
    const bool is_part = record->kind == SNAPSHOT_PART;
    ring_done(&queue->ring);
    if (is_part)
        atomic_store(&queue->part_is_out, false);
}

bool snapshot_has_room(const struct snapshot_queue *queue)
{
    return !atomic_load(&queue->part_is_out);
}
