// The end of a tile: partial sums + residual → out, rounded once.
#pragma once

#include "../plan.h"
#include "mma.cuh"

namespace fused_o_proj {

template <typename T>
constexpr Dtype dtype_of();
template <>
constexpr Dtype dtype_of<__nv_bfloat16>() {
  return Dtype::kBFloat16;
}
template <>
constexpr Dtype dtype_of<__half>() {
  return Dtype::kFloat16;
}

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
Epilogue<T> make_epilogue(const Problem& problem, const Alignment& alignment) {
  return {static_cast<const T*>(problem.residual.data),
          static_cast<T*>(problem.out.data),
          problem.residual.row_stride,
          problem.out.row_stride,
          problem.sizes.m,
          problem.sizes.n,
          alignment.residual >= 16 && alignment.out >= 16};
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

  // The parts, added in their order.
  struct Sum {
    const float* partial;

    __device__ __forceinline__ void eight(int token, int feature, float (&sum)[8]) const {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const float4* at =
            reinterpret_cast<const float4*>(partial + part * kTile + token * kRow + feature);
        const float4 low = at[0], high = at[1];
        sum[0] += low.x, sum[1] += low.y, sum[2] += low.z, sum[3] += low.w;
        sum[4] += high.x, sum[5] += high.y, sum[6] += high.z, sum[7] += high.w;
      }
    }

    __device__ __forceinline__ float one(int token, int feature) const {
      float sum = 0.0f;
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        sum += partial[part * kTile + token * kRow + feature];
      return sum;
    }
  };
};

// What becomes of a tile's sums. Neighbouring threads take neighbouring features of a token.
template <typename T, int kTokens, int kFeatures, int kThreads>
struct TileFinish {
  const Epilogue<T>& epilogue;
  int64_t first_token;
  int64_t first_feature;

  // sums + residual → out, rounded once. `sum_of` tells a tile's sums: eight(token, feature, …) or
  // one(token, feature).
  template <typename Sum>
  __device__ __forceinline__ void store(const Sum& sum_of) const {
    const bool whole = epilogue.n % 8 == 0 || first_feature + kFeatures <= epilogue.n;
    if (epilogue.vectors && whole)
      store_vectors(sum_of);
    else
      store_elements(sum_of);
  }

  // The sums themselves → target[kTokens][kFeatures], but for what lies outside of out.
  template <typename Sum>
  __device__ __forceinline__ void leave(const Sum& sum_of, float* target) const {
#pragma unroll 4
    for (int index = threadIdx.x; index < kTokens * kVectors; index += kThreads) {
      const int token = index / kVectors, feature = index % kVectors * 8;
      if (!inside(token, feature)) continue;
      float sum[8] = {};
      sum_of.eight(token, feature, sum);
      float4* at = reinterpret_cast<float4*>(target + token * kFeatures + feature);
      __stcg(at, make_float4(sum[0], sum[1], sum[2], sum[3]));
      __stcg(at + 1, make_float4(sum[4], sum[5], sum[6], sum[7]));
    }
  }

 private:
  static constexpr int kVectors = kFeatures / 8;  // of 8 features, 16 bytes, in a token's row
  static constexpr int kBatch = 4;                // loads of residual that are under way together

  __device__ __forceinline__ bool inside(int token, int feature) const {
    return first_token + token < epilogue.m && first_feature + feature < epilogue.n;
  }
  __device__ __forceinline__ const T* residual_at(int token, int feature) const {
    return epilogue.residual + (first_token + token) * epilogue.residual_stride + first_feature +
           feature;
  }
  __device__ __forceinline__ T* out_at(int token, int feature) const {
    return epilogue.out + (first_token + token) * epilogue.out_stride + first_feature + feature;
  }

  template <typename Sum>
  __device__ __forceinline__ void store_vectors(const Sum& sum_of) const {
    for (int base = threadIdx.x; base < kTokens * kVectors; base += kBatch * kThreads) {
      union Vector {
        uint4 bits;
        T elements[8];
        __device__ Vector() {}
      } vector[kBatch];
      bool valid[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int index = base + i * kThreads;
        const int token = index / kVectors, feature = index % kVectors * 8;
        valid[i] = index < kTokens * kVectors && inside(token, feature);
        if (valid[i])
          vector[i].bits = *reinterpret_cast<const uint4*>(residual_at(token, feature));
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (!valid[i]) continue;
        const int index = base + i * kThreads;
        const int token = index / kVectors, feature = index % kVectors * 8;
        float sum[8] = {};
        sum_of.eight(token, feature, sum);
#pragma unroll
        for (int e = 0; e < 8; ++e)
          vector[i].elements[e] = from_float<T>(sum[e] + to_float(vector[i].elements[e]));
        *reinterpret_cast<uint4*>(out_at(token, feature)) = vector[i].bits;
      }
    }
  }

  template <typename Sum>
  __device__ __forceinline__ void store_elements(const Sum& sum_of) const {
    for (int base = threadIdx.x; base < kTokens * kFeatures; base += kBatch * kThreads) {
      T element[kBatch];
      bool valid[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int index = base + i * kThreads;
        const int token = index / kFeatures, feature = index % kFeatures;
        valid[i] = index < kTokens * kFeatures && inside(token, feature);
        if (valid[i]) element[i] = *residual_at(token, feature);
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (!valid[i]) continue;
        const int index = base + i * kThreads;
        const int token = index / kFeatures, feature = index % kFeatures;
        *out_at(token, feature) =
            from_float<T>(sum_of.one(token, feature) + to_float(element[i]));
      }
    }
  }
};

}  // namespace fused_o_proj
