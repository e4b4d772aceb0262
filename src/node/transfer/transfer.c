#include "node/transfer/transfer.h"

#include "node/transfer/transfer_private.h"

size_t transfer_arena_bytes(const struct node_options *options)
{
    const size_t origins = options->limits.incarnations_max;
    const size_t blocks = block_count(options->parameters, options->block_entries);
    return sizeof(struct transfer) + options->limits.peers_max * sizeof(struct transfer_neighbour) +
           origins * (HISTORY_ENTRY_BYTES + 2 * sizeof(uint32_t) + sizeof(void *)) +
           2 * supporters_arena_bytes(options) + options->limits.members_max * sizeof(uint64_t) +
           bit_words(origins) * sizeof(uint64_t) + blocks * sizeof(uint64_t) +
           PENDING_MAX *
               (options->block_entries * sizeof(int32_t) + origins * sizeof(uint32_t) + 2 * 64) +
           18 * 64;
}

static void init_pending(struct transfer *transfer, struct arena *arena,
                         const struct node_options *options)
{
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        transfer->pending.blocks[i] = (struct pending_block){
            .units = arena_alloc(arena, options->block_entries, sizeof(int32_t)),
            .version = arena_alloc(arena, options->limits.incarnations_max, sizeof(uint32_t))};
}

struct transfer *transfer_new(struct arena *arena, const struct node *node)
{
    const struct node_options *options = &node->options;
    const uint32_t origins = options->limits.incarnations_max;
    CHECK(options->parameters > 0 && options->block_entries > 0);
    struct transfer *transfer = arena_alloc(arena, 1, sizeof *transfer);
    transfer->blocks = block_count(options->parameters, options->block_entries);
    for (int side = 0; side < 2; side++)
        supporters_init(&transfer->sides[side], arena, options);
    transfer->tags = arena_alloc(arena, options->limits.members_max, sizeof *transfer->tags);
    transfer->seen = arena_alloc(arena, bit_words(origins), sizeof(uint64_t));
    transfer->neighbours =
        arena_alloc(arena, options->limits.peers_max, sizeof *transfer->neighbours);
    transfer->request.history = arena_alloc(arena, origins, HISTORY_ENTRY_BYTES);
    transfer->request.next = arena_alloc(arena, origins, sizeof(uint32_t));
    transfer->request.earlier = arena_alloc(arena, origins, sizeof(uint32_t));
    transfer->fetch.from = arena_alloc(arena, transfer->blocks, sizeof(uint64_t));
    init_pending(transfer, arena, options);
    transfer->serve.heads = arena_alloc(arena, origins, sizeof *transfer->serve.heads);
    transfer->serve.save_ns = node->now_ns + options->save_ns;
    transfer->digest_votes = (struct digest_votes){
        .are_open = options->history_bytes > 0, .is_restored = true, .whole_ns = node->now_ns};
    return transfer;
}

void transfer_on_end(struct node *node, const struct peer *peer)
{
    *transfer_neighbour(node, peer) = (struct transfer_neighbour){0};
}

void transfer_stats(const struct node *node, struct node_stats *stats)
{
    const struct transfer *transfer = node->transfer;
    CHECK(transfer->fetch.blocks_written <= transfer->blocks);
    stats->blocks = transfer->blocks;
    stats->blocks_held = transfer->fetch.blocks_written;
    stats->block_bytes = transfer->fetch.bytes;
    stats->served_bytes = transfer->serve.bytes;
}

void transfer_on_retracted(struct node *node, uint64_t rumors)
{
    struct fetch *fetch = &node->transfer->fetch;
    fetch->rumors -= u64_min(rumors, fetch->rumors);
    if (!base_is_whole(node))
        pending_drop_excess(node);
    serve_save_soon(node); /* the checkpoint on disk still contains the retracted rumors */
}
