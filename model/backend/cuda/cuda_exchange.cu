/* The exchange on the GPU. It does the same arithmetic for each entry as cpu_exchange.c, so that
 * bases and rumors are equal bit for bit. (It is compiled with -fmad=false, so that multiplications
 * and additions are not fused.) Lists that must be in order, such as the candidates, get their
 * positions from a scan. */
#include <cub/device/device_scan.cuh>

#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_exchange_kernels.h"
#include "backend/error_feedback.h"
#include "base/digest.h"

/* Number of survey blocks for which the registers of a multiprocessor should suffice. At most six,
 * because no device's shared memory holds the bins of more blocks. */
#define SURVEY_BLOCKS (BLOCKS_AT_ONCE < 6 ? BLOCKS_AT_ONCE : 6)

size_t kernel_scan_bytes(size_t count)
{
    size_t bytes = 0;
    uint32_t *none = NULL;
    (void)cub::DeviceScan::ExclusiveSum(NULL, bytes, none, none, (int)count);
    return bytes;
}

cudaError_t kernel_scan(cudaStream_t stream, void *scratch, size_t scratch_bytes, size_t count,
                        uint32_t *numbers)
{
    /* Clears an error of another library, which CUB would otherwise report. */
    (void)cudaGetLastError();
    return cub::DeviceScan::ExclusiveSum(scratch, scratch_bytes, numbers, numbers, (int)count,
                                         stream);
}

/* Number of successive entries that a thread loads at once. */
#define TOGETHER 4
template <typename Number> struct alignas(SURVEY_ALIGNMENT) together {
    Number at[TOGETHER];
};

/* Returns the TOGETHER values of `from` that begin at index `first`; 0 for indexes >= count.
 * all: all of these values exist and are aligned, so one instruction loads them. */
template <bool all, typename Number>
static __device__ together<Number> load(const Number *from, unsigned first, unsigned count)
{
    together<Number> numbers = {};
    if constexpr (all) {
        numbers = *(const together<Number> *)(from + first);
    } else {
        for (unsigned k = 0; k < TOGETHER && first + k < count; k++)
            numbers.at[k] = from[first + k];
    }
    return numbers;
}

/* Returns the element of parts[count] that contains the entry. The elements are ordered by their
 * first entry. Part: struct weights_part or struct weights_copy. */
template <typename Part>
static __device__ const Part *part_of(const Part *parts, uint32_t count, size_t entry)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (parts[middle].first <= entry)
            low = middle;
        else
            high = middle;
    }
    return &parts[low];
}

/* A weight and whether it is a statistic. */
struct weight_place {
    float *at;
    bool is_statistic;
};

static __device__ weight_place place_of(struct weights w, size_t entry)
{
    if (w.flat != NULL)
        return {&w.flat[entry], false};
    const struct weights_part *part = part_of(w.table, w.parts, entry);
    return {part->at + (entry - part->first), part->are_statistics};
}

static __device__ float *weight_at(struct weights w, size_t entry)
{
    return place_of(w, entry).at;
}

struct survey_of {
    uint32_t floor_bits;
    unsigned count;
    struct weights w;
    const int32_t *base;
};

/* Returns the weights of the entries in a line of the bitmap if they are contiguous and aligned for
 * `load`, otherwise NULL. The result is the same for all threads of a warp. */
static __device__ const float *whole_line(const struct survey_of &of, unsigned line)
{
    const size_t first = (size_t)line * BITMAP_LINE;
    if (line >= of.count / BITMAP_LINE)
        return NULL;
    if (of.w.flat != NULL)
        return of.w.flat + first;
    const struct weights_part *part = part_of(of.w.table, of.w.parts, first);
    const float *at = part->at + (first - part->first);
    const bool is_whole = part->first + part->count - first >= BITMAP_LINE;
    return is_whole && (uintptr_t)at % SURVEY_ALIGNMENT == 0 ? at : NULL;
}

/* Returns the weights of TOGETHER entries from `first` on, which may lie in several parts; 0 beyond
 * the last. */
static __device__ together<float> load_weights(const struct survey_of &of, unsigned first)
{
    together<float> weights = {};
    for (unsigned k = 0; k < TOGETHER && first + k < of.count; k++)
        weights.at[k] = *weight_at(of.w, first + k);
    return weights;
}

