#include "state/safetensors_metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"

/* largest side of a shape; the product of three sides fits in size_t */
#define SIDE_MAX    65536
#define CLASSES_MAX DATASET_TOKENS_MAX
#define TOKENS      " tokens" /* text after the length of a sequence */

static json_t *input_text(struct shape in)
{
    if (in.length > 0)
        return json_sprintf("%d" TOKENS, in.length);
    return json_sprintf("%dx%dx%d", in.channels, in.height, in.width);
}

/* jansson fails only without memory or for invalid UTF-8, and our texts are valid. */
void safetensors_metadata_put(json_t *object, const char *key, json_t *value)
{
    CHECK(json_object_set_new(object, key, value) == 0);
}

json_t *safetensors_metadata_new(const char *format, const struct model *model,
                                 const struct safetensors_about *about, uint64_t checksum)
{
    json_t *metadata = json_object();
    safetensors_metadata_put(metadata, "format", json_string(format));
    safetensors_metadata_put(metadata, "layers", json_string(model_line(model)));
    safetensors_metadata_put(metadata, "input", input_text(model_input(model)));
    safetensors_metadata_put(metadata, about->is_regression ? "outputs" : "classes",
                             json_sprintf("%d", about->classes));
    safetensors_metadata_put(metadata, "mean", json_sprintf("%.9g", (double)about->mean));
    safetensors_metadata_put(metadata, "scale", json_sprintf("%.9g", (double)about->scale));
    safetensors_metadata_put(metadata, "digest", json_sprintf("%016" PRIx64, about->digest));
    safetensors_metadata_put(metadata, "samples", json_sprintf("%" PRIu64, about->samples));
    safetensors_metadata_put(metadata, "checksum", json_sprintf("%016" PRIx64, checksum));
    if (about->version) {
        CHECK(strlen(about->version) <= SAFETENSORS_VERSION_MAX);
        safetensors_metadata_put(metadata, "version", json_string(about->version));
    }
    return metadata;
}

/* Parses a decimal number of at least one digit and at most `max`, and moves *text past it. Returns
 * false if there is none. */
static bool parse_number(const char **text, uint64_t max, uint64_t *number)
{
    const char *next = *text;
    uint64_t value = 0;
    for (; *next >= '0' && *next <= '9'; next++) {
        const uint64_t digit = (uint64_t)(*next - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (next == *text)
        return false;
    *text = next;
    *number = value;
    return true;
}

static bool parse_sequence(const char *text, struct shape *shape)
{
    uint64_t length;
    if (!parse_number(&text, DATASET_CONTEXT_MAX, &length) || length < DATASET_CONTEXT_MIN ||
        strcmp(text, TOKENS) != 0)
        return false;
    *shape = (struct shape){1, 1, 1, (int)length};
    return true;
}

static bool parse_input(const char *text, struct shape *shape)
{
    uint64_t sides[3];
    if (parse_sequence(text, shape))
        return true;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && *text++ != 'x')
            return false;
        if (!parse_number(&text, SIDE_MAX, &sides[i]) || sides[i] == 0)
            return false;
    }
    *shape = (struct shape){(int)sides[0], (int)sides[1], (int)sides[2], 0};
    return *text == '\0';
}

static bool parse_classes(const char *text, int least, int *classes)
{
    uint64_t number;
    if (!parse_number(&text, CLASSES_MAX, &number) || number < (uint64_t)least || *text != '\0')
        return false;
    *classes = (int)number;
    return true;
}

static bool parse_float(const char *text, float *value)
{
    char *end;
    *value = strtof(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static bool parse_digest(const char *text, uint64_t *digest)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *digest = strtoull(text, NULL, 16);
    return true;
}

static bool parse_samples(const char *text, uint64_t *samples)
{
    return parse_number(&text, UINT64_MAX, samples) && *text == '\0';
}

static bool parse_layers(const char *text, char layers[static MODEL_LINE_MAX])
{
    const size_t length = strlen(text);
    if (length == 0 || length >= MODEL_LINE_MAX)
        return false;
    memcpy(layers, text, length + 1);
    return true;
}

/* If the key is missing, returns a text that cannot be parsed. */
static const char *text_of(const json_t *metadata, const char *key)
{
    const char *text = json_string_value(json_object_get(metadata, key));
    return text ? text : "";
}

/* Returns the first wrong key, or NULL. */
static const char *parse_keys(const json_t *metadata, struct safetensors_about *about)
{
    if (!parse_layers(text_of(metadata, "layers"), about->layers))
        return "layers";
    if (!parse_input(text_of(metadata, "input"), &about->in))
        return "input";
    about->is_regression = json_object_get(metadata, "outputs") != NULL;
    if (about->is_regression && !parse_classes(text_of(metadata, "outputs"), 1, &about->classes))
        return "outputs";
    if (!about->is_regression && !parse_classes(text_of(metadata, "classes"), 2, &about->classes))
        return "classes";
    if (!parse_float(text_of(metadata, "mean"), &about->mean))
        return "mean";
    if (!parse_float(text_of(metadata, "scale"), &about->scale))
        return "scale";
    if (!parse_digest(text_of(metadata, "digest"), &about->digest))
        return "digest";
    if (!parse_samples(text_of(metadata, "samples"), &about->samples))
        return "samples";
    if (!parse_digest(text_of(metadata, "checksum"), &about->checksum))
        return "checksum";
    return NULL;
}

enum error safetensors_metadata_parse(const json_t *metadata, struct safetensors_about *about,
                                      const char **wrong)
{
    struct safetensors_about parsed = {0};
    if (strcmp(text_of(metadata, "format"), "hearsay") != 0)
        return MISMATCH;
    *wrong = parse_keys(metadata, &parsed);
    if (*wrong)
        return MALFORMED;
    *about = parsed;
    return OK;
}
