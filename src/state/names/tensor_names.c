#include "state/names/tensor_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/names/name_family.h"

#define PARTS_MAX 3 /* of one of our tensors */

static void begin(struct tensor_names *names, const struct name_family *family,
                  const struct model *model)
{
    const size_t most = (size_t)model_tensors(model) * PARTS_MAX;
    *names = (struct tensor_names){.family = family, .tensor = calloc(most, sizeof *names->tensor)};
    CHECK(names->tensor);
}

void tensor_names_free(struct tensor_names *names)
{
    free(names->tensor);
    *names = (struct tensor_names){0};
}

size_t named_tensor_count(const struct named_tensor *tensor)
{
    size_t count = 1;
    CHECK(tensor->rank >= 1 && tensor->rank <= 4);
    for (int i = 0; i < tensor->rank; i++)
        count *= tensor->dims[i];
    return count;
}

void tensor_names_own(struct tensor_names *names, const struct model *model)
{
    begin(names, NULL, model);
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor own = model_tensor(model, i);
        struct named_tensor *tensor = &names->tensor[names->count++];
        (void)snprintf(tensor->name, sizeof tensor->name, "%s", own.name);
        memcpy(tensor->dims, own.dims, sizeof tensor->dims);
        tensor->rank = own.rank;
        tensor->offset = own.offset;
    }
}

/* The rows of one of our matrices that are the part. Of queries there are as many as numbers come
 * in, the rest is shared by keys and values. */
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

/* The name with the block's number in place of the '*'. */
static void spell(const char *pattern, int block, char name[static NAMED_TENSOR_BYTES])
{
    const char *star = strchr(pattern, '*');
    const int length = star ? snprintf(name, NAMED_TENSOR_BYTES, "%.*s%d%s", (int)(star - pattern),
                                       pattern, block, star + 1)
                            : snprintf(name, NAMED_TENSOR_BYTES, "%s", pattern);
    CHECK(length > 0 && length < NAMED_TENSOR_BYTES);
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

/* Theirs by one rule, in a block of this number. */
static void put(struct tensor_names *names, const struct model *model, const struct name_rule *rule,
                int block, int layer)
{
    char name[NAMED_TENSOR_BYTES];
    struct tensor own;
    (void)snprintf(name, sizeof name, "%d.%s", layer, rule->tensor);
    if (!find_own(model, name, &own))
        return;
    struct named_tensor *tensor = &names->tensor[names->count++];
    spell(rule->name, block, tensor->name);
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
}

static void put_place(struct tensor_names *names, const struct model *model, enum name_place place,
                      int block, int first)
{
    const struct name_family *family = names->family;
    for (int i = 0; i < family->rules; i++)
        if (family->rule[i].place == place)
            put(names, model, &family->rule[i], block, first + family->rule[i].layer);
}

static enum error of_no_family(const struct model *model, struct problem *problem)
{
    return problem_set(
        problem, MISMATCH,
        "the model '%.250s' is neither a GPT-2 nor a Llama, and other libraries have "
        "no names for it; compare 'hearsay model gpt2-124m' and 'llama-124m'",
        model_line(model));
}

enum error tensor_names_family(struct tensor_names *names, const struct model *model,
                               struct problem *problem)
{
    struct transformer transformer;
    const struct name_family *family = name_family_of(model, &transformer);
    if (!family)
        return of_no_family(model, problem);
    begin(names, family, model);
    put_place(names, model, NAME_BEFORE, 0, 0);
    for (int i = 0; i < transformer.blocks; i++)
        put_place(names, model, NAME_BLOCK, i, family->first + i * family->layers);
    put_place(names, model, NAME_BEHIND, 0, family->first + transformer.blocks * family->layers);
    size_t numbers = 0;
    for (int i = 0; i < names->count; i++)
        numbers += named_tensor_count(&names->tensor[i]);
    CHECK(numbers == model_parameters(model)); /* each has one name */
    return OK;
}

const char *tensor_names_short(const struct tensor_names *names, const char *name)
{
    const char *prefix = names->family ? names->family->prefix : "";
    const size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : name;
}

bool tensor_names_spare(const struct tensor_names *names, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; names->family && names->family->spare[i]; i++) {
        const size_t end = strlen(names->family->spare[i]);
        if (length >= end && strcmp(name + length - end, names->family->spare[i]) == 0)
            return true;
    }
    return false;
}
