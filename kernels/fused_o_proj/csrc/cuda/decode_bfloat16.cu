#include "decode.cuh"

namespace fused_o_proj {

void launch_decode_bfloat16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                            cudaStream_t stream) {
  launch_decode<__nv_bfloat16>(plan, problem, device, stream);
}

}  // namespace fused_o_proj
