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
  m.def(
      "explain_gpu(int m, int n, int k, ScalarType dtype, int attn_alignment, "
      "int residual_alignment, int weight_alignment, int out_alignment, int compute_capability, "
      "int sm_count, int shared_memory_per_sm_bytes, int shared_memory_per_cta_bytes) -> str");
}
