// What will run for given sizes: the one decision that both the launcher and explain() read.
#pragma once

#include <cstdint>
#include <string>

#include "problem.h"

namespace fused_o_proj {

// How one call is computed.
//   tile_m tokens × tile_n features are one CTA's share of out; tile_k features of the input are
//   one pipeline stage; split_k groups of warps inside the CTA each take a part of every stage.
struct Plan {
  const char* kernel = "none";  // "none": out has no elements, nothing is launched
  int config = -1;              // row of the kernel family's table of configurations
  int tile_m = 0;
  int tile_n = 0;
  int tile_k = 0;
  int split_k = 1;
  int stages = 0;
  int threads = 0;
  int64_t ctas = 0;
};

// The GPU's facts that the choice depends on.
struct DeviceLimits {
  int ordinal = 0;
  int sm_count = 0;
  int compute_capability = 0;         // 10 × major + minor
  int shared_memory_per_sm_bytes = 0;
  int shared_memory_per_cta_bytes = 0;  // opt-in maximum
};

Plan plan_cpu(const Sizes& sizes);

// Throws std::runtime_error where the device or the sizes can't be served.
Plan plan_cuda(const Sizes& sizes, Dtype dtype, const DeviceLimits& device);

// One JSON object: kernel, tile [m, n, k], split_k, stages, threads, ctas.
std::string plan_json(const Plan& plan);

}  // namespace fused_o_proj
