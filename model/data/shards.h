/* One training set, cut into shards for the nodes of a swarm in one process.
 *
 *   whole ─ shards_cut ─► owner of each sample ─ shards_take(i) ─► the dataset of node i
 *
 * The shards are disjoint and cover everything. Each node's part is in proportion to its weight:
 *
 *   alpha = 0   iid: a permutation by seed, cut in slices, each within one sample of its part. With
 *               equal weights they are the slices of dataset_load_train, sample for sample.
 *   alpha > 0   label skew: for each class, the nodes' parts of it are drawn from a Dirichlet
 *               distribution with mean weight and concentration alpha times the number of nodes, so
 *               Dirichlet(alpha) where the weights are equal (Hsu, Qi, Brown 2019, in the form of
 *               Yurochkin et al. 2019, drawn per class). Small alpha: few classes per node, and
 *               sizes that vary; large alpha: iid. Gamma variates by Marsaglia, Tsang 2000.
 *
 * The result depends only on the seed, as far as the C library's log and exp agree to the last bit.
 *
 * Sequences are cut into one stretch of tokens for each node, from the first node to the last, and
 * have no label skew. A stretch that is too short for a window is refused.
 *
 * A node of weight 0 gets nothing. Any other that would get nothing is given the last sample of
 * the largest shard (of the first such); not of sequences. Held by tests/unit/model/test_shards.c.
 *
 * Of DATASET_XOR, which has four samples, every node holds all (is_whole).
 */
#ifndef HEARSAY_MODEL_DATA_SHARDS_H
#define HEARSAY_MODEL_DATA_SHARDS_H

#include <stdint.h>

#include "base/error.h"
#include "data/dataset.h"

struct shards_options {
    uint32_t nodes;
    const double *weights; /* [nodes] weights, finite, not negative, not all 0 */
    double alpha;          /* Dirichlet concentration; 0 = equal mixtures */
    uint64_t seed;         /* equal to dataset_options.seed for the same slices */
    bool is_whole;         /* every node with a weight has all samples; not for sequences */
};

struct shards {
    uint32_t *owner; /* images: [count] node that has the sample; NULL = every node with a size */
    size_t *ends;    /* sequences: [nodes] end of each node's stretch, in tokens */
    uint32_t *sizes; /* [nodes] number of samples */
    uint32_t count;
    uint32_t nodes;
};

/* Cuts the shards. MISMATCH: there are fewer samples than nodes that need some, or sequences with
 * skew. FAILED: no memory. */
enum error shards_cut(struct shards *shards, const struct dataset *whole,
                      const struct shards_options *options, struct problem *problem) MUST_USE;

/* Copies the samples of one node (sizes[node] > 0), in the original order, with shape, classes,
 * mean and scale of the whole; dataset_free frees them. FAILED: no memory. */
enum error shards_take(const struct shards *shards, const struct dataset *whole, uint32_t node,
                       struct dataset *dataset, struct problem *problem) MUST_USE;

void shards_free(struct shards *shards);

#endif
