#include "support/model/host_backend.h"

struct backend *device_of_tests;
enum number numbers_under_test = FLOAT32;
static struct carried carried[CARRIED_MAX];
static int carried_count;

void *carry_past(const void *host, size_t bytes, size_t past)
{
    struct backend *device = device_of_tests;
    if (host == NULL)
        return NULL;
    for (int i = 0; i < carried_count; i++) {
        if (carried[i].host == host && carried[i].bytes >= bytes)
            return carried[i]
                .device; /* the array was already copied: input and output may be one array */
    }
    if (carried_count == CARRIED_MAX)
        abort();
    struct carried *one = &carried[carried_count++];
    memcpy(&one->host, &host, sizeof host);
    one->bytes = bytes;
    one->past = past;
    one->type = FLOAT32;
    one->device = (char *)device->alloc(device, past + bytes) + past;
    device->upload(device, one->device, host, bytes);
    return one->device;
}

void *carry(const void *host, size_t bytes)
{
    return carry_past(host, bytes, 0);
}

float number_rounded(float value)
{
    return numbers_under_test == FLOAT32 ? value : half_of_bfloat16(half_to_bfloat16(value));
}

/* Copies float32 numbers to the device as bfloat16. past: offset of the float32 array in bytes,
 * which is halved on the device. */
static void *carry_rounded(float *host, size_t count, size_t past)
{
    uint16_t *rounded = malloc(count * sizeof *rounded + 1);
    for (size_t i = 0; i < count; i++)
        rounded[i] = half_to_bfloat16(host[i]);
    for (int i = 0; i < carried_count; i++) {
        if (carried[i].host == host && carried[i].bytes >= count * sizeof *rounded) {
            free(rounded);
            return carried[i].device;
        }
    }
    const int at = carried_count;
    void *memory = carry_past(rounded, count * sizeof *rounded, past / 2);
    free(rounded);
    carried[at].host = host;
    carried[at].type = BFLOAT16;
    return memory;
}

struct numbers carry_numbers(struct numbers host, size_t count, size_t past)
{
    float *at = floats_of(host);
    if (numbers_under_test == FLOAT32 || at == NULL)
        return floats(carry_past(at, count * sizeof *at, past));
    return (struct numbers){carry_rounded(at, count, past), BFLOAT16};
}

/* Converts results from bfloat16 to float32. Numbers that the operation did not change keep their
 * exact float32 value. */
static void widen(const struct carried *one, const uint16_t *now)
{
    float *host = one->host;
    for (size_t i = 0; i < one->bytes / sizeof *now; i++)
        if (half_to_bfloat16(host[i]) != now[i])
            host[i] = half_of_bfloat16(now[i]);
}

void carry_back(void)
{
    struct backend *device = device_of_tests;
    for (int i = 0; i < carried_count; i++) {
        void *now = malloc(carried[i].bytes + 1);
        device->download(device, now, carried[i].device, carried[i].bytes);
        if (carried[i].type == BFLOAT16)
            widen(&carried[i], now);
        else if (carried[i].bytes > 0 && memcmp(now, carried[i].host, carried[i].bytes) != 0)
            memcpy(carried[i].host, now, carried[i].bytes);
        free(now);
        device->free(device, carried[i].device - carried[i].past);
    }
    carried_count = 0;
}

static void host_dense_forward(struct backend *b_, int batch, int in, int out, struct numbers x,
                               struct numbers w, struct numbers b, enum activation activation,
                               struct numbers y)
{
    (void)b_;
    const size_t n = (size_t)batch, i = (size_t)in, o = (size_t)out;
    device_of_tests->dense->forward(device_of_tests, batch, in, out, NUMBERS(x, n * i),
                                    WEIGHT_NUMBERS(w, o * i), WEIGHT_NUMBERS(b, o), activation,
                                    NUMBERS(y, n * o));
    carry_back();
}

static void host_dense_backward(struct backend *b_, int batch, int in, int out, struct numbers x,
                                struct numbers w, struct numbers y, enum activation activation,
                                struct numbers dy, struct numbers dx, float *dw, float *db,
                                bool adds)
{
    (void)b_;
    const size_t n = (size_t)batch, i = (size_t)in, o = (size_t)out;
    device_of_tests->dense->backward(device_of_tests, batch, in, out, NUMBERS(x, n * i),
                                     WEIGHT_NUMBERS(w, o * i), NUMBERS(y, n * o), activation,
                                     NUMBERS(dy, n * o), NUMBERS(dx, n * i), WEIGHTS(dw, o * i),
                                     WEIGHTS(db, o), adds);
    carry_back();
}

