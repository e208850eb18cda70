// The problem as every kernel sees it: sizes, addresses and row strides.
#pragma once

#include <cstdint>

namespace fused_o_proj {

enum class Dtype { kFloat32, kFloat16, kBFloat16 };

constexpr int element_bytes(Dtype dtype) { return dtype == Dtype::kFloat32 ? 4 : 2; }

constexpr const char* dtype_name(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? "float32" : dtype == Dtype::kFloat16 ? "float16" : "bfloat16";
}

// M tokens, N output features, K input features.
struct Sizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};

// A row-major matrix with unit inner stride; the row stride counts elements.
struct Rows {
  void* data = nullptr;
  int64_t row_stride = 0;
};

// out[M, N] = attn_output[M, K] · weight[N, K]ᵀ + residual[M, N].
struct Problem {
  Sizes sizes;
  Rows attn_output;
  Rows weight;
  Rows residual;
  Rows out;
};

}  // namespace fused_o_proj
