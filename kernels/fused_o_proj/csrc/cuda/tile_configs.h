// The tensor-core configurations, one row each: read by the dispatch and by the kernels' instances.
#pragma once

#include <cstdint>

namespace fused_o_proj {

// Columns: wide: 1 copies 16 bytes at a time and needs rows that begin at multiples of that; 0 any.
//          tokens, features: one CTA's tile of out (MMA takes features as m16, tokens as n8).
//          slices: a stage holds this many slices of 64 input features.
//          stages: pipeline stages in shared memory.
//          warps_f × warps_t × warps_k: how the warps share the tile and, along K, the slices.
// Shared memory = (tokens + features) × slices × 128 B × stages: at most 99 KiB, the limit of
// sm_86 and sm_89, except for 128 × 192 and 128 × 256 (160 and 144 KiB), for GPUs that have it.
// A warp holds at most 64 × 64 of a tile: 128 of a thread's 255 registers.
#define FUSED_O_PROJ_TILE_CONFIGS(X) \
  X(1, 16, 32, 4, 4, 1, 1, 4)        \
  X(1, 32, 64, 2, 4, 2, 1, 2)        \
  X(1, 64, 64, 2, 3, 2, 1, 2)        \
  X(1, 64, 128, 1, 4, 2, 2, 1)       \
  X(1, 128, 128, 1, 3, 2, 2, 1)      \
  X(1, 128, 192, 1, 4, 4, 2, 1)      \
  X(1, 128, 256, 1, 3, 4, 2, 1)      \
  X(0, 16, 32, 4, 4, 1, 1, 4)        \
  X(0, 64, 64, 2, 3, 2, 1, 2)        \
  X(0, 128, 128, 1, 3, 4, 2, 1)

constexpr int kSliceFeatures = 64;  // 128 bytes of bf16 or fp16: one swizzled row

struct TileConfig {
  int wide;
  int tokens;
  int features;
  int slices;
  int stages;
  int warps_f;
  int warps_t;
  int warps_k;

  constexpr int threads() const { return 32 * warps_f * warps_t * warps_k; }
  constexpr int tile_k() const { return slices * kSliceFeatures; }
  constexpr int shared_bytes() const {
    return (tokens + features) * slices * kSliceFeatures * 2 * stages;
  }
};

#define FUSED_O_PROJ_ROW(...) TileConfig{__VA_ARGS__},
constexpr TileConfig kTileConfigs[] = {FUSED_O_PROJ_TILE_CONFIGS(FUSED_O_PROJ_ROW)};
#undef FUSED_O_PROJ_ROW
constexpr int kTileConfigCount = sizeof(kTileConfigs) / sizeof(kTileConfigs[0]);

}  // namespace fused_o_proj
