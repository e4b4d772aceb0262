/* Replaces this folder in a build without protobuf-c or the ONNX schema. */
#include "onnx/onnx_file.h"

enum error onnx_file_save(const char *path, const struct model *model,
                          const struct safetensors_about *about, const float *host_weights,
                          struct problem *problem)
{
    (void)model, (void)about, (void)host_weights;
    return problem_set(problem, MISSING,
                       "%.300s: this hearsay was built without ONNX; install protobuf-c-compiler, "
                       "libprotobuf-c-dev and libonnx-dev (or what they hold), and build it again",
                       path);
}
