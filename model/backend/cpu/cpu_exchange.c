/* The exchange on the CPU: where the residual is derived, cut and added to. */
#include "backend/cpu/cpu_exchange.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "backend/cpu/weights_cursor.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "exchange/survey_simd.h"

#define AHEAD 24 /* entries that are prefetched */

static float residual(float w, int32_t base)
{
    return w - QUANTUM * (float)base;
}

/* A weight moves by this for each level by which the base does. */
static float step_of(uint32_t amount, float beta)
{
    return (1 + beta) * QUANTUM * (float)amount;
}

static int32_t add_wrapping(int32_t base, uint32_t units)
{
    uint32_t sum = (uint32_t)base + units;
    int32_t result;
    memcpy(&result, &sum, sizeof result);
    return result;
}

uint32_t cpu_survey(struct backend *backend, const struct survey *survey, size_t count,
                    struct weights w, const int32_t *base, uint32_t host_bins[HISTOGRAM_BINS])
{
    (void)backend;
    const struct survey_simd *way = survey_simd_way(0);
    uint32_t at[SURVEY_ROOM], bits[SURVEY_ROOM], floor_bits, found = 0;
    struct weights_part part;
    memcpy(&floor_bits, &survey->floor, sizeof floor_bits);
    memset(host_bins, 0, HISTOGRAM_BINS * sizeof *host_bins);
    for (size_t c = 0; c < count; c += part.count) {
        part = weights_part(w, c, count - c < SURVEY_MAX ? count : c + SURVEY_MAX);
        const uint32_t in_piece =
            way->survey((uint32_t)part.count, floor_bits, part.at, base + c, at, bits);
        for (uint32_t i = 0; i < in_piece; i++)
            host_bins[bits[i] >> BIN_BITS]++;
        for (uint32_t i = 0; i < in_piece && found + i < survey->candidates_max; i++)
            survey->candidates[found + i] = (uint32_t)c + at[i];
        found += in_piece;
    }
    return found;
}

void cpu_refine(struct backend *backend, uint32_t found, const uint32_t *candidates,
                struct weights w, const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS])
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    memset(host_parts, 0, BIN_PARTS * sizeof *host_parts);
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t c = candidates[i];
        const float size = fabsf(residual(*weights_at(&weights, c), base[c]));
        const uint32_t bits = bits_of_float(size);
        if (bits >> BIN_BITS == bin)
            host_parts[bits >> PART_BITS & (BIN_PARTS - 1)]++;
    }
}

void cpu_cut(struct backend *backend, uint32_t found, const uint32_t *candidates, float beta,
             struct weights w, int32_t *base, uint32_t capacity, struct update *host_update)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const float tau = host_update->tau;
    const uint32_t amount = host_update->amount;
    const float step = step_of(amount, beta) - tau;
    const float most = (float)update_level_max(amount);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && count < capacity; i++) {
        const uint32_t c = candidates[i];
        float *const weight = weights_at(&weights, c);
        const float r = residual(*weight, base[c]);
        if (!(fabsf(r) >= tau && fabsf(r) <= FLT_MAX)) /* NaN and infinity stay here */
            continue;
        const int level = (int)fmaxf(fminf(r / tau, most), -most);
        host_update->index[count] = c;
        host_update->level[count] = (int8_t)level;
        count++;
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        *weight += step * (float)level;
    }
    host_update->count = count;
}

void cpu_apply(struct backend *backend, const struct update *host_update, float beta,
               struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const uint32_t amount = host_update->amount;
    const float step = step_of(amount, beta);
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        if (i + AHEAD < host_update->count) {
            __builtin_prefetch(&base[host_update->index[i + AHEAD]], 1);
            weights_prefetch(&weights, host_update->index[i + AHEAD]);
        }
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        *weights_at(&weights, c) += step * (float)level;
    }
}

/* How far a weight with residual r moves: by the arithmetic of a cut where r still has it all. */
static float own_move(float r, float tau, float step, float level)
{
    const float left = level > 0 ? r : -r;
    if (left / tau >= fabsf(level))
        return (step - tau) * level;
    return left > 0 ? step * level - r : step * level;
}

