/* Asking a node of a swarm what its model says of samples: the other end of node/questions.h.
 *
 *   call ─► knock ─► refusal: its protocol, swarm and model, and whether it answers questions
 *        ─► call again with these ─► handshake ─► QUESTION ◄─► REPLY … ─► BYE
 *
 * So nothing is asked of a node that does not know questions, and whoever asks needs the swarm key
 * and no configuration. It waits where it is told to, for PATIENCE_S at most, and calls again where
 * a conversation has lasted long enough. Blocks; one thread. Held by tests/process/test_ask.sh.
 */
#ifndef HEARSAY_COMMANDS_NODE_QUESTION_H
#define HEARSAY_COMMANDS_NODE_QUESTION_H

#include "config/question_words.h"
#include "socket/address.h"

struct node_question_options {
    struct address address; /* of the node */
    const char *swarm_key;  /* file */
    const char *identity;   /* file; NULL: one that is made for this once */
};

struct node_question;

/* Connects, and learns what may be asked. The node, and a sentence that says what is wrong, or to
 * be freed with node_question_close, whatever came of it. */
enum error node_question_open(struct node_question **question,
                              const struct node_question_options *options,
                              struct problem *problem) MUST_USE;
void node_question_close(struct node_question *question);

const struct question_shape *node_question_shape(const struct node_question *question);
uint32_t node_question_most(const struct node_question *question); /* samples at once */

/* numbers[count, outputs] of samples[count]. */
enum error node_question_ask(struct node_question *question, const void *samples, uint32_t count,
                             float *numbers, struct problem *problem) MUST_USE;

#endif
