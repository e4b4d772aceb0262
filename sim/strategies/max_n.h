/* Max N of Hong and Chandra (DLion, HPDC 2021): of each tensor the entries within N % of its
 * largest.
 *
 *   entry c of tensor T is kept where |g_c| >= (1 − N/100) · max |g| over T
 *
 * N is 0.85 to 100, in hundredths; at 100 all are kept. An entry is 8 bytes, index and value; or
 * all values are sent, 4 bytes each, if that is less. Tests: tests/unit/sim/test_dlion.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_MAX_N_H
#define HEARSAY_SIM_STRATEGIES_MAX_N_H

#include "layers/model.h"
#include "network/messages.h"

#define MAX_N_LEAST 85u    /* smallest N, in hundredths */
#define MAX_N_ALL   10000u /* N = 100 */

struct max_n;

/* Allocates the ranking of one vector at a time. model: its tensors; NULL = one tensor of all
 * entries. */
struct max_n *max_n_new(const struct model *model, size_t parameters);
void max_n_free(struct max_n *max_n);

/* Ranks values[P]: finds for each the least n that keeps it, for the functions below. */
void max_n_rank(struct max_n *max_n, const float *values);

/* max_n_bytes returns the bytes of the entries kept at n, in hundredths; the next function the
 * largest n whose bytes do not exceed `bytes`, or MAX_N_LEAST. */
uint64_t max_n_bytes(const struct max_n *max_n, uint32_t n);
uint32_t max_n_fit(const struct max_n *max_n, double bytes);

/* Returns the entries of values[P] kept at n, with one reference. */
struct content *max_n_content(const struct max_n *max_n, const float *values, uint32_t n);

#endif
