// The portable tensor-core kernel: which tile and which split for which sizes.
#include <algorithm>
#include <limits>

#include "../cuda/tile_configs.h"
#include "families.h"

namespace fused_o_proj {
namespace {

// Measured on an H200 (docs/kernel.md); what counts is how they compare, which holds more widely.
constexpr double kMultiplyAdds = 1050;     // of an SM, a clock
constexpr double kOperandBytes = 45;       // into an SM's shared memory, a clock
constexpr double kPartialBytes = 24;       // float32 sums to and from the workspace, an SM and clock
constexpr double kStartClocks = 2000;      // of a CTA, until the first stage has landed
constexpr double kFinishedElements = 12;   // sums that become elements of out, an SM and clock
constexpr double kLoneCta = 1.25;          // four warps alone on an SM hide less of their latency

constexpr int kSystemSharedBytes = 1024 + 128;  // the system's share of a CTA, and arrived_last's
constexpr int kFewestStages = 4;                // of a part of a split tile

bool is_wide(const Alignment& alignment) {
  return std::min(alignment.attn_output, alignment.weight) >= 16;
}

bool fits(const TileConfig& config, const DeviceLimits& device) {
  return config.shared_bytes() + kSystemSharedBytes - 1024 <= device.shared_memory_per_cta_bytes &&
         config.shared_bytes() + kSystemSharedBytes <= device.shared_memory_per_sm_bytes;
}

int64_t tiles_of(const TileConfig& config, const Sizes& sizes) {
  return ceil_div(sizes.m, config.tokens) * ceil_div(sizes.n, config.features);
}

// The clocks of the busiest SM.
double clocks(const TileConfig& config, int split, const Sizes& sizes, const DeviceLimits& device) {
  const double elements = double(config.tokens) * config.features;
  const double stages = double(ceil_div(ceil_div(sizes.k, config.tile_k()), split));
  const double bytes = 2.0 * (config.tokens + config.features) * config.tile_k();
  const double stage =
      std::max(elements * config.tile_k() / kMultiplyAdds, bytes / kOperandBytes);
  const double ends = kStartClocks + elements / kFinishedElements;
  const double partials = split > 1 ? 4.0 * elements * (1 + split) / kPartialBytes : 0.0;

  const int64_t ctas = ceil_div(tiles_of(config, sizes) * split, device.sm_count);
  const int resident = std::max(
      1, std::min(device.shared_memory_per_sm_bytes / (config.shared_bytes() + kSystemSharedBytes),
                  65536 / 255 / config.threads()));
  const bool lone = ctas == 1 && config.threads() <= 128;
  return double(ctas) * stages * stage * (lone ? kLoneCta : 1.0) +
         double(ceil_div(ctas, resident)) * ends + partials;
}

struct Choice {
  int config = -1;
  int split = 1;
};

Choice choose(const Sizes& sizes, bool wide, const DeviceLimits& device) {
  Choice best;
  double best_clocks = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTileConfigCount; ++i) {
    const TileConfig& config = kTileConfigs[i];
    if ((config.wide != 0) != wide || !fits(config, device)) continue;
    const int64_t stages = ceil_div(sizes.k, config.tile_k());
    for (int split = 1; split <= kMaxSplit && (split == 1 || stages >= split * kFewestStages);
         ++split) {
      if (split > 1 && tiles_of(config, sizes) * (split - 1) > 2 * device.sm_count) break;
      const double needed = clocks(config, split, sizes, device);
      if (needed < best_clocks) {
        best_clocks = needed;
        best = {i, split};
      }
    }
  }
  return best;
}

// What the narrowest copy of the operands costs, or nothing.
const char* slower_copies(const Alignment& alignment) {
  switch (std::min(alignment.attn_output, alignment.weight)) {
    case 16: return nullptr;
    case 8:
      return "rows of attn_output or the weight begin off 16 bytes: copies of 8 bytes, twice as many";
    case 4:
      return "rows of attn_output or the weight begin off 16 bytes: copies of 4 bytes, four times as "
             "many";
    default:
      return "rows of attn_output or the weight begin off 4 bytes: copies of single elements through "
             "registers, not asynchronous";
  }
}

}  // namespace

std::optional<Plan> plan_mma_tile(const Request& request) {
  if (request.dtype == Dtype::kFloat32) return std::nullopt;
  const Sizes& sizes = request.sizes;
  const Choice choice = choose(sizes, is_wide(request.alignment), request.device);
  if (choice.config < 0) return std::nullopt;
  const TileConfig& config = kTileConfigs[choice.config];
  Plan plan;
  plan.family = Family::kMmaTile;
  plan.reason = "serves every shape and alignment";
  plan.slower = slower_copies(request.alignment);
  plan.config = choice.config;
  plan.tile_m = config.tokens;
  plan.tile_n = config.features;
  plan.tile_k = config.tile_k();
  plan.split_k = choice.split;
  plan.warps_k = config.warps_k;
  plan.stages = config.stages;
  plan.threads = config.threads();
  plan.ctas = tiles_of(config, sizes) * choice.split;
  return plan;
}

}  // namespace fused_o_proj
