// What TMA has to know of a matrix.
#pragma once

#include <cuda.h>

#include "../problem.h"

namespace fused_o_proj {

// A map of a row-major matrix [rows, columns] of 16-bit elements whose boxes are box_rows × 64 columns,
// stored with the 128 B swizzle and zeros beyond the edges. Base and row stride are multiples of 16 bytes.
// Throws std::runtime_error where the driver refuses.
CUtensorMap tensor_map(const Rows& matrix, int64_t rows, int64_t columns, int box_rows, Dtype dtype,
                       const Sizes& sizes);

}  // namespace fused_o_proj
