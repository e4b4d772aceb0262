/* Computes from the configuration how much memory a node needs for each purpose. Allocates none of
 * it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "commands/doctor/doctor.h"
#include "daemon/learner_thread.h"
#include "layers/model_copy.h"

#define PARTS_MAX  16
#define TEXT_BYTES 512

struct part {
    const char *name;
    double bytes;
};

/* The memory of a node by purpose. With a GPU, the first on_device entries are GPU memory. */
struct parts {
    struct part part[PARTS_MAX];
    int count;
    int on_device;
};

static void add(struct parts *parts, const char *name, double bytes)
{
    CHECK(parts->count < PARTS_MAX);
    if (bytes > 0)
        parts->part[parts->count++] = (struct part){name, bytes};
}

static uint32_t moments_of(const struct config *config)
{
    return config->train.enabled ? optimizers[config->train.optimizer].moments : 0;
}

/* Adds the memory outside the device, with what a saver needs only while it saves
 * (state/saver.h). */
static void add_host(struct parts *parts, const struct doctor *doctor)
{
    const struct node_options options = setup_plain_options(&doctor->config, doctor->parameters);
    const struct saver_options saver =
        setup_saver_options(&doctor->config, doctor->parameters, moments_of(&doctor->config));
    add(parts, "checkpoint queue", (double)saver_queue_bytes(&saver));
    add(parts, "averaged base",
        doctor->config.node.averaged_base ? (double)doctor->parameters * sizeof(float) : 0);
    add(parts, "bases being saved", (double)saver_base_bytes(&saver));
    add(parts, "published update", setup_density_max(&doctor->config, doctor->parameters) * 5.0);
    add(parts, "learner queue, at most",
        (double)learner_thread_arena_bytes(
            &(struct learner_thread_options){.apply_window = options.limits.apply_window}));
    add(parts, "node, at most", (double)node_arena_bytes(&options));
}

static struct parts parts_of(const struct doctor *doctor)
{
    const struct config *config = &doctor->config;
    const double vector = (double)doctor->parameters * sizeof(float);
    struct parts parts = {.count = 0};
    add(&parts, "weights", vector);
    add(&parts, "base", vector);
    add(&parts, "withheld updates", setup_holds(config) ? vector / 2 : 0);
    add(&parts, "gradients", config->train.enabled ? vector : 0);
    add(&parts, "gradients of a micro-batch", config->train.micro_batches > 1 ? vector : 0);
    add(&parts, "optimizer moments", moments_of(config) * vector);
    add(&parts, "candidates to publish",
        2.0 * sizeof(uint32_t) * setup_density_max(config, doctor->parameters));
    add(&parts, "evaluated base", config->train.evaluate_s > 0 ? vector : 0);
    add(&parts, "layers", (double)doctor->layers_bytes);
    add(&parts, "data", doctor->data_bytes);
    parts.on_device = parts.count;
    add_host(&parts, doctor);
    return parts;
}

static double sum_of(const struct parts *parts, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += parts->part[i].bytes;
    return sum;
}

static void list(const struct parts *parts, int count, char text[static TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < TEXT_BYTES; i++)
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s %s", i > 0 ? ", " : "",
                                 parts->part[i].name, amount_of(parts->part[i].bytes, "B").text);
}

/* The listed parts do not include scratch buffers (with the logits), cuBLAS, cuDNN and recorded
 * CUDA graphs, which the line shows as one number. */
static void look_at_gpu(struct doctor *doctor, const struct parts *parts)
{
    const struct rehearsal *rehearsal = &doctor->rehearsal;
    const double known = sum_of(parts, 0, parts->on_device), free = (double)rehearsal->free_bytes;
    const double taken = free - (double)rehearsal->left_bytes;
    char text[TEXT_BYTES];
    list(parts, parts->on_device, text);
    if (rehearsal->left_bytes > 0)
        doctor_say(doctor, VERDICT_OK, "GPU memory",
                   "the node needs %s of the %s that are free with CUDA loaded, of %s: %s, scratch "
                   "buffers and libraries %s",
                   amount_of(taken, "B").text, amount_of(free, "B").text,
                   amount_of((double)rehearsal->total_bytes, "B").text, text,
                   amount_of(taken > known ? taken - known : 0, "B").text);
    else
        doctor_say(doctor, VERDICT_FAIL, "GPU memory",
                   "a trial start failed with %s free of %s, with CUDA loaded (%s): the node needs "
                   "%s, and scratch buffers; take a smaller model or batch, more "
                   "train.micro_batches, train.recompute = yes or another device",
                   amount_of(free, "B").text, amount_of((double)rehearsal->total_bytes, "B").text,
                   rehearsal->why, text);
}

/* Returns the available memory of the machine in bytes; 0 = unknown. */
static double available_bytes(void)
{
    char line[128];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) != 1)
            kib = 0;
    if (file)
        (void)fclose(file);
    return (double)kib * 1024;
}

/* Returns the bytes that each GPU except the first needs: weights, gradients (twice with
 * micro-batches), layers for its share of a step, and samples. */
static double further_bytes(const struct config *config, const struct dataset *train,
                            const struct model *model)
{
    const uint32_t parts = setup_parts(config);
    const uint32_t most = config->train.batch == CONFIG_AUTO
                              ? setup_batch_size(config, model).batch_max
                              : config->train.batch;
    const int vectors = config->train.micro_batches > 1 ? 3 : 2;
    struct arena arena;
    arena_init_growing(&arena);
    struct model *copy = model_copy(model, &arena, NULL, (int)((most + parts - 1) / parts));
    const double layers = (double)model_bytes(copy);
    model_free(copy);
    arena_release(&arena);
    return vectors * (double)model_parameters(model) * sizeof(float) + layers +
           (double)dataset_bytes(train);
}

void doctor_count_memory(struct doctor *doctor, const struct dataset *train,
                         const struct dataset *test, const struct model *model)
{
    doctor->layers_bytes = model_bytes(model);
    doctor->data_bytes = (doctor->config.train.enabled ? (double)dataset_bytes(train) : 0) +
                         (double)dataset_bytes(test);
    if (doctor->config.train.enabled && device_count(doctor->config.train.device) > 1)
        doctor->further_bytes = further_bytes(&doctor->config, train, model);
}

void doctor_look_at_memory(struct doctor *doctor)
{
    const struct parts parts = parts_of(doctor);
    const int from = doctor->is_on_gpu ? parts.on_device : 0;
    const double needed = sum_of(&parts, from, parts.count), available = available_bytes();
    const bool is_enough = available <= 0 || needed <= available;
    char text[TEXT_BYTES], there[64] = "", further[64] = "";
    list(&parts, parts.count, text);
    if (doctor->is_on_gpu)
        (void)snprintf(there, sizeof there, " and %s of GPU memory",
                       amount_of(sum_of(&parts, 0, from), "B").text);
    if (doctor->further_bytes > 0)
        (void)snprintf(further, sizeof further, ", and %s on each further GPU",
                       amount_of(doctor->further_bytes, "B").text);
    doctor_say(doctor, is_enough ? VERDICT_OK : VERDICT_WARN, "memory",
               "the node needs %s of the %s that are free%s%s, %.1f bytes for each parameter: %s%s",
               amount_of(needed, "B").text, amount_of(available, "B").text, there, further,
               sum_of(&parts, 0, parts.count) / (double)doctor->parameters, text,
               is_enough ? "" : "; stop other programs, or take a smaller model or batch");
    if (doctor->is_on_gpu && doctor->rehearsal.free_bytes > 0)
        look_at_gpu(doctor, &parts);
}
