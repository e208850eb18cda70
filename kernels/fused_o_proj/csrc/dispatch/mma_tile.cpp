// The portable tensor-core kernel: which tile and which split for which sizes.
#include <algorithm>
#include <limits>

#include "../cuda/tile_configs.h"
#include "families.h"

namespace fused_o_proj {
namespace {

// Fitted to a sweep on an H200 (docs/kernel.md); what counts is how they compare, which holds more
// widely. Rates are those of one SM, a clock.
constexpr double kMultiplyAdds = 1740;     // the tensor cores by themselves
constexpr double kOperandBytes = 66;       // to shared memory, 16 at a time, and from there again
constexpr double kDeviceBytes = 19.7;      // of the GPU's memory
constexpr double kFinishedElements = 6.6;  // sums that become elements of out
constexpr double kPartialBytes = 8;        // float32 sums to and from the workspace
constexpr double kStartClocks = 9500;      // of a launch and of every further turn of CTAs
constexpr double kSplitClocks = 1540;      // the arrival, and the wait for the last CTA
constexpr double kLoneCta = 1.18;          // times longer: four warps alone hide less latency

constexpr int kSystemSharedBytes = 1024 + 128;  // the system's share of a CTA, and arrived_last's
constexpr int kFewestStages = 4;                // of a part of a split tile
constexpr int kFewTokens = 64;                  // up to here tiles may be narrower than that

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

// CTAs that share an SM.
int residents(const TileConfig& config, const DeviceLimits& device) {
  constexpr int kRegisters = 65536, kThreadRegisters = 255;
  const int by_memory =
      device.shared_memory_per_sm_bytes / (config.shared_bytes() + kSystemSharedBytes);
  return std::max(1, std::min(by_memory, kRegisters / kThreadRegisters / config.threads()));
}

// The clocks until the busiest SM is done: its turns of CTAs, or the operands' way from memory.
double clocks(const TileConfig& config, int split, const Request& request) {
  const Sizes& sizes = request.sizes;
  const Alignment& alignment = request.alignment;
  const double copied = std::min(alignment.attn_output, alignment.weight) / 16.0;  // narrow is slow
  const double elements = double(config.tokens) * config.features;
  const double stages = double(ceil_div(ceil_div(sizes.k, config.tile_k()), split));
  const double stage =
      elements * config.tile_k() / kMultiplyAdds +
      2.0 * (config.tokens + config.features) * config.tile_k() / (kOperandBytes * copied);

  const int64_t ctas = ceil_div(tiles_of(config, sizes) * split, request.device.sm_count);
  const bool lone = ctas == 1 && config.threads() <= 128;
  const double work = double(ctas) * stages * stage * (lone ? kLoneCta : 1.0);

  const double m = double(sizes.m), n = double(sizes.n), k = double(sizes.k);
  const double stream =
      2.0 * (m * k + n * k + 2.0 * m * n) / (kDeviceBytes * request.device.sm_count);

  const double turns = double(ceil_div(ctas, residents(config, request.device)));
  const double partials =
      split > 1 ? kSplitClocks + 4.0 * elements * (1 + split) / kPartialBytes : 0.0;
  return std::max(work, stream) + turns * (kStartClocks + elements / kFinishedElements) + partials;
}

struct Choice {
  int config = -1;
  int split = 1;
};

Choice choose(const Request& request) {
  const Sizes& sizes = request.sizes;
  const DeviceLimits& device = request.device;
  const bool wide = is_wide(request.alignment);
  Choice best;
  double best_clocks = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTileConfigCount; ++i) {
    const TileConfig& config = kTileConfigs[i];
    if ((config.wide != 0) != wide || !fits(config, device)) continue;
    // The model knows no price for reading the weight again and again, once for each row of tiles.
    if (config.tokens < kFewTokens && sizes.m > kFewTokens) continue;
    const int64_t stages = ceil_div(sizes.k, config.tile_k());
    for (int split = 1; split <= kMaxSplit && (split == 1 || stages >= split * kFewestStages);
         ++split) {
      if (split > 1 && tiles_of(config, sizes) * (split - 1) > 2 * device.sm_count) break;
      const double needed = clocks(config, split, request);
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
  const Choice choice = choose(request);
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
