/* Is a base that was taken over the one that its donor promised?
 *
 *   digest of HISTORY ──► missing ◄── what the learner is given meanwhile, where blocks are missing
 *                            └──► less each block as it is written ──► 0, when all are
 *
 * The digest is a sum over the entries (base/digest.h), so every block adds its part whatever its
 * moment is: it is made as new as our base before it is written (pending_blocks.c), and what the
 * learner is given later moves what is written and what is missing, each by its entries.
 *
 * The sum is public and linear: who wants to can make blocks that fit it. It finds zeros, broken
 * memory and wrong code; against the rest there are the others' opinions (opinions.c).
 * Held by tests/world/test_false_base.c.
 */
#include "base/digest.h"
#include "node/transfer/transfer_private.h"

static void add(struct node *node, uint64_t digest)
{
    uint64_t *missing = &node->transfer->base_digest.missing;
    *missing = digest_add(*missing, digest);
}

void base_digest_begin(struct node *node, uint64_t digest)
{
    CHECK(base_state(node) == BASE_FETCHING && node->transfer->fetch.blocks_written == 0);
    node->transfer->base_digest.missing = digest;
}

void base_digest_on_write(struct node *node, const struct action *write)
{
    uint64_t digest = 0;
    CHECK(write->kind == ACTION_WRITE && base_state(node) == BASE_FETCHING);
    for (uint32_t i = 0; i < write->entries; i++)
        digest = digest_add(
            digest, digest_of_entry((uint32_t)write->first + i, 0u - (uint32_t)write->units[i]));
    add(node, digest);
}

/* Of the entries in blocks that are not written. Indices rise. */
static uint64_t digest_of_missing(const struct node *node, const struct update *update)
{
    const uint32_t each = node->options.block_entries;
    const uint64_t *from = node->transfer->fetch.from;
    uint64_t digest = 0, end = 0; /* of the block of the entry before */
    bool is_missing = false;
    CHECK(each > 0 && update->count <= node->options.parameters);
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t index = update->index[i];
        if (index >= end) {
            is_missing = from[index / each] != BLOCK_WRITTEN;
            end = ((uint64_t)index / each + 1) * each;
        }
        const int level = update->level[i];
        if (is_missing)
            digest = digest_add(digest, digest_of_entry(index, update->amount * (uint32_t)level));
    }
    return digest;
}

void transfer_on_update(struct node *node, const struct update *update)
{
    if (base_state(node) == BASE_FETCHING)
        add(node, digest_of_missing(node, update));
}

bool base_digest_is_right(const struct node *node)
{
    CHECK(node->transfer->fetch.blocks_written == node->transfer->blocks);
    return node->transfer->base_digest.missing == 0;
}
