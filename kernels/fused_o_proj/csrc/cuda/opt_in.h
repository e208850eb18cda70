// Leave for a kernel to use much shared memory.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

namespace fused_o_proj {

// A kernel may use more than 48 KiB of shared memory once it has been said for that device.
class SharedMemoryOptIn {
 public:
  cudaError_t once(const void* kernel, int bytes, int device) {
    const uint64_t bit = device < 64 ? uint64_t(1) << device : 0;
    if (done_.load(std::memory_order_relaxed) & bit) return cudaSuccess;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess) done_.fetch_or(bit, std::memory_order_relaxed);
    return error;
  }

 private:
  std::atomic<uint64_t> done_{0};  // one bit a device; beyond 64 devices it is said every time
};

}  // namespace fused_o_proj
