// The configurations of the Hopper decode kernel, one row each: read by the dispatch and by its instances.
#pragma once

#include <cstdint>

namespace fused_o_proj {

// Columns: tokens, the narrow side of the matrix instruction (a tile holds all of a call's tokens);
//          slabs of 64 input features that a stage of the ring holds.
#define FUSED_O_PROJ_DECODE_CONFIGS(X) \
  X(32, 2)                             \
  X(64, 1)                             \
  X(128, 1)

constexpr int kDecodeFewestTokens = 17;      // below, the portable kernel is as fast or faster
constexpr int kDecodeFeatures = 64;          // of a tile: the rows of one warpgroup's instruction
constexpr int kDecodeSlab = 64;              // input features: one swizzled row of 128 bytes
constexpr int kDecodeRingBytes = 200 << 10;  // of a CTA, which has its SM for itself
constexpr int kDecodeThreads = 128 + 32;     // a warpgroup that multiplies, a warp that copies
constexpr int kDecodeMostStages = 16;
constexpr int kDecodeMostSplit = 8;          // CTAs of a cluster that every GPU takes

struct DecodeConfig {
  int tokens;
  int slabs;

  constexpr int tile_k() const { return slabs * kDecodeSlab; }
  constexpr int stage_bytes() const { return (tokens + kDecodeFeatures) * tile_k() * 2; }
  constexpr int stages() const {
    const int fit = kDecodeRingBytes / stage_bytes();
    return fit < kDecodeMostStages ? fit : kDecodeMostStages;
  }
  // The ring, and 1 KiB to begin it at a multiple of that.
  constexpr int shared_bytes() const { return stages() * stage_bytes() + 1024; }
};

#define FUSED_O_PROJ_ROW(...) DecodeConfig{__VA_ARGS__},
constexpr DecodeConfig kDecodeConfigs[] = {FUSED_O_PROJ_DECODE_CONFIGS(FUSED_O_PROJ_ROW)};
#undef FUSED_O_PROJ_ROW
constexpr int kDecodeConfigCount = sizeof(kDecodeConfigs) / sizeof(kDecodeConfigs[0]);

}  // namespace fused_o_proj
