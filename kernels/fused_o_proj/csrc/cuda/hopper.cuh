// The instructions of Hopper's own path (sm_90a): barriers in shared memory, TMA, wgmma, clusters.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Code that only sm_90a has; elsewhere the kernels are empty and the dispatch leaves them alone.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define FUSED_O_PROJ_HOPPER 1
#else
#define FUSED_O_PROJ_HOPPER 0
#endif

namespace fused_o_proj {

#if FUSED_O_PROJ_HOPPER

// --- mbarriers: addresses are of shared memory --------------------------------------------------

__device__ __forceinline__ void init_barrier(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes barriers that were just begun known to TMA and to the other threads of the cluster.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void arrive_expecting(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Returns when the phase of that parity has ended.
__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// --- TMA ----------------------------------------------------------------------------------------

__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(&map) : "memory");
}

__device__ __forceinline__ uint64_t evict_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\n" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ uint64_t evict_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\n" : "=l"(policy));
  return policy;
}

// Copies the map's box that begins at (column, row); its bytes, zeros beyond the matrix among them,
// complete on the barrier.
__device__ __forceinline__ void copy_box(uint32_t target, const CUtensorMap& map, int column, int row,
                                         uint32_t barrier, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(target),
      "l"(&map), "r"(column), "r"(row), "r"(barrier), "l"(policy)
      : "memory");
}

// --- wgmma --------------------------------------------------------------------------------------

// A matrix of rows of 128 bytes in shared memory, swizzled as TMA does it (128 B), whose k is
// contiguous: groups of 8 rows are 1024 bytes apart.
__device__ __forceinline__ uint64_t matrix_descriptor(uint32_t address) {
  return uint64_t((address & 0x3ffff) >> 4) | (uint64_t(1) << 16) | (uint64_t(1024 >> 4) << 32) |
         (uint64_t(1) << 62);
}

__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
}

// D[64 features, kTokens] += W[64, 16 of K] · A[kTokens, 16 of K]ᵀ by the four warps of a group, float32.
// Lane l of warp w: d[4c + e] = feature 16w + l/4 + 8(e/2), token 8c + 2(l%4) + e%2.
template <typename T, int kTokens>
struct Product;

#define FUSED_O_PROJ_D4 "%0,%1,%2,%3"
#define FUSED_O_PROJ_D8 FUSED_O_PROJ_D4 ",%4,%5,%6,%7"
#define FUSED_O_PROJ_D16 FUSED_O_PROJ_D8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define FUSED_O_PROJ_D32 FUSED_O_PROJ_D16 \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define FUSED_O_PROJ_D64 FUSED_O_PROJ_D32 \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define FUSED_O_PROJ_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define FUSED_O_PROJ_F8(i) FUSED_O_PROJ_F4(i), FUSED_O_PROJ_F4(i + 4)
#define FUSED_O_PROJ_F16(i) FUSED_O_PROJ_F8(i), FUSED_O_PROJ_F8(i + 8)
#define FUSED_O_PROJ_F32(i) FUSED_O_PROJ_F16(i), FUSED_O_PROJ_F16(i + 16)
#define FUSED_O_PROJ_F64(i) FUSED_O_PROJ_F32(i), FUSED_O_PROJ_F32(i + 32)

#define FUSED_O_PROJ_WGMMA_OF(T, TYPE, N, COUNT, W, A)                                            \
  template <>                                                                                     \
  struct Product<T, N> {                                                                          \
    static __device__ __forceinline__ void add(float (&d)[COUNT], uint64_t w, uint64_t a) {       \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                \
                   " {" FUSED_O_PROJ_D##COUNT "}, " #W ", " #A ", 1, 1, 1, 0, 0;\n"              \
                   : FUSED_O_PROJ_F##COUNT(0)                                                     \
                   : "l"(w), "l"(a));                                                             \
    }                                                                                             \
  };
#define FUSED_O_PROJ_WGMMA(N, COUNT, W, A)                            \
  FUSED_O_PROJ_WGMMA_OF(__nv_bfloat16, "bf16", N, COUNT, W, A) \
  FUSED_O_PROJ_WGMMA_OF(__half, "f16", N, COUNT, W, A)
FUSED_O_PROJ_WGMMA(32, 16, %16, %17)
FUSED_O_PROJ_WGMMA(64, 32, %32, %33)
FUSED_O_PROJ_WGMMA(128, 64, %64, %65)

// --- clusters -----------------------------------------------------------------------------------

// All threads of all CTAs of the cluster; what each wrote to its shared memory is seen by the others.
__device__ __forceinline__ void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}

// Four floats at this address of the shared memory of the cluster's CTA `rank`.
__device__ __forceinline__ float4 load_from(uint32_t rank, uint32_t address) {
  uint32_t theirs;
  asm("mapa.shared::cluster.u32 %0, %1, %2;\n" : "=r"(theirs) : "r"(address), "r"(rank));
  float4 value;
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];\n"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(theirs)
               : "memory");
  return value;
}

#endif  // FUSED_O_PROJ_HOPPER

}  // namespace fused_o_proj
