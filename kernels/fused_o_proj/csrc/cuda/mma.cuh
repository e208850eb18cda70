// The instructions of the tensor-core path (sm_80 and newer), each with the layout it fixes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace fused_o_proj {

// D[16 features, 8 tokens] += W[16, 16 of K] · A[8, 16 of K]ᵀ, float32 accumulators.
// Lane l: w = (row l/4 and +8) × (k 2(l%4) and +8), a = (token l/4) × (k 2(l%4) and +8),
//         d = (feature l/4, tokens 2(l%4), +1), (feature l/4 + 8, the same tokens).
template <typename T>
__device__ __forceinline__ void mma_16x8x16(float (&d)[4], const uint32_t (&w)[4],
                                            const uint32_t (&a)[2]);

template <>
__device__ __forceinline__ void mma_16x8x16<__nv_bfloat16>(float (&d)[4], const uint32_t (&w)[4],
                                                           const uint32_t (&a)[2]) {
  asm(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(a[0]), "r"(a[1]));
}

template <>
__device__ __forceinline__ void mma_16x8x16<__half>(float (&d)[4], const uint32_t (&w)[4],
                                                    const uint32_t (&a)[2]) {
  asm(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(a[0]), "r"(a[1]));
}

// Four 8×8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8.
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// Two of them; lanes 16 to 31 give addresses that are not used.
__device__ __forceinline__ void load_matrices(uint32_t (&r)[2], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(address)
               : "memory");
}

// Copies the first `bytes` of kBytes and writes zeros to the rest; 0 reads nothing. 16 bytes go past
// L1, which nothing else reads.
template <int kBytes>
__device__ __forceinline__ void copy_async(uint32_t target, const void* source, int bytes) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(target),
                 "l"(source), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(target), "l"(source),
                 "n"(kBytes), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void store_shared_4(uint32_t target, uint32_t value) {
  asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(target), "r"(value) : "memory");
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

__device__ __forceinline__ void prefetch_to_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(address));
}

}  // namespace fused_o_proj
