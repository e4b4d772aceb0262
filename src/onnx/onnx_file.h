/* A model as an ONNX file: what ONNX Runtime and other runtimes load and run.
 *
 *   model, weights ─► onnx_layers.h: nodes ─► onnx_graph.h: ONNX's messages ─► FILE.onnx
 *
 *   input    pixels  uint8    [batch, channels, height, width]   of bytes, which it normalises
 *            x       float32  [batch, channels, height, width]   of floats, as they were learned
 *            tokens  int64    [batch, positions]                 of a sequence
 *   output   logits  float32  [batch, classes], or [batch, positions, tokens]
 *            numbers float32  [batch, outputs]                   of regression
 *
 * Batch and positions may be any number, the positions as many as the model knows at most. The
 * tensors are the model's, under its own names: "0.conv.weight". A graph is one of a model that is
 * used, so dropouts are not in it. Opset 17, IR version 8: what runtimes of 2022 read.
 *
 * Format: onnx.proto of Debian's libonnx-dev, through protobuf-c. Where either was missing when
 * this was built, onnx_missing.c takes the place of all else in this room. Held by
 * tests/unit/onnx/test_onnx_file.c and, against ONNX Runtime, tests/process/test_onnx.py.
 */
#ifndef HEARSAY_ONNX_ONNX_FILE_H
#define HEARSAY_ONNX_ONNX_FILE_H

#include "base/error.h"
#include "layers/model.h"
#include "state/safetensors.h"

#define ONNX_BYTES_MAX INT32_MAX /* of a file: no more can be read by protobuf */

/* Writes host_weights[P] of the model to path, whole or not at all. about says how a pixel is
 * normalised, and goes into the metadata. FAILED: errno's words. TOO_BIG: of the path or the file.
 * MISSING: hearsay was built without ONNX. */
enum error onnx_file_save(const char *path, const struct model *model,
                          const struct safetensors_about *about, const float *host_weights,
                          struct problem *problem) MUST_USE;

#endif
