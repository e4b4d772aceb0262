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

/* Maximum numbers in a reply, over all samples of the request. */
#define NODE_PREDICT_MAX   16000
#define NODE_INFERENCE_MAX 65000 /* maximum bytes of all samples of a request */

/* Form and limits of an inference request; all 0 = inference is off. */
struct inference_form {
    uint32_t samples_max; /* maximum samples per request */
    size_t sample_bytes;
    uint32_t outputs; /* numbers (float32) in the reply per sample */
    /* description of a sample for people (config/inference_words.h); must outlive the node */
    const char *about;
};

struct node;
/* Answers a PREDICT action with numbers[count, outputs], which are read during the call.
 * took_ns: the learner's working time. */
void node_on_predicted(struct node *node, uint64_t now_ns, const float *numbers, uint64_t took_ns);

#endif
