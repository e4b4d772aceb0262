/* The exchange on a GPU. Only updates, parts of a base and small results are copied between host
 * and device. */

#include <math.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_exchange_kernels.h"

static void *exchange_scratch(struct cuda *cuda, size_t bytes)
{
    (void)cuda_buffer_grows(cuda, &cuda->exchange, bytes);
    return cuda->exchange.memory;
}

struct survey_scratch {
    uint32_t *counts;     /* [HISTOGRAM_BINS + 1] bins, then the number of candidates */
    struct bitmap bitmap; /* a bit for each entry: 1 = candidate */
    void *scan;           /* scratch buffer of kernel_scan */
    size_t scan_bytes;
};

static struct survey_scratch lay_survey(struct layout *layout, size_t count)
{
    const size_t lines = bitmap_lines(count);
    struct survey_scratch scratch = {.scan_bytes = kernel_scan_bytes(lines)};
    scratch.counts = cuda_part(layout, (HISTOGRAM_BINS + 1) * sizeof *scratch.counts);
    scratch.bitmap.bits = cuda_part(layout, lines * BITMAP_WORDS * sizeof *scratch.bitmap.bits);
    scratch.bitmap.before = cuda_part(layout, lines * sizeof *scratch.bitmap.before);
    scratch.scan = cuda_part(layout, scratch.scan_bytes);
    return scratch;
}

static struct survey_scratch survey_scratch(struct cuda *cuda, size_t count)
{
    struct layout measured = {0};
    (void)lay_survey(&measured, count);
    struct layout laid = {.memory = exchange_scratch(cuda, measured.bytes)};
    return lay_survey(&laid, count);
}

/* Downloads a small result through a parcel of pinned memory, which the device writes directly. For
 * other host memory the driver would make an additional copy. */
static void download_small(struct backend *backend, void *host_to, const void *from, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    const struct parcel *parcel = &cuda->parcels[cuda->parcels_sent++ % PARCELS];
    CHECK(bytes <= PARCEL_BYTES);
    /* Waits until the device has read the parcel's last upload. */
    cuda_check(cudaEventSynchronize(parcel->fetched), "download");
    cuda_download(backend, parcel->memory, from, bytes);
    memcpy(host_to, parcel->memory, bytes);
}

static bool is_survey_aligned(const void *numbers)
{
    return (uintptr_t)numbers % SURVEY_ALIGNMENT == 0;
}

static uint32_t cuda_survey(struct backend *backend, const struct survey *survey, size_t count,
                            struct weights w, const int32_t *base,
                            uint32_t host_bins[HISTOGRAM_BINS])
{
    struct cuda *cuda = cuda_on(backend);
    const struct survey_scratch scratch = survey_scratch(cuda, count);
    uint32_t counts[HISTOGRAM_BINS + 1];
    CHECK((!w.flat || is_survey_aligned(w.flat)) && is_survey_aligned(base));
    cuda_check(cudaMemsetAsync(scratch.counts, 0, sizeof counts, cuda->stream), "survey");
    cuda_check(kernel_survey(cuda->stream, cuda->survey_blocks, survey, count, w, base,
                             scratch.counts, scratch.bitmap),
               "survey");
    cuda_check(kernel_scan(cuda->stream, scratch.scan, scratch.scan_bytes, bitmap_lines(count),
                           scratch.bitmap.before),
               "survey");
    cuda_check(kernel_pick(cuda->stream, count, scratch.bitmap, survey->candidates,
                           survey->candidates_max, scratch.counts + HISTOGRAM_BINS),
               "survey");
    download_small(backend, counts, scratch.counts, sizeof counts);
    memcpy(host_bins, counts, HISTOGRAM_BINS * sizeof *host_bins);
    return counts[HISTOGRAM_BINS];
}

static void cuda_refine(struct backend *backend, uint32_t found, const uint32_t *candidates,
                        struct weights w, const int32_t *base, uint32_t bin,
                        uint32_t host_parts[BIN_PARTS])
{
    struct cuda *cuda = cuda_on(backend);
    const size_t bytes = BIN_PARTS * sizeof *host_parts;
    uint32_t *parts = exchange_scratch(cuda, bytes);
    cuda_check(cudaMemsetAsync(parts, 0, bytes, cuda->stream), "refine");
    cuda_check(kernel_refine(cuda->stream, found, candidates, w, base, bin, parts), "refine");
    cuda_download(backend, host_parts, parts, bytes);
}

struct cut_scratch {
    struct cut cut;
    void *scan;
    size_t scan_bytes;
};

