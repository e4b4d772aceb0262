/* GASLoC (Cagnasso, Belilovsky, Oyallon 2026, arXiv 2606.11081): DiLoCo's outer momentum as that of
 * accelerated gossip. Nodes average what their outer steps propose with their neighbours alone,
 * here one at random (θ_i is x_i, t the round):
 *
 *   y_i(t) = x_i(t) + rate·p_i
 *   x_i(t+1) = ȳ(t) + μ·(y_i(t) − y_i(t−1))              ȳ: mean over the pair; y_i(−1) = x_i(0)
 *
 * which is the paper's rule where a gossip step goes all the way (α = 1). If the pair is all, the
 * mean moves by DiLoCo's step. The rate is DiLoCo's and the momentum NoLoCo's, as a choice of this
 * simulator: from about 0.8 on the differences of more than four nodes grow by themselves. */
#include "strategies/pairs.h"
#include "strategies/strategy.h"

/* kept is x_i(t) − y_i(t−1). */
void gasloc_move(const struct pairs_move *move)
{
    const float rate = move->rate, mu = move->mu;
    for (size_t c = 0; c < move->parameters; c++) {
        const float step = rate * move->progress[c], proposed = move->weights[c] + step;
        const float agreed = move->mean_weights[c] + rate * move->mean_progress[c];
        move->weights[c] = agreed + mu * (step + move->kept[c]);
        move->kept[c] = move->weights[c] - proposed;
    }
}

const float *gasloc_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct pairs_settings METHOD = {
        .outer_rate = 0.7, .outer_momentum = 0.5, .vectors = 1, .move = gasloc_move};
    return pairs_play(&METHOD, experiment, outcome);
}