/* Counts TOGETHER entries in the bins. Returns a bit for each: 1 if it is a candidate. */
template <bool all>
static __device__ uint32_t survey_some(const struct survey_of &of, unsigned first,
                                       together<int32_t> units, together<float> weight,
                                       uint32_t *bins)
{
    uint32_t marks = 0;
#pragma unroll
    for (unsigned k = 0; k < TOGETHER; k++) {
        const float r = residual(weight.at[k], units.at[k], of.w.are_companded);
        const uint32_t bits = residual_bits(r, units.at[k]);
        if (bits >= of.floor_bits && (all || first + k < of.count)) {
            (void)atomicAdd(&bins[bits >> BIN_BITS], 1u);
            marks |= (bits != SATURATED_BITS ? 1u : 0u) << k;
        }
    }
    return marks;
}

/* Number of turns in which a warp surveys a line of the bitmap. */
#define SURVEY_TURNS   (BITMAP_LINE / (WARP * TOGETHER))
#define SURVEY_AT_ONCE 2 /* turns whose entries are loaded before the first is counted */

/* Surveys one line of the bitmap by a warp, in SURVEY_TURNS turns. In each turn each thread
 * reads TOGETHER entries, and the bits of SURVEY_TURNS neighbouring threads form a word. In turn t
 * the thread with rank t among these threads keeps the word. w: result of whole_line if `all`,
 * otherwise unused. Returns the word that this thread has kept. */
template <bool all>
static __device__ uint32_t survey_line(const struct survey_of &of, unsigned line, const float *w,
                                       uint32_t *bins)
{
    const unsigned place = threadIdx.x % WARP, rank = place % SURVEY_TURNS;
    constexpr unsigned at_once = all ? SURVEY_AT_ONCE : 1;
    uint32_t kept = 0;
#pragma unroll 1
    for (unsigned turn = 0; turn < SURVEY_TURNS; turn += at_once) {
        const unsigned at = (turn * WARP + place) * TOGETHER, first = line * BITMAP_LINE + at;
        together<int32_t> units[at_once];
        together<float> weight[at_once];
#pragma unroll
        for (unsigned t = 0; t < at_once; t++) {
            units[t] = load<all>(of.base, first + t * WARP * TOGETHER, of.count);
            if constexpr (all)
                weight[t] = load<all>(w, at + t * WARP * TOGETHER, BITMAP_LINE);
            else
                weight[t] = load_weights(of, first + t * WARP * TOGETHER);
        }
#pragma unroll
        for (unsigned t = 0; t < at_once; t++) {
            uint32_t word =
                survey_some<all>(of, first + t * WARP * TOGETHER, units[t], weight[t], bins)
                << rank * TOGETHER;
#pragma unroll
            for (unsigned apart = 1; apart < SURVEY_TURNS; apart *= 2)
                word |= __shfl_xor_sync(0xFFFFFFFFu, word, apart);
            kept = rank == turn + t ? word : kept;
        }
    }
    return kept;
}

/* Surveys all entries. Each block counts in its own bins in shared memory, and adds them to the
 * common bins at the end. A warp whose line is beyond the last line counts nothing. */
static __global__ void __launch_bounds__(THREADS, SURVEY_BLOCKS)
    survey_entries(struct survey_of of, uint32_t *bins, struct bitmap bitmap)
{
    __shared__ uint32_t own[HISTOGRAM_BINS];
    const unsigned lines = (of.count + BITMAP_LINE - 1) / BITMAP_LINE, place = threadIdx.x % WARP;
    for (unsigned b = threadIdx.x; b < HISTOGRAM_BINS; b += THREADS)
        own[b] = 0;
    __syncthreads();
    for (unsigned first = blockIdx.x * WARPS; first < lines; first += gridDim.x * WARPS) {
        const unsigned line = first + threadIdx.x / WARP;
        const float *whole = whole_line(of, line);
        const uint32_t word = whole != NULL ? survey_line<true>(of, line, whole, own)
                                            : survey_line<false>(of, line, NULL, own);
        const uint32_t marked = warp_sum((uint32_t)__popc(word));
        if (line >= lines)
            continue;
        bitmap.bits[line * BITMAP_WORDS + place % SURVEY_TURNS * TOGETHER + place / SURVEY_TURNS] =
            word;
        if (place == 0)
            bitmap.before[line] = marked;
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < HISTOGRAM_BINS; b += THREADS) {
        if (own[b] > 0)
            (void)atomicAdd(&bins[b], own[b]);
    }
}

