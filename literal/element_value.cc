// Single elements, and integers as a type holds them. Strips are in element_io.cc.
#include <limits>

#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {

int64_t WrapSigned(int64_t value, int bits) {
  const int drop = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << drop) >> drop;
}
uint64_t WrapUnsigned(uint64_t value, int bits) {
  const int drop = 64 - bits;
  return value << drop >> drop;
}
void WrapStrip(ElementType type, int64_t* values, int64_t n) {
  const int bits = Bits(type);
  if (bits == 64) return;
  for (int64_t i = 0; i < n; ++i) values[i] = WrapSigned(values[i], bits);
}
void WrapStrip(ElementType type, uint64_t* values, int64_t n) {
  const int bits = Bits(type);
  if (bits == 64) return;
  for (int64_t i = 0; i < n; ++i) values[i] = WrapUnsigned(values[i], bits);
}

ScalarValue LoadElement(ElementType type, const std::byte* src) {
  ScalarValue value;
  value.kind = KindOf(type);
  switch (value.kind) {
    case ComputeKind::kBool:
      LoadStrip(type, src, 0, 1, &value.b);
      break;
    case ComputeKind::kInt64:
      LoadStrip(type, src, 0, 1, &value.i);
      break;
    case ComputeKind::kUint64:
      LoadStrip(type, src, 0, 1, &value.u);
      break;
    case ComputeKind::kReal:
      LoadStrip(type, src, 0, 1, &value.r);
      break;
    case ComputeKind::kComplex:
      LoadStrip(type, src, 0, 1, &value.c);
      break;
  }
  return value;
}

void StoreElement(ElementType type, const ScalarValue& value, std::byte* dst) {
  switch (KindOf(type)) {
    case ComputeKind::kBool:
      return StoreStrip(type, &value.b, 1, dst, 0);
    case ComputeKind::kInt64:
      return StoreStrip(type, &value.i, 1, dst, 0);
    case ComputeKind::kUint64:
      return StoreStrip(type, &value.u, 1, dst, 0);
    case ComputeKind::kReal:
      return StoreStrip(type, &value.r, 1, dst, 0);
    case ComputeKind::kComplex:
      return StoreStrip(type, &value.c, 1, dst, 0);
  }
}

int64_t LoadIndex(ElementType integral, const std::byte* src) {
  const ScalarValue value = LoadElement(integral, src);
  if (value.kind == ComputeKind::kInt64) return value.i;
  if (value.kind == ComputeKind::kBool) return value.b;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(value.u, kMax));
}

}  // namespace assay