static void host_dense_activate_forward(struct backend *b_, int batch, int in, int out,
                                        struct numbers x, struct numbers w, struct numbers b,
                                        enum activation activation, struct numbers before,
                                        struct numbers y)
{
    (void)b_;
    const size_t n = (size_t)batch, i = (size_t)in, o = (size_t)out;
    device_of_tests->dense->activate_forward(device_of_tests, batch, in, out, NUMBERS(x, n * i),
                                             WEIGHT_NUMBERS(w, o * i), WEIGHT_NUMBERS(b, o),
                                             activation, NUMBERS(before, n * o), NUMBERS(y, n * o));
    carry_back();
}

static void host_dense_activate_backward(struct backend *b_, int batch, int in, int out,
                                         struct numbers x, struct numbers w, struct numbers dy,
                                         enum activation activation, struct numbers before,
                                         struct numbers dx, float *dw, float *db)
{
    (void)b_;
    const size_t n = (size_t)batch, i = (size_t)in, o = (size_t)out;
    device_of_tests->dense->activate_backward(
        device_of_tests, batch, in, out, NUMBERS(x, n * i), WEIGHT_NUMBERS(w, o * i),
        NUMBERS(dy, n * o), activation, NUMBERS(before, n * i), NUMBERS(dx, n * i),
        WEIGHTS(dw, o * i), FLOATS(db, o));
    carry_back();
}

static size_t filter_weights(const struct conv *conv)
{
    return (size_t)conv->filters * (size_t)conv_patch(conv);
}

static void host_conv_forward(struct backend *b_, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *b,
                              enum activation activation, float *y)
{
    (void)b_;
    const size_t n = (size_t)batch;
    device_of_tests->conv->forward(
        device_of_tests, conv, batch, FLOATS(x, n * shape_size(conv->in)),
        WEIGHTS(w, filter_weights(conv)), WEIGHTS(b, (size_t)conv->filters), activation,
        FLOATS(y, n * shape_size(conv_output(conv))));
    carry_back();
}

static void host_conv_backward(struct backend *b_, const struct conv *conv, int batch,
                               const float *x, const float *w, const float *y,
                               enum activation activation, float *dy, float *dx, float *dw,
                               float *db)
{
    (void)b_;
    const size_t n = (size_t)batch, in = n * shape_size(conv->in);
    const size_t out = n * shape_size(conv_output(conv));
    device_of_tests->conv->backward(
        device_of_tests, conv, batch, FLOATS(x, in), WEIGHTS(w, filter_weights(conv)),
        FLOATS(y, out), activation, FLOATS(dy, out), FLOATS(dx, in),
        WEIGHTS(dw, filter_weights(conv)), WEIGHTS(db, (size_t)conv->filters));
    carry_back();
}

static void host_pool_forward(struct backend *b_, const struct pool *pool, int batch,
                              const float *x, float *y, uint8_t *winner)
{
    (void)b_;
    const size_t n = (size_t)batch, out = n * shape_size(pool_output(pool));
    device_of_tests->pool->forward(device_of_tests, pool, batch,
                                   FLOATS(x, n * shape_size(pool->in)), FLOATS(y, out),
                                   carry(winner, out));
    carry_back();
}

static void host_pool_backward(struct backend *b_, const struct pool *pool, int batch,
                               const float *dy, const uint8_t *winner, float *dx)
{
    (void)b_;
    const size_t n = (size_t)batch, out = n * shape_size(pool_output(pool));
    device_of_tests->pool->backward(device_of_tests, pool, batch, FLOATS(dy, out),
                                    carry(winner, out), FLOATS(dx, n * shape_size(pool->in)));
    carry_back();
}

static void host_activate(struct backend *b_, enum activation activation, size_t count,
                          struct numbers x, struct numbers y)
{
    (void)b_;
    device_of_tests->activation->forward(device_of_tests, activation, count, NUMBERS(x, count),
                                         NUMBERS(y, count));
    carry_back();
}

