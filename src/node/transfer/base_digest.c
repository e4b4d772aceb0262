/* Checks that a taken-over base is the one that its donor promised.
 *
 *   digest of HISTORY ──► missing ◄── updates given to the learner, for unwritten blocks
 *                            └──► minus each block as it is written ──► 0 after the last one
 *
 * The digest is a sum over the entries (base/digest.h), so each block adds its own part. A block
 * may be read from the donor at any time, because it is brought up to our base before it is written
 * (pending_blocks.c). A later update changes `missing` only by its entries in unwritten blocks.
 *
 * The sum is public and linear, so an attacker can construct blocks that fit it. The digest detects
 * zeros, broken memory and wrong code. Digest votes of other members detect constructed bases
 * (digest_votes.c). Tests: tests/world/test_false_base.c.
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

/* Returns the digest of the update's entries in unwritten blocks. */
static uint64_t digest_of_missing(const struct node *node, const struct update *update)
{
    const uint32_t each = node->options.block_entries;
    const uint64_t *from = node->transfer->fetch.from;
    uint64_t digest = 0, end = 0; /* `is_missing` is of the block that ends before entry `end` */
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
