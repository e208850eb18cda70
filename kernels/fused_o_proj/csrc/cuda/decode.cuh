// The Hopper decode kernel: out[M, N], M from 17 to 128, with the weight's bytes streaming through every SM.
//
// A CTA has 64 features (rows of the weight), all tokens, and a part of K. One thread copies boxes of the
// weight and of the activations by TMA into a ring of about 200 KiB, which is what keeps the memory
// busy; one warpgroup multiplies stage after stage, the weight on wgmma's wide side. CTAs that share
// features are a cluster: each leaves its float32 sums in its own shared memory and then adds its share
// of the elements over all of them, in the order of the parts of K. So there is one launch, no
// workspace, and the same bits every time.
#pragma once

#include <cuda_runtime.h>

#include "../plan.h"
#include "check.h"
#include "decode_configs.h"
#include "delay.cuh"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "launch.h"
#include "opt_in.h"
#include "split.cuh"
#include "tensor_map.h"

namespace fused_o_proj {

template <typename T>
struct DecodeArguments {
  const T* residual;
  T* out;
  int64_t residual_stride;
  int64_t out_stride;
  int tokens;
  int features;
  int steps;  // stages of all of K
  int split;  // CTAs of a cluster
};

template <typename T, int kTokens, int kSlabs>
struct DecodeKernel {
  static constexpr DecodeConfig kConfig{kTokens, kSlabs};
  static constexpr int kStages = kConfig.stages();
  static constexpr int kStageBytes = kConfig.stage_bytes();
  static constexpr int kSlabBytes = kDecodeSlab * 2;  // of a row: 128, one swizzled line
  static constexpr int kWeightBytes = kDecodeFeatures * kSlabBytes * kSlabs;
  static constexpr int kMultipliers = 128;            // threads of the warpgroup
  static constexpr int kPitch = kDecodeFeatures + 4;  // floats: lanes that write meet in no bank
  static constexpr int kQuads = kTokens / 8;          // of four features, most that a thread finishes
  static_assert(kStages >= 2 && kTokens * kPitch * 4 <= kStages * kStageBytes);

#if FUSED_O_PROJ_HOPPER
  // Weight [features][64] of all slabs, then activations [tokens][64] of all slabs.
  struct Ring {
    uint32_t stages;
    uint32_t filled;   // barriers, 8 bytes a stage
    uint32_t drained;

    __device__ uint32_t weight(int stage, int slab) const {
      return stages + stage * kStageBytes + slab * kDecodeFeatures * kSlabBytes;
    }
    __device__ uint32_t tokens(int stage, int slab) const {
      return stages + stage * kStageBytes + kWeightBytes + slab * kTokens * kSlabBytes;
    }
  };

  // Where a stage stands in the ring: its place and the parity of its turn.
  struct Turn {
    int place = 0;
    uint32_t parity = 0;
    __device__ void next() {
      if (++place < kStages) return;
      place = 0;
      parity ^= 1;
    }
  };

  __device__ static void copy_stage(const Ring& ring, int place, int step, int first_feature,
                                    const CUtensorMap& weight, const CUtensorMap& tokens,
                                    uint64_t once, uint64_t often) {
    const uint32_t filled = ring.filled + 8 * place;
    arrive_expecting(filled, kStageBytes);
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      const int column = (step * kSlabs + slab) * kDecodeSlab;
      copy_box(ring.weight(place, slab), weight, column, first_feature, filled, once);
      copy_box(ring.tokens(place, slab), tokens, column, 0, filled, often);
    }
  }

  // One thread: fills the ring before anybody waits for it, then follows the warpgroup.
  __device__ static void copy(const Ring& ring, const StageRange& range, int first_feature,
                              const CUtensorMap& weight, const CUtensorMap& tokens) {
    const uint64_t once = evict_first(), often = evict_last();
    Turn turn;
    for (int i = 0; i < range.count; ++i, turn.next()) {
      if (i >= kStages) wait(ring.drained + 8 * turn.place, turn.parity ^ 1);
      copy_stage(ring, turn.place, int(range.first) + i, first_feature, weight, tokens, once, often);
    }
  }