static void host_activate_backward(struct backend *b_, enum activation activation, size_t count,
                                   struct numbers kept, struct numbers dy, struct numbers dx)
{
    (void)b_;
    device_of_tests->activation->backward(device_of_tests, activation, count, NUMBERS(kept, count),
                                          NUMBERS(dy, count), NUMBERS(dx, count));
    carry_back();
}

static void host_cross_entropy(struct backend *b_, const struct cross_entropy *loss,
                               const float *logits, const int32_t *labels, float *dlogits,
                               struct score *score)
{
    (void)b_;
    const size_t n = (size_t)loss->rows, all = n * (size_t)loss->classes;
    device_of_tests->loss->cross_entropy(device_of_tests, loss, FLOATS(logits, all),
                                         carry(labels, n * sizeof *labels), FLOATS(dlogits, all),
                                         carry(score, sizeof *score));
    carry_back();
}

static void host_logits_loss(struct backend *b_, const struct logits *logits, struct numbers x,
                             struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                             struct score *score)
{
    (void)b_;
    const size_t rows = (size_t)logits->loss.rows, classes = (size_t)logits->loss.classes;
    const size_t in = (size_t)logits->in;
    struct logits there = *logits;
    there.scratch =
        FLOATS(logits->scratch, (size_t)logits->at_once * logits_stride(logits->loss.classes));
    device_of_tests->loss->logits(device_of_tests, &there, NUMBERS(x, rows * in),
                                  WEIGHT_NUMBERS(w, classes * in),
                                  carry(labels, rows * sizeof *labels), NUMBERS(dx, rows * in),
                                  WEIGHTS(dw, classes * in), carry(score, sizeof *score));
    carry_back();
}

static void host_squared_error(struct backend *b_, int rows, int width, int of, const float *values,
                               const float *want, float *gradients, struct score *score)
{
    (void)b_;
    const size_t all = (size_t)rows * (size_t)width;
    device_of_tests->loss->squared_error(device_of_tests, rows, width, of, FLOATS(values, all),
                                         FLOATS(want, all), FLOATS(gradients, all),
                                         carry(score, sizeof *score));
    carry_back();
}

static void host_sgd(struct backend *b_, const struct sgd *sgd, const float *factor, size_t count,
                     float *w, const float *g, float *m)
{
    (void)b_;
    device_of_tests->optimize->sgd(device_of_tests, carry(sgd, sizeof *sgd), FLOATS(factor, 1),
                                   count, FLOATS(w, count), FLOATS(g, count), FLOATS(m, count));
    carry_back();
}

static void host_adam(struct backend *b_, const struct adam *adam, const float *factor,
                      size_t count, float *w, const float *g, float *m, float *v)
{
    (void)b_;
    device_of_tests->optimize->adam(device_of_tests, carry(adam, sizeof *adam), FLOATS(factor, 1),
                                    count, FLOATS(w, count), FLOATS(g, count), FLOATS(m, count),
                                    FLOATS(v, count));
    carry_back();
}

static void host_lamb(struct backend *b_, const struct adam *adam, const float *factor,
                      size_t count, bool decays, float *w, float *g, float *m, float *v)
{
    (void)b_;
    device_of_tests->optimize->lamb(device_of_tests, carry(adam, sizeof *adam), FLOATS(factor, 1),
                                    count, decays, WEIGHTS(w, count), WEIGHTS(g, count),
                                    WEIGHTS(m, count), WEIGHTS(v, count));
    carry_back();
}

static void host_muon(struct backend *b_, const struct sgd *sgd, const float *factor, int rows,
                      int columns, float *w, float *g, float *m)
{
    (void)b_;
    const size_t count = (size_t)rows * (size_t)columns;
    device_of_tests->optimize->muon(device_of_tests, carry(sgd, sizeof *sgd), FLOATS(factor, 1),
                                    rows, columns, WEIGHTS(w, count), WEIGHTS(g, count),
                                    WEIGHTS(m, count));
    carry_back();
}

static struct weights carry_weights(struct weights w, size_t count)
{
    struct weights there = weights_flat(FLOATS(weights_all(w), count));
    there.are_companded = w.are_companded;
    return there;
}

