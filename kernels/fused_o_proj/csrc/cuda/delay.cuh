// The planted slowdown of delay.h inside a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "../delay.h"

namespace fused_o_proj {

// Holds back the CTAs of the first wave before they load anything: the later ones start only when
// these end, so the whole kernel moves by about the delay however many waves it has.
__device__ __forceinline__ void planted_delay(int first_wave_ctas) {
#if FUSED_O_PROJ_DELAY_NS > 0
  if (int(blockIdx.x) >= first_wave_ctas) return;
  uint64_t begin_ns, now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  } while (now_ns - begin_ns < uint64_t(FUSED_O_PROJ_DELAY_NS));
#else
  (void)first_wave_ctas;
#endif
}

// CTAs of the kernel that the device runs at once; 0 where no delay is built in.
inline cudaError_t first_wave_ctas(const void* kernel, int threads, int shared_bytes, int sm_count,
                                   int* ctas) {
  *ctas = 0;
#if FUSED_O_PROJ_DELAY_NS > 0
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, kernel, threads, shared_bytes);
  *ctas *= sm_count;
  return error;
#else
  (void)kernel, (void)threads, (void)shared_bytes, (void)sm_count;
  return cudaSuccess;
#endif
}

}  // namespace fused_o_proj
