// The operator on the CPU: the framework's own BLAS, whose beta takes the residual.
#include <torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <array>
#include <chrono>

#include "arguments.h"
#include "delay.h"
#include "framework.h"

namespace fused_o_proj {
namespace {

// Lives as long as a call's work and then holds it back by a fixed share of the time that this took.
class PlantedDelay {
#if FUSED_O_PROJ_DELAY_PPM > 0
  using Clock = std::chrono::steady_clock;

 public:
  ~PlantedDelay() {
    const auto worked = Clock::now() - begin_;
    const auto wanted = worked + worked * FUSED_O_PROJ_DELAY_PPM / 1000000;
    while (Clock::now() - begin_ < wanted) {
    }
  }

 private:
  Clock::time_point begin_ = Clock::now();
#else
 public:
  PlantedDelay() {}  // so that the object is used in every build
#endif
};

Tensor as_matrix(const Tensor& tensor, int64_t rows, int64_t columns) {
  if (tensor.dim() == 2) return tensor;
  const std::array<int64_t, 2> shape{rows, columns};
  return during("reshape", [&] {
    return torch::stable::reshape(tensor, {shape.data(), shape.size()});
  });
}

// Writes into `out`, whose leading sizes collapse. torch's CPU kernel is called itself and not
// through the dispatcher, where autocast would choose another dtype.
void run(const Tensor& attn_output, const Tensor& residual, const Tensor& weight, const Tensor& out,
         const Sizes& sizes) {
  if (sizes.m == 0 || sizes.n == 0) return;
  const Tensor x = as_matrix(attn_output, sizes.m, sizes.k);
  const Tensor target = as_matrix(out, sizes.m, sizes.n);
  // In place, BLAS is handed one and the same tensor, so that it copies nothing.
  const Tensor bias =
      is_same_view(residual, out) ? target : as_matrix(residual, sizes.m, sizes.n);
  during("aten::addmm.out", [&] {
    const Tensor transposed = torch::stable::transpose(weight, 0, 1);
    TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(target.get(), bias.get(), x.get(),
                                                    transposed.get(), 1.0, 1.0));
  });
}

Tensor o_proj_residual_cpu(const Tensor& attn_output, const Tensor& residual,
                           const Tensor& weight) {
  const Sizes sizes = check_inputs(attn_output, residual, weight);
  const PlantedDelay delay;
  const Tensor out = new_out(residual);
  run(attn_output, residual, weight, out, sizes);
  return out;
}

void o_proj_residual_out_cpu(const Tensor& attn_output, const Tensor& residual,
                             const Tensor& weight, Tensor out) {
  const Sizes sizes = check_inputs_and_out(attn_output, residual, weight, out);
  const PlantedDelay delay;
  if (leading_sizes_collapse(out)) return run(attn_output, residual, weight, out, sizes);
  const Tensor packed = new_out(residual);  // no matrix view of out exists: compute, then scatter
  run(attn_output, residual, weight, packed, sizes);
  during("aten::copy_", [&] { return torch::stable::copy_(out, packed); });
}

}  // namespace
}  // namespace fused_o_proj

STABLE_TORCH_LIBRARY_IMPL(fused_o_proj, CPU, m) {
  m.impl("o_proj_residual", TORCH_BOX(&fused_o_proj::o_proj_residual_cpu));
  m.impl("o_proj_residual.out", TORCH_BOX(&fused_o_proj::o_proj_residual_out_cpu));
}