/* Queries the occupancy of survey_entries, which fails if no kernel code suits the device. Its bins
 * take much shared memory, so this kernel first asks for the largest shared-memory part of the L1
 * cache. */
cudaError_t kernels_fit(int *survey_blocks)
{
    const cudaError_t error =
        cudaFuncSetAttribute(survey_entries, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared);
    return error != cudaSuccess ? error
                                : cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                      survey_blocks, survey_entries, THREADS, 0);
}

cudaError_t kernel_survey(cudaStream_t stream, int blocks, const struct survey *survey,
                          size_t count, struct weights w, const int32_t *base, uint32_t *bins,
                          struct bitmap bitmap)
{
    const size_t needed = (bitmap_lines(count) + WARPS - 1) / WARPS;
    const size_t most = (size_t)blocks;
    struct survey_of of = {.floor_bits = 0, .count = (unsigned)count, .w = w, .base = base};
    memcpy(&of.floor_bits, &survey->floor, sizeof of.floor_bits);
    if (count > INT_MAX)
        return cudaErrorInvalidValue;
    return launch(stream, needed < most ? needed : most, survey_entries, of, bins, bitmap);
}

/* Lists the candidates. A warp processes a line of the bitmap, a thread one word of it. */
static __global__ void pick(unsigned lines, struct bitmap bitmap, uint32_t *candidates,
                            uint32_t candidates_max, uint32_t *found)
{
    const unsigned place = threadIdx.x % WARP;
    EACH_LINE (line, lines) {
        const unsigned i = line * BITMAP_WORDS + place;
        const uint32_t word = bitmap.bits[i];
        uint32_t at = bitmap.before[line], sum = (uint32_t)__popc(word);
#pragma unroll
        /* A prefix sum over the warp adds to `at` the number of bits in earlier words of the line.
         * At the start of a round, `sum` counts the bits of `apart` words. */
        for (unsigned apart = 1; apart < WARP; apart *= 2) {
            const uint32_t beside = __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
            at += (place & apart) != 0 ? beside : 0;
            sum += beside;
        }
        for (uint32_t left = word; left != 0; left &= left - 1, at++) {
            if (at < candidates_max)
                candidates[at] = i * 32 + (uint32_t)__ffs((int)left) - 1;
        }
        if (line + 1 == lines && place == WARP - 1)
            *found = at;
    }
}

cudaError_t kernel_pick(cudaStream_t stream, size_t count, struct bitmap bitmap,
                        uint32_t *candidates, uint32_t candidates_max, uint32_t *found)
{
    return launch_lines(stream, bitmap_lines(count), pick, bitmap, candidates, candidates_max,
                        found);
}

static __global__ void refine(unsigned found, const uint32_t *candidates, struct weights w,
                              const int32_t *base, uint32_t bin, uint32_t *parts)
{
    EACH (i, found) {
        const uint32_t c = candidates[i];
        const float r = residual(*weight_at(w, c), base[c], w.are_companded);
        const uint32_t bits = residual_bits(r, base[c]);
        if (bits >> BIN_BITS == bin)
            (void)atomicAdd(&parts[bits >> PART_BITS & (BIN_PARTS - 1)], 1u);
    }
}

cudaError_t kernel_refine(cudaStream_t stream, uint32_t found, const uint32_t *candidates,
                          struct weights w, const int32_t *base, uint32_t bin, uint32_t *parts)
{
    return launch_each(stream, found, refine, candidates, w, base, bin, parts);
}

static __global__ void levels(unsigned found, struct cut cut, struct weights w, const int32_t *base)
{
    EACH (i, found) {
        const uint32_t c = cut.candidates[i];
        const weight_place weight = place_of(w, c);
        const float taken =
            taken_by_level(cut.amount, cut.tau, cut.statistics_share, weight.is_statistic);
        const float r = residual(*weight.at, base[c], w.are_companded);
        const int level = level_of(r, base[c], cut.tau, taken, cut.level_max);
        cut.levels[i] = (int8_t)level;
        cut.published_before[i] = level != 0;
    }
}

cudaError_t kernel_levels(cudaStream_t stream, struct cut cut, struct weights w,
                          const int32_t *base)
{
    return launch_each(stream, cut.found, levels, cut, w, base);
}

