// What will run for a call: the one decision that both the launcher and explain() read.
//
// No GPU and no CUDA header is needed to plan: csrc/dispatch is part of every build.
#pragma once

#include <cstdint>
#include <string>

#include "problem.h"

namespace fused_o_proj {

// The kernel families; csrc/dispatch has a file for each that runs on CUDA.
enum class Family { kNone, kCpuLinear, kDecode, kMmaTile, kSimtTile, kSimtRows };

const char* family_name(Family family);

// How one call is computed.
//   tile_m tokens × tile_n features are one tile of out; tile_k input features are one pipeline stage.
//   split_k CTAs share a tile along K, each with a part of the stages, and inside a CTA warps_k groups
//   of warps share every stage.
struct Plan {
  Family family = Family::kNone;  // kNone: out has no elements, nothing is launched
  int config = -1;                // row of the family's table of configurations
  int tile_m = 0;
  int tile_n = 0;
  int tile_k = 0;
  int split_k = 1;
  int warps_k = 1;
  int stages = 0;
  int threads = 0;                // of a CTA
  int64_t ctas = 0;
  const char* reason = "";        // why this family
  const char* slower = nullptr;   // what keeps the call from the family's full speed, if anything
};

// The most CTAs that share a tile: more would spend their time on partial tiles.
constexpr int kMaxSplit = 16;

// Memory that a launch needs beside its arguments, in bytes, with any contents; 0 without a split and
// for a cluster's.
// First the float32 partial tiles of all CTAs, split_partial_bytes of them, then 8 bytes a tile.
int64_t split_partial_bytes(const Plan& plan);
int64_t workspace_bytes(const Plan& plan);

// The GPU's facts that the choice depends on.
struct DeviceLimits {
  int ordinal = 0;
  int sm_count = 0;
  int compute_capability = 0;         // 10 × major + minor
  int shared_memory_per_sm_bytes = 0;
  int shared_memory_per_cta_bytes = 0;  // opt-in maximum
};

// The widest power of two of bytes, at most 16, at whose multiples all rows of a matrix begin.
struct Alignment {
  int attn_output = 16;
  int weight = 16;
  int residual = 16;
  int out = 16;
};

int row_alignment(uintptr_t address, int64_t rows, int64_t row_stride_bytes);

Alignment alignment_of(const Problem& problem, Dtype dtype);

// As alignment_of for contiguous matrices in allocations of their own.
Alignment contiguous_alignment(const Sizes& sizes, Dtype dtype);

// All that the choice depends on.
struct Request {
  Sizes sizes;
  Dtype dtype = Dtype::kBFloat16;
  Alignment alignment;
  DeviceLimits device;
};

// Devices are the same when their ordinals are.
bool operator==(const Request& a, const Request& b);

Plan plan_cpu(const Sizes& sizes);

// A fixed rule of the request, never of timing. Throws std::runtime_error where the device or the
// sizes can't be served.
Plan plan_cuda(const Request& request);

// One JSON object: kernel, tile [m, n, k], split_k, warps_k, stages, threads, ctas, workspace_bytes,
// reason, slower.
std::string plan_json(const Plan& plan);

}  // namespace fused_o_proj
