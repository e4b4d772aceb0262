#include "training/step_time.h"

#include "training/learner_private.h"

bool step_time_is_needed(const struct learner *learner)
{
    return learner->backend->watch->is_needed;
}

bool step_time_take(struct learner *learner, struct step_time *time)
{
    struct watch_time taken;
    if (!learner->backend->watch->take(learner->backend, &taken))
        return false;
    *time = (struct step_time){.samples = taken.tag, .ns = taken.ns};
    return true;
}
