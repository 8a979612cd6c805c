#include "find/origin/element_kinds.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "literal/leaves.h"
#include "shape/index.h"

namespace assay {
namespace {

bool IsOfKind(TraceKind kind, double x, int min_exponent) {
  switch (kind) {
    case TraceKind::kNan:
      return std::isnan(x);
    case TraceKind::kInfinity:
      return std::isinf(x);
    case TraceKind::kOverflow:
      return !std::isfinite(x);
    case TraceKind::kSubnormal:
      return x != 0 && std::isfinite(x) && std::ilogb(x) < min_exponent;
  }
  return false;
}

// Number k of the array's numbers, of which a complex element has two.
template <typename Number>
double NumberOf(const Literal& array, int64_t k) {
  Number number;
  std::memcpy(&number, array.data() + k * static_cast<int64_t>(sizeof(Number)), sizeof(Number));
  return number;
}

bool HasParts(const Shape& shape) {
  return shape.IsArray() && (IsFloat(shape.element_type()) || IsComplex(shape.element_type()));
}

// The first number from `from` on of `count`; -1: none.
template <typename Get>
int64_t FirstNumber(TraceKind kind, int min_exponent, int64_t from, int64_t count, Get get) {
  for (int64_t k = from; k < count; ++k) {
    if (IsOfKind(kind, get(k), min_exponent)) return k;
  }
  return -1;
}

int64_t FirstNumberOf(TraceKind kind, const Literal& array, int64_t from, int64_t count) {
  switch (array.shape().element_type()) {
    case ElementType::kF32:
    case ElementType::kC64:
      return FirstNumber(kind, -126, from, count, [&](int64_t k) { return NumberOf<float>(array, k); });
    case ElementType::kF64:
    case ElementType::kC128:
      return FirstNumber(kind, -1022, from, count, [&](int64_t k) { return NumberOf<double>(array, k); });
    default: {
      const FloatFormat& format = *Info(array.shape().element_type()).format;
      return FirstNumber(kind, format.min_exponent, from, count,
                         [&](int64_t k) { return array.GetDouble(k); });
    }
  }
}

}  // namespace

std::string_view Name(TraceKind kind) {
  constexpr std::string_view kNames[] = {"nan", "inf", "overflow", "subnormal"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view Noun(TraceKind kind) {
  constexpr std::string_view kNouns[] = {"NaN", "infinity", "overflow", "subnormal number"};
  return kNouns[static_cast<size_t>(kind)];
}

std::string_view Adjective(TraceKind kind) {
  constexpr std::string_view kAdjectives[] = {"NaN", "infinite", "infinite or NaN", "subnormal"};
  return kAdjectives[static_cast<size_t>(kind)];
}

std::optional<TraceKind> TraceKindOf(std::string_view name) {
  for (const TraceKind kind :
       {TraceKind::kNan, TraceKind::kInfinity, TraceKind::kOverflow, TraceKind::kSubnormal}) {
    if (Name(kind) == name) return kind;
  }
  return std::nullopt;
}

bool IsLive(const Literal& array, int64_t position) {
  if (!array.shape().HasDynamic() || array.IsFullSize()) return true;
  const DimVector sizes = array.runtime_sizes();
  DimVector index(sizes.size());
  IndexOfPosition(position, array.shape().sizes(), index);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (index[d] >= sizes[d]) return false;
  }
  return true;
}

int64_t FirstOfKind(TraceKind kind, const Literal& array, int64_t from) {
  if (!HasParts(array.shape())) return -1;
  const int64_t parts = IsComplex(array.shape().element_type()) ? 2 : 1;
  const int64_t count = array.shape().num_elements() * parts;
  while (true) {
    const int64_t number = FirstNumberOf(kind, array, from * parts, count);
    if (number < 0) return -1;
    if (IsLive(array, number / parts)) return number / parts;
    from = number / parts + 1;
  }
}

bool IsOfKind(TraceKind kind, const Literal& array, int64_t position) {
  if (!HasParts(array.shape()) || !IsLive(array, position)) return false;
  const int64_t parts = IsComplex(array.shape().element_type()) ? 2 : 1;
  return FirstNumberOf(kind, array, position * parts, (position + 1) * parts) >= 0;
}

int64_t CountOfKind(TraceKind kind, const Literal& array) {
  int64_t count = 0;
  for (int64_t k = FirstOfKind(kind, array); k >= 0; k = FirstOfKind(kind, array, k + 1)) ++count;
  return count;
}

bool HasKind(TraceKind kind, const Literal& value) {
  bool has = false;
  ForEachLeaf(value, [&](const ShapeIndex&, const Literal& leaf) {
    has = has || (leaf.shape().IsArray() && FirstOfKind(kind, leaf) >= 0);
  });
  return has;
}

bool IsConversion(Opcode opcode) {
  if (opcode == Opcode::kConvert) return true;
  if (opcode == Opcode::kStochasticConvert) return true;
  return opcode == Opcode::kReducePrecision;
}

double NumberAt(const Literal& array, int64_t position) {
  const ElementType type = array.shape().element_type();
  if (IsFloat(type)) return array.GetDouble(position);
  if (!IsIntegral(type)) return std::numeric_limits<double>::quiet_NaN();
  const int64_t number = array.GetInt(position);
  // GetInt gives the bits of a u64 as an s64.
  return type == ElementType::kU64 ? static_cast<double>(static_cast<uint64_t>(number))
                                   : static_cast<double>(number);
}

bool Overflowed(const Literal& operand, const Literal& result, int64_t position) {
  const ElementType from = operand.shape().element_type(), to = result.shape().element_type();
  const bool converts = (IsFloat(from) || IsIntegral(from)) && (IsFloat(to) || IsIntegral(to));
  if (!converts || !IsLive(result, position)) return false;
  const double x = NumberAt(operand, position);
  if (!std::isfinite(x)) return false;
  if (IsFloat(to)) return !std::isfinite(result.GetDouble(position));
  // Of two integers, both exactly: doubles would round those of 64 bits.
  if (IsIntegral(from)) {
    const int64_t a = operand.GetInt(position), b = result.GetInt(position);
    const bool same_sign = (from == ElementType::kU64 || a >= 0) == (to == ElementType::kU64 || b >= 0);
    return a != b || !same_sign;
  }
  // The largest integers of 64 bits are no doubles.
  if ((to == ElementType::kS64 && x >= 0x1p63) || (to == ElementType::kU64 && x >= 0x1p64)) return true;
  return std::trunc(x) != NumberAt(result, position);
}

}  // namespace assay
