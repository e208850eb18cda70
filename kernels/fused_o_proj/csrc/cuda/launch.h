// The kernel families, one file each; each launches what a Plan names on the given stream.
#pragma once

#include <cuda_runtime_api.h>

#include "../plan.h"

namespace fused_o_proj {

// 17 to 128 tokens on sm_90a; plan.config is the row of kDecodeConfigs.
void launch_decode_bfloat16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                            cudaStream_t stream);
void launch_decode_float16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                           cudaStream_t stream);

// Tensor cores; plan.config is the row of kTileConfigs. `workspace`: workspace_bytes(plan) of the
// device's memory that nobody else uses until the launch has run. Throws what check_cuda throws.
void launch_mma_tile_bfloat16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                              void* workspace, cudaStream_t stream);
void launch_mma_tile_float16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                             void* workspace, cudaStream_t stream);

// True float32; plan.family is kSimtTile or kSimtRows.
void launch_simt_float32(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                         cudaStream_t stream);

}  // namespace fused_o_proj