  // The warpgroup: sums of 64 features × kTokens over its stages.
  __device__ static void multiply(const Ring& ring, int count, float (&sum)[kTokens / 2]) {
    Turn turn;
    int before = -1;
    for (int i = 0; i < count; ++i, turn.next()) {
      wait(ring.filled + 8 * turn.place, turn.parity);
      hold(sum);
      begin_products();
#pragma unroll
      for (int slab = 0; slab < kSlabs; ++slab)
#pragma unroll
        for (int k = 0; k < kDecodeSlab / 16; ++k)
          Product<T, kTokens>::add(sum, matrix_descriptor(ring.weight(turn.place, slab) + 32 * k),
                                   matrix_descriptor(ring.tokens(turn.place, slab) + 32 * k));
      commit_products();
      wait_products<1>();  // those of the stage before have read it
      if (before >= 0 && threadIdx.x == 0) arrive(ring.drained + 8 * before);
      before = turn.place;
    }
    wait_products<0>();
    hold(sum);
  }

  // The products change these registers behind the compiler's back.
  __device__ static void hold(float (&sum)[kTokens / 2]) {
#pragma unroll
    for (int i = 0; i < kTokens / 2; ++i) asm volatile("" : "+f"(sum[i])::"memory");
  }

  // Quad i of this thread: four features of one token. Quads go round among all threads of a cluster.
  struct Quad {
    int token;
    int feature;  // of the tile
    bool inside;

    __device__ Quad(int i, int rank, const DecodeArguments<T>& args, int first_feature) {
      constexpr int kOfToken = kDecodeFeatures / 4;
      const int index = int(threadIdx.x) + (rank + i * args.split) * kMultipliers;
      token = index / kOfToken;
      feature = index % kOfToken * 4;
      inside = token < args.tokens && first_feature + feature < args.features;
    }
  };

  __device__ static void run(const CUtensorMap& weight, const CUtensorMap& tokens,
                             const DecodeArguments<T>& args) {
    const PlantedDelay delay;
    extern __shared__ unsigned char memory[];
    __shared__ alignas(8) uint64_t barriers[2][kStages];
    const uint32_t begin = uint32_t(__cvta_generic_to_shared(memory));
    const Ring ring{(begin + 1023) & ~1023u, uint32_t(__cvta_generic_to_shared(barriers[0])),
                    uint32_t(__cvta_generic_to_shared(barriers[1]))};
    const int rank = int(blockIdx.x) % args.split;
    const int first_feature = int(blockIdx.x) / args.split * kDecodeFeatures;
    const StageRange range = stages_of(args.steps, rank, args.split);
    const bool multiplies = threadIdx.x < kMultipliers;

    uint2 residual[kQuads];
    if (!multiplies) {
      if (threadIdx.x == kMultipliers) {
        prefetch_map(weight);
        prefetch_map(tokens);
        for (int i = 0; i < kStages; ++i) {
          init_barrier(ring.filled + 8 * i, 1);
          init_barrier(ring.drained + 8 * i, 1);
        }
        publish_barriers();
      }
      __syncwarp();
      asm volatile("bar.arrive 1, %0;\n" ::"n"(kDecodeThreads) : "memory");
      if (threadIdx.x == kMultipliers) copy(ring, range, first_feature, weight, tokens);
      __syncwarp();
    } else {
      // on its way while the products run
#pragma unroll
      for (int i = 0; i < kQuads; ++i) {
        const Quad quad(i, rank, args, first_feature);
        residual[i] = make_uint2(0, 0);
        if (quad.inside)
          residual[i] = *reinterpret_cast<const uint2*>(
              args.residual + quad.token * args.residual_stride + first_feature + quad.feature);
      }
      asm volatile("bar.sync 1, %0;\n" ::"n"(kDecodeThreads) : "memory");  // the barriers have begun
      float sum[kTokens / 2];
#pragma unroll
      for (int i = 0; i < kTokens / 2; ++i) sum[i] = 0.0f;
      multiply(ring, range.count, sum);
      asm volatile("bar.sync 2, %0;\n" ::"n"(kMultipliers) : "memory");  // the ring is free
      leave(sum, ring.stages);
    }
    if (args.split > 1)
      sync_cluster();
    else
      __syncthreads();
    if (multiplies) finish(residual, ring.stages, rank, args, first_feature);
    __syncwarp();
    if (args.split > 1) sync_cluster();  // nobody leaves while others read its sums
  }

