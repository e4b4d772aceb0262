/* One tensor of a safetensors file, on its way into the model's flat vector or out of it.
 *
 *   file: F32, F16 or BF16, perhaps transposed ◄──► weights[P]: F32, [out, in]
 *
 * Private to safetensors.c. Held by tests/unit/state/test_safetensors.c and test_tensor_names.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_TENSOR_H
#define HEARSAY_STATE_SAFETENSORS_TENSOR_H

#include "state/atomic_file.h"
#include "state/names/tensor_names.h"
#include "state/safetensors_file.h"

/* The entry of the header, by the tensor's name in any of its spellings. NULL: there is none. */
const json_t *safetensors_tensor_find(const struct safetensors_file *file,
                                      const struct tensor_names *names,
                                      const struct named_tensor *tensor);

/* Reads it to its place in weights[P]. MISMATCH: it is not there, or has another type or shape. */
enum error safetensors_tensor_read(const struct safetensors_file *file,
                                   const struct tensor_names *names,
                                   const struct named_tensor *tensor, float *weights,
                                   struct problem *problem) MUST_USE;

/* MISMATCH: there are tensors in the file that the model does not have. */
enum error safetensors_tensor_check_others(const struct safetensors_file *file,
                                           const struct tensor_names *names,
                                           struct problem *problem) MUST_USE;

void safetensors_tensor_write(struct atomic_file *file, const struct named_tensor *tensor,
                              const float *weights);

#endif
