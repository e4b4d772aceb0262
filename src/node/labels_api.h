/* The labels of a node's own samples, compared with the shared model, as its owner sees them
 * (own_labels.h). */
#ifndef HEARSAY_NODE_LABELS_API_H
#define HEARSAY_NODE_LABELS_API_H

#include "base/label_fit.h"
#include "node/node.h"

#define NODE_LABELS_TEXT  128
#define NODE_LABELS_WHOSE 16

/* Reports the label fit, if the terms of the PUBLISH requested it and it could be measured. Call it
 * before node_on_published. */
void node_on_label_fit(struct node *node, uint64_t now_ns, const struct label_fit *fit);
/* Returns in words how this node's labels contradict the shared model; NULL = they do not. */
const char *node_labels_text(const struct node *node);
/* Writes whose labels are known to contradict the shared model: "this node", or the id of a
 * neighbour that reports it; "" = none. */
void node_labels_whose(const struct node *node, char text[static NODE_LABELS_WHOSE]);

#endif
