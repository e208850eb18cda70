// Turns a failed CUDA call into an exception that names the call and the problem.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "../problem.h"

namespace fused_o_proj {

inline void check_cuda(cudaError_t error, const char* call, const Sizes& sizes) {
  if (error == cudaSuccess) return;
  throw std::runtime_error("fused_o_proj.o_proj_residual: " + std::string(call) +
                           " failed for M=" + std::to_string(sizes.m) +
                           ", N=" + std::to_string(sizes.n) + ", K=" + std::to_string(sizes.k) +
                           ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

}  // namespace fused_o_proj
