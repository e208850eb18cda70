// explain: the plan of a call, told without making it.
#include <torch/csrc/stable/device.h>
#include <torch/csrc/stable/library.h>

#include <sstream>
#include <stdexcept>

#include "plan.h"
#ifdef FUSED_O_PROJ_WITH_CUDA
#include "cuda/device.h"
#endif

namespace fused_o_proj {

Plan plan_cpu(const Sizes& sizes) {
  Plan plan;
  if (sizes.m == 0 || sizes.n == 0) return plan;
  plan.family = Family::kCpuLinear;
  plan.reason = "the framework's own matrix product";
  return plan;
}

std::string plan_json(const Plan& plan) {
  std::ostringstream json;
  json << "{\"kernel\": \"" << family_name(plan.family) << "\", \"tile\": ";
  if (plan.tile_m > 0)
    json << '[' << plan.tile_m << ", " << plan.tile_n << ", " << plan.tile_k << ']';
  else
    json << "null";
  json << ", \"split_k\": " << plan.split_k << ", \"warps_k\": " << plan.warps_k
       << ", \"stages\": " << plan.stages << ", \"threads\": " << plan.threads
       << ", \"ctas\": " << plan.ctas << ", \"workspace_bytes\": " << workspace_bytes(plan)
       << ", \"reason\": \"" << plan.reason << "\", \"slower\": ";
  if (plan.slower == nullptr)
    json << "null}";
  else
    json << '"' << plan.slower << "\"}";
  return json.str();
}

namespace {

using torch::headeronly::DeviceType;
using torch::headeronly::ScalarType;

Dtype dtype_of(ScalarType type) {
  switch (type) {
    case ScalarType::Float: return Dtype::kFloat32;
    case ScalarType::Half: return Dtype::kFloat16;
    case ScalarType::BFloat16: return Dtype::kBFloat16;
    default:
      throw std::runtime_error(
          "fused_o_proj.explain: dtype is not served, wanted bfloat16, float16 or float32");
  }
}

Sizes checked_sizes(int64_t m, int64_t n, int64_t k) {
  if (m < 0 || n < 0 || k < 0)
    throw std::runtime_error("fused_o_proj.explain: sizes must not be negative");
  return {m, n, k};
}

std::string explain(int64_t m, int64_t n, int64_t k, ScalarType type, torch::stable::Device device) {
  const Sizes sizes = checked_sizes(m, n, k);
  const Dtype dtype = dtype_of(type);
  if (device.type() == DeviceType::CPU) return plan_json(plan_cpu(sizes));
  if (device.type() != DeviceType::CUDA)
    throw std::runtime_error("fused_o_proj.explain: device must be cpu or cuda");
#ifdef FUSED_O_PROJ_WITH_CUDA
  return plan_json(plan_cuda(
      {sizes, dtype, contiguous_alignment(sizes, dtype), device_limits(device.index())}));
#else
  (void)dtype;
  throw std::runtime_error(
      "fused_o_proj.explain: this build has no CUDA kernels (it was made without nvcc)");
#endif
}

// The same for a GPU that need not be there. Alignments in bytes, 0: that of a contiguous matrix.
std::string explain_gpu(int64_t m, int64_t n, int64_t k, ScalarType type, int64_t attn_alignment,
                        int64_t residual_alignment, int64_t weight_alignment,
                        int64_t out_alignment, int64_t compute_capability, int64_t sm_count,
                        int64_t shared_memory_per_sm_bytes, int64_t shared_memory_per_cta_bytes) {
  Request request;
  request.sizes = checked_sizes(m, n, k);
  request.dtype = dtype_of(type);
  const Alignment contiguous = contiguous_alignment(request.sizes, request.dtype);
  auto given_or = [](int64_t given, int fallback) { return given > 0 ? int(given) : fallback; };
  request.alignment = {given_or(attn_alignment, contiguous.attn_output),
                       given_or(weight_alignment, contiguous.weight),
                       given_or(residual_alignment, contiguous.residual),
                       given_or(out_alignment, contiguous.out)};
  request.device = {0, int(sm_count), int(compute_capability), int(shared_memory_per_sm_bytes),
                    int(shared_memory_per_cta_bytes)};
  return plan_json(plan_cuda(request));
}

}  // namespace
}  // namespace fused_o_proj

// No tensor among the arguments, so no backend's key: the composite key serves the calls.
STABLE_TORCH_LIBRARY_IMPL(fused_o_proj, CompositeExplicitAutograd, m) {
  m.impl("explain", TORCH_BOX(&fused_o_proj::explain));
  m.impl("explain_gpu", TORCH_BOX(&fused_o_proj::explain_gpu));
}
