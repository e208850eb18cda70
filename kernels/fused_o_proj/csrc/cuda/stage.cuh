// Fills one pipeline stage: rows of an operand from global into swizzled shared memory.
#pragma once

#include "mma.cuh"

namespace fused_o_proj {

// One operand, [rows, K] in global memory with unit inner stride.
template <typename T>
struct Operand {
  const T* data;
  int64_t row_stride;
  int64_t rows;
  // The widest copy that divides the address and length of every row: 16, 4 or 2 bytes, so that a
  // copy lies inside its row or wholly outside.
  int copy_bytes;
};

// Shared layout of an operand's part of a stage: [slices][rows][64] elements, where the 16-byte
// chunk c of row r lies at c ^ (r % 8), so that the 8 rows of an ldmatrix hit 8 bank groups.
__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return uint32_t(row * 128 + ((chunk ^ (row & 7)) << 4));
}

// 16 bytes to shared memory, element by element; zeros from element `count` on.
template <typename T>
__device__ __forceinline__ void copy_elements(uint32_t target, const T* source, int count) {
  const uint16_t* elements = reinterpret_cast<const uint16_t*>(source);
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const uint32_t low = 2 * w < count ? elements[2 * w] : 0;
    const uint32_t high = 2 * w + 1 < count ? elements[2 * w + 1] : 0;
    words[w] = low | (high << 16);
  }
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};\n" ::"r"(target), "r"(words[0]),
               "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

// Rows [row_begin, row_begin + kRows) × input features [k_begin, k_begin + 64 kSlices) → shared.
// What lies outside the operand becomes zero. Each thread copies the same chunk of every
// kRowsAPass-th row: neighbours copy neighbouring chunks of a row.
template <typename T, int kRows, int kSlices, int kThreads>
__device__ __forceinline__ void fill_stage(uint32_t target, const Operand<T>& operand,
                                           int64_t row_begin, int64_t k_begin, int64_t k_end) {
  constexpr int kChunksARow = kSlices * 8;
  constexpr int kRowsAPass = kThreads / kChunksARow;
  constexpr int kPasses = kRows / kRowsAPass;
  static_assert(kThreads % kChunksARow == 0 && kRows % kRowsAPass == 0, "whole passes only");
  const int chunk = threadIdx.x % 8;
  const int slice = threadIdx.x / 8 % kSlices;
  const int first_row = threadIdx.x / kChunksARow;

  const int64_t k = k_begin + slice * 64 + chunk * 8;
  const int columns_left = int(min(int64_t(8), k_end - k));  // elements; ≤ 0: none
  const int64_t rows_below = operand.rows - row_begin - first_row;
  const int rows_left = columns_left > 0 ? int(min(int64_t(kRows), rows_below)) : 0;
  const T* source = operand.data + (row_begin + first_row) * operand.row_stride + k;
  const int64_t step = kRowsAPass * operand.row_stride;
  const uint32_t slice_target = target + slice * kRows * 128;

  // The width is the same for all threads and stages; each has a loop without branches of its own.
  if (operand.copy_bytes == 16) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      copy_async_16(slice_target + swizzled(first_row + pass * kRowsAPass, chunk),
                    source + pass * step, pass * kRowsAPass >= rows_left);
  } else if (operand.copy_bytes == 4) {
#pragma unroll 2
    for (int pass = 0; pass < kPasses; ++pass)
#pragma unroll
      for (int word = 0; word < 4; ++word)
        copy_async_4(slice_target + swizzled(first_row + pass * kRowsAPass, chunk) + 4 * word,
                     source + pass * step + 2 * word,
                     pass * kRowsAPass >= rows_left || 2 * word >= columns_left);
  } else {
#pragma unroll 2
    for (int pass = 0; pass < kPasses; ++pass)
      copy_elements(slice_target + swizzled(first_row + pass * kRowsAPass, chunk),
                    source + pass * step, pass * kRowsAPass < rows_left ? columns_left : 0);
  }
}

}  // namespace fused_o_proj
