#include "training/guard.h"

#include <math.h>
#include <stdio.h>

#include "base/amount.h"
#include "base/error.h"

#define RECOVERED     1.5 /* RISING ends below this multiple of the minimum + GUARD_RISES_BY */
#define GUESSED_PART  0.8 /* vitals are checked above this fraction of the loss of guessing */
#define GUESSED_STEPS 25  /* consecutive steps above GUESSED_PART before vitals are checked */
#define OUTLIER       10 /* a loss above OUTLIER · (|average| + 1), or NaN, counts as this bound */
#define WORSE_STEPS   50 /* WORSE begins after this many steps below the best evaluation */
/* part of samples that a model gets right and an equally good one wrong */
#define CHANGES_SIDES 0.05
#define DEVIATIONS    3   /* a score may fall by this many standard deviations of chance */
#define USUAL_FALLS   3   /* a score may fall by this multiple of usual_fall */
#define FALLS_KEPT    0.1 /* weight of a new fall's square in the moving average */

void guard_init(struct guard *guard, uint32_t classes)
{
    *guard = (struct guard){.guessing = classes > 1 ? log(classes) : (double)NAN,
                            .loss = (double)NAN,
                            .least = (double)NAN,
                            .vitals = {.weight_norm = (double)NAN}};
}

/* Returns the minimum loss times `times`, plus GUARD_RISES_BY. If the minimum is negative, as a
 * script's own loss may be, the bound is equally far above it. */
static double bound(const struct guard *guard, double times)
{
    return guard->least + (times - 1) * fabs(guard->least) + GUARD_RISES_BY;
}

static void average(struct guard *guard, uint64_t now_ns, uint32_t steps, double loss)
{
    guard->steps += steps; /* during the first GUARD_STEPS steps, the average is a plain mean */
    const double kept =
        fmin(exp(-(double)steps / GUARD_STEPS), 1 - (double)steps / (double)guard->steps);
    const double most = OUTLIER * (isnan(guard->loss) ? 1 : fabs(guard->loss) + 1);
    /* A NaN also counts as `most`, because NaN < most is false. */
    const double taken = loss < most ? loss : most;
    guard->loss = isnan(guard->loss) ? taken : kept * guard->loss + (1 - kept) * taken;
    if (guard->steps < GUARD_STEPS || guard->loss >= guard->least)
        return;
    guard->least = guard->loss;
    guard->least_ns = now_ns;
}

static void count(struct guard_row *row, uint64_t now_ns, bool holds, uint32_t steps)
{
    if (row->steps == 0)
        row->since_ns = now_ns;
    row->steps = holds ? row->steps + steps : 0;
}

static bool is_long(const struct guard_row *row, uint64_t now_ns, uint64_t steps)
{
    return row->steps >= steps && now_ns - row->since_ns >= GUARD_SPAN_NS;
}

static bool must_slow(const struct guard *guard, uint64_t now_ns)
{
    return !guard->is_dead && guard->halvings < GUARD_HALVINGS &&
           is_long(&guard->far, now_ns, guard->halvings ? GUARD_AGAIN_STEPS : GUARD_FAR_STEPS);
}

static bool has_recovered(struct guard *guard)
{
    const bool was_well = !guard->is_dead && !guard->is_rising;
    guard->is_dead = guard->is_dead && guard->loss >= GUESSED_PART * guard->guessing;
    guard->is_rising = guard->is_rising && guard->loss > bound(guard, RECOVERED);
    return !was_well && !guard->is_dead && !guard->is_rising;
}

enum guard_event guard_on_steps(struct guard *guard, uint64_t now_ns, uint32_t steps,
                                uint64_t samples, double loss_sum)
{
    if (steps == 0 || samples == 0 || loss_sum == 0) /* a script that reports no loss passes 0 */
        return GUARD_NOTHING;
    average(guard, now_ns, steps, loss_sum / (double)samples);
    count(&guard->guessed, now_ns, guard->loss >= GUESSED_PART * guard->guessing, steps);
    count(&guard->risen, now_ns, guard->loss > bound(guard, GUARD_RISES), steps);
    count(&guard->far, now_ns, guard->loss > bound(guard, GUARD_SLOWS), steps);
    if (must_slow(guard, now_ns)) {
        guard->halvings++;
        /* The lower learning rate gets time to work. */
        guard->far.steps = 0;
        guard->is_rising = true;
        return GUARD_SLOWED;
    }
    if (!guard->is_rising && !guard->is_dead && is_long(&guard->risen, now_ns, GUARD_RISEN_STEPS)) {
        guard->is_rising = true;
        return GUARD_RISING;
    }
    return has_recovered(guard) ? GUARD_RECOVERED : GUARD_NOTHING;
}

