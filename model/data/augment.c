#include "data/augment.h"

#include "base/error.h"
#include "base/rng.h"

/* separates the random draws of augmentation from those of the shuffle (batch.c) */
#define STREAM 0xA06E17ED

static int32_t draw_move(struct rng *rng, uint32_t most)
{
    return (int32_t)rng_below(rng, 2 * most + 1) - (int32_t)most;
}

struct augmentation augment_draw(const struct augment_options *options, struct shape shape,
                                 uint64_t seed, uint64_t node, uint64_t epoch, uint32_t sample)
{
    const uint32_t height = (uint32_t)shape.height, width = (uint32_t)shape.width;
    CHECK(options->crop < height && options->crop < width);
    struct rng rng =
        rng_new(rng_mix(rng_mix(seed ^ rng_mix(epoch + 1)) ^ rng_mix(node + STREAM)), sample);
    struct augmentation drawn;
    drawn.mirrored = (int32_t)rng_below(&rng, 2) & options->flip;
    drawn.down = draw_move(&rng, options->crop);
    drawn.right = draw_move(&rng, options->crop);
    drawn.hole_top = (int32_t)rng_below(&rng, height) - (int32_t)options->cutout / 2;
    drawn.hole_left = (int32_t)rng_below(&rng, width) - (int32_t)options->cutout / 2;
    return drawn;
}

void augmenter_init(struct augmenter *augmenter, const struct augment_options *options,
                    struct backend *backend, const struct dataset *dataset, uint32_t batch_max)
{
    *augmenter = (struct augmenter){.options = *options};
    if (!augment_is_wanted(options))
        return;
    CHECK(!dataset->tokens);
    augmenter->augment = (struct augment){
        .shape = dataset->shape,
        .hole = (int)options->cutout,
        .outside = dataset->pixels ? (0 - dataset->mean) * dataset->scale : 0,
    };
    augmenter->x =
        backend->alloc(backend, batch_max * shape_size(dataset->shape) * sizeof *augmenter->x);
}

size_t augmenter_bytes(const struct augmenter *augmenter, uint32_t size)
{
    return augmenter->x ? size * sizeof(struct augmentation) : 0;
}

/* The samples of one batch may belong to several epochs. Sample i has index before->at + i in
 * the order of the epoch; an index past the end belongs to the next epoch. */
void augmenter_draw(const struct augmenter *augmenter, const struct batch *before,
                    const uint32_t *pick, uint32_t size, struct augmentation *each)
{
    for (uint32_t i = 0; augmenter->x && i < size; i++) {
        const uint64_t at = (uint64_t)before->at + i, epoch = before->epoch + at / before->count;
        each[i] = augment_draw(&augmenter->options, augmenter->augment.shape, before->seed,
                               before->node, epoch, pick[i]);
    }
}

const float *augmenter_apply(const struct augmenter *augmenter, struct backend *backend,
                             const struct augmentation *each, const float *x, uint32_t size)
{
    if (!augmenter->x)
        return x;
    backend->gather->augment(backend, &augmenter->augment, (int)size, each, x, augmenter->x);
    return augmenter->x;
}

void augmenter_free(struct augmenter *augmenter, struct backend *backend)
{
    if (augmenter->x)
        backend->free(backend, augmenter->x);
    augmenter->x = NULL;
}
