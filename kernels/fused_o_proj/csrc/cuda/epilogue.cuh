// The end of a tile: partial sums + residual → out, rounded once.
#pragma once

#include "../problem.h"
#include "mma.cuh"

namespace fused_o_proj {

template <typename T>
__device__ __forceinline__ float to_float(T value);
template <>
__device__ __forceinline__ float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
template <>
__device__ __forceinline__ float to_float(__half value) {
  return __half2float(value);
}

template <typename T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ __nv_bfloat16 from_float(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ __forceinline__ __half from_float(float value) {
  return __float2half_rn(value);
}

// residual[M, N] and out[M, N]; they may be the same memory, so neither is read through the
// read-only cache: every element is read and then written by one and the same thread.
template <typename T>
struct Epilogue {
  const T* residual;
  T* out;
  int64_t residual_stride;
  int64_t out_stride;
  int64_t m;
  int64_t n;
  bool vectors;  // rows of both start at multiples of 16 bytes
};

template <typename T>
Epilogue<T> make_epilogue(const Problem& problem) {
  const Sizes& sizes = problem.sizes;
  auto aligned = [&](const Rows& rows) {
    return reinterpret_cast<uintptr_t>(rows.data) % 16 == 0 &&
           (sizes.m == 1 || rows.row_stride % 8 == 0);
  };
  return {static_cast<const T*>(problem.residual.data),
          static_cast<T*>(problem.out.data),
          problem.residual.row_stride,
          problem.out.row_stride,
          sizes.m,
          sizes.n,
          aligned(problem.residual) && aligned(problem.out)};
}

// Asks for the tile's part of residual early: it arrives in L2 while the main loop runs.
template <typename T, int kTokens, int kFeatures, int kThreads>
__device__ __forceinline__ void prefetch_residual(const Epilogue<T>& epilogue, int64_t first_token,
                                                  int64_t first_feature) {
  constexpr int kLineFeatures = 64;  // 128 bytes
  constexpr int kLines = (kFeatures + kLineFeatures - 1) / kLineFeatures;
  for (int index = threadIdx.x; index < kTokens * kLines; index += kThreads) {
    const int64_t token = first_token + index / kLines;
    const int64_t feature = first_feature + index % kLines * kLineFeatures;
    if (token < epilogue.m && feature < epilogue.n)
      prefetch_to_l2(epilogue.residual + token * epilogue.residual_stride + feature);
  }
}

// The float32 tiles of the kParts groups of warps that shared K: [kParts][kTokens][kFeatures + 4].
// The 4 floats of padding spread the writes of a fragment over all banks and keep rows 16-byte
// aligned.
template <int kTokens, int kFeatures, int kParts>
struct PartialTiles {
  static constexpr int kRow = kFeatures + 4;
  static constexpr int kTile = kTokens * kRow;
  static constexpr int kBytes = kParts * kTile * int(sizeof(float));

  // One accumulator fragment, [16 features][8 tokens] at (token, feature) of the tile.
  static __device__ __forceinline__ void put(float* partial, int part, int token, int feature,
                                             const float (&sum)[4]) {
    const int lane = threadIdx.x % 32;
    float* at = partial + part * kTile + (token + lane % 4 * 2) * kRow + feature + lane / 4;
    at[0] = sum[0];
    at[kRow] = sum[1];
    at[8] = sum[2];
    at[kRow + 8] = sum[3];
  }

  // Sums the parts in their order, adds residual, rounds once, stores; 8 features a thread.
  template <typename T, int kThreads>
  static __device__ __forceinline__ void finish(const float* partial, const Epilogue<T>& epilogue,
                                                int64_t first_token, int64_t first_feature) {
    constexpr int kVectors = kFeatures / 8;
    for (int index = threadIdx.x; index < kTokens * kVectors; index += kThreads) {
      const int row = index / kVectors;
      const int column = index % kVectors * 8;
      const int64_t token = first_token + row;
      const int64_t feature = first_feature + column;
      if (token >= epilogue.m || feature >= epilogue.n) continue;

      float sum[8] = {};
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const float4* at =
            reinterpret_cast<const float4*>(partial + part * kTile + row * kRow + column);
        const float4 low = at[0], high = at[1];
        sum[0] += low.x, sum[1] += low.y, sum[2] += low.z, sum[3] += low.w;
        sum[4] += high.x, sum[5] += high.y, sum[6] += high.z, sum[7] += high.w;
      }
      const T* residual = epilogue.residual + token * epilogue.residual_stride + feature;
      T* out = epilogue.out + token * epilogue.out_stride + feature;
      if (epilogue.vectors && feature + 8 <= epilogue.n) {
        store_vector(sum, residual, out);
      } else {
        for (int i = 0; i < 8 && feature + i < epilogue.n; ++i)
          out[i] = from_float<T>(sum[i] + to_float(residual[i]));
      }
    }
  }

  template <typename T>
  static __device__ __forceinline__ void store_vector(const float (&sum)[8], const T* residual,
                                                      T* out) {
    union Vector {
      uint4 bits;
      T elements[8];
      __device__ Vector() {}
    } vector;
    vector.bits = *reinterpret_cast<const uint4*>(residual);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      vector.elements[i] = from_float<T>(sum[i] + to_float(vector.elements[i]));
    *reinterpret_cast<uint4*>(out) = vector.bits;
  }
};

}  // namespace fused_o_proj
