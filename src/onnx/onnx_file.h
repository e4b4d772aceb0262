/* Writes a model as an ONNX file for ONNX Runtime and other runtimes.
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
 * Format: onnx.proto of Debian's libonnx-dev, through protobuf-c. If either was missing at build
 * time, onnx_missing.c replaces the rest of this folder. Tests: tests/unit/onnx/test_onnx_file.c
 * and, against ONNX Runtime, tests/process/test_onnx.py.
 */
#ifndef HEARSAY_ONNX_ONNX_FILE_H
#define HEARSAY_ONNX_ONNX_FILE_H

#include "base/error.h"
#include "layers/model.h"
#include "state/safetensors.h"

#define ONNX_BYTES_MAX INT32_MAX /* most bytes of a file that protobuf can read */

/* Writes host_weights[P] of the model to path, either completely or not at all. about: the
 * normalisation of pixels, and metadata. FAILED: with errno's text. TOO_BIG: the path or the file
 * is. MISSING: hearsay was built without ONNX. */
enum error onnx_file_save(const char *path, const struct model *model,
                          const struct safetensors_about *about, const float *host_weights,
                          struct problem *problem) MUST_USE;

#endif
