/* The exchange on the CPU: where the residual is derived, cut and added to. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu.h"
#include "digest.h"
#include "status.h"

static float residual(float w, int32_t base)
{
    return w - QUANTUM * (float)base;
}

static int32_t add_wrapping(int32_t base, uint32_t units)
{
    uint32_t sum = (uint32_t)base + units;
    int32_t result;
    memcpy(&result, &sum, sizeof result);
    return result;
}

void cpu_histogram(struct backend *backend, size_t count, const float *w, const int32_t *base,
                   uint32_t host_bins[HISTOGRAM_BINS])
{
    (void)backend;
    memset(host_bins, 0, HISTOGRAM_BINS * sizeof *host_bins);
    for (size_t c = 0; c < count; c++) {
        float r = fabsf(residual(w[c], base[c]));
        uint32_t bits;
        memcpy(&bits, &r, sizeof bits);
        host_bins[bits >> 18]++;
    }
}

void cpu_cut(struct backend *backend, size_t count, float *w, int32_t *base, uint32_t capacity,
             struct update *host_update)
{
    (void)backend;
    const float tau = host_update->tau;
    const uint32_t amount = host_update->amount;
    const float step = QUANTUM * (float)amount - tau;
    uint32_t told = 0;
    for (size_t c = 0; c < count && told < capacity; c++) {
        float r = residual(w[c], base[c]);
        if (!(fabsf(r) >= tau && fabsf(r) <= FLT_MAX)) /* not NaN, not infinite: those stay here */
            continue;
        int level = (int)fmaxf(fminf(r / tau, LEVEL_MAX), -LEVEL_MAX);
        host_update->index[told] = (uint32_t)c;
        host_update->level[told] = (int8_t)level;
        told++;
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        w[c] += step * (float)level;
    }
    host_update->count = told;
}

void cpu_hear(struct backend *backend, const struct update *host_update, float *w, int32_t *base)
{
    (void)backend;
    const uint32_t amount = host_update->amount;
    const float step = QUANTUM * (float)amount;
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
        w[c] += step * (float)level;
    }
}

/* How far a weight with residual r moves: by the cut's own arithmetic where r still has it all. */
static float own_move(float r, float tau, float step, float level)
{
    const float left = level > 0 ? r : -r;
    if (left / tau >= fabsf(level))
        return (step - tau) * level;
    return left > 0 ? step * level - r : step * level;
}

void cpu_hear_own(struct backend *backend, const struct update *host_update, float *w,
                  int32_t *base)
{
    (void)backend;
    const uint32_t amount = host_update->amount;
    const float step = QUANTUM * (float)amount;
    for (uint32_t i = 0; i < host_update->count; i++) {
        uint32_t c = host_update->index[i];
        int level = host_update->level[i];
        w[c] += own_move(residual(w[c], base[c]), host_update->tau, step, (float)level);
        base[c] = add_wrapping(base[c], amount * (uint32_t)level);
    }
}

void cpu_rebase(struct backend *backend, size_t count, const int32_t *host_base, float *w,
                int32_t *base)
{
    (void)backend;
    for (size_t c = 0; c < count; c++) {
        const float moved = QUANTUM * (float)host_base[c] + residual(w[c], base[c]);
        w[c] = host_base[c] == base[c] ? w[c] : moved; /* there and back may round */
        base[c] = host_base[c];
    }
}

void cpu_drift(struct backend *backend, size_t count, float beta, float *w, const int32_t *base,
               int32_t *since)
{
    (void)backend;
    const float step = beta * QUANTUM;
    for (size_t c = 0; c < count; c++) {
        w[c] += step * (float)add_wrapping(base[c], 0u - (uint32_t)since[c]);
        since[c] = base[c];
    }
}

uint64_t cpu_digest(struct backend *backend, size_t count, const int32_t *base)
{
    (void)backend;
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++)
        digest = digest_add(digest, digest_of_entry((uint32_t)c, (uint32_t)base[c]));
    return digest;
}
