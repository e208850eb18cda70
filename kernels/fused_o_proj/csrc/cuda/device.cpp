#include "device.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace fused_o_proj {
namespace {

int attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  const cudaError_t error = cudaDeviceGetAttribute(&value, attribute, device);
  if (error != cudaSuccess) {
    cudaGetLastError();  // a failed question must not be found by somebody else's check
    throw std::runtime_error("fused_o_proj: cudaDeviceGetAttribute failed for device " +
                             std::to_string(device) + ": " + cudaGetErrorString(error));
  }
  return value;
}

DeviceLimits ask(int device) {
  DeviceLimits limits;
  limits.ordinal = device;
  limits.sm_count = attribute(cudaDevAttrMultiProcessorCount, device);
  limits.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                              attribute(cudaDevAttrComputeCapabilityMinor, device);
  limits.shared_memory_per_sm_bytes =
      attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  limits.shared_memory_per_cta_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return limits;
}

}  // namespace

const DeviceLimits& device_limits(int device) {
  static std::mutex mutex;
  static std::map<int, DeviceLimits> known;  // references stay valid while it grows
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = known.find(device);
  if (found == known.end()) found = known.emplace(device, ask(device)).first;
  return found->second;
}

}  // namespace fused_o_proj
