#include "config/config_resolve.h"

/* Weight decay of SGD, an L2 penalty in the gradient before the momentum. */
#define DECAY_SGD 0.0005
/* Weight decay of the other optimizers, decoupled: a step subtracts rate · decay · weight. */
#define DECAY_OTHER 0.1
#define CLIP_SGD    5
#define CLIP_OTHER  1
#define RATE_SGD    0.02
#define RATE_ADAM   0.001
#define RATE_MUON   0.004
/* Rate of Muon at the start of INVERSE_ROOT, and that schedule's period (036-falling-rate). */
#define RATE_MUON_FALLING 0.03
#define ROOT_SAMPLES      200

enum optimizer_kind config_usual_optimizer(const struct config *config)
{
    return dataset_is_sequences(config->data.source) ? OPTIMIZER_MUON : OPTIMIZER_SGD;
}

void config_resolve_rate(struct config_train *train, enum optimizer_kind kind)
{
    const bool is_usual = train->rate == CONFIG_AUTO_REAL;
    CHECK(kind < OPTIMIZER_AUTO);
    if (train->schedule == SCHEDULE_AUTO)
        train->schedule = is_usual && kind == OPTIMIZER_MUON ? INVERSE_ROOT : CONSTANT;
    if (train->schedule == INVERSE_ROOT && train->period_samples == 0)
        train->period_samples = ROOT_SAMPLES;
    if (is_usual)
        train->rate = kind == OPTIMIZER_SGD             ? RATE_SGD
                      : kind != OPTIMIZER_MUON          ? RATE_ADAM
                      : train->schedule == INVERSE_ROOT ? RATE_MUON_FALLING
                                                        : RATE_MUON;
}

/* Returns 0 if the training samples are all that exist, so that smaller weights do not generalize
 * better. */
static double usual_decay(const struct config *config)
{
    if (dataset_sources[config->data.source].is_whole)
        return 0;
    return config->train.optimizer == OPTIMIZER_SGD ? DECAY_SGD : DECAY_OTHER;
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
        train->clip = train->optimizer == OPTIMIZER_SGD ? CLIP_SGD : CLIP_OTHER;
}
