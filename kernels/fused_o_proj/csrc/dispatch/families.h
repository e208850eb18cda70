// The kernel families as alternatives: each plans a call or leaves it to the next.
#pragma once

#include <optional>

#include "../plan.h"

namespace fused_o_proj {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Empty where the family does not serve the request; sizes are above zero (K may be zero).
using PlanFamily = std::optional<Plan> (*)(const Request& request);

std::optional<Plan> plan_simt(const Request& request);
std::optional<Plan> plan_decode(const Request& request);
std::optional<Plan> plan_mma_tile(const Request& request);

}  // namespace fused_o_proj
