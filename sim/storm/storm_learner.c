#include "storm/storm_learner.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "base/error.h"
#include "base/memory.h"

#define LEARNER_BYTES (4u << 20)
#define GPT_LINE      "embed 16 8, position 8, residual(norm, attention 2), norm, logits tied"
#define TOKENS        16
#define LENGTH        8
#define TEXT          513 /* bytes of text: 64 windows, and the token after the last window */
#define BATCH         4

struct storm_learners {
    struct backend *backend;
    struct arena arena;
    struct model *model; /* the GPT; NULL = random walks */
    uint8_t text[TEXT];
};

static struct model *gpt(struct arena *arena, struct backend *backend)
{
    struct model *model = NULL;
    struct problem problem;
    const struct shape in = {1, 1, 1, LENGTH};
    CHECK(model_new(&model, arena, backend, GPT_LINE, in, TOKENS, BATCH, &problem) == OK);
    return model;
}

uint32_t storm_gpt_parameters(void)
{
    struct arena arena;
    arena_init(&arena, 4096);
    struct model *model = gpt(&arena, NULL);
    const uint32_t parameters = (uint32_t)model_parameters(model);
    model_free(model);
    arena_release(&arena);
    return parameters;
}

/* A token is usually the previous token plus 1, so that there is something to learn. */
static void draw_text(uint8_t text[static TEXT], uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    uint32_t token = 0;
    for (int i = 0; i < TEXT; i++) {
        text[i] = (uint8_t)token;
        token = rng_below(&rng, 4) > 0 ? (token + 1) % TOKENS : rng_below(&rng, TOKENS);
    }
}

struct storm_learners *storm_learners_new(const struct storm_plan *plan)
{
    struct storm_learners *learners = memory_new(1, sizeof *learners);
    learners->backend = backend_cpu(1);
    arena_init(&learners->arena, 4096);
    if (plan->learns_text) {
        learners->model = gpt(&learners->arena, learners->backend);
        CHECK(model_parameters(learners->model) == plan->parameters);
        draw_text(learners->text, plan->seed);
    }
    return learners;
}

static struct learner *make_gpt(struct storm_learners *learners, const struct storm_plan *plan,
                                uint32_t i, uint32_t start, struct arena *arena)
{
    const struct dataset train = {.tokens = learners->text,
                                  .tokens_count = TEXT,
                                  .token_bytes = 1,
                                  .count = TEXT / LENGTH,
                                  .shape = {1, 1, 1, LENGTH},
                                  .classes = TOKENS};
    const struct learner_options options = {
        .optimizer = {.kind = OPTIMIZER_ADAM,
                      .sgd = {.rate = 0.01f, .momentum = 0.9f, .weight_decay = 0.1f},
                      .beta2 = 0.99f,
                      .clip = 1},
        .batch = BATCH,
        .model_seed = plan->seed + start,
        .data_seed = plan->seed,
        .data_node = i,
        .density_max = plan->density_max,
        .holds = true};
    return learner_new(arena, learners->backend, learners->model, &train, NULL, &options);
}

void storm_learner_make(struct storm_learners *learners, const struct storm_plan *plan, uint32_t i,
                        uint32_t start, uint64_t number, struct sim_learner *sim_learner)
{
    const uint64_t seed = rng_mix(plan->seed) + (number << 16) + i;
    arena_init(&sim_learner->arena, LEARNER_BYTES);
    sim_learner->parameters = plan->parameters;
    sim_learner->is_accounted = !plan->learns_text;
    if (plan->learns_text)
        sim_learner->learner = make_gpt(learners, plan, i, start, &sim_learner->arena);
    else
        sim_learner->random_walk =
            random_walk_new(&sim_learner->arena, learners->backend, plan->parameters, seed,
                            plan->density_max, sim_learner->is_accounted);
    if (sim_learner->random_walk)
        random_walk_begin(sim_learner->random_walk, start);
}

void storm_learners_free(struct storm_learners *learners)
{
    if (learners->model)
        model_free(learners->model);
    arena_release(&learners->arena);
    learners->backend->close(learners->backend);
    free(learners);
}
