/* The parts of a model as text, one per line: its tensors ("0.weight [64, 20]"), or its input and
 * layers. After a refusal the accepting node sends them, so that the dialer can name the first
 * part that differs.
 *
 * Tests: tests/unit/net/test_model_parts.c and tests/fuzz/fuzz_handshake.c.
 */
#ifndef HEARSAY_NET_WIRE_MODEL_PARTS_H
#define HEARSAY_NET_WIRE_MODEL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start of the first part of a program's model, before the name of its run. */
#define MODEL_PARTS_RUN "run "

#define MODEL_PARTS_MAX 32768 /* most bytes of a list that is sent */
/* Capacity for the sentence of model_parts_difference, with its final zero. */
#define MODEL_PARTS_DIFFERENCE 256

/* Splits the description "INPUT, layout N: LAYERS; START" into parts, one per line, without START.
 * out holds as many bytes as the description with its final zero. */
void model_parts_of(char *out, const char *description);

/* Returns how many bytes of the list `ours` to send: all, or the whole lines that fit in
 * MODEL_PARTS_MAX. */
size_t model_parts_bytes(const char *ours);

/* Finds the first part that differs between the two lists and writes a sentence: "other model:
 * theirs PART, ours PART; " and advice. theirs: any bytes of another node. Returns false if all
 * parts that were sent are equal. */
bool model_parts_difference(char out[static MODEL_PARTS_DIFFERENCE], const uint8_t *theirs,
                            size_t theirs_bytes, const char *ours);

#endif
