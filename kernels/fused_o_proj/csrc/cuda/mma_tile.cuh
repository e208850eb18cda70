// The tensor-core kernel for sm_80 and newer: one CTA, one tile of out or a part of its sum.
//
//   out[M, N] = attn_output[M, K] · weight[N, K]ᵀ + residual[M, N]
//
// Both operands are contiguous along K, as mma.m16n8k16 wants them. The weight takes the m16 side
// and the tokens the n8 side, so that a decode step wastes at most 7 columns of every MMA. A ring of
// stages is filled by cp.async; the warps share the tile and, for few tokens, the slices of a stage.
// The fragments of the next k16 step are read while this one multiplies, across stages too.
// At the end the ring holds the float32 partial tiles, which are summed in a fixed order together
// with the residual, rounded once and stored in whole rows. Where several CTAs share a tile along K,
// each leaves its partial tile in the workspace, and the last to arrive adds them in their order.
#pragma once

#include "check.h"
#include "delay.cuh"
#include "epilogue.cuh"
#include "launch.h"
#include "mma.cuh"
#include "opt_in.h"
#include "split.cuh"
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
  SplitWorkspace split;
};

struct TileIndex {
  int token;
  int feature;
};

// CTAs run in order of their index: groups of 8 token tiles go through the features together, so
// that a wave of CTAs covers a near-square piece of out and reads each operand few times from L2.
__device__ __forceinline__ TileIndex tile_of(int index, int token_tiles, int feature_tiles) {
  constexpr int kGroup = 8;
  const int group = int(index / (int64_t(kGroup) * feature_tiles));
  const int first = group * kGroup;
  const int size = min(kGroup, token_tiles - first);
  const int within = int(index - int64_t(first) * feature_tiles);
  return {first + within % size, within / size};
}

template <typename T, int kWide, int kTokens, int kFeatures, int kSlices, int kStages, int kWarpsF,
          int kWarpsT, int kWarpsK>
struct TileKernel {
  static constexpr int kThreads = 32 * kWarpsF * kWarpsT * kWarpsK;
  static constexpr int kWarpFeatures = kFeatures / kWarpsF;
  static constexpr int kWarpTokens = kTokens / kWarpsT;
  static constexpr int kFragmentsF = kWarpFeatures / 16;
  static constexpr int kFragmentsT = kWarpTokens / 8;
  static constexpr bool kTokenPairs = kFragmentsT % 2 == 0;
  static constexpr int kStageK = kSlices * kSliceFeatures;
  static constexpr int kWeightBytes = kSlices * kFeatures * 128;
  static constexpr int kStageBytes = kWeightBytes + kSlices * kTokens * 128;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  static constexpr int kSteps = kSlices / kWarpsK * 4;  // k16 steps of a stage for one warp
  static_assert(kSteps % 2 == 0, "the last step's fragments are in buffer 1");
  static_assert(kSlices % kWarpsK == 0 && kWarpFeatures % 16 == 0 && kWarpTokens % 8 == 0);
  using Partial = PartialTiles<kTokens, kFeatures, kWarpsK>;
  static_assert(Partial::kBytes <= kSharedBytes);

  template <int kRows>
  using Fill = std::conditional_t<kWide != 0, WideFill<T, kRows, kSlices, kThreads>,
                                  NarrowFill<T, kRows, kSlices, kThreads>>;

  Fill<kFeatures> weight_fill;
  Fill<kTokens> token_fill;
  int64_t fill_k;  // first input feature of the stage that is filled next
  uint32_t weight_fragment[2][kFragmentsF][4];
  uint32_t token_fragment[2][kFragmentsT][2];
  float sum[kFragmentsF][kFragmentsT][4];  // [16 features][8 tokens] pieces of the warp's tile
  int warp_f, warp_t, warp_k;
  // Where this lane reads fragments in a stage: the row of its operand, and its chunk of the first
  // step, already swizzled; step s of a slice lies at chunk ^ 2s.
  uint32_t weight_row, weight_chunk, token_row, token_chunk;