bool guard_wants_vitals(const struct guard *guard)
{
    return !guard->is_dead && guard->guessed.steps >= GUESSED_STEPS;
}

enum guard_event guard_on_vitals(struct guard *guard, const struct vitals *vitals)
{
    const bool was_suspect = guard_wants_vitals(guard);
    guard->vitals = *vitals;
    guard->guessed.steps = 0;
    if (!was_suspect || vitals->input_norm != 0)
        return GUARD_NOTHING;
    guard->is_dead = true;
    return GUARD_DEAD;
}

static bool is_by_accuracy(const struct evaluation *evaluation)
{
    return !evaluation->is_regression && !evaluation->is_sequence;
}

bool guard_is_better(const struct evaluation *evaluation, const struct evaluation *than)
{
    if (evaluation->samples == 0 || isnan(evaluation->loss))
        return false;
    if (than->samples == 0)
        return true;
    return is_by_accuracy(evaluation) ? evaluation_accuracy(evaluation) > evaluation_accuracy(than)
                                      : evaluation->loss < than->loss;
}

/* Returns how much worse `to` is than `from`: the difference in accuracy, or the relative rise of
 * the loss. */
static double fall(const struct evaluation *from, const struct evaluation *to)
{
    const double by = is_by_accuracy(to) ? evaluation_accuracy(from) - evaluation_accuracy(to)
                                         : to->loss / from->loss - 1;
    return isnan(by) ? INFINITY : by;
}

/* Returns the fall up to which an evaluation is never worse. For an accuracy on few samples, chance
 * may explain a larger fall. */
static double least_fall(const struct evaluation *evaluation)
{
    const double chance = DEVIATIONS * sqrt(2 * CHANGES_SIDES / evaluation->samples);
    return is_by_accuracy(evaluation) ? fmax(GUARD_WORSE_ACCURACY, chance) : GUARD_WORSE_LOSS;
}

/* Returns true if `evaluation` is worse than `from` by more than chance and the usual fall explain.
 * The usual fall is large while training begins. */
static bool is_below(const struct guard *guard, const struct evaluation *from,
                     const struct evaluation *evaluation)
{
    return fall(from, evaluation) > fmax(least_fall(evaluation), USUAL_FALLS * guard->usual_fall);
}

/* A large fall also increases usual_fall. So if the last evaluation was below the best one, every
 * fall that is larger than chance explains counts as below. */
bool guard_is_below(const struct guard *guard, const struct evaluation *from,
                    const struct evaluation *evaluation)
{
    const bool is_still_below = guard->is_below && fall(from, evaluation) > least_fall(evaluation);
    return from->samples > 0 && from->samples == evaluation->samples &&
           (is_still_below || is_below(guard, from, evaluation));
}

/* Adds the fall since the last evaluation to usual_fall. A root mean square gives rare large falls
 * much weight. */
static void measure_fall(struct guard *guard, const struct evaluation *evaluation)
{
    const double by = guard->last.samples ? fmin(fmax(fall(&guard->last, evaluation), 0), 1) : 0;
    const double square = guard->usual_fall * guard->usual_fall;
    guard->usual_fall = sqrt(square + FALLS_KEPT * (by * by - square));
    guard->last = *evaluation;
}

/* Returns true if evaluations have been below the best one for WORSE_STEPS steps, or, on a node
 * that makes no steps, twice in a row. */
static bool is_below_for_long(const struct guard *guard, bool was_below)
{
    return guard->steps > 0 ? guard->steps >= guard->below_steps + WORSE_STEPS : was_below;
}

enum guard_event guard_on_evaluation(struct guard *guard, uint64_t now_ns,
                                     const struct evaluation *evaluation)
{
    if (evaluation->samples == 0)
        return GUARD_NOTHING;
    if (guard_is_better(evaluation, &guard->best)) {
        guard->best = *evaluation;
        guard->best_ns = now_ns;
    }
    const bool was_below = guard->is_below;
    guard->is_below = is_below(guard, &guard->best, evaluation);
    if (!was_below)
        guard->below_steps = guard->steps;
    measure_fall(guard, evaluation);
    if (guard->is_worse && !guard->is_below) {
        guard->is_worse = false;
        return GUARD_RECOVERED;
    }
    if (guard->is_worse || !guard->is_below || !is_below_for_long(guard, was_below))
        return GUARD_NOTHING;
    guard->is_worse = true;
    return GUARD_WORSE;
}

