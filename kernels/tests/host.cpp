// A C++ host without Python: loads the library at run time and calls the operator by name.
//
// Usage: fused_o_proj_host <libfused_o_proj.so>
#include <dlfcn.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include <array>
#include <cstdio>
#include <exception>

using torch::stable::Tensor;

namespace {

// A float32 CPU tensor [rows, columns], every element `value`.
Tensor full(int64_t rows, int64_t columns, double value) {
  const std::array<int64_t, 2> shape{rows, columns};
  Tensor tensor = torch::stable::empty({shape.data(), shape.size()},
                                       torch::headeronly::ScalarType::Float);
  return torch::stable::fill_(tensor, value);
}

Tensor o_proj_residual(const Tensor& attn_output, const Tensor& residual, const Tensor& weight) {
  using torch::stable::detail::from;
  std::array<StableIValue, 3> stack{from(attn_output), from(residual), from(weight)};
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("fused_o_proj::o_proj_residual", "", stack.data(),
                                               TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

int run(const char* library) {
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::fprintf(stderr, "%s did not load: %s\n", library, dlerror());
    return 1;
  }
  // 3 tokens, 16 input features of 2 · 0.5, residual 1: every element is 17.
  const Tensor out = o_proj_residual(full(3, 16, 2.0), full(3, 5, 1.0), full(5, 16, 0.5));
  const float* values = static_cast<const float*>(out.const_data_ptr());
  for (int i = 0; i < 15; ++i) {
    if (values[i] == 17.0f) continue;
    std::fprintf(stderr, "out[%d] is %g, wanted 17\n", i, double(values[i]));
    return 1;
  }
  std::printf("o_proj_residual agrees from C++\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <libfused_o_proj.so>\n", argv[0]);
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the operator failed: %s\n", error.what());
    return 1;
  }
}
