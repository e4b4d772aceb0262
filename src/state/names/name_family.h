/* A family of models that other libraries know by one architecture: its layers line, its
 * config.json, and what it calls its tensors.
 *
 *   config.json ◄──► struct transformer ──► line ──► model
 *                                             └ is a given model of the family? if its layers are
 *                                               those of the line that its numbers make
 *
 *   names_gpt2.c, names_llama.c   transformers: a table each
 *   names_resnet.c                residual nets: no config.json, and a walk along the layers
 *
 * Private to this folder and model_folder.c.
 */
#ifndef HEARSAY_STATE_NAMES_NAME_FAMILY_H
#define HEARSAY_STATE_NAMES_NAME_FAMILY_H

#include <jansson.h>

#include "state/names/config_reader.h"
#include "state/names/tensor_names.h"

/* How the last layer is spelled. */
enum head { HEAD_TIED, HEAD_LOGITS, HEAD_DENSE };

/* The numbers that make a transformer of a family. */
struct transformer {
    int tokens;    /* that are embedded, and that the logits are for */
    int width;     /* numbers of a position */
    int positions; /* of the longest sequence */
    int blocks;
    int heads;    /* of each attention */
    int kv_heads; /* keys and values of each attention */
    int inner;    /* numbers between the two dense layers of a block */
    enum head head;
};

/* Where a layer stands: `layer` counts from the first of that place. */
enum name_place { NAME_BEFORE, NAME_BLOCK, NAME_BEHIND };

/* The rows of one of our tensors that are a tensor of theirs. */
enum name_rows {
    ROWS_ALL,
    ROWS_QUERIES,
    ROWS_KEYS,
    ROWS_VALUES,
    ROWS_FIRST_HALF,
    ROWS_SECOND_HALF
};

struct name_rule {
    enum name_place place;
    int layer;          /* of those that are no joint */
    const char *tensor; /* ours, behind the layer's number: "attention.qkv.weight" */
    enum name_rows rows;
    bool is_transposed; /* theirs is [in, out] */
    const char *name;   /* theirs; a '*' is the block's number */
};

struct name_family {
    const char *model_type; /* in config.json */
    struct name_style style;
    const struct name_rule *rule; /* [rules]; of a tensor that the model lacks: left out */
    int rules;
    int first;  /* layers before the blocks */
    int layers; /* tensors of a block, without joined ones */

    /* The layers line of these numbers. */
    void (*line)(const struct transformer *transformer, char line[static MODEL_LINE_MAX]);
    /* The numbers of a config.json, as far as there are no problems. */
    void (*read)(struct config_reader *reader, struct transformer *transformer);
    /* The config.json of these numbers. */
    json_t *(*config)(const struct transformer *transformer);
};

extern const struct name_family names_gpt2, names_llama;

/* name_parts.c */

/* Of the text of a layer: whether it is a joint (model_layer), which has no number; and whether it
 * is a dropout, which computes nothing where a model is used, and is looked past. */
bool name_parts_is_joint(const char *text);
bool name_parts_is_dropout(const char *text);

/* Adds the tensor of ours that the rule names, of the layer of this number, dropouts not counted.
 * False: it has none. */
bool name_parts_put(struct tensor_names *names, const struct model *model, int layer,
                    const struct name_rule *rule, const char *name);

/* Adds those of a ResNet. False: the model is none. */
extern const struct name_style names_resnet;
bool names_resnet_put(struct tensor_names *names, const struct model *model);

/* Writes the last layer into a line, behind the first `used` characters. */
void name_parts_spell_head(const struct transformer *transformer, char line[static MODEL_LINE_MAX],
                           int used);

/* The family with this model_type, or NULL. */
const struct name_family *name_family_find(const char *model_type);

/* Whether the model is of the family, and its numbers. */
bool name_family_matches(const struct name_family *family, const struct model *model,
                         struct transformer *transformer);

/* The family of the model, or NULL. */
const struct name_family *name_family_of(const struct model *model,
                                         struct transformer *transformer);

#endif
