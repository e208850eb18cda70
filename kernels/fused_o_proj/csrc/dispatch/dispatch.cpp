// The dispatch on CUDA: the first family that serves a request runs it.
#include <limits>
#include <stdexcept>
#include <string>

#include "families.h"

namespace fused_o_proj {
namespace {

// From the most special to the most general; the last ones serve everything of their dtypes.
constexpr PlanFamily kFamilies[] = {plan_simt, plan_decode, plan_mma_tile};

constexpr int kOldestCapability = 80;

void check_device(const DeviceLimits& device) {
  if (device.compute_capability >= kOldestCapability) return;
  throw std::runtime_error("fused_o_proj: this GPU has compute capability " +
                           std::to_string(device.compute_capability / 10) + "." +
                           std::to_string(device.compute_capability % 10) +
                           ", wanted 8.0 or newer");
}

void check_grid(const Plan& plan) {
  if (plan.ctas <= std::numeric_limits<int32_t>::max()) return;
  throw std::runtime_error("fused_o_proj: M × N needs " + std::to_string(plan.ctas) +
                           " tiles, wanted fewer than 2^31");
}

}  // namespace

const char* family_name(Family family) {
  switch (family) {
    case Family::kNone: return "none";
    case Family::kCpuLinear: return "cpu_linear";
    case Family::kDecode: return "decode";
    case Family::kMmaTile: return "mma_tile";
    case Family::kSimtTile: return "simt_tile";
    case Family::kSimtRows: return "simt_rows";
  }
  return "none";
}

int row_alignment(uintptr_t address, int64_t rows, int64_t row_stride_bytes) {
  const uint64_t offsets = address | (rows > 1 ? uint64_t(row_stride_bytes) : 0) | 16;
  return int(offsets & (~offsets + 1));  // the lowest bit that is set
}

Alignment alignment_of(const Problem& problem, Dtype dtype) {
  const int bytes = element_bytes(dtype);
  auto of = [&](const Rows& rows, int64_t count) {
    return row_alignment(reinterpret_cast<uintptr_t>(rows.data), count, rows.row_stride * bytes);
  };
  const Sizes& sizes = problem.sizes;
  return {of(problem.attn_output, sizes.m), of(problem.weight, sizes.n),
          of(problem.residual, sizes.m), of(problem.out, sizes.m)};
}

Alignment contiguous_alignment(const Sizes& sizes, Dtype dtype) {
  Problem problem;
  problem.sizes = sizes;
  problem.attn_output.row_stride = problem.weight.row_stride = sizes.k;
  problem.residual.row_stride = problem.out.row_stride = sizes.n;
  return alignment_of(problem, dtype);
}

bool operator==(const Request& a, const Request& b) {
  return a.sizes.m == b.sizes.m && a.sizes.n == b.sizes.n && a.sizes.k == b.sizes.k &&
         a.dtype == b.dtype && a.device.ordinal == b.device.ordinal &&
         a.alignment.attn_output == b.alignment.attn_output &&
         a.alignment.weight == b.alignment.weight && a.alignment.residual == b.alignment.residual &&
         a.alignment.out == b.alignment.out;
}

// CTAs of a decode cluster find each other's sums in shared memory.
static bool shares_by_workspace(const Plan& plan) {
  return plan.split_k > 1 && plan.family != Family::kDecode;
}

int64_t split_partial_bytes(const Plan& plan) {
  return !shares_by_workspace(plan) ? 0 : plan.ctas * plan.tile_m * plan.tile_n * int64_t(sizeof(float));
}

int64_t workspace_bytes(const Plan& plan) {
  const int64_t states = !shares_by_workspace(plan) ? 0 : plan.ctas / plan.split_k * int64_t(8);
  return split_partial_bytes(plan) + states;
}

Plan plan_cuda(const Request& request) {
  check_device(request.device);
  if (request.sizes.m == 0 || request.sizes.n == 0) return {};
  for (const PlanFamily family : kFamilies)
    if (const auto plan = family(request)) {
      check_grid(*plan);
      return *plan;
    }
  throw std::runtime_error("fused_o_proj: no kernel fits this GPU's shared memory of " +
                           std::to_string(request.device.shared_memory_per_cta_bytes) +
                           " bytes for a CTA");
}

}  // namespace fused_o_proj