  __device__ __forceinline__ void begin() {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    warp_f = warp % kWarpsF;
    warp_t = warp / kWarpsF % kWarpsT;
    warp_k = warp / (kWarpsF * kWarpsT);
    // weight: m16 rows = lanes 0-15, k halves = lane/16. tokens: n8 rows = lane%8, k halves =
    // lane/8 %2, the next 8 tokens = lane/16.
    weight_row = (warp_k * kFeatures + warp_f * kWarpFeatures + lane % 16) * 128;
    weight_chunk = ((lane / 16) ^ (lane % 8)) << 4;
    const int next_tokens = kTokenPairs ? lane / 16 * 8 : 0;
    token_row =
        kWeightBytes + (warp_k * kTokens + warp_t * kWarpTokens + lane % 8 + next_tokens) * 128;
    token_chunk = ((lane / 8 % 2) ^ (lane % 8)) << 4;
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[f][t][i] = 0.0f;
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int i = 0; i < 4; ++i) weight_fragment[1][f][i] = 0;
#pragma unroll
    for (int t = 0; t < kFragmentsT; ++t) token_fragment[1][t][0] = token_fragment[1][t][1] = 0;
  }

  // Fragments of one k16 step from a full stage.
  __device__ __forceinline__ void load_fragments(int buffer, uint32_t stage, int step) {
    const int slices = step / 4 * kWarpsK;
    const uint32_t weight =
        stage + weight_row + (weight_chunk ^ (step % 4 << 5)) + slices * (kFeatures * 128);
    const uint32_t tokens =
        stage + token_row + (token_chunk ^ (step % 4 << 5)) + slices * (kTokens * 128);
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
      load_matrices(weight_fragment[buffer][f], weight + f * (16 * 128));
    if constexpr (kTokenPairs) {
#pragma unroll
      for (int t = 0; t < kFragmentsT; t += 2) {
        uint32_t pair[4];
        load_matrices(pair, tokens + t * (8 * 128));
        token_fragment[buffer][t][0] = pair[0];
        token_fragment[buffer][t][1] = pair[1];
        token_fragment[buffer][t + 1][0] = pair[2];
        token_fragment[buffer][t + 1][1] = pair[3];
      }
    } else {
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
        load_matrices(token_fragment[buffer][t], tokens + t * (8 * 128));
    }
  }

  __device__ __forceinline__ void multiply(int buffer) {
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
        mma_16x8x16<T>(sum[f][t], weight_fragment[buffer][f], token_fragment[buffer][t]);
  }

  __device__ __forceinline__ void begin_fill(int64_t k) {
    const int left = int(min(int64_t(kStageK), k - fill_k));
    weight_fill.begin_stage(left);
    token_fill.begin_stage(left);
  }

  // The two operands' copies into a stage.
  __device__ __forceinline__ void fill(uint32_t stage) {
    weight_fill.copy(stage);
    token_fill.copy(stage + kWeightBytes);
  }

  __device__ __forceinline__ void end_fill() {
    weight_fill.end_stage();
    token_fill.end_stage();
    fill_k += kStageK;
  }

  // The sum over `count` stages: weight and token rows × input features [fill_k, …).
  __device__ __forceinline__ void accumulate(uint32_t ring, int count, int64_t k) {
#pragma unroll 1
    for (int index = 0; index < kStages - 1; ++index) {
      if (index < count) {
        begin_fill(k);
        fill(ring + index * kStageBytes);
        end_fill();
      }
      commit_copies();  // also when empty: the waits below count groups
    }

    // A stage's last step multiplies after the barrier of the next stage, whose first fragments are
    // read meanwhile. (Placed before the barrier, the compiler would leave nothing to read them
    // under.) The first time around the fragments are zeros.
    const uint32_t end = ring + kSharedBytes;
    uint32_t stage = ring, free_stage = end - kStageBytes;
    for (int index = 0; index < count; ++index) {
      wait_copies<kStages - 2>();  // this thread's copies into the stage have landed
      __syncthreads();  // everybody's have, and everybody has read the stage before: it is free
      const bool filling = index + kStages - 1 < count;
      if (filling) begin_fill(k);
      load_fragments(0, stage, 0);
      multiply(1);
#pragma unroll
      for (int step = 0; step < kSteps - 1; ++step) {
        load_fragments((step + 1) % 2, stage, step + 1);
        if (filling && step == 0) fill(free_stage);
        multiply(step % 2);
      }
      if (filling) end_fill();
      commit_copies();
      free_stage = stage;
      stage = stage + kStageBytes == end ? ring : stage + kStageBytes;
    }
    multiply(1);
    wait_copies<0>();
    __syncthreads();  // all reads of the ring are done: it may hold the partial tiles
  }

  __device__ __forceinline__ void run(const TileArguments<T>& args) {
    const PlantedDelay delay;
    extern __shared__ __align__(128) unsigned char ring[];
    const int tiles = args.token_tiles * args.feature_tiles;
    const int part = args.split.count > 1 ? int(blockIdx.x) / tiles : 0;
    const int tile_index = int(blockIdx.x) - part * tiles;
    const TileIndex tile = tile_of(tile_index, args.token_tiles, args.feature_tiles);
    const int64_t first_token = int64_t(tile.token) * kTokens;
    const int64_t first_feature = int64_t(tile.feature) * kFeatures;
    const StageRange stages = stages_of((args.k + kStageK - 1) / kStageK, part, args.split.count);

    begin();
    fill_k = stages.first * kStageK;
    weight_fill.begin(args.weight, first_feature, fill_k);
    token_fill.begin(args.attn_output, first_token, fill_k);
    prefetch_residual<T, kTokens, kFeatures, kThreads>(args.epilogue, first_token, first_feature);
    accumulate(uint32_t(__cvta_generic_to_shared(ring)), stages.count, args.k);

    float* partial = reinterpret_cast<float*>(ring);
#pragma unroll
    for (int f = 0; f < kFragmentsF; ++f)
#pragma unroll
      for (int t = 0; t < kFragmentsT; ++t)
        Partial::put(partial, warp_k, warp_t * kWarpTokens + t * 8,
                     warp_f * kWarpFeatures + f * 16, sum[f][t]);
    __syncthreads();  // the partial tiles are whole before anybody sums them

    using Finish = TileFinish<T, kTokens, kFeatures, kThreads>;
    const Finish finish{args.epilogue, first_token, first_feature};
    const typename Partial::Sum sum_of{partial};
    if (args.split.count == 1) return finish.store(sum_of);
    float* tiles_of_parts = args.split.partials + int64_t(tile_index) * args.split.count *
                                                      (kTokens * kFeatures);
    finish.leave(sum_of, tiles_of_parts + part * (kTokens * kFeatures));
    if (arrived_last(args.split, tile_index))
      finish.store(SplitSum<kTokens, kFeatures>{tiles_of_parts, args.split.count});
  }
};

