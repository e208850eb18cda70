// The float32 configurations: true fp32 FMA, no tensor cores.
#pragma once

namespace fused_o_proj {

// simt_tile: one CTA computes 64 tokens × 64 features, 4 × 4 a thread, 16 input features a step.
constexpr int kSimtTile = 64;
constexpr int kSimtTileK = 16;
constexpr int kSimtTileThreads = 256;

// simt_rows: one warp computes one feature for up to 8 tokens, its lanes side by side along K.
constexpr int kSimtRowsTokens = 8;
constexpr int kSimtRowsWarps = 4;
constexpr int kSimtRowsStep = 32;  // input features a step: one a lane

}  // namespace fused_o_proj
