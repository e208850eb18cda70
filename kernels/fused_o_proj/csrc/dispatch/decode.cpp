// The Hopper decode kernel: 17 to 128 tokens, where the weight's bytes are most of what counts.
#include "../cuda/decode_configs.h"
#include "families.h"

namespace fused_o_proj {
namespace {

// Machine code for sm_90a alone runs there. A build without CUDA plans as if it had it.
#if defined(FUSED_O_PROJ_WITH_CUDA) && !defined(FUSED_O_PROJ_WITH_SM_90A)
constexpr bool kBuilt = false;
#else
constexpr bool kBuilt = true;
#endif

constexpr int kHopper = 90;
constexpr int kFewTokens = 64;
constexpr double kBusy = 0.9;        // of the SMs: then a whole K costs less than sharing it
constexpr double kTooFewCtas = 0.25;  // of the SMs: they alone don't draw the memory's bandwidth

// The smallest configuration that holds all tokens.
int config_of(int64_t tokens) {
  if (tokens < kDecodeFewestTokens) return -1;
  for (int i = 0; i < kDecodeConfigCount; ++i)
    if (tokens <= kDecodeConfigs[i].tokens) return i;
  return -1;
}

bool fits_tma(const Request& request) {
  const Alignment& alignment = request.alignment;
  return alignment.attn_output >= 16 && alignment.weight >= 16 && alignment.residual >= 8 &&
         alignment.out >= 8 && request.sizes.n % 4 == 0 && request.sizes.k >= kDecodeSlab &&
         request.sizes.n <= INT32_MAX && request.sizes.k <= INT32_MAX;
}

int split_of(const DecodeConfig& config, int64_t tiles, const Request& request) {
  const double busy = (config.tokens > kFewTokens ? 1.0 : kBusy) * request.device.sm_count;
  const int64_t steps = ceil_div(request.sizes.k, config.tile_k());
  int split = 1;
  while (2 * split <= kDecodeMostSplit && 2 * split <= steps && double(2 * split * tiles) <= busy)
    split *= 2;
  return split;
}

}  // namespace

std::optional<Plan> plan_decode(const Request& request) {
  if (!kBuilt || request.device.compute_capability != kHopper) return std::nullopt;
  if (request.dtype == Dtype::kFloat32 || !fits_tma(request)) return std::nullopt;
  const int index = config_of(request.sizes.m);
  if (index < 0) return std::nullopt;
  const DecodeConfig& config = kDecodeConfigs[index];
  if (config.shared_bytes() > request.device.shared_memory_per_cta_bytes) return std::nullopt;
  const int64_t tiles = ceil_div(request.sizes.n, int64_t(kDecodeFeatures));
  const int split = split_of(config, tiles, request);
  if (double(tiles * split) < kTooFewCtas * request.device.sm_count) return std::nullopt;
  Plan plan;
  plan.family = Family::kDecode;
  plan.reason = "sm_90a, 17 to 128 tokens, rows that TMA can copy: the weight streams through all SMs";
  plan.config = index;
  plan.tile_m = config.tokens;
  plan.tile_n = kDecodeFeatures;
  plan.tile_k = config.tile_k();
  plan.split_k = split;
  plan.stages = config.stages();
  plan.threads = kDecodeThreads;
  plan.ctas = tiles * split;
  return plan;
}

}  // namespace fused_o_proj
