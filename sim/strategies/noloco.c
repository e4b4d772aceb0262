/* NoLoCo (Kolehmainen et al. 2025, arXiv 2506.10911): nobody waits for all. Each of a random pair
 * sends its weights and its progress; its momentum also pulls it towards the pair's mean:
 *
 *   m_i = μ·m_i + rate·p̄ + γ·(x̄ − x_i);  x_i += m_i
 *
 * with γ = rate, as in the published code, which has a rate of 0.7, a momentum of 0.5 and 50 steps
 * in a round. The weights could be sent while nodes compute, and are not here. */
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
