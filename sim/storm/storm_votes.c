#include "storm/storm_votes.h"

#include <string.h>

#include "base/error.h"
#include "node/expulsion_api.h"
#include "node/quarantine_api.h"

void storm_votes_prepare(struct node_options *options)
{
    options->limits.quarantines = true;
    options->has_tests = true;
}

/* Makes a vote against the latest incarnation of the accused that node i knows. The vote keeps
 * the rumors that node i can no longer remove, and up to three more. */
static struct vote vote_of(const struct world *world, uint32_t i, uint32_t voter, uint32_t accused)
{
    const struct node *node = world->nodes[i].node;
    struct vote vote = {0};
    memcpy(vote.accused, world->nodes[accused].identity.id, ID_BYTES);
    memcpy(vote.voter, world->nodes[voter].identity.id, ID_BYTES);
    for (uint32_t k = 0; k < node_origins(node); k++) {
        struct node_origin origin;
        node_origin(node, k, &origin);
        if (origin.incarnation < vote.incarnation || memcmp(origin.id, vote.accused, ID_BYTES) != 0)
            continue;
        vote.incarnation = origin.incarnation;
        vote.keep = node_reach(node, k) + voter % 4;
    }
    return vote;
}

static void give(struct world *world, uint32_t i, uint32_t voter, uint32_t accused)
{
    uint8_t bytes[VOTE_BYTES];
    if (voter == accused || !world->nodes[i].node)
        return; /* node i stops when it learns that it is the accused */
    const struct vote vote = vote_of(world, i, voter, accused);
    vote_create(&vote, &world->nodes[voter].identity, node_context(world->nodes[i].node), bytes);
    world_vote(world, i, bytes);
}

void storm_votes_give(struct world *world, uint32_t members, uint32_t i, uint32_t accused)
{
    CHECK(accused < members && members <= world->nodes_count);
    for (uint32_t voter = 0; voter < members / 4; voter++)
        for (uint32_t other = 0; other < members; other++)
            if (other != accused)
                give(world, i, voter, other);
    for (uint32_t voter = 0; voter < members; voter++)
        give(world, i, voter, accused);
}

bool storm_votes_have_expelled(const struct world *world, uint32_t i)
{
    for (uint32_t at = 0; at < world->nodes_count; at++) {
        struct node_proof proof;
        const struct node *node = world->nodes[at].node;
        for (uint32_t k = 0; node && node_proof(node, k, &proof); k++)
            if (proof.is_voted && memcmp(proof.id, world->nodes[i].identity.id, ID_BYTES) == 0)
                return true;
    }
    return false;
}
