/* Own labels: finds out that this node's labels contradict the shared model, and holds its
 * publications then. Shifted, permuted or random labels do that, and labels of another task.
 *
 *   PUBLISH, if due ──► learner: label fit of the base (base/label_fit.h)
 *     excess = confidence - agreement, among all classes and among those that this node has
 *     Σ min(excess_all - EXCESS_ALL, excess_known - EXCESS_KNOWN)    > CONTRADICTED_MOST
 *       ──► a warning, to this node's owner and to its neighbours
 *       ──► publications are held, until the sum is 0
 *
 * The base is the sum of all members' progress. If it predicts with confidence what the labels here
 * deny, then the others call these samples by other names. The sum is a sequential test (CUSUM:
 * Page 1954), so a wrong base in the first seconds is not enough. Comparisons end when labels and base
 * have agreed five times: labels do not change, so a base that contradicts them later is itself at
 * fault, for example after an attack.
 *
 * With unlike data a base may prefer a class that only others have, and is as confident as with
 * mixed up labels. So it must also contradict among the classes that this node has, must tell some
 * of them apart (variety), most samples must disagree, and two others or more must train, about
 * equally fast: the base prefers the classes of a fast member. A node with a single class never
 * contradicts. Not found are swaps of few classes, and mixed up labels whose classes, by their true
 * names, are almost all missing here.
 *
 * While publications are held, the learner's progress is dropped at each of them, and this node's
 * record says that it does not train, so the others share the work. The comparison goes on: the
 * base may have been wrong. Numbers to predict and texts have no classes, and the learner of a host
 * program has no labels: nothing is compared there. Wrong preprocessing is found only if the base
 * does not learn it as well.
 *
 * Tests: tests/unit/sim/test_own_labels.c, tests/process/test_mixed_labels.sh; measured by
 * tests/bench/bench_mixed_labels.py.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_OWN_LABELS_H
#define HEARSAY_NODE_GOVERNANCE_OWN_LABELS_H

#include "base/label_fit.h"
#include "node/core.h"

struct own_labels *own_labels_new(struct arena *arena);
size_t own_labels_arena_bytes(void);

/* Sets compares_labels and is_held in the terms of a publication. */
void own_labels_on_publish(struct node *node, struct publish_terms *terms);
void own_labels_on_fit(struct node *node, const struct label_fit *fit);
/* Call it when a publication has ended that took took_ns. Returns that time, or 0 (unknown) if the
 * publication began with a comparison. */
uint64_t own_labels_on_published(struct node *node, uint64_t took_ns);
/* Tells neighbours of a contradiction, and of its end. Call it every round of gossip. */
void own_labels_review(struct node *node);

#endif
