/* What the owner of a node keeps and shows about members that harm (quarantine.h): votes, for the
 * next start, and who it is. */
#ifndef HEARSAY_NODE_HARM_H
#define HEARSAY_NODE_HARM_H

#include "node/node.h"
#include "wire/vote.h"

/* Votes of members that others harm (wire/vote.h), back to back. MISMATCH: they are of another
 * swarm or model, or damaged. MALFORMED: of impossible size. There are none unless the options'
 * quarantines is set, and then only among NODE_VOTERS members. */
#define NODE_VOTERS    128
#define NODE_VOTES     (NODE_VOTERS * NODE_VOTERS)
#define NODE_VOTES_MAX ((size_t)NODE_VOTES * VOTE_BYTES)
enum error node_votes_check(const struct node_options *options, struct problem *problem) MUST_USE;
/* All that are known, into out[NODE_VOTES_MAX], for the next start; returns their bytes. They are
 * others whenever the count of changes has risen. */
size_t node_votes(const struct node *node, uint8_t *out);
uint32_t node_votes_changes(const struct node *node);

/* The owner has a vote, of whatever member. MALFORMED, FORGED: it is none. */
enum error node_on_vote(struct node *node, uint64_t now_ns,
                        const uint8_t vote[static VOTE_BYTES]) MUST_USE;

/* Who harms, as this node finds (effect.h), or as others have voted, or is held (quarantine.h);
 * false: no more do. */
struct node_harm {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    bool harms;       /* this node finds so */
    bool is_held;     /* what it publishes waits: it is longer than others' */
    double agreement; /* of its rumors with what is learned here, -1 .. 1; NAN: not known */
    double typical;   /* the same of the origin in the middle */
    double length;    /* times as long as what others publish; NAN: not known */
    uint32_t votes;   /* of members, that it is to be put out */
    uint32_t needed;  /* so many put it out; 0: votes do not count here */
};
bool node_harm(const struct node *node, uint32_t i, struct node_harm *out);

#endif
