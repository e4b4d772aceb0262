/* The learner of a scene: a base without weights, which publishes random updates. */
#include <string.h>

#include "base/rng.h"
#include "fuzz/scene.h"

#define PUBLISHED_MAX 8 /* maximum entries of a publication */

static void follow(void *learner, uint64_t swarm_samples)
{
    (void)learner;
    (void)swarm_samples;
}

static void add(void *learner, const struct update *update, float beta)
{
    struct scene *scene = learner;
    (void)beta;
    for (uint32_t i = 0; i < update->count; i++) {
        CHECK(update->index[i] < SCENE_PARAMETERS);
        const int64_t moved = (int64_t)update->amount * update->level[i];
        int32_t *unit = &scene->units[update->index[i]];
        *unit = (int32_t)((uint32_t)*unit + (uint32_t)moved);
    }
}

/* Returns the agreement of an update with training, one of the two extremes. */
static double agreement(void *learner, const struct update *update)
{
    (void)learner;
    return update->level[0] > 0 ? 1 : -1;
}

/* Publishes at most PUBLISHED_MAX random entries, or none. */
static const struct update *publish(void *learner, const struct publish_terms *terms)
{
    static uint32_t index[PUBLISHED_MAX];
    static int8_t level[PUBLISHED_MAX];
    static struct update update;
    struct scene *scene = learner;
    struct rng rng = rng_new(++scene->drawn, 1);
    CHECK(terms->share > 0 && terms->share <= 1 && terms->withheld >= 0 && terms->withheld <= 1);
    update = (struct update){.tau = 0.5f, .amount = 1000, .index = index, .level = level};
    update.count = rng_below(&rng, PUBLISHED_MAX + 1);
    for (uint32_t i = 0; i < update.count; i++) {
        index[i] = i * (SCENE_PARAMETERS / PUBLISHED_MAX) + rng_below(&rng, 50);
        level[i] = (int8_t)(1 + rng_below(&rng, LEVEL_MAX));
    }
    add(scene, &update, 0);
    return &update;
}

static void read(void *learner, size_t first, size_t count, int32_t *units)
{
    const struct scene *scene = learner;
    CHECK(first + count <= SCENE_PARAMETERS);
    memcpy(units, scene->units + first, count * sizeof *units);
}

static void write(void *learner, size_t first, size_t count, const int32_t *units,
                  bool keep_weights)
{
    struct scene *scene = learner;
    (void)keep_weights;
    CHECK(first + count <= SCENE_PARAMETERS);
    memcpy(scene->units + first, units, count * sizeof *units);
}

static void predict(void *learner, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers)
{
    (void)learner;
    CHECK(count > 0 && bytes == 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = (float)(samples[2 * i] + samples[2 * i + 1]);
}

const struct executor_ops scene_learner = {.follow = follow,
                                           .publish = publish,
                                           .apply = add,
                                           .agreement = agreement,
                                           .apply_own = add,
                                           .read_block = read,
                                           .write_block = write,
                                           .predict = predict};
