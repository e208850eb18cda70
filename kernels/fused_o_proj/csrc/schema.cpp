// The operators' schemas. Their kernels register themselves, one backend a file.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(fused_o_proj, m) {
  m.def(
      "o_proj_residual(Tensor attn_output, Tensor residual, Tensor o_proj_weight) -> Tensor");
  // Returns nothing: a returned alias of out would break functionalisation.
  m.def(
      "o_proj_residual.out(Tensor attn_output, Tensor residual, Tensor o_proj_weight, *, "
      "Tensor(a!) out) -> ()");
  m.def("explain(int m, int n, int k, ScalarType dtype, Device device) -> str");
}
