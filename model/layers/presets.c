/* Layers lines of well-known models, and functions that find a size in a line without parsing
 * it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "layers/model.h"

/* BLOCK: residual block of two convolutions with batch norms (He, Zhang, Ren, Sun 2015).
 * HALVING: first block of a stage, which halves height and width. BODY: the layers inside both. */
#define BODY(first, second)                                                                        \
    "conv " first " pad 1 plain, batchnorm, relu, conv " second " pad 1 plain, batchnorm"
#define BLOCK(f) "residual(" BODY(f " 3x3", f " 3x3") "), relu"
#define HALVING(f)                                                                                 \
    "residual(" BODY(f " 3x3 stride 2", f " 3x3") " | conv " f " 1x1 stride 2 plain, batchnorm), " \
                                                  "relu, "

static const struct {
    const char *name;
    const char *line;
} presets[] = {
    {"xor", "dense 8, tanh, dense 2"},
    {"mlp", "dense 256, relu, dense 128, relu, dense 10"},
    {"lenet", "conv 16 5x5 pad 2, relu, maxpool 2, conv 32 5x5 pad 2, relu, maxpool 2, "
              "dense 128, relu, dense 10"},
    {"resnet20", "conv 16 3x3 pad 1 plain, batchnorm, relu, "
                 "3 * (" BLOCK("16") "), " HALVING("32") "2 * (" BLOCK("32") "), " HALVING(
                     "64") "2 * (" BLOCK("64") "), avgpool, dense 10"},
    {"resnet18", "conv 64 3x3 pad 1 plain, batchnorm, relu, "
                 "2 * (" BLOCK("64") "), " HALVING("128") BLOCK("128") ", " HALVING("256")
                     BLOCK("256") ", " HALVING("512") BLOCK("512") ", avgpool, dense 10"},
    {"gpt-char", "embed 256 128, position 256, "
                 "4 * (residual(norm, attention 4), residual(norm, dense 512, gelu, dense 128)), "
                 "norm, logits tied"},
    {"gpt-mini", "embed 256 384, position 256, "
                 "6 * (residual(norm, attention 6), residual(norm, dense 1536, gelu, dense 384)), "
                 "norm, logits tied"},
    {"gpt2-124m", "embed 50257 768, position 1024, "
                  "12 * (residual(norm, attention 12), "
                  "residual(norm, dense 3072, gelu, dense 768)), norm, logits tied"},
    {"llama-124m", "embed 50257 768, "
                   "12 * (residual(rmsnorm, attention 12 rope plain), "
                   "residual(rmsnorm, dense 4096 plain, swiglu, dense 768 plain)), "
                   "rmsnorm, logits tied"},
};

#define PRESETS (sizeof presets / sizeof presets[0])

const char *model_preset(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].line;
    }
    return NULL;
}

const char *model_preset_name(int i)
{
    return i < (int)PRESETS ? presets[i].name : NULL;
}

void model_preset_fit(char line[static MODEL_LINE_MAX], int classes, bool is_final)
{
    char *last = strrchr(line, ',');
    int outputs;
    const bool is_dense = last && sscanf(last, ", dense %7d", &outputs) == 1;
    if (is_dense && (is_final || classes > outputs))
        (void)snprintf(last, MODEL_LINE_MAX - (size_t)(last - line), ", dense %d", classes);
}

struct words_hint model_preset_hint(const char *name)
{
    const char *known[PRESETS];
    for (size_t i = 0; i < PRESETS; i++)
        known[i] = presets[i].name;
    return words_hint(name, known, PRESETS);
}

int model_line_tokens(const char *line)
{
    static const char embed[] = "embed";
    int tokens = 0;
    line += strspn(line, " \t");
    if (strncasecmp(line, embed, sizeof embed - 1) != 0 ||
        sscanf(line + sizeof embed - 1, "%7d", &tokens) != 1)
        return 0;
    return int_max(tokens, 0);
}

int model_line_width(const char *line)
{
    static const char dense[] = "dense";
    int width = 0;
    for (const char *at = line; *at != '\0'; at++) {
        const bool is_word = at == line || !isalpha((unsigned char)at[-1]);
        int out;
        if (is_word && strncasecmp(at, dense, sizeof dense - 1) == 0 &&
            sscanf(at + sizeof dense - 1, "%7d", &out) == 1 && out > width)
            width = out;
    }
    return width;
}
