#include "support/state/checkpoint_story.h"

void story_init(struct story *story, size_t parameters, uint32_t moments)
{
    memset(story->vectors, 0x5A, sizeof story->vectors);
    memset(story->own, 0x5A, OWN);
    story->checkpoint = (struct checkpoint){.model = MODEL, .own = story->own};
    learner_state_init(&story->checkpoint.state, story->vectors, parameters, moments);
}

void story_fill(struct story *story, uint64_t generation)
{
    struct checkpoint *checkpoint = &story->checkpoint;
    struct learner_state *state = &checkpoint->state;
    struct rng rng = rng_new(generation, 5);
    uint8_t *vectors[] = {(uint8_t *)state->base, (uint8_t *)state->base_at_last_publish,
                          (uint8_t *)state->weights, (uint8_t *)state->moment[0],
                          (uint8_t *)state->moment[1]};
    for (size_t i = 0; i < OWN; i++)
        story->own[i] = (uint8_t)rng_next(&rng);
    checkpoint->own_bytes = OWN;
    checkpoint->incarnation = rng_next(&rng);
    state->samples = rng_next(&rng);
    state->epoch = rng_next(&rng);
    state->at = (uint32_t)rng_next(&rng);
    state->random_walk = rng_next(&rng);
    state->steps = rng_next(&rng);
    state->swarm_samples = rng_next(&rng);
    state->batch = (uint32_t)rng_next(&rng);
    for (size_t v = 0; v < 5 && vectors[v]; v++)
        for (size_t i = 0; i < state->parameters * sizeof(float); i++)
            vectors[v][i] = (uint8_t)rng_next(&rng);
}

static bool story_vector_is(const void *a, const void *b, const struct learner_state *state)
{
    return !a || memcmp(a, b, state->parameters * sizeof(float)) == 0;
}

bool story_is(const struct story *got, uint64_t generation)
{
    static struct story want;
    const struct learner_state *a = &got->checkpoint.state, *b = &want.checkpoint.state;
    story_init(&want, a->parameters, a->moments);
    story_fill(&want, generation);
    return story_vector_is(a->base, b->base, a) &&
           story_vector_is(a->base_at_last_publish, b->base_at_last_publish, a) &&
           story_vector_is(a->weights, b->weights, a) &&
           story_vector_is(a->moment[0], b->moment[0], a) &&
           story_vector_is(a->moment[1], b->moment[1], a) && a->steps == b->steps &&
           a->samples == b->samples && a->swarm_samples == b->swarm_samples &&
           a->batch == b->batch && a->epoch == b->epoch && a->at == b->at &&
           a->random_walk == b->random_walk &&
           got->checkpoint.incarnation == want.checkpoint.incarnation &&
           got->checkpoint.own_bytes == OWN && memcmp(got->own, want.own, OWN) == 0;
}

static void story_refused(void *context, const struct problem *why)
{
    struct story_refusals *seen = context;
    seen->count++;
    seen->last = *why;
}

struct memory_disk disk;
struct story saved, loaded;
struct checkpoint_series series;
struct story_refusals refusals;
struct problem problem;

int begin(void **state)
{
    (void)state;
    memory_disk_init(&disk);
    story_init(&saved, P, 1);
    series = (struct checkpoint_series){.next = 1};
    refusals = (struct story_refusals){0};
    return 0;
}

enum error save(struct memory_disk *to)
{
    story_fill(&saved, series.next);
    return checkpoint_save(&to->table, FOLDER, &saved.checkpoint, &series, &problem);
}

enum error load_with(struct memory_disk *from, size_t parameters, uint32_t moments)
{
    const struct checkpoint_refusal refusal = {&refusals, story_refused};
    refusals = (struct story_refusals){0};
    story_init(&loaded, parameters, moments);
    return checkpoint_load(&from->table, FOLDER, &loaded.checkpoint, &series, &refusal, &problem);
}

enum error load(struct memory_disk *from)
{
    return load_with(from, P, 1);
}

void save_two(void)
{
    assert_int_equal(save(&disk), OK);
    assert_int_equal(save(&disk), OK);
}

struct memory_file *file_of(struct memory_disk *on, uint64_t generation)
{
    char name[CHECKPOINT_NAME_MAX];
    checkpoint_name(name, generation);
    return memory_disk_file(on, name);
}

void must_load(struct memory_disk *from, uint64_t generation, int refused)
{
    assert_int_equal(load(from), OK);
    assert_int_equal(series.good, generation);
    assert_int_equal(refusals.count, refused);
    assert_true(story_is(&loaded, generation));
}
