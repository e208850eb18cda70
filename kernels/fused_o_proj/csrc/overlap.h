// Which tensors share memory, decided from addresses, sizes and strides alone.
#pragma once

#include <torch/csrc/stable/tensor.h>

namespace fused_o_proj {

// True unless the strides prove that no two elements of the tensor share memory.
bool may_overlap_itself(const torch::stable::Tensor& tensor);

// True unless it is proved that the two tensors share no memory: their address ranges are disjoint,
// or they are two bands of columns of one row-major buffer.
bool may_overlap(const torch::stable::Tensor& a, const torch::stable::Tensor& b);

}  // namespace fused_o_proj
