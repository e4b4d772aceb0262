#include "daemon/training_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/time_units.h"
#include "daemon/json_fields.h"
#include "state/best_base.h"

#define PASSES 3 /* cost of a step in forward passes: the backward pass counts as two */
/* with evaluates_little: minimum time to the next evaluation, in durations of an evaluation */
#define EVALUATIONS_PART 100

/* Returns the shorter of the last two evaluations, or 0 before the second one: a busy or suspended
 * machine prolongs single evaluations, and a first one may load the test samples. */
static uint64_t evaluation_ns(const struct training_watch *watch)
{
    return u64_min(watch->took_ns[0], watch->took_ns[1]);
}

/* Sets the time of the next evaluation. from_ns: time at which the last one was due or ended. */
static void plan_evaluation(struct training_watch *watch, uint64_t from_ns)
{
    const struct training_watch_options *options = &watch->options;
    const uint64_t least_ns =
        options->evaluates_little ? EVALUATIONS_PART * evaluation_ns(watch) : 0;
    watch->evaluate_ns = options->evaluate_every_ns > 0
                             ? from_ns + u64_max(options->evaluate_every_ns, least_ns)
                             : UINT64_MAX;
}

void training_watch_init(struct training_watch *watch, const struct training_watch_options *options,
                         uint64_t now_ns)
{
    struct best_base best = {.digest = 0};
    struct problem problem;
    *watch = (struct training_watch){.options = *options, .loss = (double)NAN};
    guard_init(&watch->guard, options->classes);
    plan_evaluation(watch, now_ns);
    if (!options->keeps_best)
        return;
    const enum error error = best_base_read(disk_real(), options->folder, &best, &problem);
    if (error == OK)
        watch->kept = watch->guard.best = best.score;
    else if (error != MISSING)
        event_log_say(options->report, now_ns, NOTE_RESUMED, LEVEL_WARNING, problem.text);
}

void training_watch_begin(struct training_watch *watch, const struct config *config,
                          const struct setup *setup, struct event_log *report,
                          struct learner_link *link)
{
    const struct training_watch_options options = {
        .report = report,
        .link = link,
        .folder = config->node.state_dir,
        .classes = setup->about.is_regression ? 0 : (uint32_t)setup->about.classes,
        .steps_here = learner_can_step(setup->learner),
        .evaluate_every_ns = learner_tests(setup->learner, false) > 0
                                 ? (uint64_t)(config->train.evaluate_s * (double)SECOND_NS)
                                 : 0,
        .evaluates_little = config->train.evaluate_part.count == 0,
        .save_every_ns = (uint64_t)(config->node.save_s * (double)SECOND_NS),
        .keeps_best = config->node.best_base,
    };
    training_watch_init(watch, &options, monotonic_ns());
    const struct device_watch_options device = {
        .report = report,
        .sample_flops = options.steps_here ? PASSES * model_flops(setup->model) : 0,
        .peak_flops = setup_peak_flops(config),
    };
    device_watch_init(&watch->device, &device);
}

void training_watch_end(struct training_watch *watch)
{
    watch->options.link = NULL;
}

static void ask(const struct training_watch *watch, enum learner_request_kind kind)
{
    if (watch->options.link)
        learner_link_ask(watch->options.link, kind);
}

/* Characters that need no quotes in a shell. */
#define PLAIN_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:@%/"

/* Returns the option of `hearsay rewind` that names the state folder; "" for the default one. */
static const char *where(const char *folder, char text[static 128])
{
    const bool is_plain = folder[strspn(folder, PLAIN_CHARACTERS)] == '\0';
    /* a name that does not fit or has a quote is replaced by the word STATE_DIR */
    const bool fits = strlen(folder) <= 98 && !strchr(folder, '\'');
    if (strcmp(folder, "state") == 0)
        return "";
    (void)snprintf(text, 128, is_plain || !fits ? " --state %.98s" : " --state '%.98s'",
                   fits ? folder : "STATE_DIR");
    return text;
}

