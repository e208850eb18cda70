#include "framework.h"

#include <torch/csrc/stable/ops.h>

// The text of the last framework error; absent before torch 2.13.
extern "C" __attribute__((weak)) const char* torch_exception_get_what_without_backtrace();

namespace fused_o_proj {

std::string framework_error(const std::exception& error) {
  if (torch_exception_get_what_without_backtrace != nullptr) {
    const char* what = torch_exception_get_what_without_backtrace();
    if (what != nullptr && *what != '\0') return what;
  }
  return std::string(error.what()) + " (torch wrote the cause to stderr)";
}

torch::stable::Tensor new_out(const torch::stable::Tensor& residual) {
  return during("allocating out", [&] {
    return torch::stable::new_empty(residual, residual.sizes());
  });
}

}  // namespace fused_o_proj
