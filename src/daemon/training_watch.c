#include "daemon/training_watch.h"

#include <math.h>

#include "daemon/json_fields.h"

#define WORTH 0.2 /* an accuracy below that may double and halve */

void training_watch_init(struct training_watch *watch)
{
    *watch = (struct training_watch){.loss = NAN};
}

void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event)
{
    CHECK(event->kind == LEARNER_STEPPED);
    watch->stepped_ns = now_ns;
    watch->loss_sum += event->loss_sum;
    watch->loss_samples += event->samples;
    time_spent_add(&watch->spent, &event->spent);
}

bool training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct evaluation *evaluation)
{
    const double accuracy = evaluation_accuracy(evaluation);
    const bool was_falling = watch->is_falling;
    watch->evaluation = *evaluation;
    watch->evaluated_ns = now_ns;
    watch->best = fmax(watch->best, accuracy); /* which may not be known */
    watch->is_falling = watch->best >= WORTH && accuracy < watch->best / 2;
    return watch->is_falling && !was_falling;
}

double training_watch_on_second(struct training_watch *watch)
{
    if (watch->loss_samples > 0)
        watch->loss = watch->loss_sum / (double)watch->loss_samples;
    watch->loss_sum = 0;
    watch->loss_samples = 0;
    return watch->loss;
}

static json_t *evaluation_json(const struct training_watch *watch, uint64_t now_ns)
{
    const struct evaluation *evaluation = &watch->evaluation;
    json_t *object = json_object();
    if (evaluation->samples == 0) {
        json_decref(object);
        return NULL;
    }
    json_put(object, "loss", json_real(evaluation->loss));
    json_put(object, "accuracy", json_real(evaluation_accuracy(evaluation)));
    json_put(object, "samples", json_integer((json_int_t)evaluation->samples));
    json_put(object, "age_s", json_real(json_seconds_since(now_ns, watch->evaluated_ns)));
    return object;
}

/* Prometheus counts all steps up to a bound, which is what is given here, too. */
static json_t *steps_json(const struct time_spent *spent)
{
    json_t *list = json_array();
    uint64_t steps = 0;
    for (int bin = 0; bin < TIME_SPENT_BINS; bin++) {
        json_t *pair = json_object();
        steps += spent->steps[bin];
        json_put(pair, "up_to_s", json_real(TIME_SPENT_BOUNDS_S[bin]));
        json_put(pair, "steps", json_integer((json_int_t)steps));
        json_add(list, pair);
    }
    return list;
}

void training_watch_put(const struct training_watch *watch, json_t *page, uint64_t now_ns)
{
    json_t *spent = json_object();
    json_put(spent, "steps_s", json_real((double)watch->spent.steps_ns * 1e-9));
    json_put(spent, "exchange_s", json_real((double)watch->spent.exchange_ns * 1e-9));
    json_put(page, "loss", json_real(watch->loss));
    json_put(page, "last_step_age_s",
             watch->stepped_ns ? json_real(json_seconds_since(now_ns, watch->stepped_ns)) : NULL);
    json_put(page, "evaluation", evaluation_json(watch, now_ns));
    json_put(page, "spent", spent);
    json_put(page, "step_seconds", steps_json(&watch->spent));
}
