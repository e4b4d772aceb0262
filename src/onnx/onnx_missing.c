/* Replaces all other files of this folder if protobuf-c or the ONNX schema was missing at build
 * time. */
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
