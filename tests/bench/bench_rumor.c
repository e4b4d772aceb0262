/* Measures how fast rumors are encoded and decoded, and how close their size is to the entropy.
 *
 * Draws one update of Laplace-distributed residuals per density and cuts it into rumors. "body" is
 * the codec only; "rumor" includes hash and signature. Prints medians of CPU times.
 */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/system_clock.h"
#include "support/base/updates.h"
#include "wire/body_codec.h"
#include "wire/rumor.h"

#define ENTRIES    400000
#define RUNS       11
#define RUMORS_MAX 64

static uint32_t index_of[ENTRIES];
static int8_t level_of[ENTRIES];
static uint32_t heard_index[RUMOR_ENTRIES_MAX];
static int8_t heard_level[RUMOR_ENTRIES_MAX];
static uint8_t wire[RUMORS_MAX][RUMOR_MAX];
static size_t wire_bytes[RUMORS_MAX];
static uint32_t wire_from[RUMORS_MAX + 1];

static struct update told = {.tau = 0.01f, .amount = 1000, .index = index_of, .level = level_of};

static int encode_all(const struct identity *identity, const uint8_t *context)
{
    struct rumor_head head = {.seq = 0};
    memcpy(head.origin, identity->id, ID_BYTES);
    int rumors = 0;
    uint32_t from = 0;
    while (from < ENTRIES) {
        CHECK(rumors < RUMORS_MAX);
        uint32_t taken;
        rumor_encode(&head, &told, from, RUMOR_MAX, identity, context, wire[rumors], &taken,
                     &wire_bytes[rumors]);
        wire_from[rumors++] = from;
        from += taken;
        head.seq++;
        head.prev[0] = 1;
    }
    wire_from[rumors] = ENTRIES;
    return rumors;
}

static void decode_all(int rumors, const uint8_t *context, uint64_t parameters)
{
    struct update heard = {.index = heard_index, .level = heard_level};
    for (int i = 0; i < rumors; i++)
        CHECK(rumor_decode(wire[i], wire_bytes[i], context, parameters, RUMOR_ENTRIES_MAX,
                           &heard) == OK);
}

static void encode_bodies(void)
{
    static uint8_t out[RUMOR_MAX];
    struct body_plan plan;
    for (uint32_t from = 0; from < ENTRIES; from += plan.count) {
        body_plan_make(&plan, index_of + from, level_of + from, ENTRIES - from,
                       RUMOR_MAX - HEAD_BYTES - SIGNATURE_BYTES);
        (void)body_encode(&plan, index_of + from, level_of + from, out);
    }
}

static void decode_bodies(int rumors, uint64_t parameters)
{
    for (int i = 0; i < rumors; i++)
        CHECK(body_decode(wire[i] + HEAD_BYTES, wire_bytes[i] - HEAD_BYTES - SIGNATURE_BYTES,
                          parameters, wire_from[i + 1] - wire_from[i], heard_index,
                          heard_level) == OK);
}

static void bench_density(double density, const struct identity *identity, const uint8_t *context)
{
    uint64_t parameters = draw_update(&told, ENTRIES, density, LAPLACE, 1);
    double seconds[4][RUNS];
    int rumors = 0;
    for (int run = 0; run < RUNS; run++) {
        double start = system_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        rumors = encode_all(identity, context);
        double encoded = system_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        decode_all(rumors, context, parameters);
        double decoded = system_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        encode_bodies();
        double bodies_encoded = system_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        decode_bodies(rumors, parameters);
        seconds[0][run] = bodies_encoded - decoded;
        seconds[1][run] = system_clock_s(CLOCK_PROCESS_CPUTIME_ID) - bodies_encoded;
        seconds[2][run] = encoded - start;
        seconds[3][run] = decoded - encoded;
    }
    double rate[4];
    for (int i = 0; i < 4; i++)
        rate[i] = ENTRIES / double_median_high(seconds[i], RUNS) * 1e-6;
    double bytes = 0;
    for (int i = 0; i < rumors; i++)
        bytes += (double)wire_bytes[i];
    printf("%7g  %6d  %10.2f  %12.4f  %9.0f %9.0f  %9.0f %9.0f\n", density, rumors,
           8 * bytes / ENTRIES, 8 * bytes / entropy_bits(&told, parameters), rate[0], rate[1],
           rate[2], rate[3]);
}

int main(void)
{
    static const uint8_t seed[SEED_BYTES] = {1};
    static const uint8_t context[CONTEXT_BYTES] = {2};
    struct identity identity;
    secret_start();
    identity_from_seed(&identity, seed);
    printf("M entries/s                              body: encode    decode  "
           "rumor: enc       dec\n"
           "density  rumors  bits/entry  size/entropy\n");
    bench_density(1e-3, &identity, context);
    bench_density(1e-2, &identity, context);
    bench_density(1e-1, &identity, context);
    bench_density(0.3, &identity, context);
    return 0;
}
