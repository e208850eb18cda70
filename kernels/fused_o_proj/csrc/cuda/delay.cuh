// The planted slowdown of delay.h inside a kernel.
#pragma once

#include <cuda_runtime.h>

#include "../delay.h"

namespace fused_o_proj {

__device__ __forceinline__ long long sm_cycles() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  return cycles;
}

// Lives as long as a thread's part of a kernel and then holds the thread back by a fixed share of the
// cycles that this took: every CTA is slower by that share, and so is the kernel, however many waves
// it has.
class PlantedDelay {
#if FUSED_O_PROJ_DELAY_PPM > 0
 public:
  __device__ __forceinline__ PlantedDelay() : begin_(sm_cycles()) {}
  __device__ __forceinline__ ~PlantedDelay() {
    const long long worked = sm_cycles() - begin_;
    const long long wanted = worked + worked * FUSED_O_PROJ_DELAY_PPM / 1000000;
    while (sm_cycles() - begin_ < wanted) {
    }
  }

 private:
  long long begin_;
#else
 public:
  __device__ __forceinline__ PlantedDelay() {}  // so that the object is used in every build
#endif
};

}  // namespace fused_o_proj
