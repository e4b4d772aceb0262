/* Questions that a node answers: what its model says of somebody's samples (questions.h).
 *
 *   QUESTION ──► node_next: PREDICT ──► learner, between two steps ──► node_on_predicted ──► REPLY
 *
 * A part of node.h, which its owner includes.
 */
#ifndef HEARSAY_NODE_QUESTION_H
#define HEARSAY_NODE_QUESTION_H

#include <stddef.h>
#include <stdint.h>

#define NODE_PREDICT_MAX  16000 /* numbers that may be said of all samples of a question */
#define NODE_QUESTION_MAX 65000 /* bytes of its samples */

/* What may be asked. All 0: nothing. */
struct question_form {
    uint32_t samples_max; /* at once */
    size_t sample_bytes;  /* of each */
    uint32_t outputs;     /* numbers that are said of each, f32 */
    const char *about;    /* what a sample is, in words (config/question_words.h); the owner's */
};

struct node;
/* The answer to PREDICT, which took so long: numbers[count, outputs], good for the call. */
void node_on_predicted(struct node *node, uint64_t now_ns, const float *numbers, uint64_t took_ns);

#endif