static void on_guard_event(struct training_watch *watch, uint64_t now_ns, enum guard_event event)
{
    char text[GUARD_TEXT_BYTES], folder[128];
    const struct training_watch_options *options = &watch->options;
    if (event == GUARD_NOTHING)
        return;
    const struct guard_saved saved = {where(options->folder, folder), watch->kept};
    guard_text(&watch->guard, event, now_ns, watch->kept.samples > 0 ? &saved : NULL,
               options->steps_here, text);
    event_log_say(options->report, now_ns, NOTE_TRAINING,
                  event == GUARD_RECOVERED ? LEVEL_INFO
                  : event == GUARD_DEAD    ? LEVEL_ERROR
                                           : LEVEL_WARNING,
                  text);
    if (event != GUARD_RECOVERED)
        (void)snprintf(watch->alarm, sizeof watch->alarm, "%s", text);
    else if (guard_state(&watch->guard)[0] == '\0')
        watch->alarm[0] = '\0';
    if (event == GUARD_SLOWED && options->steps_here)
        ask(watch, LEARNER_SLOW);
}

static void look(struct training_watch *watch)
{
    if (!watch->options.steps_here || watch->is_looking)
        return;
    watch->is_looking = true;
    ask(watch, LEARNER_LOOK);
}

static void look_at_loss(struct training_watch *watch, uint64_t now_ns,
                         const struct learner_event *event)
{
    if (event->broken_loss_step > 0 && !watch->loss_is_broken)
        event_log_broken_loss(watch->options.report, now_ns, event->broken_loss_step);
    if (event->broken_loss_step > 0 || event->loss_sum != 0)
        watch->loss_is_broken = event->broken_loss_step > 0;
}

void training_watch_on_step(struct training_watch *watch, uint64_t now_ns,
                            const struct learner_event *event)
{
    CHECK(event->kind == LEARNER_STEPPED);
    /* Labels that contradict the shared model make the loss rise, whatever the rate is. */
    const double watched_loss = watch->labels_contradict ? 0 : event->loss_sum;
    watch->stepped_ns = now_ns;
    look_at_loss(watch, now_ns, event);
    watch->loss_sum += event->loss_sum;
    watch->loss_samples += event->samples;
    time_spent_add(&watch->spent, &event->spent);
    device_watch_on_step(&watch->device, event);
    on_guard_event(
        watch, now_ns,
        guard_on_steps(&watch->guard, now_ns, event->steps, event->samples, watched_loss));
    if (guard_wants_vitals(&watch->guard))
        look(watch);
}

/* Says once, in a note, that evaluations take too long to be made as often as configured. */
static void say_rare(struct training_watch *watch, uint64_t now_ns)
{
    const struct training_watch_options *options = &watch->options;
    const uint64_t apart_ns = EVALUATIONS_PART * evaluation_ns(watch);
    char text[GUARD_TEXT_BYTES];
    if (watch->has_said_rare || !options->evaluates_little ||
        apart_ns <= options->evaluate_every_ns)
        return;
    watch->has_said_rare = true;
    (void)snprintf(
        text, sizeof text,
        "an evaluation takes %.1f s, so the next one is due in %.0f s: evaluations may take "
        "a hundredth of the time; for one every %.0f s, set train.evaluate_part",
        (double)evaluation_ns(watch) * 1e-9, (double)apart_ns * 1e-9,
        (double)options->evaluate_every_ns * 1e-9);
    event_log_say(options->report, now_ns, NOTE_TRAINING, LEVEL_INFO, text);
}

void training_watch_on_evaluation(struct training_watch *watch, uint64_t now_ns,
                                  const struct learner_event *event)
{
    CHECK(event->kind == LEARNER_EVALUATED);
    watch->evaluated_ns = now_ns;
    watch->took_ns[1] = watch->took_ns[0];
    watch->took_ns[0] = event->took_ns;
    plan_evaluation(watch, u64_max(now_ns, watch->due_ns));
    say_rare(watch, now_ns);
    watch->averaged = event->averaged;
    on_guard_event(watch, now_ns, guard_on_evaluation(&watch->guard, now_ns, &event->evaluation));
    if (watch->stepped_ns > 0)
        look(watch);
}

