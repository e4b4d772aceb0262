/* Compares a publication's pass over all parameters with reading equal memory. Also measures the
 * times of publishing and applying updates. Uses one thread. Prints medians. The two times of a
 * ratio come from runs in direct sequence. Residuals are Laplace-distributed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cpu/survey_simd.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/system_clock.h"
#include "exchange/replica.h"

#define P      10000000u
#define ROUNDS 15

struct state {
    float *w;
    int32_t *base;
};

/* Draws a number whose absolute value exceeds -0.001 · log(d) with probability d. */
static float laplace(struct rng *rng)
{
    const double size = -0.001 * log(1 - rng_uniform(rng));
    return (float)(rng_below(rng, 2) ? size : -size);
}

static void fill(const struct state *state)
{
    struct rng rng = rng_new(1, 1);
    for (uint32_t c = 0; c < P; c++) {
        state->base[c] = (int32_t)(rng_next(&rng) >> 44) - (1 << 19);
        state->w[c] = QUANTUM * (float)state->base[c] + laplace(&rng);
    }
}

static uint32_t read_all(const struct state *state)
{
    const uint32_t *a = (const uint32_t *)state->w;
    uint32_t sum = 0;
    for (uint32_t c = 0; c < P; c++)
        sum += a[c] ^ (uint32_t)state->base[c];
    return sum;
}

static void add_all(float *restrict a, const float *restrict b)
{
    for (uint32_t c = 0; c < P; c++)
        a[c] += b[c];
}

static uint32_t survey_simd_all(const struct survey_simd *sweep, const struct state *state,
                                float floor, uint32_t bins[static HISTOGRAM_BINS])
{
    uint32_t at[SURVEY_ROOM], bits[SURVEY_ROOM], floor_bits, picked = 0;
    memcpy(&floor_bits, &floor, sizeof floor_bits);
    for (uint32_t c = 0; c < P; c += SURVEY_MAX) {
        const uint32_t piece = P - c < SURVEY_MAX ? P - c : SURVEY_MAX;
        const uint32_t found =
            sweep->survey(piece, floor_bits, state->w + c, state->base + c, false, at, bits);
        for (uint32_t i = 0; i < found; i++)
            bins[bits[i] >> 18]++;
        picked += found;
    }
    return picked;
}

static void measure_pass(const struct state *state, float *other)
{
    static const double densities[] = {0.001, 0.01, 0.03, 0.1};
    static uint32_t bins[HISTOGRAM_BINS];
    volatile uint32_t sink = 0;
    double add[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        const double from = monotonic_s();
        add_all(other, state->w);
        add[round] = monotonic_s() - from;
    }
    printf("one pass over %u parameters, 8 bytes each; a += b moves %.1f GB/s\n", P,
           12e-9 * P / double_median_high(add, ROUNDS));
    printf("%-8s  %13s  %10s  %7s  %s\n", "way", "above a floor", "GB/s: read", "pass",
           "pass / read");
    for (int i = 0; survey_simd_way(i); i++)
        for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
            double read[ROUNDS], pass[ROUNDS];
            uint32_t picked = 0;
            for (int round = 0; round < ROUNDS; round++) {
                const double start = monotonic_s();
                sink = sink + read_all(state);
                const double between = monotonic_s();
                picked = survey_simd_all(survey_simd_way(i), state,
                                         (float)(-0.001 * log(densities[d])), bins);
                read[round] = between - start;
                pass[round] = monotonic_s() - between;
            }
            const double seconds = double_median_high(read, ROUNDS);
            printf("%-8s  %11.1f %%  %10.1f  %7.1f  %.2f\n", survey_simd_way(i)->name,
                   100.0 * picked / P, 8e-9 * P / seconds,
                   8e-9 * P / double_median_high(pass, ROUNDS),
                   seconds / double_median_high(pass, ROUNDS));
        }
}

/* Measures the exchange between two replicas. One publishes and the other applies, as their
 * learners do. Every other update is also compared with the applying replica's own training. */
static void measure_exchange(double density)
{
    struct arena arena;
    struct backend *backend = backend_cpu(1);
    struct replica *replicas[2];
    float *init = malloc(P * sizeof *init);
    CHECK(init);
    arena_init(&arena, (size_t)1 << 28);
    struct rng rng = rng_new(2, 1);
    for (uint32_t c = 0; c < P; c++)
        init[c] = laplace(&rng);
    for (int i = 0; i < 2; i++) {
        replicas[i] = arena_alloc(&arena, 1, sizeof *replicas[i]);
        replica_init(replicas[i], &arena, backend, P, init, P / 10);
    }
    /* compare_ns: time of comparing and applying */
    double publish_ns[ROUNDS], apply_ns[ROUNDS], compare_ns[ROUNDS];
    uint32_t told = 0;
    const struct publish_terms terms = {
        .budget_bytes = (uint32_t)(density * P * 1.3), .share = 0.5, .gain = 1, .beta = 0.3};
    for (int round = -1; round < 2 * ROUNDS - 1; round++) { /* every other round compares */
        for (uint32_t c = 0; c < P; c++)                    /* stands for training */
            weights_all(replicas[0]->weights)[c] += 0.1f * laplace(&rng);
        const double start = monotonic_s();
        const struct update *update = replica_publish(replicas[0], &terms);
        const double between = monotonic_s();
        const bool compares = round % 2 == 0;
        if (compares)
            (void)replica_agreement(replicas[1], update);
        replica_apply(replicas[1], update, (float)terms.beta);
        const double end = monotonic_s();
        told = update->count;
        if (round < 0)
            continue; /* the first publication examines all entries */
        publish_ns[round / 2] = (between - start) * 1e9;
        (compares ? compare_ns : apply_ns)[round / 2] = (end - between) * 1e9 / told;
    }
    printf("%8.2f %%  %16.2f  %16.2f  %24.2f\n", 100.0 * told / P,
           double_median_high(publish_ns, ROUNDS) / P, double_median_high(apply_ns, ROUNDS - 1),
           double_median_high(compare_ns, ROUNDS));
    for (int i = 0; i < 2; i++)
        replica_free(replicas[i]);
    free(init);
    arena_release(&arena);
    backend->close(backend);
}

int main(void)
{
    const size_t bytes = P * sizeof(float);
    struct state state = {aligned_alloc(64, bytes), aligned_alloc(64, bytes)};
    float *other = aligned_alloc(64, bytes);
    CHECK(state.w && state.base && other);
    memset(other, 0, bytes);
    fill(&state);
    measure_pass(&state, other);
    free(state.w);
    free(state.base);
    free(other);
    printf("\n%10s  %17s  %16s  %24s\n", "published", "publish, ns/param", "apply, ns/entry",
           "compare and apply, the same");
    measure_exchange(0.001);
    measure_exchange(0.01);
    measure_exchange(0.05);
    return 0;
}
