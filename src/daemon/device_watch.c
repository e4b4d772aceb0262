#include "daemon/device_watch.h"

#include "daemon/json_fields.h"

#define HUNG_TIMES 10 /* a step hangs if it takes this many times the usual time of a step */
/* no step hangs before 10 s, since a busy system may delay a step */
#define HUNG_NS_MIN 10000000000ull
#define STEPS_KNOWN 16  /* the usual time of a step is known after this many steps */
#define NEW_PART    0.2 /* weight of the last second in the moving average of FLOPS */

void device_watch_init(struct device_watch *watch, const struct device_watch_options *options)
{
    *watch = (struct device_watch){.options = *options};
}

void device_watch_on_step(struct device_watch *watch, const struct learner_event *event)
{
    CHECK(event->kind == LEARNER_STEPPED);
    for (int bin = 0; bin < TIME_SPENT_BINS; bin++)
        watch->steps += event->spent.steps[bin];
    watch->steps_ns += event->spent.steps_ns;
    watch->samples += event->samples;
    if (event->memory.total > 0)
        watch->memory = event->memory;
}

static void count_second(struct device_watch *watch)
{
    const double flops = (double)watch->samples * watch->options.sample_flops;
    watch->samples = 0;
    if (flops > 0)
        watch->flops_per_s +=
            watch->flops_per_s > 0 ? NEW_PART * (flops - watch->flops_per_s) : flops;
}

static bool takes_too_long(const struct device_watch *watch, uint64_t lasts_ns)
{
    const bool is_gpu = watch->memory.total > 0;
    return is_gpu && watch->steps >= STEPS_KNOWN && lasts_ns > HUNG_NS_MIN &&
           lasts_ns / HUNG_TIMES > watch->steps_ns / watch->steps;
}

static void say(const struct device_watch *watch, uint64_t now_ns, uint64_t lasts_ns)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "the GPU has not answered for %.0f s, and a step usually takes %.3g s: the "
                   "driver may hang; run nvidia-smi and dmesg, and if the GPU stays silent, "
                   "restart the node or the machine",
                   (double)lasts_ns * 1e-9, (double)watch->steps_ns * 1e-9 / (double)watch->steps);
    event_log_say(watch->options.report, now_ns, NOTE_DEVICE, LEVEL_ERROR, text);
}

void device_watch_on_second(struct device_watch *watch, uint64_t now_ns, uint64_t working_ns)
{
    const uint64_t lasts_ns = working_ns > 0 && now_ns > working_ns ? now_ns - working_ns : 0;
    const bool is_hung = takes_too_long(watch, lasts_ns);
    count_second(watch);
    if (is_hung && !watch->is_hung)
        say(watch, now_ns, lasts_ns);
    if (!is_hung && watch->is_hung)
        event_log_say(watch->options.report, now_ns, NOTE_DEVICE, LEVEL_INFO,
                      "the GPU has answered");
    watch->is_hung = is_hung;
}

json_t *device_watch_json(const struct device_watch *watch)
{
    const double peak = watch->options.peak_flops;
    const struct device_memory *memory = &watch->memory;
    json_t *object = json_object();
    json_put(object, "is_hung", json_boolean(watch->is_hung));
    json_put(object, "memory_free_bytes",
             memory->total > 0 ? json_integer((json_int_t)memory->free) : NULL);
    json_put(object, "memory_bytes",
             memory->total > 0 ? json_integer((json_int_t)memory->total) : NULL);
    json_put(object, "model_flops_per_s",
             watch->flops_per_s > 0 ? json_real(watch->flops_per_s) : NULL);
    json_put(object, "peak_part",
             peak > 0 && watch->flops_per_s > 0 ? json_real(watch->flops_per_s / peak) : NULL);
    return object;
}
