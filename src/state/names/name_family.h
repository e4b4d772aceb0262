/* A family: models that other libraries implement as one architecture. Converts between our layers
 * line, their config.json, and the names of the tensors.
 *
 *   config.json ◄──► struct transformer ──► line ──► model
 *                                             └ a model belongs to the family if its layers
 *                                               equal the line made from its numbers
 *
 *   names_gpt2.c, names_llama.c   a table for each transformer
 *   names_resnet.c                residual nets: no config.json; the layers are compared one by one
 *
 * Private to this folder and model_folder.c.
 */
#ifndef HEARSAY_STATE_NAMES_NAME_FAMILY_H
#define HEARSAY_STATE_NAMES_NAME_FAMILY_H

#include <jansson.h>

#include "state/names/config_reader.h"
#include "state/names/tensor_names.h"

/* The last layer. HEAD_TIED: it shares its weights with the embedding. */
enum head { HEAD_TIED, HEAD_LOGITS, HEAD_DENSE };

/* Dimensions that define a transformer within its family. */
struct transformer {
    int tokens;    /* size of the vocabulary */
    int width;     /* numbers in the vector of one position */
    int positions; /* length of the longest sequence */
    int blocks;
    int heads;    /* query heads of each attention layer */
    int kv_heads; /* key/value heads of each attention layer */
    int inner;    /* hidden size of the feed-forward part of a block */
    enum head head;
};

/* Where a layer is: before, in or after the transformer's repeated blocks. */
enum name_place { NAME_BEFORE, NAME_BLOCK, NAME_BEHIND };

/* Rows of our tensor that the other library stores as one tensor. */
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
    /* index of the layer, from 0 at its `place`, without joints and dropouts */
    int layer;
    const char *tensor; /* our name without the layer's number: "attention.qkv.weight" */
    enum name_rows rows;
    bool is_transposed; /* the other library stores the tensor as [in, out] */
    const char *name;   /* name in the other library; '*' stands for the block's number */
};

struct name_family {
    const char *model_type;
    struct name_style style;
    /* [rules] a rule is skipped if the model lacks its tensor */
    const struct name_rule *rule;
    int rules;
    int first;  /* layers before the transformer's blocks */
    int layers; /* layers of a block, without joints (name_parts_is_joint) */

    /* Writes the value of model.layers. */
    void (*line)(const struct transformer *transformer, char line[static MODEL_LINE_MAX]);
    /* Reads config.json. Stops at the first problem. */
    void (*read)(struct config_reader *reader, struct transformer *transformer);
    /* Returns the config.json; the caller releases it. */
    json_t *(*config)(const struct transformer *transformer);
};

extern const struct name_family names_gpt2, names_llama;

/* A joint is the begin, middle or end of a residual (model_layer), which has no number. Other
 * libraries do not count a dropout as a layer. */
bool name_parts_is_joint(const char *text);
bool name_parts_is_dropout(const char *text);

/* Adds the tensor that the rule describes, under `name`. layer: index in the model, without joints
 * and dropouts. Returns false if that layer has no such tensor. */
bool name_parts_put(struct tensor_names *names, const struct model *model, int layer,
                    const struct name_rule *rule, const char *name);

/* names_resnet_put adds the names of all tensors of a ResNet; returns false if the model is
 * none. */
extern const struct name_style names_resnet;
bool names_resnet_put(struct tensor_names *names, const struct model *model);

/* Appends the transformer's last layer to a line that has `used` characters. */
void name_parts_spell_head(const struct transformer *transformer, char line[static MODEL_LINE_MAX],
                           int used);

/* Returns the family with this model_type; NULL if there is none. */
const struct name_family *name_family_find(const char *model_type);

/* Sets the dimensions of the model. Returns false if the model does not belong to the family. */
bool name_family_matches(const struct name_family *family, const struct model *model,
                         struct transformer *transformer);

/* Returns the model's family and sets the model's dimensions; NULL if it belongs to no family. */
const struct name_family *name_family_of(const struct model *model,
                                         struct transformer *transformer);

#endif
