#include "mma_tile.cuh"

namespace fused_o_proj {

void launch_mma_tile_float16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                             void* workspace, cudaStream_t stream) {
  launch_mma_tile<__half>(plan, problem, device, workspace, stream);
}

}  // namespace fused_o_proj
