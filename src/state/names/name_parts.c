/* Functions that the families share (name_family.h): they name single tensors, and write the last
 * layer. */
#include <stdio.h>
#include <string.h>

#include "state/names/name_family.h"
#include "state/names/tensor_names.h"

/* Restricts the tensor to some rows of our matrix. Our matrix of queries, keys and values has as
 * many query rows as columns; keys and values share the remaining rows equally. */
static void cut_rows(struct named_tensor *tensor, enum name_rows rows)
{
    const size_t all = tensor->dims[0], width = tensor->dims[1];
    size_t from = 0, count = all;
    switch (rows) {
    case ROWS_ALL:
        return;
    case ROWS_QUERIES:
        count = width;
        break;
    case ROWS_KEYS:
        from = width;
        count = (all - width) / 2;
        break;
    case ROWS_VALUES:
        count = (all - width) / 2;
        from = width + count;
        break;
    case ROWS_FIRST_HALF:
        count = all / 2;
        break;
    case ROWS_SECOND_HALF:
        from = count = all / 2;
        break;
    }
    CHECK(tensor->rank == 2 && from + count <= all);
    tensor->dims[0] = count;
    tensor->offset += from * width;
}

static bool find_own(const struct model *model, const char *name, struct tensor *own)
{
    for (int i = 0; i < model_tensors(model); i++) {
        *own = model_tensor(model, i);
        if (strcmp(own->name, name) == 0)
            return true;
    }
    return false;
}

bool name_parts_is_joint(const char *text)
{
    return strchr("(|)", text[strlen(text) - 1]) != NULL;
}

bool name_parts_is_dropout(const char *text)
{
    return strncmp(text, "dropout ", 8) == 0;
}

/* Converts the index of a layer without joints and dropouts to its number in our tensor names,
 * which counts dropouts. */
static int number_of(const struct model *model, int layer)
{
    int dropouts = 0;
    for (int i = 0, counted = 0; i < model_layers(model) && counted <= layer; i++) {
        const char *text = model_layer(model, i);
        dropouts += name_parts_is_dropout(text);
        counted += !name_parts_is_joint(text) && !name_parts_is_dropout(text);
    }
    return layer + dropouts;
}

bool name_parts_put(struct tensor_names *names, const struct model *model, int layer,
                    const struct name_rule *rule, const char *name)
{
    char full[NAMED_TENSOR_BYTES];
    struct tensor own;
    (void)snprintf(full, sizeof full, "%d.%s", number_of(model, layer), rule->tensor);
    if (!find_own(model, full, &own))
        return false;
    struct named_tensor *tensor = &names->tensor[names->count++];
    const int length = snprintf(tensor->name, sizeof tensor->name, "%s", name);
    CHECK(length > 0 && (size_t)length < sizeof tensor->name);
    memcpy(tensor->dims, own.dims, sizeof tensor->dims);
    tensor->rank = own.rank;
    tensor->offset = own.offset;
    tensor->is_transposed = rule->is_transposed;
    cut_rows(tensor, rule->rows);
    if (rule->is_transposed) {
        const size_t out = tensor->dims[0];
        CHECK(tensor->rank == 2);
        tensor->dims[0] = tensor->dims[1];
        tensor->dims[1] = out;
    }
    return true;
}

void name_parts_spell_head(const struct transformer *transformer, char line[static MODEL_LINE_MAX],
                           int used)
{
    CHECK(used > 0 && used < MODEL_LINE_MAX);
    char *end = line + used;
    const size_t room = (size_t)(MODEL_LINE_MAX - used);
    if (transformer->head == HEAD_DENSE)
        (void)snprintf(end, room, "dense %d plain", transformer->tokens);
    else
        (void)snprintf(end, room, "logits%s", transformer->head == HEAD_TIED ? " tied" : "");
}
