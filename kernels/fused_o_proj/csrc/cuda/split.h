// The workspace of a launch whose tiles are shared by several CTAs along K.
#pragma once

#include "../plan.h"

namespace fused_o_proj {

struct SplitWorkspace {
  float* partials;             // [tiles][count][tokens][features] of partial sums
  unsigned long long* states;  // [tiles]: tag + CTAs that have arrived
  unsigned long long tag;      // of this launch; its low kArrivalBits are zero
  int count;                   // CTAs of a tile; 1: no workspace
};

constexpr int kArrivalBits = 6;
constexpr unsigned long long kArrivalMask = (1ull << kArrivalBits) - 1;
static_assert(kMaxSplit <= int(kArrivalMask));

// Lays the workspace of a plan out and draws the tag; `workspace` is aligned to 256 bytes.
SplitWorkspace split_workspace(const Plan& plan, void* workspace);

}  // namespace fused_o_proj
