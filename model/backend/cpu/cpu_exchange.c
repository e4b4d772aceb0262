/* The exchange on the CPU (exchange_operations in backend.h). */
#include "backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/survey_simd.h"
#include "backend/cpu/weights_cursor.h"
#include "backend/error_feedback.h"
#include "base/digest.h"
#include "base/error.h"

#define AHEAD 24 /* number of entries between prefetching an entry and using it */

static uint32_t cpu_survey(struct backend *backend, const struct survey *survey, size_t count,
                           struct weights w, const int32_t *base,
                           uint32_t host_bins[HISTOGRAM_BINS])
{
    (void)backend;
    const struct survey_simd *way = survey_simd_way(0);
    uint32_t at[SURVEY_ROOM], bits[SURVEY_ROOM], floor_bits, found = 0;
    struct weights_part part;
    memcpy(&floor_bits, &survey->floor, sizeof floor_bits);
    memset(host_bins, 0, HISTOGRAM_BINS * sizeof *host_bins);
    for (size_t c = 0; c < count; c += part.count) {
        part = weights_part(w, c, count - c < SURVEY_MAX ? count : c + SURVEY_MAX);
        const uint32_t in_piece = way->survey((uint32_t)part.count, floor_bits, part.at, base + c,
                                              w.are_companded, at, bits);
        for (uint32_t i = 0; i < in_piece; i++) {
            host_bins[bits[i] >> BIN_BITS]++;
            if (bits[i] != SATURATED_BITS && found++ < survey->candidates_max)
                survey->candidates[found - 1] = (uint32_t)c + at[i];
        }
    }
    return found;
}

static void cpu_refine(struct backend *backend, uint32_t found, const uint32_t *candidates,
                       struct weights w, const int32_t *base, uint32_t bin,
                       uint32_t host_parts[BIN_PARTS])
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    memset(host_parts, 0, BIN_PARTS * sizeof *host_parts);
    for (uint32_t i = 0; i < found; i++) {
        const uint32_t c = candidates[i];
        const float r = residual(*weights_at(&weights, c), base[c], w.are_companded);
        const uint32_t bits = residual_bits(r, base[c]);
        if (bits >> BIN_BITS == bin)
            host_parts[bits >> PART_BITS & (BIN_PARTS - 1)]++;
    }
}

static void cpu_cut(struct backend *backend, uint32_t found, const uint32_t *candidates,
                    const struct cut_terms *terms, struct weights w, int32_t *base,
                    struct update *host_update)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const float tau = host_update->tau;
    const uint32_t amount = host_update->amount;
    const float most = (float)update_level_max(amount);
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && count < terms->capacity; i++) {
        const uint32_t c = candidates[i];
        float *const weight = weights_at(&weights, c);
        const bool is_statistic = weights.here.are_statistics;
        const float taken = taken_by_level(amount, tau, terms->statistics_share, is_statistic);
        const float r = residual(*weight, base[c], w.are_companded);
        const int level = level_of(r, base[c], tau, taken, most);
        if (level == 0)
            continue;
        const float beta = beta_of(*weight, terms->beta, w.are_companded, is_statistic);
        const float step = step_of(amount, beta) - taken;
        host_update->index[count] = c;
        host_update->level[count] = (int8_t)level;
        count++;
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        *weight = moved_weight(*weight, step * (float)level, w.are_companded);
    }
    host_update->count = count;
}

static void cpu_apply(struct backend *backend, const struct update *host_update, float beta,
                      struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const uint32_t amount = host_update->amount;
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        if (i + AHEAD < host_update->count) {
            __builtin_prefetch(&base[host_update->index[i + AHEAD]], 1);
            weights_prefetch(&weights, host_update->index[i + AHEAD]);
        }
        float *const weight = weights_at(&weights, c);
        const float step =
            step_of(amount, beta_of(*weight, beta, w.are_companded, weights.here.are_statistics));
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        *weight = moved_weight(*weight, step * (float)level, w.are_companded);
    }
}

static void cpu_apply_own(struct backend *backend, const struct update *host_update, float beta,
                          struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_cursor weights = weights_cursor(w);
    const uint32_t amount = host_update->amount;
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        float *const weight = weights_at(&weights, c);
        const float r = residual(*weight, base[c], w.are_companded);
        const float step =
            step_of(amount, beta_of(*weight, beta, w.are_companded, weights.here.are_statistics));
        const float move = weights.here.are_statistics
                               ? own_move_of_statistic(r, step, (float)level)
                               : own_move(r, host_update->tau, step, (float)level);
        *weight = moved_weight(*weight, move, w.are_companded);
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
    }
}

static void cpu_rebase(struct backend *backend, size_t first, size_t count,
                       const int32_t *host_base, struct weights w, int32_t *base)
{
    (void)backend;
    struct weights_part part;
    for (size_t from = first; from < first + count; from += part.count) {
        part = weights_part(w, from, first + count);
        const int32_t *to = host_base + (from - first);
        int32_t *ours = base + from;
        for (size_t c = 0; c < part.count; c++) {
            if (to[c] == ours[c])
                /* The weight must stay, bit for bit, but w = QUANTUM·base + r could round. */
                continue;
            const float r = residual(part.at[c], ours[c], w.are_companded);
            part.at[c] = weight_of_value(QUANTUM * (float)to[c] + r, w.are_companded);
            ours[c] = to[c];
        }
    }
}

