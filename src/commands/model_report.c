#include "commands/model_report.h"

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"

#define NAME_WIDTH 34
#define MS         1e-6 /* milliseconds in a nanosecond */

static bool computes(const struct layer *layer)
{
    return !layer->absorbed && layer->kind->forward != NULL;
}

static void put_shape(char *text, size_t room, struct shape shape)
{
    if (shape.length > 0)
        (void)snprintf(text, room, "%d x %d", shape.length, shape.channels);
    else
        (void)snprintf(text, room, "%dx%dx%d", shape.channels, shape.height, shape.width);
}

static void print_row(const char *name, const char *shape, const struct timing *timing, double all)
{
    (void)printf("%-*s %14s %12.4f %12.4f %12.4f %6.1f %%\n", NAME_WIDTH, name, shape,
                 MS * timing->mean, MS * timing->deviation, MS * timing->median,
                 100 * timing->mean / all);
}

void model_report_times(const struct model *model, const struct model_times *times,
                        const char *device)
{
    const double all = times->sample.mean > 0 ? times->sample.mean : 1;
    (void)printf("%-*s %14s %12s %12s %12s %8s\n", NAME_WIDTH, "layer", "output", "mean ms",
                 "+- sd ms", "median ms", "of all");
    for (int i = 0; i < model_layers(model); i++) {
        const struct layer *layer = model_layer_at(model, i);
        char shape[40], name[LAYER_TEXT_MAX + 2 * LAYER_DEPTH_MAX];
        put_shape(shape, sizeof shape, layer->out);
        (void)snprintf(name, sizeof name, "%*s%s", 2 * layer->depth, "", layer->text);
        if (computes(layer))
            print_row(name, shape, &times->layer[i], all);
        else if (layer->absorbed)
            (void)printf("%-*s %14s %12s\n", NAME_WIDTH, name, shape, "(in the above)");
        else
            (void)printf("%s\n", name);
    }
    print_row("all, one sample", "", &times->sample, all);
    (void)printf("\nOne sample at a time on %s: %d passes to warm up, %d timed.\n", device,
                 times->passes, times->passes);
}

static json_t *json_of(const struct timing *timing)
{
    return json_pack("{s:f, s:f, s:f}", "mean", MS * timing->mean, "sd", MS * timing->deviation,
                     "median", MS * timing->median);
}

static json_t *json_of_shape(struct shape shape)
{
    if (shape.length > 0)
        return json_pack("[i, i]", shape.length, shape.channels);
    return json_pack("[i, i, i]", shape.channels, shape.height, shape.width);
}

static json_t *json_of_layer(const struct layer *layer, const struct timing *timing)
{
    json_t *row = json_pack("{s:s, s:i, s:o, s:I, s:f}", "layer", layer->text, "depth",
                            layer->depth, "output", json_of_shape(layer->out), "parameters",
                            (json_int_t)layer_parameters(layer), "flop", layer->flops);
    if (timing)
        (void)json_object_set_new(row, "ms", computes(layer) ? json_of(timing) : json_null());
    return row;
}

void model_report_json(const struct model *model, const struct model_times *times,
                       const char *device)
{
    json_t *rows = json_array();
    double flops = 0;
    for (int i = 0; i < model_layers(model); i++) {
        const struct layer *layer = model_layer_at(model, i);
        flops += layer->flops;
        (void)json_array_append_new(rows, json_of_layer(layer, times ? &times->layer[i] : NULL));
    }
    json_t *page = json_pack("{s:s, s:I, s:f, s:o}", "line", model_line(model), "parameters",
                             (json_int_t)model_parameters(model), "flop", flops, "layers", rows);
    CHECK(page);
    if (times) {
        (void)json_object_set_new(page, "device", json_string(device));
        (void)json_object_set_new(page, "passes", json_integer(times->passes));
        (void)json_object_set_new(page, "ms", json_of(&times->sample));
    }
    (void)json_dumpf(page, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    (void)fputc('\n', stdout);
    json_decref(page);
}
