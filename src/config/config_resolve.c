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

enum optimizer_kind config_usual_optimizer(const struct config *config)
{
    return dataset_is_sequences(config->data.source) ? OPTIMIZER_MUON : OPTIMIZER_SGD;
}

double config_usual_rate(enum optimizer_kind kind)
{
    CHECK(kind < OPTIMIZER_AUTO);
    return kind == OPTIMIZER_SGD ? RATE_SGD : kind == OPTIMIZER_MUON ? RATE_MUON : RATE_ADAM;
}

/* Returns the automatic weight decay. It is 0 for XOR: its four training samples are all that
 * exist, so smaller weights do not generalize better. */
static double usual_decay(const struct config *config)
{
    if (config->data.source == DATASET_XOR)
        return 0;
    return config->train.optimizer == OPTIMIZER_SGD ? DECAY_SGD : DECAY_OTHER;
}

void config_resolve(struct config *config)
{
    struct config_train *train = &config->train;
    if (train->optimizer == OPTIMIZER_AUTO)
        train->optimizer = config_usual_optimizer(config);
    if (train->rate == CONFIG_AUTO_REAL)
        train->rate = config_usual_rate(train->optimizer);
    if (train->weight_decay == CONFIG_AUTO_REAL)
        train->weight_decay = usual_decay(config);
    if (train->clip == CONFIG_AUTO_REAL)
        train->clip = train->optimizer == OPTIMIZER_SGD ? CLIP_SGD : CLIP_OTHER;
}
