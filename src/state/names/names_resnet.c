/* Names of the tensors of residual nets (He, Zhang, Ren, Sun 2015) in torchvision. Most CIFAR nets
 * for PyTorch have the same names; some use "linear" and "shortcut".
 *
 *   conv, batchnorm, relu, [maxpool]                                         conv1, bn1
 *   residual(conv, batchnorm, relu, conv, batchnorm), relu                   layer1.0.conv1, …
 *   residual(conv, batchnorm, relu, … | conv, batchnorm), relu               layer2.0.downsample.0
 *   avgpool, dense                                                           fc
 *
 * Each stage after the first begins with a block whose shortcut has a convolution. Convolutions
 * have no biases and may have any size.
 */
#include <stdio.h>
#include <string.h>

#include "state/names/name_family.h"

static const char *const spare[] = {".num_batches_tracked", NULL};

const struct name_style names_resnet = {
    .prefix = "",
    .alias = {{"fc.", "linear."}, {".downsample.", ".shortcut."}},
    .spare = spare,
};

/* Position in the model while its layers are compared with those of a ResNet, one by one. */
struct walk {
    struct tensor_names *names;
    const struct model *model;
    int at;     /* index of the next layer */
    int number; /* number of the next layer, without joints (name_parts_is_joint) and dropouts */
};

static bool is_next(const struct walk *walk, const char *word)
{
    const size_t length = strlen(word);
    if (walk->at == model_layers(walk->model))
        return false;
    const char *text = model_layer(walk->model, walk->at);
    return strncmp(text, word, length) == 0 && (text[length] == '\0' || text[length] == ' ');
}

/* If the next layer is of this kind, goes past it and the dropouts after it, and returns true. */
static bool pass(struct walk *walk, const char *word)
{
    if (!is_next(walk, word))
        return false;
    walk->at++;
    walk->number += !name_parts_is_joint(word);
    while (walk->at < model_layers(walk->model) &&
           name_parts_is_dropout(model_layer(walk->model, walk->at)))
        walk->at++;
    return true;
}

/* Names a tensor of the layer that was passed last. Returns false if that layer lacks the
 * tensor. */
static bool put(struct walk *walk, const char *tensor, const char *layer, const char *name)
{
    char full[NAMED_TENSOR_BYTES];
    const struct name_rule rule = {.tensor = tensor, .rows = ROWS_ALL};
    (void)snprintf(full, sizeof full, "%s.%s", layer, name);
    return name_parts_put(walk->names, walk->model, walk->number - 1, &rule, full);
}

/* Goes past a convolution without biases and the norm after it, and names their tensors. Returns
 * false if the next layers are different ones. */
static bool pass_convolution(struct walk *walk, const char *convolution, const char *norm)
{
    return pass(walk, "conv") && put(walk, "conv.weight", convolution, "weight") &&
           !put(walk, "conv.bias", convolution, "bias") && pass(walk, "batchnorm") &&
           put(walk, "batchnorm.weight", norm, "weight") &&
           put(walk, "batchnorm.bias", norm, "bias") &&
           put(walk, "batchnorm.running_mean", norm, "running_mean") &&
           put(walk, "batchnorm.running_var", norm, "running_var");
}

/* Returns true if the next residual has layers in its shortcut. */
static bool has_shortcut(const struct walk *walk)
{
    struct walk ahead = *walk;
    while (ahead.at < model_layers(walk->model) && !is_next(&ahead, ")") && !is_next(&ahead, "|"))
        ahead.at++;
    return is_next(&ahead, "|");
}

/* Goes past a residual block, and names its tensors. Returns false if it is no block. */
static bool pass_block(struct walk *walk, int stage, int block)
{
    char convolution[NAMED_TENSOR_BYTES], norm[NAMED_TENSOR_BYTES];
    bool goes_on = pass(walk, "residual(");
    for (int i = 1; goes_on; i++) {
        (void)snprintf(convolution, sizeof convolution, "layer%d.%d.conv%d", stage, block, i);
        (void)snprintf(norm, sizeof norm, "layer%d.%d.bn%d", stage, block, i);
        if (!pass_convolution(walk, convolution, norm))
            return false;
        goes_on = pass(walk, "relu");
    }
    (void)snprintf(convolution, sizeof convolution, "layer%d.%d.downsample.0", stage, block);
    (void)snprintf(norm, sizeof norm, "layer%d.%d.downsample.1", stage, block);
    if (pass(walk, "|") && !pass_convolution(walk, convolution, norm))
        return false;
    return pass(walk, ")") && pass(walk, "relu");
}

bool names_resnet_put(struct tensor_names *names, const struct model *model)
{
    struct walk walk = {.names = names, .model = model};
    int stage = 1, block = 0;
    bool is_resnet = pass_convolution(&walk, "conv1", "bn1") && pass(&walk, "relu");
    (void)pass(&walk, "maxpool");
    is_resnet = is_resnet && is_next(&walk, "residual(");
    while (is_resnet && is_next(&walk, "residual(")) {
        if (has_shortcut(&walk) && block > 0) {
            stage++;
            block = 0;
        }
        is_resnet = pass_block(&walk, stage, block++);
    }
    return is_resnet && pass(&walk, "avgpool") && pass(&walk, "dense") &&
           put(&walk, "dense.weight", "fc", "weight") && put(&walk, "dense.bias", "fc", "bias") &&
           walk.at == model_layers(model);
}