static uint64_t least_known(uint64_t one_ns, uint64_t other_ns)
{
    return one_ns == 0 || other_ns == 0 ? u64_max(one_ns, other_ns) : u64_min(one_ns, other_ns);
}

uint64_t training_watch_sample_ns(const struct training_watch *watch, uint64_t tests,
                                  uint64_t samples)
{
    CHECK(tests > 0);
    return least_known(least_known(watch->took_ns[0], watch->took_ns[1]) / tests,
                       samples > 0 ? watch->spent.steps_ns / samples : 0);
}

void training_watch_on_vitals(struct training_watch *watch, uint64_t now_ns,
                              const struct learner_event *event)
{
    CHECK(event->kind == LEARNER_LOOKED && watch->is_looking);
    watch->is_looking = false;
    on_guard_event(watch, now_ns, guard_on_vitals(&watch->guard, &event->vitals));
}

static bool keeps_best(const struct training_watch *watch)
{
    return watch->options.evaluate_every_ns > 0 && watch->options.keeps_best;
}

static void evaluate_by(struct training_watch *watch, uint64_t by_ns)
{
    if (watch->evaluate_ns > by_ns)
        return;
    watch->due_ns = watch->evaluate_ns;
    watch->evaluate_ns = UINT64_MAX;
    ask(watch, LEARNER_EVALUATE);
}

void training_watch_on_time(struct training_watch *watch, uint64_t now_ns, bool has_base)
{
    const bool waits = !has_base && watch->evaluate_ns <= now_ns;
    if (waits && !watch->waits_for_base)
        event_log_say(watch->options.report, now_ns, NOTE_TRAINING, LEVEL_INFO,
                      "the evaluation waits until this node has the swarm's base");
    watch->waits_for_base = waits;
    if (!waits)
        evaluate_by(watch, now_ns);
}

void training_watch_before_save(struct training_watch *watch, uint64_t now_ns)
{
    watch->saving_ns = now_ns;
    if (keeps_best(watch))
        evaluate_by(watch, now_ns + watch->options.save_every_ns);
}

const struct evaluation *training_watch_best(const struct training_watch *watch)
{
    const struct evaluation *last = &watch->guard.last;
    const bool is_of_save = watch->evaluated_ns > 0 && watch->evaluated_ns >= watch->saving_ns;
    return keeps_best(watch) && is_of_save && guard_is_better(last, &watch->kept) ? last : NULL;
}

bool training_watch_is_best(const struct training_watch *watch, const struct evaluation *score)
{
    return keeps_best(watch) && guard_is_better(score, &watch->kept);
}

void training_watch_on_kept(struct training_watch *watch, const struct evaluation *score)
{
    watch->kept = *score;
}

bool training_watch_final_warning(const struct training_watch *watch,
                                  const struct evaluation *saved, const struct evaluation *averaged,
                                  bool is_kept, char text[static GUARD_TEXT_BYTES])
{
    char now[32], before[32], better[32], folder[128], labels[GUARD_REMEDY_BYTES];
    const struct guard *guard = &watch->guard;
    const bool is_below_best = guard_is_below(guard, &guard->best, saved);
    const bool returns = !is_kept && guard_is_below(guard, &watch->kept, saved);
    if (!is_below_best && !guard_is_below(guard, &guard->last, saved))
        return false;
    guard_score_text(saved, now);
    guard_score_text(is_below_best ? &guard->best : &guard->last, before);
    const int used = snprintf(text, GUARD_TEXT_BYTES,
                              "the saved base has %s on the test set, and the %s evaluation had %s",
                              now, is_below_best ? "best" : "last", before);
    char *remedy = text + used;
    const size_t left = GUARD_TEXT_BYTES - (size_t)used;
    const bool is_averaged = guard_is_better(averaged, returns ? &watch->kept : saved);
    guard_score_text(is_averaged ? averaged : &watch->kept, better);
    guard_remedy(guard, "", labels);
    if (labels[0])
        (void)snprintf(remedy, left, "; %s", labels);
    else if (is_averaged)
        (void)snprintf(remedy, left, "; use the averaged base (%s): base-averaged.safetensors",
                       better);
    else if (returns)
        (void)snprintf(remedy, left,
                       "; to return to the best base (%s, base-best.safetensors): "
                       "hearsay rewind%.111s --to best",
                       better, where(watch->options.folder, folder));
    else
        (void)snprintf(remedy, left, "; an older base may be better: hearsay rewind%.111s",
                       where(watch->options.folder, folder));
    return true;
}

