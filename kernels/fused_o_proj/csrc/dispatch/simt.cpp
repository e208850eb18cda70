// True float32: FMA and no tensor cores, one warp a feature for few tokens, tiles above.
#include "../cuda/simt_configs.h"
#include "families.h"

namespace fused_o_proj {

std::optional<Plan> plan_simt(const Request& request) {
  if (request.dtype != Dtype::kFloat32) return std::nullopt;
  const Sizes& sizes = request.sizes;
  Plan plan;
  plan.config = 0;
  plan.stages = 1;
  plan.slower = "float32 is kept whole: no tensor cores, which would round the inputs to tf32";
  if (sizes.m <= kSimtRowsTokens) {
    plan.family = Family::kSimtRows;
    plan.reason = "float32, up to 8 tokens: one warp a feature";
    plan.tile_m = kSimtRowsTokens;
    plan.tile_n = kSimtRowsWarps;
    plan.tile_k = kSimtRowsStep;
    plan.threads = 32 * kSimtRowsWarps;
  } else {
    plan.family = Family::kSimtTile;
    plan.reason = "float32, more than 8 tokens: tiles";
    plan.tile_m = kSimtTile;
    plan.tile_n = kSimtTile;
    plan.tile_k = kSimtTileK;
    plan.threads = kSimtTileThreads;
  }
  plan.ctas = ceil_div(sizes.m, plan.tile_m) * ceil_div(sizes.n, plan.tile_n);
  return plan;
}

}  // namespace fused_o_proj
