// Fills pipeline stages: rows of an operand from global into swizzled shared memory.
#pragma once

#include "mma.cuh"

namespace fused_o_proj {

// One operand, [rows, K] in global memory with unit inner stride.
template <typename T>
struct Operand {
  const T* data;
  int64_t row_stride;
  int64_t rows;
  int alignment;  // bytes at whose multiples rows begin: 16, 8, 4 or 2
};

// Shared layout of an operand's part of a stage: [slices][rows][64] elements, where the 16-byte
// chunk c of row r lies at c ^ (r % 8), so that the 8 rows of an ldmatrix hit 8 bank groups.
__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return uint32_t(row * 128 + ((chunk ^ (row & 7)) << 4));
}

// How many of `kBytes` at `feature` of a stage exist when it has `features_left` input features.
template <int kBytes>
__device__ __forceinline__ int bytes_left(int features_left, int feature) {
  return min(kBytes, max(0, 2 * (features_left - feature)));
}

// Rows [row_begin, row_begin + kRows) in copies of 16 bytes; rows must begin at multiples of that.
// A thread copies one and the same chunk of every kRowsAPass-th row: neighbours copy neighbours.
// What lies outside the operand becomes zero and is not read.
template <typename T, int kRows, int kSlices, int kThreads>
struct WideFill {
  static constexpr int kChunksARow = kSlices * 8;
  static constexpr int kRowsAPass = kThreads / kChunksARow;
  static constexpr int kPasses = kRows / kRowsAPass;
  static_assert(kThreads % kChunksARow == 0 && kRows % kRowsAPass == 0, "whole passes only");

  const T* source;     // this thread's chunk of its first row in the next stage
  int64_t pass_step;   // elements from one pass to the next
  int rows_left;       // rows of the operand from this thread's first one on, at most kRows
  int bytes;           // of this thread's chunks in the stage that is being filled

  __device__ __forceinline__ void begin(const Operand<T>& operand, int64_t row_begin,
                                        int64_t k_begin) {
    const int64_t row = row_begin + first_row();
    source = operand.data + row * operand.row_stride + k_begin + feature();
    pass_step = kRowsAPass * operand.row_stride;
    rows_left = int(max(int64_t(0), min(int64_t(kRows), operand.rows - row)));
  }

  __device__ __forceinline__ void begin_stage(int left) {
    bytes = bytes_left<16>(left, feature());
  }

  // Fills the operand's part of a stage.
  __device__ __forceinline__ void copy(uint32_t target) const {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = first_row() + pass * kRowsAPass;
      copy_async<16>(target + slice() * (kRows * 128) + swizzled(row, threadIdx.x % 8),
                     source + pass * pass_step, pass * kRowsAPass < rows_left ? bytes : 0);
    }
  }

  __device__ __forceinline__ void end_stage() { source += kSlices * 64; }

 private:
  static __device__ __forceinline__ int first_row() { return threadIdx.x / kChunksARow; }
  static __device__ __forceinline__ int slice() { return threadIdx.x / 8 % kSlices; }
  static __device__ __forceinline__ int feature() { return threadIdx.x % kChunksARow * 8; }
};

// The same for rows that begin anywhere: a warp copies whole rows of a slice, 128 bytes, lane beside
// lane; in asynchronous copies of 16, 8 or 4 bytes a lane, or, where rows begin off 4 bytes, of two
// elements a lane through registers.
template <typename T, int kRows, int kSlices, int kThreads>
struct NarrowFill {
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kUnits = kRows * kSlices / kWarps;  // rows of a slice for each warp
  static constexpr int kBatch = 8;                         // of them are under way together
  static_assert(kRows * kSlices % kWarps == 0 && kUnits % kBatch == 0, "whole passes only");

  const T* source;  // row_begin of the next stage
  int64_t row_stride;
  int rows_left;
  int alignment;
  int features_left;

  __device__ __forceinline__ void begin(const Operand<T>& operand, int64_t row_begin,
                                        int64_t k_begin) {
    source = operand.data + row_begin * operand.row_stride + k_begin;
    row_stride = operand.row_stride;
    rows_left = int(max(int64_t(0), min(int64_t(kRows), operand.rows - row_begin)));
    alignment = operand.alignment;
  }

  __device__ __forceinline__ void begin_stage(int left) { features_left = left; }

  // The widths are the same for all threads and stages; each has a small loop of its own.
  __device__ __forceinline__ void copy(uint32_t target) const {
    if (alignment == 16)
      copy_units<16>(target);
    else if (alignment == 8)
      copy_units<8>(target);
    else if (alignment == 4)
      copy_units<4>(target);
    else
      copy_elements(target);
  }

  __device__ __forceinline__ void end_stage() { source += kSlices * 64; }

 private:
  // Units count along the rows of slice 0, then of slice 1, and so on.
  struct Place {
    int row;
    int feature;
    uint32_t offset;
  };
  static __device__ __forceinline__ Place place_of(int unit, int feature) {
    const int row = unit % kRows, slice = unit / kRows;
    return {row, slice * 64 + feature,
            slice * (kRows * 128) + swizzled(row, feature / 8) + feature % 8 * 2};
  }

  static __device__ __forceinline__ int first_unit() { return threadIdx.x / 32 * kUnits; }

  template <int kBytes>
  __device__ __forceinline__ void copy_units(uint32_t target) const {
    constexpr int kLanes = 128 / kBytes;    // of a row of a slice
    constexpr int kTogether = 32 / kLanes;  // rows of one copy of the warp
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int unit = first_unit(); unit < first_unit() + kUnits; unit += kTogether) {
      const Place place = place_of(unit + lane / kLanes, lane % kLanes * (kBytes / 2));
      const int bytes = place.row < rows_left ? bytes_left<kBytes>(features_left, place.feature) : 0;
      copy_async<kBytes>(target + place.offset, source + place.row * row_stride + place.feature,
                         bytes);
    }
  }

  __device__ __forceinline__ void copy_elements(uint32_t target) const {
#pragma unroll 1
    for (int unit = first_unit(); unit < first_unit() + kUnits; unit += kBatch) {
      uint32_t low[kBatch], high[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const Place place = place_of(unit + i, threadIdx.x % 32 * 2);
        const int bytes = place.row < rows_left ? bytes_left<4>(features_left, place.feature) : 0;
        const auto* from = reinterpret_cast<const uint16_t*>(source + place.row * row_stride +
                                                             place.feature);
        low[i] = bytes >= 2 ? from[0] : 0;
        high[i] = bytes >= 4 ? from[1] : 0;
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i)
        store_shared_4(target + place_of(unit + i, threadIdx.x % 32 * 2).offset,
                       low[i] | high[i] << 16);
    }
  }
};

}  // namespace fused_o_proj
