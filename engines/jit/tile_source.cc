#include "engines/jit/tile_source.h"

#include <algorithm>
#include <cstring>

#include "engines/native/walk/move.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/index.h"

namespace assay::jit {
namespace {

// Elements first, first + step, ... as iota has them (evaluator/ops/elementwise/iota.cc); n <= kStrip.
void StoreCount(ElementType type, int64_t first, int64_t step, int64_t n, std::byte* dst) {
  if (IsIntegral(type) && Bits(type) == 32) {
    const uint32_t start = static_cast<uint32_t>(first), by = static_cast<uint32_t>(step);
    for (uint32_t i = 0; i < static_cast<uint32_t>(n); ++i) {
      const uint32_t count = start + i * by;
      std::memcpy(dst + 4 * int64_t{i}, &count, 4);
    }
    return;
  }
  alignas(64) std::byte strip[kStripBytes];
  auto* const reals = reinterpret_cast<double*>(strip);
  auto* const integers = reinterpret_cast<int64_t*>(strip);
  if (IsFloat(type)) {
    for (int64_t i = 0; i < n; ++i) reals[i] = static_cast<double>(first + i * step);
    RoundStripToFormat(reals, n, *Info(type).format);
  } else {
    for (int64_t i = 0; i < n; ++i) integers[i] = first + i * step;
  }
  StoreStrip(type, strip, n, dst, Bytes(type));
}

template <typename T>
void CopyFew(const std::byte* src, int64_t stride, int64_t n, std::byte* dst) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * kBytes, src + i * stride * kBytes, sizeof(T));
}

// n elements, `stride` apart in the source.
void CopyEvery(int bytes, const std::byte* src, int64_t stride, int64_t n, std::byte* dst) {
  constexpr int64_t kFew = 64, kOne = 1;  // a move's preparation takes as long as some tens of elements
  if (n > kFew) return native::StridedMove(bytes, {&n, 1}, {&stride, 1}, {&kOne, 1}).Run(src, dst);
  switch (bytes) {
    case 1:
      return CopyFew<uint8_t>(src, stride, n, dst);
    case 2:
      return CopyFew<uint16_t>(src, stride, n, dst);
    case 4:
      return CopyFew<uint32_t>(src, stride, n, dst);
    default:
      return CopyFew<uint64_t>(src, stride, n, dst);
  }
}

}  // namespace

TileSource TileSource::Broadcast(const Instruction& broadcast, const Shape& operand) {
  TileSource source;
  const Shape& shape = *broadcast.shape;
  source.type_ = shape.element_type();
  const auto dimensions = broadcast.attributes.List(Attr::kDimensions);
  const DimVector operand_strides = RowMajorStrides(operand.sizes());
  DimVector strides(shape.rank(), 0);
  for (size_t i = 0; i < dimensions.size(); ++i) strides[dimensions[i]] = operand_strides[i];
  for (int64_t d = 0; d < shape.rank(); ++d) source.AddDimension(shape.size(d), strides[d]);
  if (source.dimensions_.empty()) source.dimensions_.push_back({1, 0});
  return source;
}

TileSource TileSource::Slice(const Instruction& slice, const Shape& operand) {
  TileSource source;
  const Shape& shape = *slice.shape;
  source.type_ = shape.element_type();
  const auto& parts = std::get<SliceConfig>(*slice.attributes.Find(Attr::kSlice));
  const DimVector strides = RowMajorStrides(operand.sizes());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    source.first_ += parts[d].start * strides[d];
    source.AddDimension(shape.size(d), shape.size(d) == 1 ? 0 : parts[d].stride * strides[d]);
  }
  if (source.dimensions_.empty()) source.dimensions_.push_back({1, 0});
  return source;
}

TileSource TileSource::Transpose(const Instruction& transpose, const Shape& operand) {
  TileSource source;
  const Shape& shape = *transpose.shape;
  source.type_ = shape.element_type();
  const auto permutation = transpose.attributes.List(Attr::kDimensions);
  const DimVector strides = RowMajorStrides(operand.sizes());
  for (int64_t d = 0; d < shape.rank(); ++d) source.AddDimension(shape.size(d), strides[permutation[d]]);
  if (source.dimensions_.empty()) source.dimensions_.push_back({1, 0});
  return source;
}

void TileSource::AddDimension(int64_t size, int64_t stride) {
  if (size == 1) return;
  if (!dimensions_.empty() && dimensions_.back().stride == stride * size) {
    dimensions_.back() = {dimensions_.back().size * size, stride};
  } else {
    dimensions_.push_back({size, stride});
  }
}

TileSource TileSource::Iota(const Instruction& iota) {
  TileSource source;
  source.type_ = iota.shape->element_type();
  source.counts_ = true;
  const int64_t counted = iota.attributes.Int(Attr::kIotaDimension);
  for (int64_t d = 0; d < iota.shape->rank(); ++d)
    source.dimensions_.push_back({iota.shape->size(d), d == counted});
  return source;
}

// run(offset, stride, length) for each piece of the innermost dimension.
template <typename Run>
void TileSource::ForRuns(int64_t begin, int64_t n, Run run) const {
  absl::InlinedVector<int64_t, 6> index(dimensions_.size());
  int64_t rest = begin;
  for (size_t d = dimensions_.size(); d-- > 0;) {
    index[d] = rest % dimensions_[d].size;
    rest /= dimensions_[d].size;
  }
  const Dimension inner = dimensions_.back();
  while (n > 0) {
    int64_t offset = first_;
    for (size_t d = 0; d < dimensions_.size(); ++d) offset += index[d] * dimensions_[d].stride;
    const int64_t length = std::min(n, inner.size - index.back());
    run(offset, inner.stride, length);
    n -= length;
    index.back() += length;
    for (size_t d = dimensions_.size() - 1; d > 0 && index[d] == dimensions_[d].size; --d) {
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

const std::byte* TileSource::Find(const std::byte* operand, int64_t begin, int64_t n) const {
  const Dimension inner = dimensions_.back();
  if (counts_ || inner.stride != 1 || begin % inner.size + n > inner.size) return nullptr;
  const std::byte* first = nullptr;
  ForRuns(begin, n, [&](int64_t offset, int64_t, int64_t) { first = operand + offset * Bytes(type_); });
  return first;
}

void TileSource::FillRun(const std::byte* operand, int64_t begin, int64_t copies, std::byte* dst) const {
  const int bytes = Bytes(type_);
  ForRuns(begin, 1, [&](int64_t offset, int64_t, int64_t) {
    std::memcpy(dst, operand + offset * bytes, bytes);
    for (int64_t done = 1; done < copies; done *= 2)
      std::memcpy(dst + done * bytes, dst, std::min(done, copies - done) * bytes);
  });
}

void TileSource::Fill(const std::byte* operand, int64_t begin, int64_t n, std::byte* dst) const {
  const int bytes = Bytes(type_);
  ForRuns(begin, n, [&](int64_t offset, int64_t stride, int64_t length) {
    if (counts_) {
      for (int64_t i = 0; i < length; i += kStrip) {
        StoreCount(type_, offset + i * stride, stride, std::min(kStrip, length - i), dst + i * bytes);
      }
    } else if (stride == 1) {
      std::memcpy(dst, operand + offset * bytes, length * bytes);
    } else if (stride == 0) {
      native::FillElements(bytes, operand + offset * bytes, dst, length);
    } else {
      CopyEvery(bytes, operand + offset * bytes, stride, length, dst);
    }
    dst += length * bytes;
  });
}

}  // namespace assay::jit
