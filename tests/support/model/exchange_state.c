#include "support/model/exchange_state.h"

float weights[P], w_before[P];
int32_t base[P], base_before[P];
uint32_t bins[HISTOGRAM_BINS];
uint32_t candidates[P];
uint32_t index_[P];
int8_t level[P];

double normal(struct rng *rng)
{
    const double u = 1 - rng_uniform(rng), v = rng_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

uint32_t survey(float floor)
{
    const struct survey survey = {.floor = floor, .candidates = candidates, .candidates_max = P};
    return backend->exchange->survey(backend, &survey, P, weights_flat(weights), base, bins);
}

void cut_all(uint32_t capacity, struct update *cut)
{
    for (uint32_t c = 0; c < P; c++)
        candidates[c] = c;
    const struct cut_terms terms = {.statistics_share = 1, .capacity = capacity};
    backend->exchange->cut(backend, P, candidates, &terms, weights_flat(weights), base, cut);
}
