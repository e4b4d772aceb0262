#include "process/random_calls/given.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/half.h"

#define LONG_16  "abcdefghijklmnop"
#define LONG_64  LONG_16 LONG_16 LONG_16 LONG_16
#define TOO_LONG LONG_64 LONG_64 LONG_64 LONG_64 "."

static size_t size_of(const struct hearsay_tensor *tensor)
{
    return tensor->dtype == HEARSAY_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
}

static size_t entries_of(const struct hearsay_tensor *tensor)
{
    size_t entries = 1;
    for (uint32_t i = 0; i < tensor->dimensions; i++)
        entries *= (size_t)tensor->shape[i];
    return entries;
}

static void put(const struct given *given, uint32_t i, size_t at, float value)
{
    const uint32_t dtype = given->tensors[i].dtype;
    if (dtype == HEARSAY_FLOAT32)
        ((float *)given->trained[i])[at] = value;
    else
        ((uint16_t *)given->trained[i])[at] =
            dtype == HEARSAY_BFLOAT16 ? half_to_bfloat16(value) : half_to_float16(value);
}

static float get(const struct given *given, uint32_t i, size_t at)
{
    const uint32_t dtype = given->tensors[i].dtype;
    if (dtype == HEARSAY_FLOAT32)
        return ((const float *)given->trained[i])[at];
    const uint16_t half = ((const uint16_t *)given->trained[i])[at];
    return dtype == HEARSAY_BFLOAT16 ? half_of_bfloat16(half) : half_of_float16(half);
}

static void make(struct given *given, uint32_t i)
{
    struct hearsay_tensor *tensor = &given->tensors[i];
    given->bytes[i] = entries_of(tensor) * size_of(tensor);
    tensor->data = given->trained[i] = malloc(given->bytes[i]);
    CHECK(tensor->data);
}

static void add(struct given *given, const char *name, uint32_t dtype, uint32_t dimensions,
                const int64_t *shape)
{
    struct hearsay_tensor *tensor = &given->tensors[given->count];
    CHECK(given->count < GIVEN_TENSORS);
    *tensor = (struct hearsay_tensor){
        .name = strdup(name), .dimensions = dimensions, .dtype = dtype, .device = HEARSAY_CPU};
    CHECK(tensor->name);
    if (dimensions > 0)
        memcpy(tensor->shape, shape, dimensions * sizeof *shape);
    make(given, given->count++);
}

static void add_many(struct given *given)
{
    char name[32];
    const int64_t deep[HEARSAY_DIMENSIONS_MAX] = {2, 1, 2, 1, 3, 1, 1, 2};
    add(given, "deep", HEARSAY_FLOAT16, HEARSAY_DIMENSIONS_MAX, deep);
    for (int64_t i = 1; i < GIVEN_TENSORS; i++) {
        (void)snprintf(name, sizeof name, "part.%d", (int)i);
        add(given, name, (uint32_t)(i % 3), 1, &i);
        given->tensors[i].flags = i % 4 == 0 ? HEARSAY_STATISTICS : 0;
    }
}

void given_init(struct given *given, uint32_t kind, unsigned start)
{
    struct rng rng = rng_new(start, kind);
    *given = (struct given){.count = 0};
    switch (kind) {
    case 0:
        add(given, "plane.weight", HEARSAY_FLOAT32, 2, (const int64_t[]){24, 5});
        add(given, "plane.bias", HEARSAY_FLOAT32, 1, (const int64_t[]){5});
        given->tensors[1].flags = HEARSAY_STATISTICS;
        break;
    case 1:
        add(given, "half", HEARSAY_BFLOAT16, 1, (const int64_t[]){7});
        add(given, "one number", HEARSAY_FLOAT32, 0, NULL);
        break;
    case 2:
        add_many(given);
        break;
    case 3:
        add(given, "large", HEARSAY_FLOAT32, 2, (const int64_t[]){300, 200});
        break;
    default:
        add(given, "0.dense.weight", HEARSAY_FLOAT32, 2, (const int64_t[]){8, 2});
        add(given, "0.dense.bias", HEARSAY_FLOAT32, 1, (const int64_t[]){8});
        add(given, "2.dense.weight", HEARSAY_FLOAT32, 2, (const int64_t[]){2, 8});
        add(given, "2.dense.bias", HEARSAY_FLOAT32, 1, (const int64_t[]){2});
        break;
    }
    for (uint32_t i = 0; i < given->count; i++)
        for (size_t at = 0; at < entries_of(&given->tensors[i]); at++)
            put(given, i, at, (float)(0.2 * rng_uniform(&rng) - 0.1));
}