static uint32_t host_survey(struct backend *b_, const struct survey *survey, size_t count,
                            struct weights w, const int32_t *base,
                            uint32_t host_bins[HISTOGRAM_BINS])
{
    (void)b_;
    struct survey there = *survey;
    there.candidates =
        carry(survey->candidates, survey->candidates_max * sizeof *survey->candidates);
    const uint32_t found = device_of_tests->exchange->survey(
        device_of_tests, &there, count, carry_weights(w, count), FLOATS(base, count), host_bins);
    carry_back();
    return found;
}

/* Returns 1 + the largest index among the candidates, or 0 if there are none. */
static size_t reach_of(uint32_t found, const uint32_t *candidates)
{
    size_t count = 0;
    for (uint32_t i = 0; i < found; i++)
        count = candidates[i] >= count ? candidates[i] + 1 : count;
    return count;
}

static void host_refine(struct backend *b_, uint32_t found, const uint32_t *candidates,
                        struct weights w, const int32_t *base, uint32_t bin,
                        uint32_t host_parts[BIN_PARTS])
{
    (void)b_;
    const size_t count = reach_of(found, candidates);
    device_of_tests->exchange->refine(
        device_of_tests, found, carry(candidates, found * sizeof *candidates),
        carry_weights(w, count), FLOATS(base, count), bin, host_parts);
    carry_back();
}

static void host_cut(struct backend *b_, uint32_t found, const uint32_t *candidates,
                     const struct cut_terms *terms, struct weights w, int32_t *base,
                     struct update *host_update)
{
    (void)b_;
    const size_t count = reach_of(found, candidates);
    device_of_tests->exchange->cut(device_of_tests, found,
                                   carry(candidates, found * sizeof *candidates), terms,
                                   carry_weights(w, count), FLOATS(base, count), host_update);
    carry_back();
}

static void host_apply(struct backend *b_, const struct update *update, float beta,
                       struct weights w, int32_t *base)
{
    (void)b_;
    const size_t count = reach_of(update->count, update->index);
    device_of_tests->exchange->apply(device_of_tests, update, beta, carry_weights(w, count),
                                     FLOATS(base, count));
    carry_back();
}

static void host_apply_own(struct backend *b_, const struct update *update, float beta,
                           struct weights w, int32_t *base)
{
    (void)b_;
    const size_t count = reach_of(update->count, update->index);
    device_of_tests->exchange->apply_own(device_of_tests, update, beta, carry_weights(w, count),
                                         FLOATS(base, count));
    carry_back();
}

static void host_withhold(struct backend *b_, size_t count, float part, struct weights w,
                          const int32_t *base, uint16_t *withheld)
{
    (void)b_;
    device_of_tests->exchange->withhold(device_of_tests, count, part, carry_weights(w, count),
                                        FLOATS(base, count),
                                        carry(withheld, count * sizeof *withheld));
    carry_back();
}

static void host_release(struct backend *b_, size_t count, const uint16_t *withheld,
                         struct weights w)
{
    (void)b_;
    device_of_tests->exchange->release(
        device_of_tests, count, carry(withheld, count * sizeof *withheld), carry_weights(w, count));
    carry_back();
}

static void host_track(struct backend *b_, size_t count, bool companded, bool counts,
                       float pull, struct statistic at)
{
    (void)b_;
    const struct statistic there = {.trained = FLOATS(at.trained, count),
                                    .before = FLOATS(at.before, count),
                                    .reset = FLOATS(at.reset, count),
                                    .w = FLOATS(at.w, count)};
    device_of_tests->exchange->track(device_of_tests, count, companded, counts, pull, there);
    carry_back();
}

static void host_drop_covered(struct backend *b_, const struct update *update, float part,
                              uint16_t *withheld)
{
    (void)b_;
    const size_t count = reach_of(update->count, update->index);
    device_of_tests->exchange->drop_covered(device_of_tests, update, part,
                                            carry(withheld, count * sizeof *withheld));
    carry_back();
}

static void host_follow(struct backend *b_, enum half_type type, size_t count, const uint16_t *half,
                        float *w)
{
    (void)b_;
    device_of_tests->exchange->follow(device_of_tests, type, count,
                                      carry(half, count * sizeof *half), FLOATS(w, count));
    carry_back();
}

static void host_round(struct backend *b_, enum half_type type, size_t count, const float *w,
                       uint16_t *half)
{
    (void)b_;
    device_of_tests->exchange->round(device_of_tests, type, count, FLOATS(w, count),
                                     carry(half, count * sizeof *half));
    carry_back();
}

