/* Loads sequences for a dataset: the tokens of several files, one file after the other.
 *
 *   files ─► token_file.h ─► one run of tokens ─┬─ the first nine tenths ─ shard k of n ─► training
 *                                               └─ the last tenth ─────────────────────► test
 *   if options.valid names test files, all of options.files is for training
 *
 * A sample is a window of options.context tokens. The label of each token is the token after it.
 * The first training window of an epoch begins at a random token below `context` (batch.h), so
 * there is one window fewer than fits. Only the tokens of the shard are held in memory. Tests:
 * tests/unit/model/test_sequences.c.
 */
#ifndef HEARSAY_MODEL_DATA_SEQUENCES_H
#define HEARSAY_MODEL_DATA_SEQUENCES_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of training windows of `context` tokens that a run of `tokens` tokens has; 0
 * if there are too few tokens. */
uint32_t sequences_windows(size_t tokens, int context);

#endif
