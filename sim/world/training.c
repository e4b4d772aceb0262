/* Training of a simulated node: its guard, and faults that ruin training. */
#include <stdlib.h>

#include "base/memory.h"
#include "training/shuffle_labels.h"
#include "world/world_private.h"

#define SILENT (-100.0f) /* bias so negative that no sample can activate the unit */

void world_training_begins(struct world_node *at)
{
    const struct learner *learner = at->sim_learner.learner;
    const bool can_step = learner && learner_can_step(learner);
    guard_init(&at->watched.guard, can_step ? vitals_classes(learner) : 0);
    at->watched.ruined_rate = 1;
}

static void scale_rate(struct world_node *at)
{
    learner_scale_rate(at->sim_learner.learner,
                       at->watched.ruined_rate * guard_rate_factor(&at->watched.guard));
}

static void on_guard_event(struct world *world, uint32_t i, enum guard_event event)
{
    struct world_node *at = &world->nodes[i];
    struct note note = {.at_ns = world_now_ns(world), .kind = NOTE_TRAINING};
    if (event == GUARD_NOTHING)
        return;
    note.level = event == GUARD_RECOVERED ? LEVEL_INFO : LEVEL_WARNING;
    guard_text(&at->watched.guard, event, note.at_ns, NULL, true, note.text);
    if (event == GUARD_SLOWED)
        scale_rate(at);
    world_note(world, i, &note);
}

void world_watch_step(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    struct learner *learner = at->sim_learner.learner;
    struct vitals vitals;
    if (!learner)
        return;
    const double loss_sum = learner_losses(learner);
    on_guard_event(
        world, i,
        guard_on_steps(&at->watched.guard, world_now_ns(world), 1, at->step_samples, loss_sum));
    if (!guard_wants_vitals(&at->watched.guard))
        return;
    vitals_of(learner, &vitals);
    on_guard_event(world, i, guard_on_vitals(&at->watched.guard, &vitals));
}

/* Sets the first vector of the model outside the output layer, usually biases, to SILENT. */
static void silence_layer(struct sim_learner *sim_learner, const struct model *model)
{
    float *weights = memory_new(sim_learner_parameters(sim_learner), sizeof *weights);
    sim_learner_read_weights(sim_learner, weights);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (tensor.rank > 1 || tensor.is_output)
            continue;
        for (size_t k = 0; k < tensor_entries(&tensor); k++)
            weights[tensor.offset + k] = SILENT;
        break;
    }
    sim_learner_write_weights(sim_learner, weights);
    free(weights);
}

void world_ruin(struct world *world, uint32_t i, enum ruin ruin, double value, uint64_t seed)
{
    struct world_node *at = &world->nodes[i];
    struct learner *learner = at->sim_learner.learner;
    if (!learner || !at->node)
        return;
    switch (ruin) {
    case RUIN_RATE:
        at->watched.ruined_rate = value;
        scale_rate(at);
        return;
    case RUIN_LABELS:
        learner_shuffle_labels(learner, seed);
        return;
    case RUIN_SHIFT:
        learner_shift_labels(learner);
        return;
    case RUIN_LAYER:
        silence_layer(&at->sim_learner, learner_model(learner));
        return;
    case RUINS:
        break;
    }
    check_failed(__FILE__, __LINE__, "every ruin is handled");
}
