// The tensor-core kernel for sm_80 and newer: one CTA, one tile of out.
//
//   out[M, N] = attn_output[M, K] · weight[N, K]ᵀ + residual[M, N]
//
// Both operands are contiguous along K, as mma.m16n8k16 wants them. The weight takes the m16 side
// and the tokens the n8 side, so that a decode step wastes at most 7 columns of every MMA. A ring of
// stages is filled by cp.async; the warps share the tile and, for few tokens, the slices of a stage.
// At the end the ring holds the float32 partial tiles, which are summed in a fixed order together
// with the residual, rounded once and stored in whole rows.
#pragma once

#include <atomic>

#include "check.h"
#include "delay.cuh"
#include "epilogue.cuh"
#include "launch.h"
#include "mma.cuh"
#include "stage.cuh"
#include "tile_configs.h"

namespace fused_o_proj {

template <typename T>
struct TileArguments {
  Operand<T> weight;       // [N, K]
  Operand<T> attn_output;  // [M, K]
  Epilogue<T> epilogue;    // residual[M, N], out[M, N]
  int64_t k;
  int token_tiles;
  int feature_tiles;
};

struct TileIndex {
  int token;
  int feature;
};

// CTAs run in order of their index: groups of 8 token tiles go through the features together, so
// that a wave of CTAs covers a near-square piece of out and reads each operand few times from L2.
__device__ __forceinline__ TileIndex tile_of_cta(int cta, int token_tiles, int feature_tiles) {
  constexpr int kGroup = 8;
  const int group = int(cta / (int64_t(kGroup) * feature_tiles));
  const int first = group * kGroup;
  const int size = min(kGroup, token_tiles - first);
  const int within = int(cta - int64_t(first) * feature_tiles);
  return {first + within % size, within / size};
}

template <typename T, int kTokens, int kFeatures, int kSlices, int kStages, int kWarpsF,
          int kWarpsT, int kWarpsK>
struct TileKernel {
  static constexpr int kThreads = 32 * kWarpsF * kWarpsT * kWarpsK;
  static constexpr int kWarpFeatures = kFeatures / kWarpsF;
  static constexpr int kWarpTokens = kTokens / kWarpsT;
  static constexpr int kFragmentsF = kWarpFeatures / 16;
  static constexpr int kFragmentsT = kWarpTokens / 8;
  static constexpr int kWeightBytes = kSlices * kFeatures * 128;
  static constexpr int kStageBytes = kWeightBytes + kSlices * kTokens * 128;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static constexpr int kSteps = kSlices / kWarpsK * 4;  // k16 steps of a stage for one warp
  static_assert(kSlices % kWarpsK == 0 && kWarpFeatures % 16 == 0 && kWarpTokens % 8 == 0);
  static_assert(PartialTiles<kTokens, kFeatures, kWarpsK>::kBytes <= kSharedBytes);

  uint32_t weight_fragment[2][kFragmentsF][4];
  uint32_t token_fragment[2][kFragmentsT][2];
  float sum[kFragmentsF][kFragmentsT][4];  // [16 features][8 tokens] pieces of the warp's tile
  int warp_f, warp_t, warp_k;

  __device__ __forceinline__ void begin() {
    const int warp = threadIdx.x / 32;
    warp_f = warp % kWarpsF;
    warp_t = warp / kWarpsF % kWarpsT;
    warp_k = warp / (kWarpsF * kWarpsT);
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[f][t][i] = 0.0f;
  }