static void cpu_withhold(struct backend *backend, size_t count, float part, struct weights w,
                         const int32_t *base, uint16_t *withheld)
{
    (void)backend;
    struct weights_part here;
    for (size_t from = 0; from < count; from += here.count) {
        here = weights_part(w, from, count);
        for (size_t c = 0; c < here.count; c++) {
            const float r = residual(here.at[c], base[from + c], w.are_companded);
            const bool plainly = is_moved_plainly(here.at[c], w.are_companded, here.are_statistics);
            withheld[from + c] = half_to_bfloat16(withheld_part(r, base[from + c], part, plainly));
            here.at[c] =
                moved_weight(here.at[c], -half_of_bfloat16(withheld[from + c]), w.are_companded);
        }
    }
}

static void cpu_release(struct backend *backend, size_t count, const uint16_t *withheld,
                        struct weights w)
{
    (void)backend;
    struct weights_part here;
    for (size_t from = 0; from < count; from += here.count) {
        here = weights_part(w, from, count);
        for (size_t c = 0; c < here.count; c++)
            here.at[c] =
                moved_weight(here.at[c], half_of_bfloat16(withheld[from + c]), w.are_companded);
    }
}

static void cpu_track(struct backend *backend, size_t count, bool companded, bool counts,
                      float pull, struct statistic at)
{
    (void)backend;
    for (size_t c = 0; c < count; c++)
        track_statistic(statistic_after(at, c), companded, counts, pull);
}

static void cpu_drop_covered(struct backend *backend, const struct update *host_update, float part,
                             uint16_t *withheld)
{
    (void)backend;
    const float step = part * host_update->tau;
    for (uint32_t i = 0; i < host_update->count; i++) {
        const uint32_t c = host_update->index[i];
        if (i + AHEAD < host_update->count)
            __builtin_prefetch(&withheld[host_update->index[i + AHEAD]], 1);
        const float all = half_of_bfloat16(withheld[c]);
        withheld[c] = half_to_bfloat16(all - released(all, step * (float)host_update->level[i]));
    }
}

static double cpu_agreement(struct backend *backend, const struct update *host_update,
                            struct weights w, const int32_t *base)
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
        const double r = (double)residual(*weights_at(&weights, c), base[c], w.are_companded),
                     level = host_update->level[i];
        along += level * r;
        ours += r * r;
        theirs += level * level;
    }
    return ours > 0 ? along / sqrt(ours * theirs) : 0;
}

static uint64_t cpu_digest(struct backend *backend, size_t count, const int32_t *base)
{
    (void)backend;
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++)
        digest = digest_add(digest, digest_of_entry((uint32_t)c, (uint32_t)base[c]));
    return digest;
}

static void cpu_follow(struct backend *backend, enum half_type type, size_t count,
                       const uint16_t *half, float *w)
{
    (void)backend;
    for (size_t c = 0; c < count; c++)
        w[c] = half_follow(type, half[c], w[c]);
}

static void cpu_round(struct backend *backend, enum half_type type, size_t count, const float *w,
                      uint16_t *half)
{
    (void)backend;
    for (size_t c = 0; c < count; c++)
        half[c] = half_to(type, w[c]);
}

/* Returns the copy that contains an entry, searched from `copy` on: the entries of an update
 * ascend. */
static const struct weights_copy *copy_of(const struct weights_copy *copy, size_t entry)
{
    while (entry >= copy->first + copy->count)
        copy++;
    return copy;
}

static void cpu_follow_moved(struct backend *backend, const struct update *host_update,
                             const struct weights_copy *copies, uint32_t count, float *w)
{
    (void)backend, (void)count;
    for (uint32_t i = 0; i < host_update->count; i++) {
        const uint32_t c = host_update->index[i];
        copies = copy_of(copies, c);
        w[c] = weights_copy_read(copies, c - copies->first, w[c]);
    }
}

static void cpu_round_moved(struct backend *backend, const struct update *host_update,
                            const struct weights_copy *copies, uint32_t count, const float *w)
{
    (void)backend, (void)count;
    for (uint32_t i = 0; i < host_update->count; i++) {
        const uint32_t c = host_update->index[i];
        copies = copy_of(copies, c);
        weights_copy_write(copies, c - copies->first, w[c]);
    }
}

static void cpu_reserve(struct backend *backend, size_t count, uint32_t published)
{
    (void)backend, (void)count, (void)published;
}

const struct exchange_operations cpu_exchange = {
    .reserve = cpu_reserve,
    .survey = cpu_survey,
    .refine = cpu_refine,
    .cut = cpu_cut,
    .apply = cpu_apply,
    .apply_own = cpu_apply_own,
    .rebase = cpu_rebase,
    .withhold = cpu_withhold,
    .release = cpu_release,
    .track = cpu_track,
    .drop_covered = cpu_drop_covered,
    .agreement = cpu_agreement,
    .digest = cpu_digest,
    .follow = cpu_follow,
    .round = cpu_round,
    .follow_moved = cpu_follow_moved,
    .round_moved = cpu_round_moved,
};
