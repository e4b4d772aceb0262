#include "faults/false_base.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "node/broadcast/version.h"

static bool take_history(struct false_base *base, const struct world_node *at)
{
    uint8_t *history = memory_new(node_history_max(&at->options), 1);
    const size_t bytes = node_history(at->node, history);
    const bool fits = bytes > 0 && bytes <= sizeof base->history;
    base->origins = fits ? (uint32_t)(bytes / HISTORY_ENTRY_BYTES) : 0;
    memcpy(base->history, history, fits ? bytes : 0);
    free(history);
    return fits;
}

void false_base_make_version(struct false_base *base, const uint8_t *context)
{
    base->rumors = 0;
    for (uint32_t i = 0; i < base->origins; i++) {
        const uint8_t *bytes = base->history + i * HISTORY_ENTRY_BYTES;
        const struct history_entry entry = history_entry_at(bytes);
        struct signed_head head;
        signed_head_read(&head, bytes, context);
        version_entry_put(base->entries + i * VERSION_ENTRY_BYTES,
                          origin_tag(entry.id, entry.incarnation), entry.next, head.hash);
        learned_put(base->learned + i * LEARNED_BYTES, &(struct learned){.samples = entry.samples});
        base->rumors += entry.next;
    }
    base->hash = entries_hash(base->entries, base->origins);
}

void false_base_leave_out(struct false_base *base, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation)
{
    for (uint32_t i = 0; i < base->origins; i++) {
        uint8_t *bytes = base->history + i * HISTORY_ENTRY_BYTES;
        const struct history_entry entry = history_entry_at(bytes);
        if (memcmp(entry.id, id, ID_BYTES) != 0 || entry.incarnation != incarnation)
            continue;
        memmove(bytes, bytes + HISTORY_ENTRY_BYTES,
                (--base->origins - i) * (size_t)HISTORY_ENTRY_BYTES);
        return;
    }
}

static void add_unit(int32_t *unit)
{
    uint32_t units;
    memcpy(&units, unit, sizeof units);
    units++;
    memcpy(unit, &units, sizeof units);
}

static void lie_about(struct false_base *base, enum lie lie)
{
    if (lie == LIE_ZEROS)
        memset(base->units, 0, base->parameters * sizeof *base->units);
    if (lie != LIE_OFF && lie != LIE_FITS)
        return;
    for (uint64_t first = 0; first < base->parameters; first += base->block_entries) {
        add_unit(&base->units[first]);
        if (lie == LIE_FITS)
            base->digest = digest_add(base->digest, digest_of_entry((uint32_t)first, 1));
    }
}

bool false_base_take(struct false_base *base, const struct world *world, uint32_t i, enum lie lie)
{
    const struct world_node *at = &world->nodes[i];
    base->origins = 0;
    if (!at->node || node_is_catching_up(at->node) || node_waiting(at->node) > 0 ||
        !take_history(base, at))
        return false;
    base->parameters = sim_learner_parameters(&at->sim_learner);
    base->block_entries = at->options.block_entries;
    base->digest = node_digest(at->node);
    if (!base->units)
        base->units = memory_new(base->parameters, sizeof *base->units);
    sim_learner_read_units(&at->sim_learner, base->units);
    false_base_make_version(base, node_context(at->node));
    lie_about(base, lie);
    return true;
}

void false_base_free(struct false_base *base)
{
    free(base->units);
    *base = (struct false_base){0};
}

struct message false_base_version(const struct false_base *base)
{
    return (struct message){.kind = VERSION,
                            .digest = base->digest,
                            .hash = base->hash,
                            .rumors = base->rumors,
                            .members = 1,
                            .base = 1,
                            .whole = 1,
                            .learned = {base->learned, base->origins * (size_t)LEARNED_BYTES},
                            .bulk = {base->entries, base->origins * (size_t)VERSION_ENTRY_BYTES}};
}

struct message false_base_history(const struct false_base *base)
{
    return (struct message){.kind = HISTORY,
                            .digest = base->digest,
                            .parts = base->origins > 0,
                            .bulk = {base->history, base->origins * (size_t)HISTORY_ENTRY_BYTES}};
}

struct message false_base_block(struct false_base *base, uint64_t block)
{
    const uint64_t first = block * base->block_entries;
    if (base->origins == 0 || first >= base->parameters)
        return (struct message){.kind = BLOCK};
    const uint64_t left = base->parameters - first;
    const uint32_t entries = left < base->block_entries ? (uint32_t)left : base->block_entries;
    return (struct message){
        .kind = BLOCK,
        .block = block,
        .hash = base->hash,
        .entries = {base->entries, base->origins * (size_t)VERSION_ENTRY_BYTES},
        .bulk = {base->bulk, block_encode(base->units + first, entries, base->bulk)}};
}
