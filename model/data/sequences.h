/* Loads sequences for a dataset: the tokens of several files, one file after the other.
 *
 *   files ─► token_file.h ─► one run of tokens ─┬─ the first nine tenths ─ shard k of n ─► training
 *                                               └─ the last tenth ─────────────────────► test
 *   with files for the test (options.valid), all of the others are for training
 *
 * A sample is a window of options.context tokens, and the token after each is its label. Training
 * windows begin anywhere below `context` (batch.h), and so are one fewer than fit. Only the kept
 * tokens are in memory. Held by tests/unit/model/test_sequences.c.
 */
#ifndef HEARSAY_MODEL_DATA_SEQUENCES_H
#define HEARSAY_MODEL_DATA_SEQUENCES_H

#include <stdbool.h>

#include "data/dataset.h"

/* Implements dataset_load_train and dataset_load_test; options.shard < options.shards. MISSING: a
 * file is missing. MISMATCH: there are too few tokens. TOO_BIG: too many tokens, or one is too
 * large. The dataset is written only on OK. */
enum error sequences_load(struct dataset *dataset, const struct dataset_options *options,
                          bool train, struct problem *problem) MUST_USE;

/* Returns the number of training windows of `tokens` tokens; 0 if there are too few tokens. */
uint32_t sequences_windows(size_t tokens, int context);

#endif