static void host_rebase(struct backend *b_, size_t first, size_t count, const int32_t *host_base,
                        struct weights w, int32_t *base)
{
    (void)b_;
    device_of_tests->exchange->rebase(device_of_tests, first, count, host_base,
                                      carry_weights(w, first + count), FLOATS(base, first + count));
    carry_back();
}

static uint64_t host_digest(struct backend *b_, size_t count, const int32_t *base)
{
    (void)b_;
    const uint64_t digest =
        device_of_tests->exchange->digest(device_of_tests, count, FLOATS(base, count));
    carry_back();
    return digest;
}

static void *host_alloc(struct backend *b_, size_t bytes)
{
    (void)b_;
    return device_of_tests->alloc(device_of_tests, bytes);
}

static void host_free(struct backend *b_, void *memory)
{
    (void)b_;
    device_of_tests->free(device_of_tests, memory);
}

static void host_upload(struct backend *b_, void *to, const void *from, size_t bytes)
{
    (void)b_;
    device_of_tests->upload(device_of_tests, to, from, bytes);
}

static void host_download(struct backend *b_, void *to, const void *from, size_t bytes)
{
    (void)b_;
    device_of_tests->download(device_of_tests, to, from, bytes);
}

static void host_peek(struct backend *b_, void *to, const void *from, size_t bytes)
{
    (void)b_;
    device_of_tests->peek(device_of_tests, to, from, bytes);
}

static void host_clip(struct backend *b_, const float *most, size_t count, const float *g,
                      float *factor)
{
    (void)b_;
    device_of_tests->optimize->clip(device_of_tests, FLOATS(most, 1), count, FLOATS(g, count),
                                    FLOATS(factor, 1));
    carry_back();
}

static const struct optimizer_operations host_optimize = {
    .clip = host_clip,
    .sgd = host_sgd,
    .adam = host_adam,
    .lamb = host_lamb,
    .muon = host_muon,
};

static const struct dense_operations host_dense = {
    .forward = host_dense_forward,
    .backward = host_dense_backward,
    .activate_forward = host_dense_activate_forward,
    .activate_backward = host_dense_activate_backward,
};

static const struct conv_operations host_conv = {
    .forward = host_conv_forward,
    .backward = host_conv_backward,
};

static const struct pool_operations host_pool = {
    .forward = host_pool_forward,
    .backward = host_pool_backward,
};

static const struct activation_operations host_activation = {
    .forward = host_activate,
    .backward = host_activate_backward,
};

static const struct loss_operations host_loss = {
    .cross_entropy = host_cross_entropy,
    .logits = host_logits_loss,
    .squared_error = host_squared_error,
};

static const struct exchange_operations host_exchange = {
    .survey = host_survey,
    .refine = host_refine,
    .cut = host_cut,
    .apply = host_apply,
    .apply_own = host_apply_own,
    .rebase = host_rebase,
    .withhold = host_withhold,
    .release = host_release,
    .track = host_track,
    .drop_covered = host_drop_covered,
    .digest = host_digest,
    .follow = host_follow,
    .round = host_round,
};

struct backend *host_backend(struct backend *device)
{
    static struct backend table;
    if (strcmp(device->name, "cpu") == 0)
        return device;
    device_of_tests = device;
    table = (struct backend){
        .name = device->name,
        .alloc = host_alloc,
        .free = host_free,
        .upload = host_upload,
        .download = host_download,
        .peek = host_peek,
        .dense = &host_dense,
        .conv = &host_conv,
        .pool = &host_pool,
        .activation = &host_activation,
        .loss = &host_loss,
        .exchange = &host_exchange,
        .elements = &host_elements,
        .sequence = &host_sequence,
        .attention = &host_attention,
        .optimize = &host_optimize,
        .channels = &host_channels,
        .gather = &host_gather,
    };
    return &table;
}

int host_backend_opens(void **state)
{
    (void)state;
    backend = host_backend(open_device());
    return 0;
}

int host_backend_opens_in_bf16(void **state)
{
    (void)state;
    numbers_under_test = BFLOAT16;
    backend = host_backend(open_device_in(PRECISION_BF16));
    return 0;
}

int host_backend_closes(void **state)
{
    (void)state;
    numbers_under_test = FLOAT32;
    struct backend *device = gpu_under_test < 0 ? backend : device_of_tests;
    device->close(device);
    return 0;
}
