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
  if (sizes.m > 0 && sizes.n > 0) plan.kernel = "cpu_linear";
  return plan;
}

std::string plan_json(const Plan& plan) {
  std::ostringstream json;
  json << "{\"kernel\": \"" << plan.kernel << "\", \"tile\": ";
  if (plan.tile_m > 0)
    json << '[' << plan.tile_m << ", " << plan.tile_n << ", " << plan.tile_k << ']';
  else
    json << "null";
  json << ", \"split_k\": " << plan.split_k << ", \"stages\": " << plan.stages
       << ", \"threads\": " << plan.threads << ", \"ctas\": " << plan.ctas << '}';
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

std::string explain(int64_t m, int64_t n, int64_t k, ScalarType type, torch::stable::Device device) {
  if (m < 0 || n < 0 || k < 0)
    throw std::runtime_error("fused_o_proj.explain: sizes must not be negative");
  const Sizes sizes{m, n, k};
  const Dtype dtype = dtype_of(type);
  if (device.type() == DeviceType::CPU) return plan_json(plan_cpu(sizes));
  if (device.type() != DeviceType::CUDA)
    throw std::runtime_error("fused_o_proj.explain: device must be cpu or cuda");
#ifdef FUSED_O_PROJ_WITH_CUDA
  return plan_json(plan_cuda(sizes, dtype, device_limits(device.index())));
#else
  (void)dtype;
  throw std::runtime_error(
      "fused_o_proj.explain: this build has no CUDA kernels (it was made without nvcc)");
#endif
}

}  // namespace
}  // namespace fused_o_proj

// No tensor among the arguments, so no backend's key: the composite key serves the call.
STABLE_TORCH_LIBRARY_IMPL(fused_o_proj, CompositeExplicitAutograd, m) {
  m.impl("explain", TORCH_BOX(&fused_o_proj::explain));
}
