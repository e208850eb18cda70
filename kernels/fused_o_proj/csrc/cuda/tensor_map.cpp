#include "tensor_map.h"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "check.h"

namespace fused_o_proj {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                            CUtensorMapFloatOOBfill);

// Asked of the runtime, so that nothing has to be linked to the driver.
Encode encoder(const Sizes& sizes) {
  static const Encode found = [&sizes] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult answer;
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &answer),
               "cudaGetDriverEntryPointByVersion", sizes);
    if (answer != cudaDriverEntryPointSuccess)
      throw std::runtime_error(
          "fused_o_proj: the driver has no cuTensorMapEncodeTiled, wanted one for CUDA 12 or newer");
    return reinterpret_cast<Encode>(function);
  }();
  return found;
}

}  // namespace

CUtensorMap tensor_map(const Rows& matrix, int64_t rows, int64_t columns, int box_rows, Dtype dtype,
                       const Sizes& sizes) {
  constexpr cuuint32_t kBoxColumns = 64;
  constexpr int kBytes = 2;
  // a single row has no stride to speak of
  const int64_t stride = rows > 1 ? matrix.row_stride : (columns + 7) / 8 * 8;
  const cuuint64_t extents[] = {cuuint64_t(columns), cuuint64_t(rows)};
  const cuuint64_t strides[] = {cuuint64_t(stride) * kBytes};
  const cuuint32_t box[] = {kBoxColumns, cuuint32_t(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  const CUresult result = encoder(sizes)(
      &map,
      dtype == Dtype::kBFloat16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      2, matrix.data, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error("fused_o_proj.o_proj_residual: cuTensorMapEncodeTiled failed with " +
                             std::to_string(result) + " for M=" + std::to_string(sizes.m) +
                             ", N=" + std::to_string(sizes.n) + ", K=" + std::to_string(sizes.k));
  return map;
}

}  // namespace fused_o_proj
