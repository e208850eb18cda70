// The float32 kernels: plain FMA, so that float32 means float32 and not tf32.
#include "check.h"
#include "delay.cuh"
#include "launch.h"
#include "simt_configs.h"

namespace fused_o_proj {
namespace {

struct SimtArguments {
  const float* weight;       // [N, K]
  const float* attn_output;  // [M, K]
  const float* residual;     // [M, N]; may be out: each element is read and written by one thread
  float* out;                // [M, N]
  int64_t weight_stride, attn_stride, residual_stride, out_stride;
  int64_t m, n, k;
  int64_t feature_tiles;
};

// One operand's piece of a step, [64 rows][16 of K]: each thread brings 4 of the 1024 elements.
struct Piece {
  static constexpr int kCount = kSimtTile * kSimtTileK / kSimtTileThreads;
  float values[kCount];

  __device__ void load(const float* data, int64_t stride, int64_t first_row, int64_t rows,
                       int64_t first_k, int64_t k_end) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int index = i * kSimtTileThreads + threadIdx.x;
      const int64_t row = first_row + index / kSimtTileK;
      const int64_t k = first_k + index % kSimtTileK;
      values[i] = row < rows && k < k_end ? data[row * stride + k] : 0.0f;
    }
  }

  // To shared memory transposed, [16 of K][64 rows + 4]: a thread then reads 4 rows at once.
  __device__ void put(float (*shared)[kSimtTile + 4]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int index = i * kSimtTileThreads + threadIdx.x;
      shared[index % kSimtTileK][index / kSimtTileK] = values[i];
    }
  }
};

// out tile [64 tokens, 64 features]; thread (y, x) of 16 × 16 owns tokens 4y.., features 4x...
__global__ void __launch_bounds__(kSimtTileThreads) simt_tile_kernel(const SimtArguments args) {
  const PlantedDelay delay;
  __shared__ float tokens[kSimtTileK][kSimtTile + 4];
  __shared__ float weights[kSimtTileK][kSimtTile + 4];
  const int64_t first_token = blockIdx.x / args.feature_tiles * kSimtTile;
  const int64_t first_feature = blockIdx.x % args.feature_tiles * kSimtTile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sum[4][4] = {};
  Piece token_piece, weight_piece;

  auto load = [&](int64_t k) {
    token_piece.load(args.attn_output, args.attn_stride, first_token, args.m, k, args.k);
    weight_piece.load(args.weight, args.weight_stride, first_feature, args.n, k, args.k);
  };
  if (args.k > 0) load(0);
  for (int64_t k = 0; k < args.k; k += kSimtTileK) {
    token_piece.put(tokens);
    weight_piece.put(weights);
    __syncthreads();  // the step's pieces are whole before anybody reads them
    if (k + kSimtTileK < args.k) load(k + kSimtTileK);  // the next step travels meanwhile
#pragma unroll
    for (int i = 0; i < kSimtTileK; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&tokens[i][4 * y]);
      const float4 w = *reinterpret_cast<const float4*>(&weights[i][4 * x]);
      const float a_values[4] = {a.x, a.y, a.z, a.w};
      const float w_values[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int t = 0; t < 4; ++t)
#pragma unroll
        for (int f = 0; f < 4; ++f) sum[t][f] = fmaf(a_values[t], w_values[f], sum[t][f]);
    }
    __syncthreads();  // everybody has read the step before it is overwritten
  }

#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const int64_t token = first_token + 4 * y + t;
#pragma unroll
    for (int f = 0; f < 4; ++f) {
      const int64_t feature = first_feature + 4 * x + f;
      if (token < args.m && feature < args.n)
        args.out[token * args.out_stride + feature] =
            sum[t][f] + args.residual[token * args.residual_stride + feature];
    }
  }
}

// One warp a feature, up to 8 tokens: lane l takes k = l, l + 32, …; the lanes' sums are added in a
// fixed tree. Reads each weight once, whole lines at a time.
__global__ void __launch_bounds__(32 * kSimtRowsWarps) simt_rows_kernel(const SimtArguments args) {
  const PlantedDelay delay;
  const int lane = threadIdx.x % 32;
  const int64_t feature =
      blockIdx.x % args.feature_tiles * kSimtRowsWarps + threadIdx.x / 32;
  const int64_t first_token = blockIdx.x / args.feature_tiles * kSimtRowsTokens;
  if (feature >= args.n) return;
  const int tokens = int(min(int64_t(kSimtRowsTokens), args.m - first_token));
  const float* weight = args.weight + feature * args.weight_stride;
  const float* attn = args.attn_output + first_token * args.attn_stride;
  float sum[kSimtRowsTokens] = {};
#pragma unroll 4
  for (int64_t k = lane; k < args.k; k += kSimtRowsStep) {
    const float w = weight[k];
#pragma unroll
    for (int t = 0; t < kSimtRowsTokens; ++t)
      if (t < tokens) sum[t] = fmaf(attn[t * args.attn_stride + k], w, sum[t]);
  }
#pragma unroll
  for (int t = 0; t < kSimtRowsTokens; ++t)
    for (int distance = 16; distance > 0; distance /= 2)
      sum[t] += __shfl_down_sync(0xffffffffu, sum[t], distance);
  if (lane != 0) return;
#pragma unroll
  for (int t = 0; t < kSimtRowsTokens; ++t) {
    if (t >= tokens) continue;
    const int64_t token = first_token + t;
    args.out[token * args.out_stride + feature] =
        sum[t] + args.residual[token * args.residual_stride + feature];
  }
}

}  // namespace

void launch_simt_float32(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                         cudaStream_t stream) {
  const Sizes& sizes = problem.sizes;
  SimtArguments args{static_cast<const float*>(problem.weight.data),
                     static_cast<const float*>(problem.attn_output.data),
                     static_cast<const float*>(problem.residual.data),
                     static_cast<float*>(problem.out.data),
                     problem.weight.row_stride,
                     problem.attn_output.row_stride,
                     problem.residual.row_stride,
                     problem.out.row_stride,
                     sizes.m,
                     sizes.n,
                     sizes.k,
                     (sizes.n + plan.tile_n - 1) / plan.tile_n};
  const bool rows = plan.family == Family::kSimtRows;
  const auto kernel = rows ? reinterpret_cast<const void*>(&simt_rows_kernel)
                           : reinterpret_cast<const void*>(&simt_tile_kernel);
  void* parameters[] = {&args};
  check_cuda(cudaLaunchKernel(kernel, dim3(unsigned(plan.ctas)), dim3(unsigned(plan.threads)),
                              parameters, 0, stream),
             rows ? "cudaLaunchKernel(simt_rows)" : "cudaLaunchKernel(simt_tile)", sizes);
}

}  // namespace fused_o_proj