double training_watch_on_second(struct training_watch *watch)
{
    if (watch->loss_samples > 0)
        watch->loss = watch->loss_sum / (double)watch->loss_samples;
    watch->loss_sum = 0;
    watch->loss_samples = 0;
    return watch->loss;
}

/* NULL if the evaluation has no samples. */
static json_t *evaluation_json(const struct evaluation *evaluation, double age_s)
{
    if (evaluation->samples == 0)
        return NULL;
    json_t *object = json_object();
    json_put(object, "loss", json_real(evaluation->loss));
    json_put(object, "accuracy", json_real(evaluation_accuracy(evaluation)));
    json_put(object, "samples", json_integer((json_int_t)evaluation->samples));
    json_put(object, "age_s", json_real(age_s));
    return object;
}

static json_t *best_json(const struct training_watch *watch, uint64_t now_ns)
{
    const struct evaluation *best = &watch->guard.best;
    json_t *object = json_object();
    if (best->samples == 0) {
        json_decref(object);
        return NULL;
    }
    json_put(object, "loss", json_real(best->loss));
    json_put(object, "accuracy", json_real(evaluation_accuracy(best)));
    json_put(object, "age_s",
             watch->guard.best_ns ? json_real(json_seconds_since(now_ns, watch->guard.best_ns))
                                  : NULL);
    json_put(object, "kept_accuracy",
             watch->kept.samples > 0 ? json_real(evaluation_accuracy(&watch->kept)) : NULL);
    return object;
}

/* Unknown values are null. */
static json_t *training_json(const struct training_watch *watch, uint64_t now_ns)
{
    const struct guard *guard = &watch->guard;
    const struct vitals *vitals = &guard->vitals;
    const char *state = guard_state(guard);
    json_t *object = json_object();
    json_put(object, "state", json_string(state[0] ? state : "well"));
    json_put(object, "is_well", json_boolean(!state[0]));
    json_put(object, "alarm", watch->alarm[0] ? json_string(watch->alarm) : NULL);
    json_put(object, "rate_factor",
             watch->options.steps_here ? json_real(guard_rate_factor(guard)) : NULL);
    json_put(object, "loss_average", json_real(guard->loss));
    json_put(object, "loss_least", json_real(guard->least));
    json_put(object, "best", best_json(watch, now_ns));
    json_put(object, "best_accuracy",
             guard->best.samples ? json_real(evaluation_accuracy(&guard->best)) : NULL);
    json_put(object, "weight_norm", json_real(vitals->weight_norm));
    json_put(object, "gradient_norm",
             isnan(vitals->weight_norm) ? NULL : json_real(vitals->gradient_norm));
    json_put(object, "idle_units",
             isnan(vitals->weight_norm) || vitals->units == 0
                 ? NULL
                 : json_real((double)vitals->idle / vitals->units));
    return object;
}

/* A cumulative histogram, as Prometheus expects: each bucket counts all steps up to its bound. */
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
    const double age_s = json_seconds_since(now_ns, watch->evaluated_ns);
    json_t *spent = json_object();
    json_put(spent, "steps_s", json_real((double)watch->spent.steps_ns * 1e-9));
    json_put(spent, "exchange_s", json_real((double)watch->spent.exchange_ns * 1e-9));
    json_put(page, "loss", json_real(watch->loss));
    json_put(page, "last_step_age_s",
             watch->stepped_ns ? json_real(json_seconds_since(now_ns, watch->stepped_ns)) : NULL);
    json_put(page, "evaluation", evaluation_json(&watch->guard.last, age_s));
    json_put(page, "averaged", evaluation_json(&watch->averaged, age_s));
    json_put(page, "training", training_json(watch, now_ns));
    json_put(page, "spent", spent);
    json_put(page, "step_seconds", steps_json(&watch->spent));
    json_put(page, "device", device_watch_json(&watch->device));
}
