/* Copies one tensor between a safetensors file and the model's flat vector.
 *
 *   file: F32, F16 or BF16, perhaps transposed ◄──► weights[P]: F32, [out, in]
 *
 * Private to safetensors.c. Tests: tests/unit/state/test_safetensors.c and test_tensor_names.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_TENSOR_H
#define HEARSAY_STATE_SAFETENSORS_TENSOR_H

#include "state/atomic_file.h"
#include "state/names/tensor_names.h"
#include "state/safetensors_file.h"

/* Finds the header's entry under any spelling of the tensor's name; NULL if there is none. */
const json_t *safetensors_tensor_find(const struct safetensors_file *file,
                                      const struct tensor_names *names,
                                      const struct named_tensor *tensor);

/* Reads the tensor into its entries of weights[P]. MISMATCH: it is missing, or has another type or
 * shape. */
enum error safetensors_tensor_read(const struct safetensors_file *file,
                                   const struct tensor_names *names,
                                   const struct named_tensor *tensor, float *weights,
                                   struct problem *problem) MUST_USE;

/* Returns MISMATCH if the file has tensors that the model lacks, except those of
 * tensor_names_spare. */
enum error safetensors_tensor_check_others(const struct safetensors_file *file,
                                           const struct tensor_names *names,
                                           struct problem *problem) MUST_USE;

void safetensors_tensor_write(struct atomic_file *file, const struct named_tensor *tensor,
                              const float *weights);

#endif
