#include "decode.cuh"

namespace fused_o_proj {

void launch_decode_float16(const Plan& plan, const Problem& problem, const DeviceLimits& device,
                           cudaStream_t stream) {
  launch_decode<__half>(plan, problem, device, stream);
}

}  // namespace fused_o_proj
