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
  int copy_bytes;  // 16, 4 or 2: the widest copy that the alignment of all rows allows
};

// Shared layout of an operand's part of a stage: [slices][rows][64] elements, where the 16-byte
// chunk c of row r lies at c ^ (r % 8), so that the 8 rows of an ldmatrix hit 8 bank groups.
__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return uint32_t(row * 128 + ((chunk ^ (row & 7)) << 4));
}

// 16 bytes to shared memory, element by element, zeros beyond `valid_bytes`.
template <typename T>
__device__ __forceinline__ void copy_elements(uint32_t target, const T* source, int valid_bytes) {
  uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const uint16_t* pair = reinterpret_cast<const uint16_t*>(source) + 2 * w;
    const uint32_t low = valid_bytes > 4 * w ? pair[0] : 0;
    const uint32_t high = valid_bytes > 4 * w + 2 ? pair[1] : 0;
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
  static_assert(kThreads % kChunksARow == 0 && kRows % kRowsAPass == 0, "whole passes only");
  const int chunk = threadIdx.x % 8;
  const int slice = threadIdx.x / 8 % kSlices;
  const int first_row = threadIdx.x / kChunksARow;

  const int64_t k = k_begin + slice * 64 + chunk * 8;
  const int64_t bytes_left = (k_end - k) * 2;
  const int valid_columns = bytes_left >= 16 ? 16 : bytes_left > 0 ? int(bytes_left) : 0;
  const int64_t rows_left = operand.rows - row_begin - first_row;
  const T* source = operand.data + (row_begin + first_row) * operand.row_stride + k;
  const uint32_t slice_target = target + slice * kRows * 128;

#pragma unroll
  for (int pass = 0; pass < kRows / kRowsAPass; ++pass) {
    const int row = first_row + pass * kRowsAPass;
    const int valid = pass * kRowsAPass < rows_left ? valid_columns : 0;
    // A copy of nothing still names an address: one that exists.
    const T* from = valid > 0 ? source : operand.data;
    const uint32_t to = slice_target + swizzled(row, chunk);
    if (operand.copy_bytes == 16) {
      copy_async_16(to, from, valid);
    } else if (operand.copy_bytes == 4) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const int rest = valid - 4 * word;
        copy_async_4(to + 4 * word, rest > 0 ? from + 2 * word : operand.data,
                     rest >= 4 ? 4 : rest > 0 ? rest : 0);
      }
    } else {
      copy_elements(to, from, valid);
    }
    source += kRowsAPass * operand.row_stride;
  }
}

}  // namespace fused_o_proj
