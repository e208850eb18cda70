#include "split.h"

#include <atomic>
#include <cstdint>
#include <random>

namespace fused_o_proj {
namespace {

// A new tag for each launch of the process; never zero. Multiplication by an odd number and xor with
// a shift are one-to-one, so that no two of the first 2⁵⁸ are equal (splitmix64's finish).
unsigned long long draw_tag() {
  static const uint64_t begin = (uint64_t(std::random_device{}()) << 32) | std::random_device{}();
  static std::atomic<uint64_t> launches{0};
  constexpr uint64_t kBits = ~uint64_t(0) >> kArrivalBits;
  while (true) {
    uint64_t tag = (begin + launches.fetch_add(1, std::memory_order_relaxed)) & kBits;
    tag = (tag ^ (tag >> 30)) * 0xbf58476d1ce4e5b9ull & kBits;
    tag = (tag ^ (tag >> 27)) * 0x94d049bb133111ebull & kBits;
    tag ^= tag >> 31;
    if (tag != 0) return tag << kArrivalBits;
  }
}

}  // namespace

SplitWorkspace split_workspace(const Plan& plan, void* workspace) {
  if (plan.split_k == 1) return {nullptr, nullptr, 0, 1};
  char* begin = static_cast<char*>(workspace);
  return {reinterpret_cast<float*>(begin),
          reinterpret_cast<unsigned long long*>(begin + split_partial_bytes(plan)), draw_tag(),
          plan.split_k};
}

}  // namespace fused_o_proj