  // Fragments of one k16 step from a full stage. weight: m16 rows = lanes 0-15, k halves = lane/16.
  // tokens: n8 rows = lane%8, k halves = lane/8 %2, the next 8 tokens = lane/16.
  __device__ __forceinline__ void load_fragments(int buffer, uint32_t stage, int step) {
    const int lane = threadIdx.x % 32;
    const int slice = warp_k + step / 4 * kWarpsK;
    const int chunk = step % 4 * 2;
    const uint32_t weight = stage + slice * kFeatures * 128;
    const uint32_t tokens = stage + kWeightBytes + slice * kTokens * 128;
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f) {
      const int row = warp_f * kWarpFeatures + f * 16 + lane % 16;
      load_matrices(weight_fragment[buffer][f], weight + swizzled(row, chunk + lane / 16));
    }
    if constexpr (kFragmentsT % 2 == 0) {
#pragma unroll
      for (int t = 0; t < kFragmentsT; t += 2) {
        const int row = warp_t * kWarpTokens + t * 8 + lane % 8 + lane / 16 * 8;
        uint32_t pair[4];
        load_matrices(pair, tokens + swizzled(row, chunk + lane / 8 % 2));
        token_fragment[buffer][t][0] = pair[0];
        token_fragment[buffer][t][1] = pair[1];
        token_fragment[buffer][t + 1][0] = pair[2];
        token_fragment[buffer][t + 1][1] = pair[3];
      }
    } else {
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t) {
        const int row = warp_t * kWarpTokens + t * 8 + lane % 8;
        load_matrices(token_fragment[buffer][t], tokens + swizzled(row, chunk + lane / 8 % 2));
      }
    }
  }

  __device__ __forceinline__ void multiply(int buffer) {
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
        mma_16x8x16<T>(sum[f][t], weight_fragment[buffer][f], token_fragment[buffer][t]);
  }

  // All steps of one stage: the fragments of the next step load while this one multiplies.
  __device__ __forceinline__ void consume(uint32_t stage) {
    load_fragments(0, stage, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) load_fragments((step + 1) % 2, stage, step + 1);
      multiply(step % 2);
    }
  }

  __device__ __forceinline__ void run(const TileArguments<T>& args) {
    const PlantedDelay delay;
    extern __shared__ __align__(128) unsigned char ring[];
    const uint32_t ring_address = uint32_t(__cvta_generic_to_shared(ring));
    const TileIndex tile = tile_of_cta(blockIdx.x, args.token_tiles, args.feature_tiles);
    const int64_t first_token = int64_t(tile.token) * kTokens;
    const int64_t first_feature = int64_t(tile.feature) * kFeatures;
    constexpr int kStageK = kSlices * kSliceFeatures;
    const int stage_count = int((args.k + kStageK - 1) / kStageK);

    begin();
    auto fill = [&](int index) {
      if (index < stage_count) {
        const uint32_t stage = ring_address + uint32_t(index % kStages) * kStageBytes;
        const int64_t k = int64_t(index) * kStageK;
        fill_stage<T, kFeatures, kSlices, kThreads>(stage, args.weight, first_feature, k, args.k);
        fill_stage<T, kTokens, kSlices, kThreads>(stage + kWeightBytes, args.attn_output,
                                                  first_token, k, args.k);
      }
      commit_copies();  // also when empty: the waits below count groups
    };

#pragma unroll
    for (int index = 0; index < kStages - 1; ++index) fill(index);
    prefetch_residual<T, kTokens, kFeatures, kThreads>(args.epilogue, first_token, first_feature);
    for (int index = 0; index < stage_count; ++index) {
      wait_copies<kStages - 2>();  // this thread's copies into stage `index` have landed
      __syncthreads();  // everybody's have; and everybody has read the stage refilled just below
      fill(index + kStages - 1);
      consume(ring_address + uint32_t(index % kStages) * kStageBytes);
    }
    wait_copies<0>();
    __syncthreads();  // all reads of the ring are done: it may hold the partial tiles

    using Partial = PartialTiles<kTokens, kFeatures, kWarpsK>;
    float* partial = reinterpret_cast<float*>(ring);
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
        Partial::put(partial, warp_k, warp_t * kWarpTokens + t * 8,
                     warp_f * kWarpFeatures + f * 16, sum[f][t]);
    __syncthreads();  // the partial tiles are whole before anybody sums them
    Partial::template finish<T, kThreads>(partial, args.epilogue, first_token, first_feature);
  }
};

template <typename T, int... kConfig>
__global__ void __launch_bounds__(TileKernel<T, kConfig...>::kThreads)
    mma_tile_kernel(const __grid_constant__ TileArguments<T> args) {
  TileKernel<T, kConfig...> kernel;
  kernel.run(args);
}

template <typename T>
Operand<T> make_operand(const Rows& rows, int64_t count, int64_t columns) {
  const auto address = reinterpret_cast<uintptr_t>(rows.data);
  auto aligned = [&](int bytes) {
    return address % bytes == 0 && columns * 2 % bytes == 0 &&
           (count == 1 || rows.row_stride * 2 % bytes == 0);
  };
  return {static_cast<const T*>(rows.data), rows.row_stride, count,
          aligned(16) ? 16 : aligned(4) ? 4 : 2};
}

// A kernel may use more than 48 KiB of shared memory once it has been said for that device.
class SharedMemoryOptIn {
 public:
  cudaError_t once(const void* kernel, int bytes, int device) {
    const uint64_t bit = device < 64 ? uint64_t(1) << device : 0;
    if (done_.load(std::memory_order_relaxed) & bit) return cudaSuccess;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) done_.fetch_or(bit, std::memory_order_relaxed);
    return error;
  }

 private:
  std::atomic<uint64_t> done_{0};  // one bit a device; beyond 64 devices it is said every time
};

template <typename T, int... kConfig>
void launch_config(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                   cudaStream_t stream) {
  using Kernel = TileKernel<T, kConfig...>;
  const Sizes& sizes = problem.sizes;
  const TileConfig& config = kTileConfigs[plan.config];
  const auto kernel = reinterpret_cast<const void*>(&mma_tile_kernel<T, kConfig...>);
  TileArguments<T> args{make_operand<T>(problem.weight, sizes.n, sizes.k),
                        make_operand<T>(problem.attn_output, sizes.m, sizes.k),
                        make_epilogue<T>(problem),
                        sizes.k,
                        int((sizes.m + config.tokens - 1) / config.tokens),
                        int((sizes.n + config.features - 1) / config.features)};
  static SharedMemoryOptIn opt_in;
  check_cuda(opt_in.once(kernel, Kernel::kSharedBytes, device.ordinal), "cudaFuncSetAttribute",
             sizes);
  void* parameters[] = {&args};
  check_cuda(cudaLaunchKernel(kernel, dim3(unsigned(plan.ctas)), dim3(Kernel::kThreads),
                              parameters, Kernel::kSharedBytes, stream),
             "cudaLaunchKernel(mma_tile)", sizes);
}

// Launches the configuration that the plan names.
template <typename T>
void launch_mma_tile(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                     cudaStream_t stream) {
  using Launch = void (*)(const Plan&, const Problem&, const DeviceLimits&, cudaStream_t);
#define FUSED_O_PROJ_LAUNCH(...) &launch_config<T, __VA_ARGS__>,
  static constexpr Launch kLaunches[] = {FUSED_O_PROJ_TILE_CONFIGS(FUSED_O_PROJ_LAUNCH)};
#undef FUSED_O_PROJ_LAUNCH
  kLaunches[plan.config](plan, problem, device, stream);
}

}  // namespace fused_o_proj
