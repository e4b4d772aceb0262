/* Activations and their derivatives, for one number, in kernels. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_ACTIVATION_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_ACTIVATION_CUH

#include <cuda_runtime.h>

#include "backend/backend.h"

#define GELU_ROOT  0.79788456080286536f /* √(2/π) */
#define GELU_CUBIC 0.044715f

static __device__ float gelu_inner(float x)
{
    return GELU_ROOT * (x + GELU_CUBIC * x * x * x);
}

static __device__ float activated(enum activation activation, float value)
{
    if (activation == RELU)
        return value < 0 ? 0 : value; /* a NaN stays NaN */
    if (activation == SIGMOID)
        return 1 / (1 + expf(-value));
    if (activation == GELU)
        return 0.5f * value * (1 + tanhf(gelu_inner(value)));
    if (activation == SILU)
        return value / (1 + expf(-value));
    return activation == TANH ? tanhf(value) : value;
}

/* Returns the derivative of GELU or SILU at input x. */
static __device__ float gradient_at(enum activation activation, float x)
{
    if (activation == SILU) {
        const float gate = 1 / (1 + expf(-x));
        return gate * (1 + x * (1 - gate));
    }
    const float t = tanhf(gelu_inner(x));
    const float inner_gradient = GELU_ROOT * (1 + 3 * GELU_CUBIC * x * x);
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner_gradient;
}

/* Returns the gradient before an activation. kept: the activation's output, or its input if
 * activation_keeps_input. */
static __device__ float gradient_before(enum activation activation, float kept, float gradient)
{
    if (activation == RELU)
        return kept > 0 ? gradient : 0;
    if (activation == SIGMOID)
        return gradient * (kept * (1 - kept));
    if (activation == GELU || activation == SILU)
        return gradient * gradient_at(activation, kept);
    return activation == TANH ? gradient * (1 - kept * kept) : gradient;
}

#endif
