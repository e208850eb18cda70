// Several CTAs share a tile along K: partial tiles in a workspace, added by the last CTA to arrive.
//
// Nobody clears the workspace. It comes from the caching allocator for one launch and holds whatever
// was there before, so a tile's state word counts arrivals only under the launch's own tag: the first
// CTA to arrive finds no tag, or a stale one, and starts at one; the last one leaves zero behind, so
// that a graph may launch the same tag again. A stale word that happens to carry the tag has a
// probability of 2⁻⁵⁸ a tile.
#pragma once

#include <cstdint>

#include "split.h"

namespace fused_o_proj {

struct StageRange {
  int64_t first;
  int count;
};

// Part `part` of `split` of a row of stages: sizes differ by one at most.
__device__ __forceinline__ StageRange stages_of(int64_t stages, int part, int split) {
  const int64_t first = stages * part / split;
  return {first, int(stages * (part + 1) / split - first)};
}

// True in all threads of the CTA that arrives last at its tile: the partial tiles that the others
// left are visible to it.
__device__ __forceinline__ bool arrived_last(const SplitWorkspace& split, int tile) {
  __shared__ bool last;
  __threadfence();  // this thread's part of the partial tile is visible before the arrival is
  __syncthreads();  // everybody's is
  if (threadIdx.x == 0) {
    unsigned long long* state = split.states + tile;
    unsigned long long seen = atomicAdd(state, 0ull);
    while (true) {
      const bool ours = (seen & ~kArrivalMask) == split.tag;
      const int arrived = ours ? int(seen & kArrivalMask) + 1 : 1;
      last = arrived == split.count;
      const unsigned long long found = atomicCAS(state, seen, last ? 0ull : split.tag | arrived);
      if (found == seen) break;
      seen = found;
    }
  }
  __syncthreads();  // everybody knows
  __threadfence();  // what the others left is read after their arrival
  return last;
}

// The partial tiles of all parts, added in their order.
template <int kTokens, int kFeatures>
struct SplitSum {
  const float* partials;
  int count;

  __device__ __forceinline__ void eight(int token, int feature, float (&sum)[8]) const {
    const float4* at = reinterpret_cast<const float4*>(partials + token * kFeatures + feature);
#pragma unroll 4
    for (int part = 0; part < count; ++part, at += kTokens * kFeatures / 4) {
      const float4 low = __ldcg(at), high = __ldcg(at + 1);
      sum[0] += low.x, sum[1] += low.y, sum[2] += low.z, sum[3] += low.w;
      sum[4] += high.x, sum[5] += high.y, sum[6] += high.z, sum[7] += high.w;
    }
  }

  __device__ __forceinline__ float one(int token, int feature) const {
    const float* at = partials + token * kFeatures + feature;
    float sum = 0.0f;
#pragma unroll 4
    for (int part = 0; part < count; ++part, at += kTokens * kFeatures) sum += __ldcg(at);
    return sum;
  }
};

}  // namespace fused_o_proj