void given_copy(struct given *given, struct backend *gpu)
{
    CHECK(!given->is_copied);
    given->is_copied = true;
    given->gpu = gpu;
    for (uint32_t i = 0; i < given->count; i++) {
        struct hearsay_tensor *tensor = &given->tensors[i];
        tensor->data = gpu ? gpu->alloc(gpu, given->bytes[i]) : malloc(given->bytes[i]);
        tensor->device = gpu ? HEARSAY_CUDA : HEARSAY_CPU;
        CHECK(tensor->data);
    }
    given_spoil_copies(given);
}

static void write_data(struct given *given, uint32_t i, const void *from)
{
    if (given->gpu)
        given->gpu->upload(given->gpu, given->tensors[i].data, from, given->bytes[i]);
    else
        memcpy(given->tensors[i].data, from, given->bytes[i]);
}

/* Waits until the GPU is done. */
static void finish(const struct given *given)
{
    uint8_t byte;
    if (given->gpu)
        given->gpu->download(given->gpu, &byte, given->tensors[0].data, 1);
}

/* Calls the library from inside fetch or store, where every call must fail. */
static void call_from_inside(struct given *given)
{
    CHECK(!given->node || hearsay_step(given->node, 1, 0, NULL) == HEARSAY_BUSY);
}

static void enter(struct given *given)
{
    CHECK(given->is_copied && !given->is_inside);
    given->is_inside = true;
    if ((given->fetches + given->stores) % 5 == 0)
        call_from_inside(given);
}

void given_fetch(void *self)
{
    struct given *given = self;
    enter(given);
    for (uint32_t i = 0; i < given->count; i++)
        write_data(given, i, given->trained[i]);
    finish(given);
    given->fetches++;
    given->is_inside = false;
}

void given_store(void *self)
{
    struct given *given = self;
    enter(given);
    for (uint32_t i = 0; i < given->count; i++)
        if (given->gpu)
            given->gpu->download(given->gpu, given->trained[i], given->tensors[i].data,
                                 given->bytes[i]);
        else
            memcpy(given->trained[i], given->tensors[i].data, given->bytes[i]);
    given->stores++;
    given->is_inside = false;
}

void given_spoil_copies(struct given *given)
{
    for (uint32_t i = 0; given->is_copied && i < given->count; i++) {
        void *none = malloc(given->bytes[i]);
        CHECK(none);
        memset(none, 0xFF, given->bytes[i]);
        write_data(given, i, none);
        free(none);
    }
    finish(given);
}

bool given_is_sound(const struct given *given)
{
    for (uint32_t i = 0; i < given->count; i++)
        for (size_t at = 0; at < entries_of(&given->tensors[i]); at++)
            if (!isfinite(get(given, i, at)))
                return false;
    return true;
}

void given_vary(struct given *given, struct rng *rng)
{
    for (uint32_t i = 0; i < given->count; i++) {
        free(given->trained[i]);
        given->tensors[i].dtype = rng_below(rng, 3);
        make(given, i);
    }
}

void given_free_names(struct given *given)
{
    for (uint32_t i = 0; i < given->count; i++) {
        free((void *)(uintptr_t)given->tensors[i].name);
        given->tensors[i].name = NULL;
    }
}

void given_free(struct given *given)
{
    given_free_names(given);
    for (uint32_t i = 0; i < given->count; i++) {
        void *data = given->tensors[i].data;
        if (given->gpu)
            given->gpu->free(given->gpu, data);
        else if (given->is_copied)
            free(data);
        free(given->trained[i]);
    }
    *given = (struct given){.count = 0};
}

size_t given_parameters(const struct given *given)
{
    size_t parameters = 0;
    for (uint32_t i = 0; i < given->count; i++)
        parameters += entries_of(&given->tensors[i]);
    return parameters;
}

static uint32_t draw_entry(const struct given *given, struct rng *rng, size_t *at)
{
    const uint32_t i = rng_below(rng, given->count);
    *at = rng_below(rng, (uint32_t)entries_of(&given->tensors[i]));
    return i;
}

