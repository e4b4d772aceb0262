#include "config/config_resolve.h"

/* Period of INVERSE_ROOT in samples of each node (tests/decisions/036-falling-rate.md). */
#define ROOT_SAMPLES 200

enum optimizer_kind config_usual_optimizer(const struct config *config)
{
    return dataset_is_sequences(config->data.source) ? OPTIMIZER_MUON : OPTIMIZER_SGD;
}

void config_resolve_rate(struct config_train *train, enum optimizer_kind kind)
{
    const bool is_usual = train->rate == CONFIG_AUTO_REAL;
    CHECK(kind < OPTIMIZER_AUTO);
    if (train->schedule == SCHEDULE_AUTO)
        train->schedule = is_usual && optimizers[kind].rate_falling > 0 ? INVERSE_ROOT : CONSTANT;
    if (train->schedule == INVERSE_ROOT && train->period_samples == 0)
        train->period_samples = ROOT_SAMPLES;
    if (is_usual)
        train->rate = train->schedule == INVERSE_ROOT && optimizers[kind].rate_falling > 0
                          ? optimizers[kind].rate_falling
                          : optimizers[kind].rate;
}

/* Returns the default weight decay of the optimizer. Returns 0 if the training samples are all
 * samples that exist, because smaller weights then do not generalize better. */
static double usual_decay(const struct config *config)
{
    if (dataset_sources[config->data.source].is_whole)
        return 0;
    return optimizers[config->train.optimizer].weight_decay;
}

void config_resolve(struct config *config)
{
    struct config_train *train = &config->train;
    if (train->optimizer == OPTIMIZER_AUTO)
        train->optimizer = config_usual_optimizer(config);
    config_resolve_rate(train, train->optimizer);
    if (train->weight_decay == CONFIG_AUTO_REAL)
        train->weight_decay = usual_decay(config);
    if (train->clip == CONFIG_AUTO_REAL)
        train->clip = optimizers[train->optimizer].clip;
}