static struct cut_scratch lay_cut(struct layout *layout, uint32_t found, uint32_t capacity)
{
    struct cut_scratch scratch = {.cut = {.found = found, .capacity = capacity},
                                  .scan_bytes = kernel_scan_bytes(found)};
    scratch.cut.levels = cuda_part(layout, found);
    scratch.cut.published_before = cuda_part(layout, found * sizeof *scratch.cut.published_before);
    scratch.cut.index = cuda_part(layout, capacity * sizeof *scratch.cut.index);
    scratch.cut.level = cuda_part(layout, capacity);
    scratch.cut.count = cuda_part(layout, sizeof *scratch.cut.count);
    scratch.scan = cuda_part(layout, scratch.scan_bytes);
    return scratch;
}

static struct cut_scratch cut_scratch(struct cuda *cuda, uint32_t found, uint32_t capacity)
{
    struct layout measured = {0};
    (void)lay_cut(&measured, found, capacity);
    struct layout laid = {.memory = exchange_scratch(cuda, measured.bytes)};
    return lay_cut(&laid, found, capacity);
}

/* Reserves the scratch buffers of a survey and a cut. Applying another node's update of the same
 * size takes less memory than the cut. */
static void cuda_reserve(struct backend *backend, size_t count, uint32_t published)
{
    struct cuda *cuda = cuda_on(backend);
    (void)survey_scratch(cuda, count);
    (void)cut_scratch(cuda, published, published);
}

static void cuda_cut(struct backend *backend, uint32_t found, const uint32_t *candidates,
                     const struct cut_terms *terms, struct weights w, int32_t *base,
                     struct update *host_update)
{
    struct cuda *cuda = cuda_on(backend);
    host_update->count = 0;
    if (found == 0 || terms->capacity == 0)
        return;
    struct cut_scratch scratch = cut_scratch(cuda, found, u32_min(terms->capacity, found));
    scratch.cut.tau = host_update->tau;
    scratch.cut.beta = terms->beta;
    scratch.cut.statistics_share = terms->statistics_share;
    scratch.cut.level_max = (float)update_level_max(host_update->amount);
    scratch.cut.amount = host_update->amount;
    scratch.cut.candidates = candidates;
    cuda_check(kernel_levels(cuda->stream, scratch.cut, w, base), "cut");
    cuda_check(kernel_scan(cuda->stream, scratch.scan, scratch.scan_bytes, found,
                           scratch.cut.published_before),
               "cut");
    cuda_check(kernel_cut(cuda->stream, scratch.cut, w, base), "cut");
    cuda_download(backend, &host_update->count, scratch.cut.count, sizeof host_update->count);
    cuda_check(cudaMemcpyAsync(host_update->index, scratch.cut.index,
                               host_update->count * sizeof *host_update->index,
                               cudaMemcpyDeviceToHost, cuda->stream),
               "cut");
    cuda_download(backend, host_update->level, scratch.cut.level, host_update->count);
}

/* Uploads the update's entries to the scratch buffer, behind its first `scratch` bytes.
 * `scratch` is a multiple of 8. Returns the update with pointers to device memory. */
static struct update carried_behind(struct backend *backend, const struct update *host_update,
                                    size_t scratch)
{
    const size_t index_bytes = host_update->count * sizeof *host_update->index;
    struct update update = *host_update;
    CHECK(scratch % 8 == 0);
    uint8_t *at = exchange_scratch(cuda_on(backend), scratch + index_bytes + host_update->count);
    update.index = (uint32_t *)(void *)(at + scratch);
    update.level = (int8_t *)update.index + index_bytes;
    cuda_upload(backend, update.index, host_update->index, index_bytes);
    cuda_upload(backend, update.level, host_update->level, host_update->count);
    return update;
}

static struct update carried(struct backend *backend, const struct update *host_update)
{
    return carried_behind(backend, host_update, 0);
}

static void apply(struct backend *backend, const struct update *host_update, float beta, bool own,
                  struct weights w, int32_t *base)
{
    struct cuda *cuda = cuda_on(backend);
    const struct update update = carried(backend, host_update);
    cuda_check(kernel_apply(cuda->stream, &update, beta, own, w, base), "hearing");
    cuda_check(cudaEventRecord(cuda->base_written, cuda->stream), "hearing");
}

static void cuda_apply(struct backend *backend, const struct update *host_update, float beta,
                       struct weights w, int32_t *base)
{
    apply(backend, host_update, beta, false, w, base);
}

static void cuda_apply_own(struct backend *backend, const struct update *host_update, float beta,
                           struct weights w, int32_t *base)
{
    apply(backend, host_update, beta, true, w, base);
}

