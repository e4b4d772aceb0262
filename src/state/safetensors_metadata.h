/* Metadata of a saved model: "__metadata__" of its header, strings by key.
 *
 *   KEY       VALUE
 *   format    "hearsay"
 *   layers    the model's canonical line (model.h)
 *   input     "CxHxW": channels, height, width of an image; or "N tokens": length of a sequence
 *   classes   decimal; or outputs: how many numbers it predicts
 *   mean      decimal; a pixel is normalised as (pixel - mean) * scale (sequences: 0 and 1)
 *   scale     decimal
 *   digest    of the base (digest.h), 16 hex digits
 *   samples   learned by the whole swarm, decimal
 *   checksum  of the weights (safetensors_checksum), 16 hex digits
 *   version   version of the base (base_version.h); not read
 *
 * Private to safetensors.c. Held by tests/unit/state/test_safetensors.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_METADATA_H
#define HEARSAY_STATE_SAFETENSORS_METADATA_H

#include <jansson.h>

#include "state/safetensors.h"

/* Sets a key of the object, which takes the value over. */
void safetensors_metadata_put(json_t *object, const char *key, json_t *value);

/* The object above; the caller's to release. format: "hearsay", or "pt" of a file with the names
 * that PyTorch's libraries have. */
json_t *safetensors_metadata_new(const char *format, const struct model *model,
                                 const struct safetensors_about *about, uint64_t checksum);

/* MISMATCH: the metadata (NULL: there is none) is not of this program. MALFORMED: *wrong is the
 * first key without a valid value. about is written only on OK. */
enum error safetensors_metadata_parse(const json_t *metadata, struct safetensors_about *about,
                                      const char **wrong) MUST_USE;

#endif
