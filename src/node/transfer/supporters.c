#include <string.h>

#include "base/min_max.h"
#include "node/membership/membership.h"
#include "node/transfer/supporters_private.h"

static size_t leads(const struct node_options *options)
{
    return (size_t)options->limits.members_max + 1;
}

size_t supporters_arena_bytes(const struct node_options *options)
{
    return leads(options) * sizeof(uint64_t) + 64;
}

void supporters_init(struct supporters *supporters, struct arena *arena,
                     const struct node_options *options)
{
    supporters->lead = arena_alloc(arena, leads(options), sizeof *supporters->lead);
}

void supporters_clear(struct supporters *supporters, const struct node *node)
{
    memset(supporters->lead, 0, leads(&node->options) * sizeof *supporters->lead);
}

void supporters_add(struct supporters *supporters, const struct node *node,
                    const uint8_t id[static ID_BYTES], uint64_t lead)
{
    const struct member *member = membership_find(node, id);
    CHECK(lead > 0);
    uint64_t *sum =
        &supporters
             ->lead[member ? membership_number(node, member) : node->options.limits.members_max];
    *sum += u64_min(lead, UINT64_MAX - *sum);
}

uint32_t supporters_count(const struct supporters *supporters, const struct node *node,
                          uint64_t least)
{
    uint32_t count = 0;
    CHECK(least > 0);
    for (uint32_t i = 0; i < membership_members(node)->count; i++)
        count += supporters->lead[i] >= least;
    return count;
}

uint64_t supporters_most(const struct supporters *supporters, const struct node *node)
{
    uint64_t most = supporters->lead[node->options.limits.members_max];
    for (uint32_t i = 0; i < membership_members(node)->count; i++)
        most = u64_max(most, supporters->lead[i]);
    return most;
}

/* Returns true if this other member is alive, and trains or has ended its training. */
static bool has_trained(const struct members *members, const struct member *member, uint64_t now_ns)
{
    CHECK(member != &members->members[0]);
    return (member->record.trains || member->record.samples > 0) &&
           member_is_live(members, member, now_ns);
}

bool supporters_are_most(const struct supporters *supporters, const struct node *node,
                         uint64_t least)
{
    const struct members *members = membership_members(node);
    uint32_t most = supporters->lead[node->options.limits.members_max] >= least, all = most;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        const bool supports = supporters->lead[i] >= least;
        most += supports;
        all += supports || (i > 0 && has_trained(members, member, node->now_ns));
    }
    CHECK(most <= all);
    return 2 * most > all;
}