const char *guard_state(const struct guard *guard)
{
    return guard->is_dead ? "dead" : guard->is_rising ? "rising" : guard->is_worse ? "worse" : "";
}

double guard_rate_factor(const struct guard *guard)
{
    return ldexp(1, -(int)guard->halvings);
}

void guard_score_text(const struct evaluation *evaluation, char text[static 32])
{
    if (is_by_accuracy(evaluation))
        (void)snprintf(text, 32, "%.1f %%", 100 * evaluation_accuracy(evaluation));
    else
        (void)snprintf(text, 32, "a loss of %.4g", evaluation->loss);
}

static double seconds_since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? (double)(now_ns - then_ns) * 1e-9 : 0;
}

static void recovered_text(const struct guard *guard, char text[static GUARD_TEXT_BYTES])
{
    char last[32], loss[64] = "";
    guard_score_text(&guard->last, last);
    if (!isnan(guard->loss))
        (void)snprintf(loss, sizeof loss, "the training loss here is %.3g", guard->loss);
    if (guard->last.samples == 0)
        (void)snprintf(text, GUARD_TEXT_BYTES, "training has recovered: %s", loss);
    else
        (void)snprintf(text, GUARD_TEXT_BYTES, "training has recovered: %s%sthe base has %s%s",
                       loss, loss[0] ? ", " : "", last,
                       guard->is_worse ? ", which is still below its best" : "");
}

void guard_remedy(const struct guard *guard, const char *otherwise,
                  char text[static GUARD_REMEDY_BYTES])
{
    if (guard->mislabelled[0])
        (void)snprintf(text, GUARD_REMEDY_BYTES,
                       "first check the labels of %s, which contradict the shared model",
                       guard->mislabelled);
    else
        (void)snprintf(text, GUARD_REMEDY_BYTES, "%s", otherwise);
}

void guard_text(const struct guard *guard, enum guard_event event, uint64_t now_ns,
                const struct guard_saved *saved, bool steps_here,
                char text[static GUARD_TEXT_BYTES])
{
    char best[32], last[32], kept[32], ago[48] = "before this node started", back[224] = "";
    const struct amount least = amount_span(seconds_since(now_ns, guard->least_ns));
    const char *rate = steps_here ? "train.rate" : "the optimizer's learning rate";
    char lower[GUARD_REMEDY_BYTES], remedy[GUARD_REMEDY_BYTES];
    (void)snprintf(lower, sizeof lower, "lower %s on all nodes, and look at their data", rate);
    guard_remedy(guard, lower, remedy);
    guard_score_text(&guard->best, best);
    guard_score_text(&guard->last, last);
    if (guard->best_ns > 0)
        (void)snprintf(ago, sizeof ago, "%s ago",
                       amount_span(seconds_since(now_ns, guard->best_ns)).text);
    if (saved) {
        guard_score_text(&saved->score, kept);
        (void)snprintf(back, sizeof back,
                       "; to return to the best base (%s): hearsay rewind%.100s --to best", kept,
                       saved->where);
    }
    switch (event) {
    case GUARD_RISING:
        (void)snprintf(text, GUARD_TEXT_BYTES,
                       "the training loss here has risen to %.3g from %.3g (%s ago): %s%s",
                       guard->loss, guard->least, least.text, remedy, back);
        return;
    case GUARD_SLOWED:
        (void)snprintf(text, GUARD_TEXT_BYTES,
                       "the training loss here has risen to %.3g from %.3g (%s ago): %s; %s%.4g of "
                       "%s%s",
                       guard->loss, guard->least, least.text, remedy,
                       steps_here ? "until it is restarted this node learns at " : "try ",
                       guard_rate_factor(guard), rate, back);
        return;
    case GUARD_DEAD:
        (void)snprintf(text, GUARD_TEXT_BYTES,
                       "the model is dead: its loss (%.3g) is that of guessing, and no gradient "
                       "reaches its first layer; %s%s",
                       guard->loss, remedy, back);
        return;
    case GUARD_WORSE:
        (void)snprintf(text, GUARD_TEXT_BYTES,
                       "the base has %s on the test set, and had %s %s: %s%s", last, best, ago,
                       remedy, back);
        return;
    case GUARD_RECOVERED:
        recovered_text(guard, text);
        return;
    case GUARD_NOTHING:
    case GUARD_EVENTS:
        break;
    }
    check_failed(__FILE__, __LINE__, "every event has its sentence");
}
