// The operator on CUDA: views or copies of the arguments, the plan, one launch.
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>

#include "../arguments.h"
#include "../framework.h"
#include "../plan.h"
#include "device.h"
#include "launch.h"

// Declared here because the headers of a torch without CUDA leave them out, and weak because that
// torch has no such functions; a torch with CUDA always has them, from 2.10 on.
extern "C" __attribute__((weak)) AOTITorchError aoti_torch_get_current_cuda_stream(
    int32_t device_index, void** ret_stream);
extern "C" __attribute__((weak)) AOTITorchError aoti_torch_cuda_caching_allocator_raw_alloc(
    uint64_t nbytes, void** ret_ptr);
extern "C" __attribute__((weak)) AOTITorchError aoti_torch_cuda_caching_allocator_raw_delete(
    void* ptr);

namespace fused_o_proj {
namespace {

cudaStream_t current_stream(int32_t device) {
  if (aoti_torch_get_current_cuda_stream == nullptr)
    throw std::runtime_error(
        "fused_o_proj.o_proj_residual: this torch offers no CUDA stream (a CPU-only build?)");
  void* stream = nullptr;
  during("getting torch's current CUDA stream", [&] {
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(device, &stream));
  });
  return static_cast<cudaStream_t>(stream);
}

// plan_cuda takes microseconds, as long as the rest of a launch; a model repeats few shapes.
const Plan& remembered_plan(const Request& request) {
  struct Entry {
    Request request;
    Plan plan;
  };
  thread_local Entry entries[64];  // a request has one place; whoever comes there later has it
  const Sizes& sizes = request.sizes;
  const uint64_t mixed = (uint64_t(sizes.m) * 31 + uint64_t(sizes.n)) * 31 + uint64_t(sizes.k);
  Entry& entry = entries[(mixed * 0x9e3779b97f4a7c15ull) >> 58];
  if (!(entry.request == request)) {
    entry.plan = plan_cuda(request);
    entry.request = request;
  }
  return entry.plan;
}

// An input with unit inner stride: the tensor itself, or a copy that lives as long as this. A copy is
// freed into torch's pool of the same stream, where nothing can reuse it before the launch has run.
class ReadableRows {
 public:
  explicit ReadableRows(const Tensor& tensor) : tensor_(tensor) {
    auto rows = as_rows(tensor_);
    if (!rows) {
      tensor_ = during("allocating a contiguous copy",
                       [&] { return torch::stable::contiguous(tensor); });
      rows = as_rows(tensor_);
    }
    rows_ = *rows;
  }

  const Rows& get() const { return rows_; }

 private:
  Tensor tensor_;
  Rows rows_;
};

// Memory for one launch from torch's pool of the current device and stream, with whatever it holds;
// freed into that pool again, where nothing can reuse it before the launch has run. Calls on other
// streams and captured ones get other memory. It is no tensor: making one takes the host as long as
// the rest of the launch.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) {
    if (bytes == 0) return;
    if (aoti_torch_cuda_caching_allocator_raw_alloc == nullptr)
      throw std::runtime_error(
          "fused_o_proj.o_proj_residual: this torch offers no CUDA memory (older than 2.10?)");
    during("allocating the workspace of a split along K", [&] {
      TORCH_ERROR_CODE_CHECK(
          aoti_torch_cuda_caching_allocator_raw_alloc(uint64_t(bytes), &data_));
    });
  }
  ~Workspace() {
    if (data_ != nullptr) aoti_torch_cuda_caching_allocator_raw_delete(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

void launch(const Plan& plan, const Problem& problem, Dtype dtype, const DeviceLimits& device,
            void* workspace, cudaStream_t stream) {
  switch (plan.family) {
    case Family::kNone:
    case Family::kCpuLinear: return;
    case Family::kSimtTile:
    case Family::kSimtRows: return launch_simt_float32(plan, problem, device, stream);
    case Family::kDecode:
      if (dtype == Dtype::kBFloat16) return launch_decode_bfloat16(plan, problem, device, stream);
      return launch_decode_float16(plan, problem, device, stream);
    case Family::kMmaTile:
      if (dtype == Dtype::kBFloat16)
        return launch_mma_tile_bfloat16(plan, problem, device, workspace, stream);
      return launch_mma_tile_float16(plan, problem, device, workspace, stream);
  }
}

// Writes into `out`, which as_rows can view.
void run(const Tensor& attn_output, const Tensor& residual, const Tensor& weight, const Tensor& out,
         const Sizes& sizes) {
  if (sizes.m == 0 || sizes.n == 0) return;
  const DeviceLimits& device = device_limits(out.get_device_index());
  const Dtype dtype = checked_dtype(out);
  const ReadableRows attn_rows(attn_output), residual_rows(residual), weight_rows(weight);
  const Problem problem{sizes, attn_rows.get(), weight_rows.get(), residual_rows.get(),
                        *as_rows(out)};
  const Plan& plan = remembered_plan({sizes, dtype, alignment_of(problem, dtype), device});
  const Workspace workspace(workspace_bytes(plan));
  launch(plan, problem, dtype, device, workspace.data(), current_stream(out.get_device_index()));
}

Tensor o_proj_residual_cuda(const Tensor& attn_output, const Tensor& residual,
                            const Tensor& weight) {
  const Sizes sizes = check_inputs(attn_output, residual, weight);
  const torch::stable::accelerator::DeviceGuard guard(attn_output.get_device_index());
  Tensor out = new_out(residual);
  run(attn_output, residual, weight, out, sizes);
  return out;
}

void o_proj_residual_out_cuda(const Tensor& attn_output, const Tensor& residual,
                              const Tensor& weight, Tensor out) {
  const Sizes sizes = check_inputs_and_out(attn_output, residual, weight, out);
  const torch::stable::accelerator::DeviceGuard guard(attn_output.get_device_index());
  if (as_rows(out)) return run(attn_output, residual, weight, out, sizes);
  const Tensor packed = new_out(residual);  // out has no row-major view: compute, then scatter
  run(attn_output, residual, weight, packed, sizes);
  during("aten::copy_", [&] { return torch::stable::copy_(out, packed); });
}

}  // namespace
}  // namespace fused_o_proj

STABLE_TORCH_LIBRARY_IMPL(fused_o_proj, CUDA, m) {
  m.impl("o_proj_residual", TORCH_BOX(&fused_o_proj::o_proj_residual_cuda));
  m.impl("o_proj_residual.out", TORCH_BOX(&fused_o_proj::o_proj_residual_out_cuda));
}
