// Calls into torch: what they throw is told with the step that failed.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace fused_o_proj {

// What torch said of the error that it has just reported.
std::string framework_error(const std::exception& error);

// Runs a framework call; a step that takes memory is named "allocating ...".
template <typename Call>
auto during(const std::string& step, Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw std::runtime_error("fused_o_proj.o_proj_residual: " + step +
                             " failed: " + framework_error(error));
  }
}

// A contiguous tensor of the residual's sizes, dtype and device.
torch::stable::Tensor new_out(const torch::stable::Tensor& residual);

}  // namespace fused_o_proj
