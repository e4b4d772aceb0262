/* Harmful members as a node's owner sees them (quarantine.h): votes to keep for the next start,
 * and findings about members. */
#ifndef HEARSAY_NODE_QUARANTINE_API_H
#define HEARSAY_NODE_QUARANTINE_API_H

#include "node/node.h"
#include "wire/vote.h"

/* Maximum members of a swarm in which votes count; in a larger swarm no vote counts. */
#define NODE_VOTERS    128
#define NODE_VOTES     (NODE_VOTERS * NODE_VOTERS)       /* maximum number of votes */
#define NODE_VOTES_MAX ((size_t)NODE_VOTES * VOTE_BYTES) /* maximum size of all votes in bytes */
/* Checks the stored votes in the options (wire/vote.h). Returns MALFORMED if their size is
 * impossible, and MISMATCH if they are damaged, or belong to another swarm or model. */
enum error node_votes_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* Writes all known votes into out[NODE_VOTES_MAX], for the next start. Returns the number of
 * bytes. The bytes have changed if node_votes_changes has grown. */
size_t node_votes(const struct node *node, uint8_t *out);
uint32_t node_votes_changes(const struct node *node);

/* Takes a vote of any member from the owner. Returns MALFORMED or FORGED if the bytes are no vote;
 * ignores a vote that does not count, with its signature unchecked. */
enum error node_on_vote(struct node *node, uint64_t now_ns,
                        const uint8_t vote[static VOTE_BYTES]) MUST_USE;

/* A member that this node finds harmful (byzantine.h), that has votes against it, or whose
 * rumors are withheld (quarantine.h). node_finding gives number i of these members, and returns
 * false after the last one. */
struct node_finding {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    bool harms;   /* this node finds the member harmful */
    bool is_held; /* rumors of this incarnation are withheld (quarantine.h) */
    /* average agreement of the member's rumors with this node's learning, in [-1, 1]; NAN =
     * unknown */
    double agreement;
    double typical; /* median of `agreement` over members; NAN = unknown */
    /* Length of the member's publications (byzantine_length), as a multiple of the median over
     * members; NAN = unknown. */
    double length;
    uint32_t votes;  /* votes to expel the member */
    uint32_t needed; /* votes that suffice to expel a member; 0 = votes do not count */
};
bool node_finding(const struct node *node, uint32_t i, struct node_finding *out);

#endif