  // The sums as [token][feature] into the drained ring.
  __device__ static void leave(const float (&sum)[kTokens / 2], uint32_t ring) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kTokens / 2; ++i) {
      const int token = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const int feature = warp * 16 + lane / 4 + i % 4 / 2 * 8;
      asm volatile("st.shared.f32 [%0], %1;\n" ::"r"(ring + (token * kPitch + feature) * 4),
                   "f"(sum[i])
                   : "memory");
    }
  }

  // This CTA's share of the elements: the parts' sums in their order, the residual, one rounding.
  __device__ static void finish(const uint2 (&residual)[kQuads], uint32_t ring, int rank,
                                const DecodeArguments<T>& args, int first_feature) {
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const Quad quad(i, rank, args, first_feature);
      if (!quad.inside) continue;
      const uint32_t place = ring + (quad.token * kPitch + quad.feature) * 4;
      float4 part[kDecodeMostSplit];
#pragma unroll
      for (int other = 0; other < kDecodeMostSplit; ++other)
        if (other < args.split) part[other] = load_from(other, place);
      float4 total = part[0];
#pragma unroll
      for (int other = 1; other < kDecodeMostSplit; ++other)
        if (other < args.split) {
          total.x += part[other].x;
          total.y += part[other].y;
          total.z += part[other].z;
          total.w += part[other].w;
        }
      alignas(8) T added[4], rounded[4];
      *reinterpret_cast<uint2*>(added) = residual[i];
      rounded[0] = from_float<T>(total.x + to_float(added[0]));
      rounded[1] = from_float<T>(total.y + to_float(added[1]));
      rounded[2] = from_float<T>(total.z + to_float(added[2]));
      rounded[3] = from_float<T>(total.w + to_float(added[3]));
      *reinterpret_cast<uint2*>(args.out + quad.token * args.out_stride + first_feature +
                                quad.feature) = *reinterpret_cast<uint2*>(rounded);
    }
  }
#endif  // FUSED_O_PROJ_HOPPER
};

template <typename T, int... kConfig>
__global__ void __launch_bounds__(kDecodeThreads, 1)
    decode_kernel(const __grid_constant__ CUtensorMap weight,
                  const __grid_constant__ CUtensorMap tokens,
                  const __grid_constant__ DecodeArguments<T> args) {
#if FUSED_O_PROJ_HOPPER
  DecodeKernel<T, kConfig...>::run(weight, tokens, args);
#endif
}

template <typename T, int... kConfig>
void launch_decode_config(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                          cudaStream_t stream) {
  constexpr DecodeConfig config{kConfig...};
  const Sizes& sizes = problem.sizes;
  const CUtensorMap weight =
      tensor_map(problem.weight, sizes.n, sizes.k, kDecodeFeatures, dtype_of<T>(), sizes);
  const CUtensorMap tokens =
      tensor_map(problem.attn_output, sizes.m, sizes.k, config.tokens, dtype_of<T>(), sizes);
  const DecodeArguments<T> args{static_cast<const T*>(problem.residual.data),
                                static_cast<T*>(problem.out.data),
                                problem.residual.row_stride,
                                problem.out.row_stride,
                                int(sizes.m),
                                int(sizes.n),
                                int((sizes.k + config.tile_k() - 1) / config.tile_k()),
                                plan.split_k};
  static SharedMemoryOptIn opt_in;
  check_cuda(opt_in.once(reinterpret_cast<const void*>(&decode_kernel<T, kConfig...>),
                         config.shared_bytes(), device.ordinal),
             "cudaFuncSetAttribute", sizes);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {unsigned(plan.split_k), 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(unsigned(plan.ctas));
  launch.blockDim = dim3(kDecodeThreads);
  launch.dynamicSmemBytes = config.shared_bytes();
  launch.stream = stream;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&launch, &decode_kernel<T, kConfig...>, weight, tokens, args),
             "cudaLaunchKernelEx(decode)", sizes);
}

// Launches the configuration that the plan names.
template <typename T>
void launch_decode(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                   cudaStream_t stream) {
  using Launch = void (*)(const Plan&, const Problem&, const DeviceLimits&, cudaStream_t);
#define FUSED_O_PROJ_LAUNCH(...) &launch_decode_config<T, __VA_ARGS__>,
  static constexpr Launch kLaunches[] = {FUSED_O_PROJ_DECODE_CONFIGS(FUSED_O_PROJ_LAUNCH)};
#undef FUSED_O_PROJ_LAUNCH
  kLaunches[plan.config](plan, problem, device, stream);
}

}  // namespace fused_o_proj
