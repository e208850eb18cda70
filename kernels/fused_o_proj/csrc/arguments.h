// What the operator accepts, checked before anything is allocated or launched.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <optional>

#include "problem.h"

namespace fused_o_proj {

using torch::stable::Tensor;

// attn_output[..., K], residual[..., N], weight[N, K]: same dtype, same device, matching sizes.
// Throws std::runtime_error naming the argument, what was given and what is wanted.
Sizes check_inputs(const Tensor& attn_output, const Tensor& residual, const Tensor& weight);

// As above, and out[..., N]: no element of out may share memory with another element of out, with
// attn_output or with weight. out may be residual itself, but must not overlap it otherwise.
Sizes check_inputs_and_out(const Tensor& attn_output, const Tensor& residual, const Tensor& weight,
                           const Tensor& out);

// The dtype of a checked tensor.
Dtype checked_dtype(const Tensor& tensor);

// The tensor as [product of leading sizes, last size] without a copy, where its strides allow it:
// one row stride for all leading dimensions and unit inner stride.
std::optional<Rows> as_rows(const Tensor& tensor);

// True when the leading dimensions can be seen as one (the inner stride may be anything).
bool leading_sizes_collapse(const Tensor& tensor);

// Both tensors name exactly the same elements in the same order.
bool is_same_view(const Tensor& a, const Tensor& b);

}  // namespace fused_o_proj
