/* Inference requests: predictions of the node's model for a client's samples (inference.h).
 *
 *   INFERENCE ──► node_next: PREDICT ──► learner, between two steps ──► node_on_predicted ──► REPLY
 *
 * Included by node.h.
 */
#ifndef HEARSAY_NODE_INFERENCE_FORM_H
#define HEARSAY_NODE_INFERENCE_FORM_H

#include <stddef.h>
#include <stdint.h>

#define NODE_PREDICT_MAX   16000 /* most numbers in an answer, over all samples */
#define NODE_INFERENCE_MAX 65000 /* most bytes of all samples in a request */

/* Limits of an inference request; all 0 = no request is served. */
struct inference_form {
    uint32_t samples_max; /* samples per request */
    size_t sample_bytes;  /* bytes per sample */
    uint32_t outputs;     /* numbers per sample, float32 */
    /* description of a sample (config/inference_words.h); belongs to the owner */
    const char *about;
};

struct node;
/* Answers PREDICT with numbers[count, outputs], valid during the call. took_ns: the learner's
 * working time. */
void node_on_predicted(struct node *node, uint64_t now_ns, const float *numbers, uint64_t took_ns);

#endif