static void cuda_rebase(struct backend *backend, size_t first, size_t count,
                        const int32_t *host_base, struct weights w, int32_t *base)
{
    struct cuda *cuda = cuda_on(backend);
    int32_t *to = exchange_scratch(cuda, count * sizeof *to);
    cuda_upload(backend, to, host_base, count * sizeof *to);
    cuda_check(kernel_rebase(cuda->stream, first, count, to, w, base), "taking over a base");
    cuda_check(cudaEventRecord(cuda->base_written, cuda->stream), "taking over a base");
}

static void cuda_withhold(struct backend *backend, size_t count, float part, struct weights w,
                          const int32_t *base, uint16_t *withheld)
{
    cuda_check(kernel_withhold(cuda_on(backend)->stream, count, part, w, base, withheld),
               "holding back a residual");
}

static void cuda_release(struct backend *backend, size_t count, const uint16_t *withheld,
                         struct weights w)
{
    cuda_check(kernel_release(cuda_on(backend)->stream, count, withheld, w),
               "giving back what is withheld");
}

static void cuda_track(struct backend *backend, size_t count, bool companded, bool counts,
                       float pull, struct statistic at)
{
    cuda_check(kernel_track(cuda_on(backend)->stream, count, companded, counts, pull, at),
               "following statistics");
}

static void cuda_drop_covered(struct backend *backend, const struct update *host_update, float part,
                              uint16_t *withheld)
{
    const struct update update = carried(backend, host_update);
    cuda_check(kernel_drop_covered(cuda_on(backend)->stream, &update, part, withheld),
               "letting go of what is withheld back");
}

static double cuda_agreement(struct backend *backend, const struct update *host_update,
                             struct weights w, const int32_t *base)
{
    double sums[3];
    const struct update update = carried_behind(backend, host_update, sizeof sums);
    double *on_device = (double *)(void *)((uint8_t *)update.index - sizeof sums);
    cuda_check(kernel_agreement(cuda_on(backend)->stream, &update, w, base, on_device),
               "comparing an update with the residual");
    cuda_download(backend, sums, on_device, sizeof sums);
    return sums[1] > 0 ? sums[0] / sqrt(sums[1] * sums[2]) : 0;
}

static uint64_t cuda_digest(struct backend *backend, size_t count, const int32_t *base)
{
    struct cuda *cuda = cuda_on(backend);
    uint32_t lanes[2], *sums = exchange_scratch(cuda, sizeof lanes);
    cuda_check(cudaMemsetAsync(sums, 0, sizeof lanes, cuda->stream), "digest");
    cuda_check(kernel_digest(cuda->stream, count, base, sums), "digest");
    cuda_download(backend, lanes, sums, sizeof lanes);
    return (uint64_t)lanes[1] << 32 | lanes[0];
}

static void cuda_follow(struct backend *backend, enum half_type type, size_t count,
                        const uint16_t *half, float *w)
{
    cuda_check(kernel_follow(cuda_on(backend)->stream, type, count, half, w), "following");
}

static void cuda_round(struct backend *backend, enum half_type type, size_t count, const float *w,
                       uint16_t *half)
{
    cuda_check(kernel_round(cuda_on(backend)->stream, type, count, w, half), "rounding");
}

static void cuda_follow_moved(struct backend *backend, const struct update *host_update,
                              const struct weights_copy *copies, uint32_t count, float *w)
{
    const struct update update = carried(backend, host_update);
    cuda_check(kernel_follow_moved(cuda_on(backend)->stream, &update, copies, count, w),
               "following");
}

static void cuda_round_moved(struct backend *backend, const struct update *host_update,
                             const struct weights_copy *copies, uint32_t count, const float *w)
{
    const struct update update = carried(backend, host_update);
    cuda_check(kernel_round_moved(cuda_on(backend)->stream, &update, copies, count, w), "rounding");
}

const struct exchange_operations cuda_exchange = {
    .reserve = cuda_reserve,
    .survey = cuda_survey,
    .refine = cuda_refine,
    .cut = cuda_cut,
    .apply = cuda_apply,
    .apply_own = cuda_apply_own,
    .rebase = cuda_rebase,
    .withhold = cuda_withhold,
    .release = cuda_release,
    .track = cuda_track,
    .drop_covered = cuda_drop_covered,
    .agreement = cuda_agreement,
    .digest = cuda_digest,
    .follow = cuda_follow,
    .round = cuda_round,
    .follow_moved = cuda_follow_moved,
    .round_moved = cuda_round_moved,
};
