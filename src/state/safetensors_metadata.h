/* Metadata of a saved model: the object "__metadata__" in the header, with these strings:
 *
 *   KEY       VALUE
 *   format    "hearsay"; "pt" in files with names of PyTorch libraries
 *   layers    the model's canonical line (model.h)
 *   input     "CxHxW": channels, height, width of an image; or "N tokens": length of a sequence
 *   classes   number of classes; for a regression the key is "outputs": predicted numbers
 *   mean      decimal; a pixel is normalised as (pixel - mean) * scale (sequences: 0 and 1)
 *   scale     decimal; see mean
 *   digest    digest of the base (digest.h), 16 hex digits
 *   samples   samples learned by the whole swarm, decimal
 *   checksum  checksum of the weights (safetensors_checksum), 16 hex digits
 *   version   version of the base as text (base_version.h); a load of the metadata ignores it
 *
 * Private to safetensors.c. Tests: tests/unit/state/test_safetensors.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_METADATA_H
#define HEARSAY_STATE_SAFETENSORS_METADATA_H

#include <jansson.h>

#include "state/safetensors.h"

/* Takes ownership of `value`. */
void safetensors_metadata_put(json_t *object, const char *key, json_t *value);

/* The caller releases the object. */
json_t *safetensors_metadata_new(const char *format, const struct model *model,
                                 const struct safetensors_about *about, uint64_t checksum);

/* Parses metadata into *about, which is written only on OK. MISMATCH: it is missing (NULL), or its
 * format is another one. MALFORMED: *wrong is the first key without a valid value. */
enum error safetensors_metadata_parse(const json_t *metadata, struct safetensors_about *about,
                                      const char **wrong) MUST_USE;

#endif
