/* A rumor's step: by how much the rumor moves the base. Byzantine detection
 * (node/governance/byzantine.h) judges it when the rumor arrives. */
#ifndef HEARSAY_NODE_BROADCAST_RUMOR_STEP_H
#define HEARSAY_NODE_BROADCAST_RUMOR_STEP_H

#include "base/update.h"
#include "node/connection/connection.h"
#include "wire/signed_head.h"

struct rumor_step {
    uint32_t origin_index;
    uint32_t seq;     /* number of the rumor */
    double length;    /* Euclidean length of the update, in units of weights */
    uint64_t samples; /* samples that the origin reports as learned since its previous rumor */
};

/* before: head of the origin's previous rumor, or zeros if this is the first. */
static inline struct rumor_step rumor_step_of(uint32_t origin_index, const struct signed_head *head,
                                              const struct signed_head *before)
{
    const double amount = (double)bytes_get(head->bytes + HEAD_AMOUNT_AT, 4);
    const double length = (double)bytes_get(head->bytes + HEAD_LENGTH_AT, 2);
    const uint64_t had = signed_head_samples(before), has = signed_head_samples(head);
    CHECK(signed_head_seq(head) == 0 || signed_head_seq(before) + 1 == signed_head_seq(head));
    return (struct rumor_step){.origin_index = origin_index,
                               .seq = signed_head_seq(head),
                               .length = (double)QUANTUM * amount * length,
                               .samples = has > had ? has - had : 0};
}

/* Handles a rumor from this neighbour. Returns true and sets *step if it is new and accepted. */
bool broadcast_on_rumor(struct node *node, const struct peer *from, const uint8_t *rumor,
                        size_t bytes, struct rumor_step *step);
/* Returns true if the learner was asked how well the oldest unanswered rumor agrees with its
 * residual. In both cases sets *origin_index and *seq to that rumor's origin and number. */
bool broadcast_compared(const struct node *node, uint32_t *origin_index, uint32_t *seq);

#endif
