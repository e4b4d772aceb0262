#include "commands/model_time.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "socket/transport.h"

/* State of one pass of a sample through the model. */
struct watch {
    struct backend *backend;
    uint64_t begun_ns; /* when the current layer started */
    uint64_t *took_ns; /* [layers] time of each layer in this pass */
};

struct timing timing_of(uint64_t *ns, int count)
{
    double sum = 0, squares = 0;
    CHECK(count > 0);
    u64_sort(ns, (size_t)count);
    for (int i = 0; i < count; i++)
        sum += (double)ns[i];
    const double mean = sum / count;
    for (int i = 0; i < count; i++)
        squares += ((double)ns[i] - mean) * ((double)ns[i] - mean);
    return (struct timing){
        .mean = mean,
        .deviation = count > 1 ? sqrt(squares / (count - 1)) : 0,
        .median = ((double)ns[(count - 1) / 2] + (double)ns[count / 2]) / 2,
    };
}

static void on_layer(void *context, int layer, struct numbers y)
{
    struct watch *watch = context;
    float number;
    watch->backend->download(watch->backend, &number, y.at,
                             number_bytes(y.type)); /* waits until the device is done */
    const uint64_t now_ns = monotonic_ns();
    watch->took_ns[layer] = now_ns - watch->begun_ns;
    watch->begun_ns = now_ns;
}

/* Draws a random sample: tokens, or numbers with about the size of normalised pixels. */
static void draw_sample(const struct model *model, float *x)
{
    struct rng rng = rng_new(1, 0);
    const struct shape in = model_input(model);
    const uint32_t tokens = (uint32_t)model_line_tokens(model_line(model));
    for (size_t i = 0; i < shape_size(in); i++) {
        if (in.length > 0)
            ((int32_t *)(void *)x)[i] = (int32_t)rng_below(&rng, tokens);
        else
            x[i] = (float)(4 * rng_uniform(&rng) - 2);
    }
}

static float *upload(struct backend *backend, const float *from, size_t count)
{
    float *to = backend->alloc(backend, count * sizeof *to);
    backend->upload(backend, to, from, count * sizeof *to);
    return to;
}

/* Computes the statistics of each layer and of whole passes. took_ns[passes, layers]: the times. */
static void sum_up(const struct model *model, const uint64_t *took_ns, struct arena *arena,
                   struct model_times *times)
{
    const int layers = model_layers(model);
    uint64_t *ns = arena_alloc(arena, (size_t)times->passes, sizeof *ns);
    uint64_t *all_ns = arena_alloc(arena, (size_t)times->passes, sizeof *all_ns);
    times->layer = arena_alloc(arena, (size_t)layers, sizeof *times->layer);
    for (int i = 0; i < layers; i++) {
        for (int pass = 0; pass < times->passes; pass++) {
            ns[pass] = took_ns[(size_t)pass * (size_t)layers + (size_t)i];
            all_ns[pass] += ns[pass];
        }
        times->layer[i] = timing_of(ns, times->passes);
    }
    times->sample = timing_of(all_ns, times->passes);
}

void model_time(struct model *model, struct backend *backend, int passes, struct arena *arena,
                struct model_times *times)
{
    const size_t parameters = model_parameters(model), numbers = shape_size(model_input(model));
    const size_t layers = (size_t)model_layers(model);
    float *host_weights = arena_alloc(arena, parameters, sizeof *host_weights);
    float *host_x = arena_alloc(arena, numbers, sizeof *host_x);
    uint64_t *took_ns = arena_alloc(arena, (size_t)passes * layers, sizeof *took_ns);
    *times = (struct model_times){.passes = passes};
    model_init(model, 1, host_weights);
    draw_sample(model, host_x);
    float *weights = upload(backend, host_weights, parameters);
    float *x = upload(backend, host_x, numbers);
    /* Passes with a negative number only warm up: later passes overwrite their times. */
    for (int i = -passes; i < passes; i++) {
        struct watch watch = {.backend = backend,
                              .took_ns = took_ns + (size_t)int_max(i, 0) * layers,
                              .begun_ns = monotonic_ns()};
        model_forward_each(model, weights, x, on_layer, &watch);
    }
    backend->free(backend, weights);
    backend->free(backend, x);
    sum_up(model, took_ns, arena, times);
}
