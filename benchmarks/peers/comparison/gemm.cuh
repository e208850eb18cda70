// out[tokens, n] = attn[tokens, k] x weight[n, k]^T + residual[tokens, n] by CUTLASS 3.x on sm_90a, fp32 accumulation.
//
// One instantiation a file: PEER_GEMM(name, ...) defines the two C functions that the Python side finds by name.
//
// Plain: tokens are the rows of the tile, out is row-major. Swapped: the weight's rows are, so that few tokens fill
// the narrow side of the tile; out^T is column-major then, which is the same memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/kernel_hardware_info.h"
#include "cutlass/util/packed_stride.hpp"

namespace peers {

using namespace cute;

struct Cooperative {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
  using Epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
};

struct Pingpong {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using Epilogue = cutlass::epilogue::TmaWarpSpecialized;
};

using StreamK = cutlass::gemm::StreamKScheduler;
using Persistent = cutlass::gemm::PersistentScheduler;

// What is chosen at run time: `splits` > 1 cuts K into so many parts, 1 leaves it whole, 0 balances by stream-K.
// A reduction is always in the order of the parts. `swizzle`: tiles of a group that share operands in L2.
struct Choice {
  int splits;
  int swizzle;
};

template <class Element, class Tile, class Cluster, class Schedule, class Scheduler, bool kSwapped>
struct Gemm {
  // 16 bytes: what TMA asks of every row.
  static constexpr int kAlignment = 16 / sizeof(Element);
  using LayoutOut = std::conditional_t<kSwapped, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>;

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float,
      Element, LayoutOut, kAlignment,  // residual
      Element, LayoutOut, kAlignment,  // out
      typename Schedule::Epilogue>::CollectiveOp;

  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp,
      Element, cutlass::layout::RowMajor, kAlignment,     // attn, or weight when swapped: k is contiguous in both
      Element, cutlass::layout::ColumnMajor, kAlignment,  // the other
      float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
      typename Schedule::Mainloop>::CollectiveOp;

  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
  using Device = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

  static cutlass::KernelHardwareInfo const& hardware() {
    static cutlass::KernelHardwareInfo const info = [] {
      int device = 0;
      cudaGetDevice(&device);
      return cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
    }();
    return info;
  }

  static typename Device::Arguments arguments(
      void const* attn, void const* weight, void const* residual, void* out, int tokens, int n, int k, Choice choice) {
    int const rows = kSwapped ? n : tokens;
    int const columns = kSwapped ? tokens : n;
    auto const* left = static_cast<Element const*>(kSwapped ? weight : attn);
    auto const* right = static_cast<Element const*>(kSwapped ? attn : weight);
    auto const left_stride = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(rows, k, 1));
    auto const right_stride = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(columns, k, 1));
    auto const out_stride = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, make_shape(rows, columns, 1));
    typename Device::Arguments result{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {rows, columns, k, 1},
        {left, left_stride, right, right_stride},
        {{1.0f, 1.0f}, static_cast<Element const*>(residual), out_stride, static_cast<Element*>(out), out_stride},
        hardware()};
    result.scheduler.max_swizzle_size = choice.swizzle;
    if constexpr (std::is_same_v<Scheduler, StreamK>) {
      using Mode = decltype(result.scheduler.decomposition_mode);
      result.scheduler.splits = choice.splits > 1 ? choice.splits : 1;
      result.scheduler.decomposition_mode = choice.splits > 1   ? Mode::SplitK
                                            : choice.splits == 1 ? Mode::DataParallel
                                                                 : Mode::StreamK;
    }
    return result;
  }
};

// Bytes of workspace that the problem needs, -1 when the kernel can't do it.
template <class G>
int64_t workspace(int tokens, int n, int k, Choice choice) {
  auto const arguments = G::arguments(nullptr, nullptr, nullptr, nullptr, tokens, n, k, choice);
  if (G::Device::can_implement(arguments) != cutlass::Status::kSuccess) {
    return -1;
  }
  return static_cast<int64_t>(G::Device::get_workspace_size(arguments));
}

// Returns 0, or 1 + CUTLASS's status. Clears the parts of the workspace that the kernel counts in, on `stream`.
template <class G>
int run(void const* attn, void const* weight, void const* residual, void* out, int tokens, int n, int k, Choice choice,
        void* scratch, void* stream) {
  typename G::Device gemm;
  auto const arguments = G::arguments(attn, weight, residual, out, tokens, n, k, choice);
  cutlass::Status const status = gemm.run(arguments, scratch, static_cast<cudaStream_t>(stream));
  return status == cutlass::Status::kSuccess ? 0 : 1 + static_cast<int>(status);
}

}  // namespace peers

#define PEER_GEMM(NAME, ELEMENT, TM, TN, TK, CM, CN, SCHEDULE, SCHEDULER, SWAPPED)                                     \
  using NAME##_gemm = peers::Gemm<cutlass::ELEMENT, cute::Shape<cute::Int<TM>, cute::Int<TN>, cute::Int<TK>>,          \
                                  cute::Shape<cute::Int<CM>, cute::Int<CN>, cute::_1>, peers::SCHEDULE,                \
                                  peers::SCHEDULER, SWAPPED>;                                                          \
  extern "C" int64_t NAME##_workspace(int tokens, int n, int k, int splits, int swizzle) {                             \
    return peers::workspace<NAME##_gemm>(tokens, n, k, {splits, swizzle});                                             \
  }                                                                                                                    \
  extern "C" int NAME##_run(void const* attn, void const* weight, void const* residual, void* out, int tokens, int n,  \
                            int k, int splits, int swizzle, void* scratch, void* stream) {                             \
    return peers::run<NAME##_gemm>(attn, weight, residual, out, tokens, n, k, {splits, swizzle}, scratch, stream);     \
  }
