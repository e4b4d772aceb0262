/* Harmful members as a node's owner sees them (quarantine.h): votes to keep for the next start, and
 * the findings.
 */
#ifndef HEARSAY_NODE_QUARANTINE_API_H
#define HEARSAY_NODE_QUARANTINE_API_H

#include "node/node.h"
#include "wire/vote.h"

/* Checks stored votes (wire/vote.h), back to back. MISMATCH: they are of another swarm or model, or
 * damaged. MALFORMED: their size is impossible. Votes exist only if limits.quarantines is set,
 * among at most NODE_VOTERS members. */
#define NODE_VOTERS    128
#define NODE_VOTES     (NODE_VOTERS * NODE_VOTERS)
#define NODE_VOTES_MAX ((size_t)NODE_VOTES * VOTE_BYTES)
enum error node_votes_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Writes all known votes into out[NODE_VOTES_MAX] for the next start and returns the number of
 * bytes. If node_votes_changes has grown since the last call, the bytes differ. */
size_t node_votes(const struct node *node, uint8_t *out);
uint32_t node_votes_changes(const struct node *node);

/* Takes a vote of any member from the owner. Returns MALFORMED or FORGED if the bytes are no
 * vote. */
enum error node_on_vote(struct node *node, uint64_t now_ns,
                        const uint8_t vote[static VOTE_BYTES]) MUST_USE;

/* Finding i: a member that this node finds harmful (byzantine.h), that has votes against it, or
 * whose rumors are withheld (quarantine.h). Returns false after the last one. */
struct node_finding {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    bool harms;   /* this node finds the member harmful */
    bool is_held; /* the member's publications are too long and withheld */
    /* agreement of its rumors with this node's learning, -1 .. 1; NAN = unknown */
    double agreement;
    double typical;  /* median agreement over origins */
    double length;   /* length of its publications as a multiple of the median; NAN = unknown */
    uint32_t votes;  /* votes to expel the member */
    uint32_t needed; /* votes that suffice to expel; 0 = votes do not count here */
};
bool node_finding(const struct node *node, uint32_t i, struct node_finding *out);

#endif
