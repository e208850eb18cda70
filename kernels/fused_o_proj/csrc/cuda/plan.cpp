// The dispatch on CUDA: a fixed rule of sizes, dtype and device, never of timing.
#include "../plan.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "simt_configs.h"
#include "tile_configs.h"

namespace fused_o_proj {
namespace {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr int kDecodeTokens = 32;

constexpr int kReservedSharedBytes = 1024;  // the system's share of every resident CTA

// A tile's time in multiply-adds a feature at full speed. Small tiles read more for the same work:
// below the reuse of 128 × 128 they run at the speed of L2 and shared memory, not of the MMA units.
double relative_cost(const TileConfig& config) {
  const double reuse = 1.0 / (1.0 / config.tokens + 1.0 / config.features);
  constexpr double kFullSpeedReuse = 64.0;  // that of 128 × 128
  return double(config.tokens) * config.features * std::max(1.0, kFullSpeedReuse / reuse);
}

// The busiest SM's work, in units of one multiply-add a feature at full speed.
double busiest_sm_cost(const TileConfig& config, const Sizes& sizes, const DeviceLimits& device) {
  const int64_t ctas = ceil_div(sizes.m, config.tokens) * ceil_div(sizes.n, config.features);
  return double(ceil_div(ctas, device.sm_count)) * relative_cost(config);
}

bool fits(const TileConfig& config, const DeviceLimits& device) {
  return config.shared_bytes() <= device.shared_memory_per_cta_bytes &&
         config.shared_bytes() + kReservedSharedBytes <= device.shared_memory_per_sm_bytes;
}

// Up to 32 tokens: the narrowest tile that holds them all, so that each weight is read once and as
// many CTAs as possible stream it. Above: the tile that leaves the busiest SM the least work.
int choose_tile(const Sizes& sizes, const DeviceLimits& device) {
  int best = -1;
  double best_cost = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTileConfigCount; ++i) {
    const TileConfig& config = kTileConfigs[i];
    if (!fits(config, device)) continue;
    if (config.tokens <= kDecodeTokens) {
      if (config.tokens >= sizes.m) return i;
      continue;
    }
    const double cost = busiest_sm_cost(config, sizes, device);
    if (cost < best_cost) {
      best_cost = cost;
      best = i;
    }
  }
  return best;
}

Plan plan_mma(const Sizes& sizes, const DeviceLimits& device) {
  const int index = choose_tile(sizes, device);
  if (index < 0)
    throw std::runtime_error("fused_o_proj: no configuration fits this GPU's shared memory");
  const TileConfig& config = kTileConfigs[index];
  Plan plan;
  plan.kernel = "mma_tile";
  plan.config = index;
  plan.tile_m = config.tokens;
  plan.tile_n = config.features;
  plan.tile_k = config.tile_k();
  plan.split_k = config.warps_k;
  plan.stages = config.stages;
  plan.threads = config.threads();
  plan.ctas = ceil_div(sizes.m, config.tokens) * ceil_div(sizes.n, config.features);
  return plan;
}

Plan plan_simt(const Sizes& sizes) {
  Plan plan;
  plan.config = 0;
  plan.stages = 1;
  if (sizes.m <= kSimtRowsTokens) {
    plan.kernel = "simt_rows";
    plan.tile_m = kSimtRowsTokens;
    plan.tile_n = kSimtRowsWarps;
    plan.tile_k = kSimtRowsStep;
    plan.split_k = 32;  // the lanes of the warp
    plan.threads = 32 * kSimtRowsWarps;
  } else {
    plan.kernel = "simt_tile";
    plan.tile_m = kSimtTile;
    plan.tile_n = kSimtTile;
    plan.tile_k = kSimtTileK;
    plan.threads = kSimtTileThreads;
  }
  plan.ctas = ceil_div(sizes.m, plan.tile_m) * ceil_div(sizes.n, plan.tile_n);
  return plan;
}

}  // namespace

Plan plan_cuda(const Sizes& sizes, Dtype dtype, const DeviceLimits& device) {
  if (device.compute_capability < 80)
    throw std::runtime_error("fused_o_proj: this GPU has compute capability " +
                             std::to_string(device.compute_capability / 10) + "." +
                             std::to_string(device.compute_capability % 10) +
                             ", wanted 8.0 or newer");
  if (sizes.m == 0 || sizes.n == 0) return {};
  const Plan plan = dtype == Dtype::kFloat32 ? plan_simt(sizes) : plan_mma(sizes, device);
  if (plan.ctas > std::numeric_limits<int32_t>::max())
    throw std::runtime_error("fused_o_proj: M × N needs " + std::to_string(plan.ctas) +
                             " tiles, wanted fewer than 2^31");
  return plan;
}

}  // namespace fused_o_proj
