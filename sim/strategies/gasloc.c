/* GASLoC (Cagnasso, Belilovsky, Oyallon 2026, arXiv 2606.11081): DiLoCo's outer momentum becomes
 * the momentum of accelerated gossip. Nodes average the proposals of their outer steps only with
 * their neighbours, here one random node (x_i is the paper's θ_i, t the round):
 *
 *   y_i(t) = x_i(t) + rate·p_i
 *   x_i(t+1) = ȳ(t) + μ·(y_i(t) − y_i(t−1))              ȳ: mean over the pair; y_i(−1) = x_i(0)
 *
 * This is the paper's rule with a full gossip step (α = 1). If the pair is the whole swarm, the
 * mean moves by DiLoCo's step. Rate and momentum here are DiLoCo's and NoLoCo's. With a momentum of
 * about 0.8 or more, the differences between more than four nodes grow by themselves. */
#include "strategies/pairs.h"
#include "strategies/strategy.h"

/* move->kept holds the node's weights x_i(t) minus its previous proposal y_i(t−1). */
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
