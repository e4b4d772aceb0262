/* Writes a model as an ONNX file for ONNX Runtime and other runtimes.
 *
 *   model, weights ─► onnx_layers.h: nodes ─► onnx_graph.h: ONNX's messages ─► FILE.onnx
 *
 *   input    pixels  uint8    [batch, channels, height, width]   images of bytes; the graph
 *                                                                normalises them
 *            x       float32  [batch, channels, height, width]   images of floats, unchanged
 *            tokens  int64    [batch, positions]                 sequences
 *   output   logits  float32  [batch, classes], or [batch, positions, tokens]
 *            numbers float32  [batch, outputs]                   regression
 *
 * The sizes of batch and positions are free, up to the model's maximum of positions. Tensors have
 * the model's names, such as "0.conv.weight". The graph is for inference, so it has no dropouts. It
 * uses opset 17 and IR version 8, which runtimes since 2022 read.
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

#define ONNX_BYTES_MAX INT32_MAX /* largest file that protobuf can read */

/* Writes the model with host_weights[P] to path, either completely or not at all. about:
 * normalisation of pixels, and metadata. FAILED: the file cannot be written. TOO_BIG: the path or
 * the file is too long. MISSING: hearsay was built without ONNX. */
enum error onnx_file_save(const char *path, const struct model *model,
                          const struct safetensors_about *about, const float *host_weights,
                          struct problem *problem) MUST_USE;

#endif