static __global__ void entries(unsigned found, struct cut cut, struct weights w, int32_t *base)
{
    EACH (i, found) {
        const int level = cut.levels[i];
        const uint32_t at = cut.published_before[i], c = cut.candidates[i];
        if (level != 0 && at < cut.capacity) {
            cut.index[at] = c;
            cut.level[at] = (int8_t)level;
            const weight_place weight = place_of(w, c);
            const float taken =
                taken_by_level(cut.amount, cut.tau, cut.statistics_share, weight.is_statistic);
            const float beta = beta_of(*weight.at, cut.beta, w.are_companded, weight.is_statistic);
            const float step = step_of(cut.amount, beta) - taken;
            base[c] = add_wrapping(base[c], cut.amount * (uint32_t)level);
            *weight.at = moved_weight(*weight.at, step * (float)level, w.are_companded);
        }
        if (i + 1 == found) {
            const uint32_t all = at + (level != 0);
            *cut.count = all < cut.capacity ? all : cut.capacity;
        }
    }
}

cudaError_t kernel_cut(cudaStream_t stream, struct cut cut, struct weights w, int32_t *base)
{
    return launch_each(stream, cut.found, entries, cut, w, base);
}

/* Applies an update. Its indices are all different, so no two threads write one entry. */
static __global__ void apply(unsigned count, struct update update, float beta, bool own,
                             struct weights w, int32_t *base)
{
    EACH (i, count) {
        const uint32_t c = update.index[i];
        const int level = update.level[i];
        const weight_place weight = place_of(w, c);
        const float r = residual(*weight.at, base[c], w.are_companded);
        const float step =
            step_of(update.amount, beta_of(*weight.at, beta, w.are_companded, weight.is_statistic));
        float move = step * (float)level;
        if (own)
            move = weight.is_statistic ? own_move_of_statistic(r, step, (float)level)
                                       : own_move(r, update.tau, step, (float)level);
        *weight.at = moved_weight(*weight.at, move, w.are_companded);
        base[c] = add_wrapping(base[c], update.amount * (uint32_t)level);
    }
}

cudaError_t kernel_apply(cudaStream_t stream, const struct update *update, float beta, bool own,
                         struct weights w, int32_t *base)
{
    return launch_each(stream, update->count, apply, *update, beta, own, w, base);
}

static __global__ void rebase(unsigned count, size_t first, const int32_t *to, struct weights w,
                              int32_t *base)
{
    EACH (c, count) {
        float *const weight = weight_at(w, first + c);
        int32_t *const ours = &base[first + c];
        if (to[c] == *ours)
            /* The weight must stay, bit for bit, but w = QUANTUM·base + r could round. */
            continue;
        const float r = residual(*weight, *ours, w.are_companded);
        *weight = weight_of_value(QUANTUM * (float)to[c] + r, w.are_companded);
        *ours = to[c];
    }
}

cudaError_t kernel_rebase(cudaStream_t stream, size_t first, size_t count, const int32_t *to,
                          struct weights w, int32_t *base)
{
    return launch_each(stream, count, rebase, first, to, w, base);
}

static __global__ void hold(unsigned count, float part, struct weights w, const int32_t *base,
                            uint16_t *withheld)
{
    EACH (c, count) {
        const weight_place weight = place_of(w, c);
        const float r = residual(*weight.at, base[c], w.are_companded);
        const bool plainly = is_moved_plainly(*weight.at, w.are_companded, weight.is_statistic);
        withheld[c] = half_to_bfloat16(withheld_part(r, base[c], part, plainly));
        *weight.at = moved_weight(*weight.at, -half_of_bfloat16(withheld[c]), w.are_companded);
    }
}

cudaError_t kernel_withhold(cudaStream_t stream, size_t count, float part, struct weights w,
                            const int32_t *base, uint16_t *withheld)
{
    return launch_each(stream, count, hold, part, w, base, withheld);
}

static __global__ void release(unsigned count, const uint16_t *withheld, struct weights w)
{
    EACH (c, count) {
        float *const weight = weight_at(w, c);
        *weight = moved_weight(*weight, half_of_bfloat16(withheld[c]), w.are_companded);
    }
}

cudaError_t kernel_release(cudaStream_t stream, size_t count, const uint16_t *withheld,
                           struct weights w)
{
    return launch_each(stream, count, release, withheld, w);
}

static __global__ void track(unsigned count, bool companded, bool counts, float pull,
                             struct statistic at)
{
    EACH (c, count)
        track_statistic(statistic_after(at, c), companded, counts, pull);
}

cudaError_t kernel_track(cudaStream_t stream, size_t count, bool companded, bool counts,
                         float pull, struct statistic at)
{
    return launch_each(stream, count, track, companded, counts, pull, at);
}

