/* A family of models that other libraries implement as one architecture: its layers line, its
 * config.json, and the names of its tensors.
 *
 *   config.json ◄──► struct transformer ──► line ──► model
 *                                             └ a model is of the family if its layers are
 *                                               those of the line that its numbers give
 *
 *   names_gpt2.c, names_llama.c   transformers: a table each
 *   names_resnet.c                residual nets: no config.json; the layers are compared one by one
 *
 * Private to this folder and model_folder.c.
 */
#ifndef HEARSAY_STATE_NAMES_NAME_FAMILY_H
#define HEARSAY_STATE_NAMES_NAME_FAMILY_H

#include <jansson.h>

#include "state/names/config_reader.h"
#include "state/names/tensor_names.h"

/* Kind of the last layer. */
enum head { HEAD_TIED, HEAD_LOGITS, HEAD_DENSE };

/* Numbers that define a transformer of a family. */
struct transformer {
    int tokens;    /* size of the vocabulary */
    int width;     /* numbers per position */
    int positions; /* positions of the longest sequence */
    int blocks;
    int heads;    /* query heads of each attention */
    int kv_heads; /* key and value heads of each attention */
    int inner;    /* numbers between the two dense layers of a block */
    enum head head;
};

/* Position of a layer: before, in or after the blocks. `layer` counts from the first layer of that
 * position. */
enum name_place { NAME_BEFORE, NAME_BLOCK, NAME_BEHIND };

/* Rows of one of our tensors that are a tensor of the other library. */
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
    int layer;          /* index among the layers that are not joints */
    const char *tensor; /* our name after the layer's number: "attention.qkv.weight" */
    enum name_rows rows;
    bool is_transposed; /* their tensor is [in, out] */
    const char *name;   /* their name; '*' stands for the block's number */
};

struct name_family {
    const char *model_type; /* value of model_type in config.json */
    struct name_style style;
    /* [rules] names of the tensors; rules for tensors that the model lacks are skipped. */
    const struct name_rule *rule;
    int rules;
    int first;  /* layers before the blocks */
    int layers; /* layers of a block, joints not counted */

    /* Writes the layers line for these numbers. */
    void (*line)(const struct transformer *transformer, char line[static MODEL_LINE_MAX]);
    /* Reads the numbers of a config.json until the first problem. */
    void (*read)(struct config_reader *reader, struct transformer *transformer);
    /* Returns the config.json for these numbers. */
    json_t *(*config)(const struct transformer *transformer);
};

extern const struct name_family names_gpt2, names_llama;

/* Functions of name_parts.c. */

/* Classify the text of a layer: name_parts_is_joint returns true for a joint (model_layer), which
 * has no number; the next function for a dropout, which computes nothing when a model is used and
 * is skipped. */
bool name_parts_is_joint(const char *text);
bool name_parts_is_dropout(const char *text);

/* Adds our tensor that the rule names. layer: number of its layer without dropouts. Returns false
 * if the layer has no such tensor. */
bool name_parts_put(struct tensor_names *names, const struct model *model, int layer,
                    const struct name_rule *rule, const char *name);

/* Names of a ResNet's tensors; the function below adds them, or returns false if the model is no
 * ResNet. */
extern const struct name_style names_resnet;
bool names_resnet_put(struct tensor_names *names, const struct model *model);

/* Writes the last layer into a line after its first `used` characters. */
void name_parts_spell_head(const struct transformer *transformer, char line[static MODEL_LINE_MAX],
                           int used);

/* Returns the family with this model_type; NULL if there is none. */
const struct name_family *name_family_find(const char *model_type);

/* Returns true if the model is of the family; sets its numbers. */
bool name_family_matches(const struct name_family *family, const struct model *model,
                         struct transformer *transformer);

/* Returns the family of the model; NULL if it has none. */
const struct name_family *name_family_of(const struct model *model,
                                         struct transformer *transformer);

#endif
