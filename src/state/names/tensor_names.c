#include "state/names/tensor_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "state/names/name_family.h"

#define PARTS_MAX 3 /* maximum tensors in a file that are parts of one of our tensors */

static void begin(struct tensor_names *names, const struct name_style *style,
                  const struct model *model)
{
    const size_t most = (size_t)model_tensors(model) * PARTS_MAX;
    *names =
        (struct tensor_names){.style = style, .tensor = memory_new(most, sizeof *names->tensor)};
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

/* Writes the block's number in place of '*'. */
static void spell(const char *pattern, int block, char name[static NAMED_TENSOR_BYTES])
{
    const char *star = strchr(pattern, '*');
    const int length = star ? snprintf(name, NAMED_TENSOR_BYTES, "%.*s%d%s", (int)(star - pattern),
                                       pattern, block, star + 1)
                            : snprintf(name, NAMED_TENSOR_BYTES, "%s", pattern);
    CHECK(length > 0 && length < NAMED_TENSOR_BYTES);
}

static void put_place(struct tensor_names *names, const struct model *model,
                      const struct name_family *family, enum name_place place, int block, int first)
{
    for (int i = 0; i < family->rules; i++) {
        const struct name_rule *rule = &family->rule[i];
        char name[NAMED_TENSOR_BYTES];
        spell(rule->name, block, name);
        if (rule->place == place)
            (void)name_parts_put(names, model, first + rule->layer, rule, name);
    }
}

static void put_family(struct tensor_names *names, const struct model *model,
                       const struct name_family *family, const struct transformer *transformer)
{
    put_place(names, model, family, NAME_BEFORE, 0, 0);
    for (int i = 0; i < transformer->blocks; i++)
        put_place(names, model, family, NAME_BLOCK, i, family->first + i * family->layers);
    put_place(names, model, family, NAME_BEHIND, 0,
              family->first + transformer->blocks * family->layers);
}

static enum error of_no_family(const struct model *model, struct problem *problem)
{
    return problem_set(
        problem, MISMATCH,
        "the model '%.200s' is not a GPT-2, Llama or ResNet, so other libraries have no tensor "
        "names for it; compare gpt2-124m, llama-124m and resnet18 in 'hearsay model'",
        model_line(model));
}

/* Returns true if the named tensors together have as many numbers as the model. */
static bool are_all(const struct tensor_names *names, const struct model *model)
{
    size_t numbers = 0;
    for (int i = 0; i < names->count; i++)
        numbers += named_tensor_count(&names->tensor[i]);
    return numbers == model_parameters(model);
}

enum error tensor_names_family(struct tensor_names *names, const struct model *model,
                               struct problem *problem)
{
    struct transformer transformer;
    const struct name_family *family = name_family_of(model, &transformer);
    begin(names, family ? &family->style : &names_resnet, model);
    if (family) {
        put_family(names, model, family, &transformer);
    } else if (!names_resnet_put(names, model)) {
        tensor_names_free(names);
        return of_no_family(model, problem);
    }
    CHECK(are_all(names, model));
    return OK;
}

static void put_aliases(const struct name_style *style, const char *name,
                        char spelling[static NAMED_TENSOR_BYTES])
{
    (void)snprintf(spelling, NAMED_TENSOR_BYTES, "%s", name);
    for (int i = 0; i < 2 && style->alias[i][0]; i++) {
        const char *part = style->alias[i][0], *found = strstr(name, part);
        if (found)
            (void)snprintf(spelling, NAMED_TENSOR_BYTES, "%.*s%s%s", (int)(found - name), name,
                           style->alias[i][1], found + strlen(part));
    }
}

bool tensor_names_spelling(const struct tensor_names *names, const char *name, int which,
                           char spelling[static NAMED_TENSOR_BYTES])
{
    const struct name_style *style = names->style;
    const size_t length = style ? strlen(style->prefix) : 0;
    if (which > 2 || (which > 0 && !style))
        return false;
    if (which == 2)
        put_aliases(style, name, spelling);
    else
        (void)snprintf(spelling, NAMED_TENSOR_BYTES, "%s",
                       which == 1 && strncmp(name, style->prefix, length) == 0 ? name + length
                                                                               : name);
    return true;
}

bool tensor_names_spare(const struct tensor_names *names, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; names->style && names->style->spare[i]; i++) {
        const size_t end = strlen(names->style->spare[i]);
        if (length >= end && strcmp(name + length - end, names->style->spare[i]) == 0)
            return true;
    }
    return false;
}
