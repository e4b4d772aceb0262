/* Metadata of a saved model: "__metadata__" of its header, strings by key.
 *
 *   KEY       VALUE
 *   format    "hearsay"
 *   layers    the model's canonical line (model.h)
 *   input     "CxHxW": channels, height, width of an image; or "N tokens": length of a sequence
 *   classes   decimal; or outputs: number of predicted numbers
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

/* Sets a key of the object and takes over `value`. */
void safetensors_metadata_put(json_t *object, const char *key, json_t *value);

/* Returns the metadata object; the caller releases it. format: "hearsay", or "pt" for files with
 * the names of PyTorch's libraries. */
json_t *safetensors_metadata_new(const char *format, const struct model *model,
                                 const struct safetensors_about *about, uint64_t checksum);

/* Parses metadata. MISMATCH: it is missing (NULL) or from another program. MALFORMED: *wrong is the
 * first key without a valid value. about is written only on OK. */
enum error safetensors_metadata_parse(const json_t *metadata, struct safetensors_about *about,
                                      const char **wrong) MUST_USE;

#endif