void cpu_apply_own(struct backend *backend, const struct update *host_update, float beta,
                   struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const uint32_t amount = host_update->amount;
    const float step = step_of(amount, beta);
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        float *const weight = weights_at(&weights, c);
        *weight += own_move(residual(*weight, base[c]), host_update->tau, step, (float)level);
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
    }
}

void cpu_rebase(struct backend *backend, size_t first, size_t count, const int32_t *host_base,
                struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_part part;
    for (size_t from = first; from < first + count; from += part.count) {
        part = weights_part(w, from, first + count);
        const int32_t *to = host_base + (from - first);
        int32_t *ours = base + from;
        for (size_t c = 0; c < part.count; c++) {
            const float moved = QUANTUM * (float)to[c] + residual(part.at[c], ours[c]);
            part.at[c] = to[c] == ours[c] ? part.at[c] : moved; /* there and back may round */
            ours[c] = to[c];
        }
    }
}

void cpu_hold(struct backend *backend, size_t count, float part, struct weights w,
              const int32_t *base, uint16_t *held)
{
    (void)backend;
    struct weights_part here;
    for (size_t from = 0; from < count; from += here.count) {
        here = weights_part(w, from, count);
        for (size_t c = 0; c < here.count; c++) {
            held[from + c] = half_to_bfloat16(part * residual(here.at[c], base[from + c]));
            here.at[c] -= half_of_bfloat16(held[from + c]);
        }
    }
}

void cpu_release(struct backend *backend, size_t count, const uint16_t *held, struct weights w)
{
    (void)backend;
    struct weights_part here;
    for (size_t from = 0; from < count; from += here.count) {
        here = weights_part(w, from, count);
        for (size_t c = 0; c < here.count; c++)
            here.at[c] += half_of_bfloat16(held[from + c]);
    }
}

/* What of held is let go, if so much should be. */
static float gone(float held, float most)
{
    return held > 0 ? fmaxf(fminf(held, most), 0) : fminf(fmaxf(held, most), 0);
}

void cpu_let_go(struct backend *backend, const struct update *host_update, float part,
                uint16_t *held)
{
    (void)backend;
    const float step = part * host_update->tau;
    for (uint32_t i = 0; i < host_update->count; i++) {
        const uint32_t c = host_update->index[i];
        if (i + AHEAD < host_update->count)
            __builtin_prefetch(&held[host_update->index[i + AHEAD]], 1);
        const float all = half_of_bfloat16(held[c]);
        held[c] = half_to_bfloat16(all - gone(all, step * (float)host_update->level[i]));
    }
}

double cpu_agreement(struct backend *backend, const struct update *host_update, struct weights w,
                     const int32_t *base)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    double along = 0, ours = 0, theirs = 0;
    for (uint32_t i = 0; i < host_update->count; i++) {
        const uint32_t c = host_update->index[i];
        if (i + AHEAD < host_update->count) {
            __builtin_prefetch(&base[host_update->index[i + AHEAD]], 1);
            weights_prefetch(&weights, host_update->index[i + AHEAD]);
        }
        const double r = (double)residual(*weights_at(&weights, c), base[c]),
                     level = host_update->level[i];
        along += level * r;
        ours += r * r;
        theirs += level * level;
    }
    return ours > 0 ? along / sqrt(ours * theirs) : 0;
}

uint64_t cpu_digest(struct backend *backend, size_t count, const int32_t *base)
{
    (void)backend;
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++)
        digest = digest_add(digest, digest_of_entry((uint32_t)c, (uint32_t)base[c]));
    return digest;
}

void cpu_follow(struct backend *backend, enum half_type type, size_t count, const uint16_t *half,
                float *w)
{
    (void)backend;
    for (size_t c = 0; c < count; c++)
        w[c] = half_follow(type, half[c], w[c]);
}

void cpu_round(struct backend *backend, enum half_type type, size_t count, const float *w,
               uint16_t *half)
{
    (void)backend;
    for (size_t c = 0; c < count; c++)
        half[c] = half_to(type, w[c]);
}
