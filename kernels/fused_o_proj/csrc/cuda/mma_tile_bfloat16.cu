#include "mma_tile.cuh"

namespace fused_o_proj {

void launch_mma_tile_bfloat16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                              void* workspace, cudaStream_t stream) {
  launch_mma_tile<__nv_bfloat16>(plan, problem, device, workspace, stream);
}

}  // namespace fused_o_proj
