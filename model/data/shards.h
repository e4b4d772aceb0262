/* One training set, cut into shards for the nodes of a swarm in one process.
 *
 *   whole ─ shards_cut ─► owner of each sample ─ shards_take(i) ─► the dataset of node i
 *
 * The shards are disjoint and together have all samples. A node's share is in proportion to its
 * weight, with label skew only on average:
 *
 *   alpha = 0
 *     iid: a permutation by seed, cut into slices. With equal weights they are exactly the slices
 *     of dataset_load_train.
 *   alpha > 0
 *     label skew: for each class, the nodes' parts of its samples are drawn from a Dirichlet
 *     distribution with mean weight and concentration alpha times the number of nodes. With equal
 *     weights this is the symmetric Dirichlet(alpha) (Hsu, Qi, Brown 2019, drawn per class as in
 *     Yurochkin et al. 2019). Small alpha: few classes per node and unequal sizes; large alpha:
 *     nearly iid. Gamma variates by Marsaglia, Tsang 2000.
 *
 * Equal seeds give equal shards on machines whose C libraries' log and exp agree to the last bit.
 *
 * Sequences are cut into one stretch of tokens for each node, from the first node to the last, and
 * have no label skew. A stretch that is too short for a window is refused.
 *
 * A node of weight 0 gets no samples. If a node with a weight above 0 would get none, it gets the
 * last sample of the largest shard; with sequences, shards_cut fails instead. Tests:
 * tests/unit/model/test_shards.c.
 *
 * With is_whole each node with a weight above 0 gets all samples, for example the four samples of
 * DATASET_XOR.
 */
#ifndef HEARSAY_MODEL_DATA_SHARDS_H
#define HEARSAY_MODEL_DATA_SHARDS_H

#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

struct shards_options {
    uint32_t nodes;
    /* [nodes] relative sizes of the shards; finite, not negative, at least one above 0 */
    const double *weights;
    /* concentration of the Dirichlet distribution of labels; 0 = no label skew */
    double alpha;
    /* seed of the permutation; an equal seed of dataset_load_train gives the same slices */
    uint64_t seed;
    /* each node with a weight above 0 gets all samples; false for sequences */
    bool is_whole;
};

struct shards {
    /* [count] node that owns each sample; NULL = sequences, or is_whole: each node owns all */
    uint32_t *owner;
    size_t *ends;    /* sequences: [nodes] index of the token after each node's stretch */
    uint32_t *sizes; /* [nodes] number of samples of each node */
    uint32_t count;
    uint32_t nodes;
};

/* Cuts the training set `whole` into shards. MISMATCH: fewer samples than nodes with a weight above
 * 0 (unless is_whole), a stretch of tokens is too short, or alpha > 0 without labels. FAILED: no
 * memory. After OK the caller must call shards_free. */
enum error shards_cut(struct shards *shards, const struct dataset *whole,
                      const struct shards_options *options, struct problem *problem) MUST_USE;

/* Copies the samples of one node to *dataset, in the order of `whole`. sizes[node] must be above 0.
 * Shape, classes, mean and scale are those of `whole`. Free it with dataset_free. FAILED: no
 * memory. */
enum error shards_take(const struct shards *shards, const struct dataset *whole, uint32_t node,
                       struct dataset *dataset, struct problem *problem) MUST_USE;

void shards_free(struct shards *shards);

#endif