static __global__ void drop_covered(unsigned count, struct update update, float step,
                                    uint16_t *withheld)
{
    EACH (i, count) {
        const uint32_t c = update.index[i];
        const float all = half_of_bfloat16(withheld[c]);
        withheld[c] = half_to_bfloat16(all - released(all, step * (float)update.level[i]));
    }
}

cudaError_t kernel_drop_covered(cudaStream_t stream, const struct update *update, float part,
                                uint16_t *withheld)
{
    return launch_each(stream, update->count, drop_covered, *update, part * update->tau, withheld);
}

/* Computes the sums of an agreement in one block, so that they are always added in the same
 * order. */
static __global__ void agree(unsigned count, struct update update, struct weights w,
                             const int32_t *base, double *sums)
{
    __shared__ double shared[THREADS];
    double along = 0, ours = 0, theirs = 0;
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const uint32_t c = update.index[i];
        const double r = (double)residual(*weight_at(w, c), base[c], w.are_companded),
                     level = update.level[i];
        along += level * r;
        ours += r * r;
        theirs += level * level;
    }
    along = block_sum(along, shared);
    ours = block_sum(ours, shared);
    theirs = block_sum(theirs, shared);
    if (threadIdx.x > 0)
        return;
    sums[0] = along;
    sums[1] = ours;
    sums[2] = theirs;
}

cudaError_t kernel_agreement(cudaStream_t stream, const struct update *update, struct weights w,
                             const int32_t *base, double *sums)
{
    return launch(stream, 1, agree, (unsigned)update->count, *update, w, base, sums);
}

static __global__ void add_digest(unsigned count, const int32_t *base, uint32_t *digest)
{
    __shared__ uint32_t shared[THREADS];
    uint32_t low = 0, high = 0;
    EACH (c, count) {
        const uint64_t entry = digest_of_entry(c, (uint32_t)base[c]);
        low += (uint32_t)entry;
        high += (uint32_t)(entry >> 32);
    }
    low = block_sum(low, shared);
    high = block_sum(high, shared);
    if (threadIdx.x == 0) {
        (void)atomicAdd(&digest[0], low);
        (void)atomicAdd(&digest[1], high);
    }
}

cudaError_t kernel_digest(cudaStream_t stream, size_t count, const int32_t *base, uint32_t *digest)
{
    return launch_each(stream, count, add_digest, base, digest);
}

static __global__ void follow(unsigned count, enum half_type type, const uint16_t *half, float *w)
{
    EACH (c, count)
        w[c] = half_follow(type, half[c], w[c]);
}

cudaError_t kernel_follow(cudaStream_t stream, enum half_type type, size_t count,
                          const uint16_t *half, float *w)
{
    return launch_each(stream, count, follow, type, half, w);
}

static __global__ void round_weights(unsigned count, enum half_type type, const float *w,
                                     uint16_t *half)
{
    EACH (c, count)
        half[c] = half_to(type, w[c]);
}

cudaError_t kernel_round(cudaStream_t stream, enum half_type type, size_t count, const float *w,
                         uint16_t *half)
{
    return launch_each(stream, count, round_weights, type, w, half);
}

static __global__ void follow_moved(unsigned moved, struct update update,
                                    const struct weights_copy *copies, uint32_t count, float *w)
{
    EACH (i, moved) {
        const uint32_t c = update.index[i];
        const struct weights_copy *copy = part_of(copies, count, c);
        w[c] = weights_copy_read(copy, c - copy->first, w[c]);
    }
}

cudaError_t kernel_follow_moved(cudaStream_t stream, const struct update *update,
                                const struct weights_copy *copies, uint32_t count, float *w)
{
    return launch_each(stream, update->count, follow_moved, *update, copies, count, w);
}

static __global__ void round_moved(unsigned moved, struct update update,
                                   const struct weights_copy *copies, uint32_t count,
                                   const float *w)
{
    EACH (i, moved) {
        const uint32_t c = update.index[i];
        const struct weights_copy *copy = part_of(copies, count, c);
        weights_copy_write(copy, c - copy->first, w[c]);
    }
}

cudaError_t kernel_round_moved(cudaStream_t stream, const struct update *update,
                               const struct weights_copy *copies, uint32_t count, const float *w)
{
    return launch_each(stream, update->count, round_moved, *update, copies, count, w);
}
