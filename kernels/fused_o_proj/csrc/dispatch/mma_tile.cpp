// The portable tensor-core kernel: which tile for which sizes.
#include <algorithm>
#include <limits>

#include "../cuda/tile_configs.h"
#include "families.h"

namespace fused_o_proj {
namespace {

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

// What the narrowest copy of the operands costs, or nothing.
const char* slower_copies(const Alignment& alignment) {
  const int bytes = std::min(alignment.attn_output, alignment.weight);
  if (bytes >= 16) return nullptr;
  if (bytes >= 4) return "rows of attn_output or the weight begin off 16 bytes: narrow copies";
  return "rows of attn_output or the weight begin off 4 bytes: element by element copies";
}

}  // namespace

std::optional<Plan> plan_mma_tile(const Request& request) {
  if (request.dtype == Dtype::kFloat32) return std::nullopt;
  const Sizes& sizes = request.sizes;
  const int index = choose_tile(sizes, request.device);
  if (index < 0) return std::nullopt;
  const TileConfig& config = kTileConfigs[index];
  Plan plan;
  plan.family = Family::kMmaTile;
  plan.reason = "serves every shape and alignment";
  plan.slower = slower_copies(request.alignment);
  plan.config = index;
  plan.tile_m = config.tokens;
  plan.tile_n = config.features;
  plan.tile_k = config.tile_k();
  plan.warps_k = config.warps_k;
  plan.stages = config.stages;
  plan.threads = config.threads();
  plan.ctas = ceil_div(sizes.m, config.tokens) * ceil_div(sizes.n, config.features);
  return plan;
}

}  // namespace fused_o_proj
