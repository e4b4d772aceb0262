/* Max N of Hong and Chandra (DLion, HPDC 2021): keeps the entries of each tensor that are within N
 * % of the tensor's largest.
 *
 *   entry c of tensor T is kept where |g_c| >= (1 − N/100) · max |g| over T
 *
 * N is 0.85 to 100 %, in steps of 0.01 %; at 100 % all are kept. An entry is 8 bytes, index and
 * value; or all values are sent, 4 bytes each, if that is less. Tests: tests/unit/sim/test_dlion.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_MAX_N_H
#define HEARSAY_SIM_STRATEGIES_MAX_N_H

#include "layers/model.h"
#include "network/messages.h"

#define MAX_N_LEAST 85u    /* 0.85 %, in hundredths of a percent */
#define MAX_N_ALL   10000u /* 100 %: all entries */

struct max_n;

/* model: defines the tensors of the vectors to rank; NULL = one tensor with all entries. */
struct max_n *max_n_new(const struct model *model, size_t parameters);
void max_n_free(struct max_n *max_n);

/* Finds for each entry of values[P] the least n at which it is kept, for the functions below. */
void max_n_rank(struct max_n *max_n, const float *values);

/* max_n_bytes returns the size of the message at n, in hundredths of a percent. max_n_fit returns
 * the largest n at which the message has at most `bytes` bytes, or MAX_N_LEAST if there is none. */
uint64_t max_n_bytes(const struct max_n *max_n, uint32_t n);
uint32_t max_n_fit(const struct max_n *max_n, double bytes);

/* Returns the entries of values[P] that are kept at n, with one reference. values: the values that
 * were ranked. */
struct content *max_n_content(const struct max_n *max_n, const float *values, uint32_t n);

#endif
