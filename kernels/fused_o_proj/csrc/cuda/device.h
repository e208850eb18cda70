// Facts of a GPU that the dispatch depends on, asked once a device.
#pragma once

#include "../plan.h"

namespace fused_o_proj {

// device: CUDA ordinal. Throws std::runtime_error where the driver has no such device.
const DeviceLimits& device_limits(int device);

}  // namespace fused_o_proj
