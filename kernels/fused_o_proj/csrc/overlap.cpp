#include "overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "arguments.h"

namespace fused_o_proj {
namespace {

// The bytes from the first element to the end of the last: [begin, end).
struct Extent {
  const char* begin;
  const char* end;
};

Extent extent(const Tensor& tensor) {
  const char* begin = static_cast<const char*>(tensor.const_data_ptr());
  int64_t last = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    last += (tensor.size(dim) - 1) * tensor.stride(dim);
  return {begin, begin + (last + 1) * int64_t(tensor.element_size())};
}

// Two bands of columns of one buffer: with the same row stride S, columns [0, width_a) and
// [offset, offset + width_b) taken modulo S never meet.
bool are_separate_columns(const Tensor& a, const Tensor& b) {
  const auto rows_a = as_rows(a);
  const auto rows_b = as_rows(b);
  if (!rows_a || !rows_b || rows_a->row_stride != rows_b->row_stride) return false;
  const int64_t stride = rows_a->row_stride;
  const int64_t bytes = int64_t(a.element_size());
  const int64_t distance_bytes =
      static_cast<const char*>(rows_b->data) - static_cast<const char*>(rows_a->data);
  if (stride <= 0 || distance_bytes % bytes != 0) return false;
  const int64_t offset = ((distance_bytes / bytes) % stride + stride) % stride;
  const int64_t width_a = a.size(a.dim() - 1);
  const int64_t width_b = b.size(b.dim() - 1);
  return offset >= width_a && offset + width_b <= stride;
}

}  // namespace

bool may_overlap_itself(const Tensor& tensor) {
  if (tensor.numel() == 0) return false;
  std::vector<std::pair<int64_t, int64_t>> dims;  // (stride, size), sizes above one
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.size(dim) > 1) dims.emplace_back(tensor.stride(dim), tensor.size(dim));
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;  // the largest offset that the dimensions seen so far can make
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return false;
  const Extent first = extent(a);
  const Extent second = extent(b);
  if (first.end <= second.begin || second.end <= first.begin) return false;
  return !are_separate_columns(a, b);
}

bool is_same_view(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim() || a.const_data_ptr() != b.const_data_ptr()) return false;
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) != b.size(dim)) return false;
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) return false;
  }
  return true;
}

bool leading_sizes_collapse(const Tensor& tensor) {
  if (tensor.numel() == 0) return true;
  int64_t inner = -1;  // the nearest leading dimension to the right with more than one index
  for (int64_t dim = tensor.dim() - 2; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    if (inner >= 0 && tensor.stride(dim) != tensor.size(inner) * tensor.stride(inner)) return false;
    inner = dim;
  }
  return true;
}

std::optional<Rows> as_rows(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  const int64_t columns = tensor.size(last);
  if (columns > 1 && tensor.stride(last) != 1) return std::nullopt;
  if (!leading_sizes_collapse(tensor)) return std::nullopt;
  int64_t row_stride = columns;  // one row: no stride is ever added
  for (int64_t dim = last - 1; dim >= 0; --dim) {
    if (tensor.size(dim) == 1) continue;
    row_stride = tensor.stride(dim);
    break;
  }
  return Rows{const_cast<void*>(tensor.const_data_ptr()), row_stride};
}

}  // namespace fused_o_proj
