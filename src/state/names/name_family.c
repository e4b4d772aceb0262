#include "state/names/name_family.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

#define ARENA_BYTES ((size_t)1 << 20)

static const struct name_family *const families[] = {&names_gpt2, &names_llama};
#define FAMILIES (sizeof families / sizeof families[0])

const struct name_family *name_family_find(const char *model_type)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(families[i]->model_type, model_type) == 0)
            return families[i];
    return NULL;
}

/* Derives the dimensions from some of the layers. The caller then checks all with same_layers. */
static void look_at(const struct model *model, struct transformer *transformer)
{
    int first_dense = 0;
    bool is_gated = false;
    *transformer = (struct transformer){.positions = model_input(model).length};
    for (int i = 0; i < model_layers(model); i++) {
        const char *text = model_layer(model, i);
        int heads = 0, kv_heads = 0, units = 0;
        (void)sscanf(text, "embed %d %d", &transformer->tokens, &transformer->width);
        (void)sscanf(text, "position %d", &transformer->positions);
        if (sscanf(text, "dense %d", &units) == 1 && first_dense == 0)
            first_dense = units;
        const int found = sscanf(text, "attention %d kv %d", &heads, &kv_heads);
        if (found >= 1) {
            transformer->blocks++;
            transformer->heads = heads;
            transformer->kv_heads = found == 2 ? kv_heads : heads;
        }
        is_gated |= strcmp(text, "swiglu") == 0;
    }
    const char *last = model_layer(model, model_layers(model) - 1);
    transformer->inner = is_gated ? first_dense / 2 : first_dense;
    transformer->head = strcmp(last, "logits tied") == 0 ? HEAD_TIED
                        : strcmp(last, "logits") == 0    ? HEAD_LOGITS
                                                         : HEAD_DENSE;
}

/* Ignores dropouts of `model`; `other` must have none. */
static bool same_layers(const struct model *model, const struct model *other)
{
    int k = 0;
    for (int i = 0; i < model_layers(model); i++) {
        if (name_parts_is_dropout(model_layer(model, i)))
            continue;
        if (k == model_layers(other) || strcmp(model_layer(model, i), model_layer(other, k)) != 0)
            return false;
        k++;
    }
    return k == model_layers(other);
}

bool name_family_matches(const struct name_family *family, const struct model *model,
                         struct transformer *transformer)
{
    char line[MODEL_LINE_MAX];
    struct arena arena;
    struct problem problem;
    struct model *same;
    look_at(model, transformer);
    if (transformer->tokens == 0 || transformer->tokens != model_outputs(model) ||
        transformer->blocks == 0)
        return false;
    family->line(transformer, line);
    arena_init(&arena, ARENA_BYTES);
    const bool is_a_line = model_new(&same, &arena, NULL, line, model_input(model),
                                     model_outputs(model), 1, &problem) == OK;
    const bool matches = is_a_line && same_layers(model, same);
    if (is_a_line)
        model_free(same);
    arena_release(&arena);
    return matches;
}

const struct name_family *name_family_of(const struct model *model, struct transformer *transformer)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (name_family_matches(families[i], model, transformer))
            return families[i];
    return NULL;
}
