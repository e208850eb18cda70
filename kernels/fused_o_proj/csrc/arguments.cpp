#include "arguments.h"

#include <torch/csrc/stable/library.h>
#include <torch/headeronly/core/ScalarType.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "overlap.h"

namespace fused_o_proj {
namespace {

using torch::headeronly::ScalarType;

[[noreturn]] void reject(const std::string& message) {
  throw std::runtime_error("fused_o_proj.o_proj_residual: " + message);
}

std::string shape_text(const Tensor& tensor) {
  std::ostringstream text;
  text << '[';
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) text << (dim ? ", " : "") << tensor.size(dim);
  text << ']';
  return text.str();
}

std::string device_text(const Tensor& tensor) {
  if (tensor.is_cpu()) return "cpu";
  const std::string type = tensor.is_cuda() ? "cuda" : "a device other than cpu and cuda";
  return tensor.is_cuda() ? type + ":" + std::to_string(tensor.get_device_index()) : type;
}

// Not Tensor::scalar_type(), which throws for the dtypes that the stable ABI has no name for.
ScalarType any_dtype(const Tensor& tensor) {
  int32_t code = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &code));
  return ScalarType(code);
}

std::optional<Dtype> supported_dtype(const Tensor& tensor) {
  switch (any_dtype(tensor)) {
    case ScalarType::Float: return Dtype::kFloat32;
    case ScalarType::Half: return Dtype::kFloat16;
    case ScalarType::BFloat16: return Dtype::kBFloat16;
    default: return std::nullopt;
  }
}

std::string dtype_text(const Tensor& tensor) {
  const auto dtype = supported_dtype(tensor);
  return dtype ? dtype_name(*dtype) : torch::headeronly::toString(any_dtype(tensor));
}

// The stable ABI does not tell; but a view of a tensor that requires grad has a history, so that it
// is no leaf.
bool requires_grad(const Tensor& tensor) {
  StableIValue value = torch::stable::detail::from(tensor);
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("aten::alias", "", &value, TORCH_ABI_VERSION));
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("aten::is_leaf", "", &value, TORCH_ABI_VERSION));
  return !torch::stable::detail::to<bool>(value);
}

void check_no_grad(const char* name, const Tensor& tensor) {
  if (aoti_torch_grad_mode_is_enabled() && requires_grad(tensor))
    reject(std::string(name) +
           " requires grad, wanted none: the operator is for inference and has no backward. Call it "
           "under torch.no_grad() or torch.inference_mode(), or detach.");
}

void check_kind(const char* name, const Tensor& tensor, const Tensor& attn_output) {
  if (!supported_dtype(tensor))
    reject(std::string(name) + " has dtype " + dtype_text(tensor) +
           ", wanted bfloat16, float16 or float32");
  if (any_dtype(tensor) != any_dtype(attn_output))
    reject(std::string(name) + " has dtype " + dtype_text(tensor) + ", wanted " +
           dtype_text(attn_output) + ", the dtype of attn_output");
  if (device_text(tensor) != device_text(attn_output))
    reject(std::string(name) + " is on " + device_text(tensor) + ", wanted " +
           device_text(attn_output) + ", the device of attn_output");
  check_no_grad(name, tensor);
}

// tensor must be [leading sizes of attn_output..., n].
void check_output_shape(const char* name, const Tensor& tensor, const Tensor& attn_output,
                        int64_t n) {
  const int64_t dims = attn_output.dim();
  bool matches = tensor.dim() == dims && tensor.size(dims - 1) == n;
  for (int64_t dim = 0; matches && dim + 1 < dims; ++dim)
    matches = tensor.size(dim) == attn_output.size(dim);
  if (matches) return;
  std::ostringstream wanted;
  wanted << '[';
  for (int64_t dim = 0; dim + 1 < dims; ++dim) wanted << attn_output.size(dim) << ", ";
  wanted << n << ']';
  reject(std::string(name) + " has shape " + shape_text(tensor) + ", wanted " + wanted.str() +
         " (the leading sizes of attn_output " + shape_text(attn_output) +
         " and the rows of o_proj_weight)");
}

void check_separate(const char* name, const Tensor& tensor, const Tensor& out) {
  if (may_overlap(tensor, out))
    reject(std::string("out shares memory with ") + name +
           ", wanted memory of its own (or exactly residual)");
}

}  // namespace

Sizes check_inputs(const Tensor& attn_output, const Tensor& residual, const Tensor& weight) {
  check_kind("attn_output", attn_output, attn_output);
  check_kind("residual", residual, attn_output);
  check_kind("o_proj_weight", weight, attn_output);
  if (attn_output.dim() < 1)
    reject("attn_output has shape [], wanted at least one dimension [..., K]");
  const int64_t k = attn_output.size(attn_output.dim() - 1);
  if (weight.dim() != 2 || weight.size(1) != k)
    reject("o_proj_weight has shape " + shape_text(weight) + ", wanted [N, " + std::to_string(k) +
           "] for attn_output " + shape_text(attn_output));
  const int64_t n = weight.size(0);
  check_output_shape("residual", residual, attn_output, n);
  int64_t m = 1;
  for (int64_t dim = 0; dim + 1 < attn_output.dim(); ++dim) m *= attn_output.size(dim);
  return {m, n, k};
}

Sizes check_inputs_and_out(const Tensor& attn_output, const Tensor& residual, const Tensor& weight,
                           const Tensor& out) {
  const Sizes sizes = check_inputs(attn_output, residual, weight);
  check_kind("out", out, attn_output);
  check_output_shape("out", out, attn_output, sizes.n);
  if (may_overlap_itself(out))
    reject("out has elements that share memory (an expanded view?), wanted one place for each");
  check_separate("attn_output", attn_output, out);
  check_separate("o_proj_weight", weight, out);
  if (!is_same_view(residual, out)) check_separate("residual", residual, out);
  return sizes;
}

Dtype checked_dtype(const Tensor& tensor) { return *supported_dtype(tensor); }

}  // namespace fused_o_proj
