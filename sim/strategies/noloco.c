/* NoLoCo (Kolehmainen et al. 2025, arXiv 2506.10911): no node waits for all. The nodes of a random
 * pair exchange weights and progress; their momentum also pulls them towards the pair's mean:
 *
 *   m_i = μ·m_i + rate·p̄ + γ·(x̄ − x_i);  x_i += m_i
 *
 * As in the published code, γ = rate = 0.7 and μ = 0.5. That code has 50 steps in a round. Weights
 * are not sent during computation, although they could be. */
#include "strategies/pairs.h"
#include "strategies/strategy.h"

void noloco_move(const struct pairs_move *move)
{
    const float rate = move->rate, mu = move->mu;
    for (size_t c = 0; c < move->parameters; c++) {
        const float pull = move->mean_weights[c] - move->weights[c];
        move->kept[c] = mu * move->kept[c] + rate * (move->mean_progress[c] + pull);
        move->weights[c] += move->kept[c];
    }
}

const float *noloco_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct pairs_settings METHOD = {
        .outer_rate = 0.7, .outer_momentum = 0.5, .vectors = 2, .move = noloco_move};
    return pairs_play(&METHOD, experiment, outcome);
}
