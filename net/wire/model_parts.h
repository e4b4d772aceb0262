/* The parts of a model as text, one a line: its tensors ("0.weight [64, 20]"), or its input and
 * layers. After a refusal the called node sends them, so that the caller can name the first part
 * that differs.
 *
 * Held by tests/unit/net/test_model_parts.c and tests/fuzz/fuzz_handshake.c.
 */
#ifndef HEARSAY_NET_WIRE_MODEL_PARTS_H
#define HEARSAY_NET_WIRE_MODEL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_PARTS_MAX        32768 /* bytes sent at most; a longer list is cut after a line */
#define MODEL_PARTS_DIFFERENCE 256   /* bytes of the sentence, with its end */

/* Writes the parts of "INPUT, layout N: LAYERS; START" without the start. out: as many bytes as the
 * description has, with its end. */
void model_parts_of(char *out, const char *description);

/* Returns the bytes to send: all, or the lines that fit. */
size_t model_parts_bytes(const char *ours);

/* Writes "theirs PART, ours PART" and what to do for the first part that differs. theirs: any bytes
 * of another node. Returns false if the parts that were sent are equal. */
bool model_parts_difference(char out[static MODEL_PARTS_DIFFERENCE], const uint8_t *theirs,
                            size_t theirs_bytes, const char *ours);

#endif