void given_train(struct given *given, struct rng *rng)
{
    size_t at;
    for (int moved = 0; moved < 8; moved++) {
        const uint32_t i = draw_entry(given, rng, &at);
        const float step = (float)(0.1 * rng_uniform(rng) - 0.05);
        put(given, i, at, 0.999f * get(given, i, at) + step);
    }
}

void given_poison(struct given *given, struct rng *rng)
{
    const float values[] = {NAN, INFINITY, -INFINITY, 3e38f, -1e20f};
    size_t at;
    const uint32_t i = draw_entry(given, rng, &at);
    put(given, i, at, values[rng_below(rng, 5)]);
}

static int spoil_type(struct hearsay_tensor *tensor, struct rng *rng)
{
    const int32_t devices[] = {0, 2, -1, INT32_MAX};
    switch (rng_below(rng, 3)) {
    case 0:
        tensor->device = devices[rng_below(rng, 4)];
        break;
    case 1:
        tensor->dtype = HEARSAY_FLOAT16 + 1 + rng_below(rng, 1000);
        break;
    default:
        tensor->flags = 2u << rng_below(rng, 31); /* HEARSAY_STATISTICS is 1 */
        break;
    }
    return HEARSAY_UNSUPPORTED;
}

static void spoil_shape(struct hearsay_tensor *tensor, struct rng *rng)
{
    const int64_t sizes[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)INT32_MAX + 1};
    tensor->dimensions = 1 + rng_below(rng, HEARSAY_DIMENSIONS_MAX);
    for (uint32_t i = 0; i < tensor->dimensions; i++)
        tensor->shape[i] = 1;
    switch (rng_below(rng, 4)) {
    case 0:
        tensor->shape[rng_below(rng, tensor->dimensions)] = sizes[rng_below(rng, 5)];
        break;
    case 1: /* the number of elements is too large */
        tensor->dimensions = 2 + rng_below(rng, HEARSAY_DIMENSIONS_MAX - 1);
        for (uint32_t i = 0; i < tensor->dimensions; i++)
            tensor->shape[i] = INT32_MAX - (int64_t)rng_below(rng, 2);
        break;
    case 2: /* the number of elements is a multiple of 2^64 */
        tensor->dimensions = 4 + rng_below(rng, HEARSAY_DIMENSIONS_MAX - 3);
        for (uint32_t i = 0; i < tensor->dimensions; i++)
            tensor->shape[i] = 1 << 16;
        break;
    default:
        tensor->dimensions = rng_below(rng, 2) ? HEARSAY_DIMENSIONS_MAX + 1 : UINT32_MAX;
        break;
    }
}

static void spoil_name(struct hearsay_tensor *tensors, uint32_t count, uint32_t i, struct rng *rng)
{
    const char *names[] = {NULL, "", TOO_LONG, tensors[(i + 1) % count].name};
    tensors[i].name = names[rng_below(rng, count > 1 ? 4 : 3)];
}

/* Makes two valid tensors whose total size is too large. The library must reject them before it
 * reads their data. */
static void spoil_sum(struct hearsay_tensor *tensors)
{
    for (uint32_t i = 0; i < 2; i++) {
        tensors[i].dimensions = 1;
        tensors[i].shape[0] = INT32_MAX;
    }
}

int given_spoil(const struct given *given, struct rng *rng,
                struct hearsay_tensor spoiled[GIVEN_TENSORS], const struct hearsay_tensor **tensors,
                uint32_t *count)
{
    const uint32_t i = rng_below(rng, given->count);
    struct hearsay_tensor *tensor = &spoiled[i];
    memcpy(spoiled, given->tensors, sizeof given->tensors);
    *tensors = spoiled;
    *count = given->count;
    switch (rng_below(rng, given->count > 1 ? 8 : 7)) {
    case 0:
        spoil_name(spoiled, given->count, i, rng);
        break;
    case 1:
        tensor->data = NULL;
        break;
    case 2:
        tensor->data = (char *)tensor->data + 1;
        break;
    case 3:
        return spoil_type(tensor, rng);
    case 4:
        spoil_shape(tensor, rng);
        break;
    case 5:
        *count = rng_below(rng, 2) ? 0 : UINT32_MAX - rng_below(rng, 1000);
        break;
    case 6:
        *tensors = NULL;
        break;
    default:
        spoil_sum(spoiled);
        break;
    }
    return HEARSAY_ARGUMENT;
}