template <typename T, int... kConfig>
__global__ void __launch_bounds__(TileKernel<T, kConfig...>::kThreads, 1)
    mma_tile_kernel(const __grid_constant__ TileArguments<T> args) {
  TileKernel<T, kConfig...> kernel;
  kernel.run(args);
}

template <typename T, int... kConfig>
void launch_config(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                   void* workspace, cudaStream_t stream) {
  using Kernel = TileKernel<T, kConfig...>;
  const Sizes& sizes = problem.sizes;
  const TileConfig& config = kTileConfigs[plan.config];
  const auto kernel = reinterpret_cast<const void*>(&mma_tile_kernel<T, kConfig...>);
  const Alignment alignment = alignment_of(problem, dtype_of<T>());
  TileArguments<T> args{
      {static_cast<const T*>(problem.weight.data), problem.weight.row_stride, sizes.n,
       alignment.weight},
      {static_cast<const T*>(problem.attn_output.data), problem.attn_output.row_stride, sizes.m,
       alignment.attn_output},
      make_epilogue<T>(problem, alignment),
      sizes.k,
      int((sizes.m + config.tokens - 1) / config.tokens),
      int((sizes.n + config.features - 1) / config.features),
      split_workspace(plan, workspace)};
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
                     void* workspace, cudaStream_t stream) {
  using Launch = void (*)(const Plan&, const Problem&, const DeviceLimits&, void*, cudaStream_t);
#define FUSED_O_PROJ_LAUNCH(...) &launch_config<T, __VA_ARGS__>,
  static constexpr Launch kLaunches[] = {FUSED_O_PROJ_TILE_CONFIGS(FUSED_O_PROJ_LAUNCH)};
#undef FUSED_O_PROJ_LAUNCH
  kLaunches[plan.config](plan, problem, device, workspace, stream);
}

}  // namespace fused_o_proj
