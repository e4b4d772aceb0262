/* Prints the table of a model's layers. */
#include "layers/model_private.h"

#define NAME_WIDTH 34

static void put_shape(char *text, size_t capacity, struct shape shape)
{
    if (shape.length > 0)
        (void)snprintf(text, capacity, "%d x %d", shape.length, shape.channels);
    else
        (void)snprintf(text, capacity, "%dx%dx%d", shape.channels, shape.height, shape.width);
}

/* Writes a count with at most four digits and a unit, such as "1230 k" or "12.3 M". */
static void put_count(char *text, size_t capacity, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    while (count >= 10000 && unit + 1 < sizeof units / sizeof units[0]) {
        count /= 1000;
        unit++;
    }
    (void)snprintf(text, capacity, "%.*f%s", unit > 0 && count < 100 ? 1 : 0, count, units[unit]);
}

static void print_row(FILE *out, const char *name, const char *shape, size_t parameters,
                      double flops, double bytes)
{
    char work[24], memory[24];
    put_count(work, sizeof work, flops);
    put_count(memory, sizeof memory, bytes);
    (void)fprintf(out, "%-*s %14s %12zu %10s %10s\n", NAME_WIDTH, name, shape, parameters, work,
                  memory);
}

/* Returns the bytes kept per sample for the backward pass, with a float32 output. */
static double layer_bytes(const struct layer *layer)
{
    double bytes =
        layer->absorbed || !layer->kind->forward ? 0 : (double)shape_size(layer->out) * 4;
    for (int k = 0; k < LAYER_KEPT_MAX; k++)
        bytes += (double)layer->kept_bytes[k];
    return bytes;
}

void model_print(const struct model *model, FILE *out)
{
    double flops = 0, bytes = 0;
    (void)fprintf(out, "%-*s %14s %12s %10s %10s\n", NAME_WIDTH, "layer", "output", "parameters",
                  "FLOP", "bytes");
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        char shape[40], name[LAYER_TEXT_MAX + 2 * LAYER_DEPTH_MAX];
        put_shape(shape, sizeof shape, layer->out);
        (void)snprintf(name, sizeof name, "%*s%s", 2 * layer->depth, "", layer->text);
        flops += layer->flops;
        bytes += layer_bytes(layer);
        if (layer->kind->is_joint)
            (void)fprintf(out, "%s\n", name);
        else
            print_row(out, name, shape, layer_parameters(layer), layer->flops, layer_bytes(layer));
    }
    print_row(out, "all, forward, for each sample", "", model->parameters, flops, bytes);
}
