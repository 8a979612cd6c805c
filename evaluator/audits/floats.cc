// Floats: subnormal numbers, NaNs in comparisons; factorizations; random numbers.
#include <cmath>
#include <cstring>
#include <vector>

#include "evaluator/audits/rules.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "literal/literal_text.h"

namespace assay::audit {
namespace {

// The types whose subnormal numbers some backends read, or write, as zero. f16 and smaller ones are computed
// in f32, where theirs are normal.
bool MayBeFlushed(ElementType type) {
  switch (ComponentType(type)) {
    case ElementType::kF32:
    case ElementType::kF64:
    case ElementType::kBF16:
      return true;
    default:
      return false;
  }
}

template <typename Bits>
bool IsSubnormalPattern(Bits bits, Bits exponent, Bits mantissa) {
  return (bits & exponent) == 0 && (bits & mantissa) != 0;
}

bool IsSubnormal(ElementType component, const std::byte* element) {
  if (component == ElementType::kF32) {
    uint32_t bits;
    std::memcpy(&bits, element, sizeof(bits));
    return IsSubnormalPattern<uint32_t>(bits, 0x7f800000, 0x007fffff);
  }
  if (component == ElementType::kBF16) {
    uint16_t bits;
    std::memcpy(&bits, element, sizeof(bits));
    return IsSubnormalPattern<uint16_t>(bits, 0x7f80, 0x007f);
  }
  uint64_t bits;
  std::memcpy(&bits, element, sizeof(bits));
  return IsSubnormalPattern<uint64_t>(bits, 0x7ff0000000000000, 0x000fffffffffffff);
}

// Adds the subnormal elements of an array, or of a tuple's arrays, to `found`.
void AddSubnormals(AuditContext& c, const Literal& value, std::string_view name, Dependence& found) {
  if (value.shape().IsTuple()) {
    for (int64_t k = 0; k < value.tuple_size(); ++k)
      AddSubnormals(c, value.element(k), fmt::format("{} {}", name, k), found);
    return;
  }
  if (!value.shape().IsArray() || !MayBeFlushed(value.shape().element_type())) return;
  const ElementType type = value.shape().element_type(), component = ComponentType(type);
  const int64_t parts = Bytes(type) / Bytes(component), n = value.shape().num_elements();
  if (!c.Charge(n / 16)) return;
  const std::byte* const data = value.data();
  found.of += n;
  for (int64_t i = 0; i < n; ++i) {
    bool is_subnormal = false;
    for (int64_t part = 0; part < parts; ++part)
      is_subnormal = is_subnormal || IsSubnormal(component, data + (i * parts + part) * Bytes(component));
    if (!is_subnormal) continue;
    if (found.count++ == 0) {
      found.first = fmt::format("{} {}: {}", name, IndexText(i, value.shape().sizes()),
                                ElementToText(type, data + i * Bytes(type)));
    }
  }
}

bool HoldsFlushable(const Shape& shape) {
  if (shape.IsArray()) return MayBeFlushed(shape.element_type());
  return std::any_of(shape.elements().begin(), shape.elements().end(), HoldsFlushable);
}

bool IsOrdered(std::string_view direction) { return direction != "EQ" && direction != "NE"; }

}  // namespace

void Nothing(AuditContext&) {}

void Subnormals(AuditContext& c) {
  bool any = false;
  for (size_t k = 0; k < c.view().num_operands(); ++k) any = any || HoldsFlushable(c.view().operand(k));
  if (!any) return;
  if (c.run() == nullptr) return c.RecordPossible(AuditPoint::kSubnormals);
  Dependence found;
  for (size_t k = 0; k < c.view().num_operands(); ++k)
    AddSubnormals(c, *c.Operand(k), fmt::format("operand {}", k), found);
  AddSubnormals(c, *c.Result(), "result", found);
  c.RecordFound(AuditPoint::kSubnormals, found);
}

void Computes(AuditContext& c) { Subnormals(c); }

bool IsNan(const Literal& array, int64_t position) {
  return IsFloat(array.shape().element_type()) && std::isnan(array.GetDouble(position));
}

void NansOfReducer(AuditContext& c, ComputationId id, size_t begin, size_t end) {
  if (!c.MayMeet(id, AuditPoint::kNanInExtreme) && !c.MayMeet(id, AuditPoint::kNanInCompare)) return;
  for (size_t k = begin; k < end; ++k) {
    if (!IsFloat(c.operand_type(k))) continue;
    const Literal* value = c.Operand(k);
    if (value == nullptr) {
      c.RecordPossible(AuditPoint::kNanInExtreme);
    } else {
      c.Count(AuditPoint::kNanInExtreme, *value, [&](int64_t i) { return IsNan(*value, i); }, {value});
    }
  }
}

void Extreme(AuditContext& c) {
  Subnormals(c);
  if (!IsFloat(c.operand_type(0))) return;
  const Literal *a = c.Operand(0), *b = c.Operand(1);
  if (a == nullptr || b == nullptr) return c.RecordPossible(AuditPoint::kNanInExtreme);
  c.Count(AuditPoint::kNanInExtreme, *a, [&](int64_t i) { return IsNan(*a, i) || IsNan(*b, i); }, {a, b});
}

// clamp(low, x, high): what is open is a NaN among them, and low > high.
void Clamp(AuditContext& c) {
  Subnormals(c);
  const Literal *low = c.Operand(0), *x = c.Operand(1), *high = c.Operand(2);
  const ElementType type = c.operand_type(1);
  // Bounds may be scalars.
  const auto at = [](const Literal& array, int64_t i) { return array.shape().num_elements() == 1 ? 0 : i; };
  if (IsFloat(type)) {
    if (low == nullptr || x == nullptr || high == nullptr) {
      c.RecordPossible(AuditPoint::kNanInExtreme);
    } else {
      const auto any = [&](int64_t i) {
        return IsNan(*low, at(*low, i)) || IsNan(*x, i) || IsNan(*high, at(*high, i));
      };
      c.Count(AuditPoint::kNanInExtreme, *x, any, {low, x, high});
    }
  }
  if (low != nullptr && high != nullptr) {
    const Literal& larger = low->shape().num_elements() == 1 ? *high : *low;
    const auto crossed = [&](int64_t i) {
      const int64_t l = at(*low, i), h = at(*high, i);
      if (IsFloat(type)) return low->GetDouble(l) > high->GetDouble(h);
      if (type == ElementType::kU64)
        return static_cast<uint64_t>(low->GetInt(l)) > static_cast<uint64_t>(high->GetInt(h));
      return low->GetInt(l) > high->GetInt(h);
    };
    c.Count(AuditPoint::kClampCrossed, larger, crossed, {low, high});
  } else if (IsFloat(type) || c.Range(0).high > c.Range(2).low) {
    c.RecordPossible(AuditPoint::kClampCrossed);
  }
}

// An order of NaN and a number; EQ, NE, and an order of all values leave nothing open.
void Compare(AuditContext& c) {
  Subnormals(c);
  const AttributeMap& attributes = c.attributes();
  if (!IsFloat(c.operand_type(0)) || !IsOrdered(attributes.Text(Attr::kDirection)) ||
      attributes.Text(Attr::kType) == "TOTALORDER")
    return;
  const Literal *a = c.Operand(0), *b = c.Operand(1);
  if (a == nullptr || b == nullptr) return c.RecordPossible(AuditPoint::kNanInCompare);
  c.Count(AuditPoint::kNanInCompare, *a, [&](int64_t i) { return IsNan(*a, i) || IsNan(*b, i); }, {a, b});
}

void Random(AuditContext& c) {
  if (c.run() == nullptr) return c.Always(AuditPoint::kRandomNumbers);
  Dependence found;
  const Shape& result = c.view().result();
  const Shape& numbers = result.IsTuple() ? result.element(result.elements().size() - 1) : result;
  found.count = found.of = numbers.num_elements();
  c.RecordFound(AuditPoint::kRandomNumbers, found);
}

// The triangle that is not asked for; a matrix without a factor, whose result is NaN.
void Cholesky(AuditContext& c) {
  Subnormals(c);
  const Shape& matrix = c.view().operand(0);
  if (matrix.rank() > 0 && matrix.size(matrix.rank() - 1) > 1) c.Always(AuditPoint::kOtherTriangle);
  if (c.run() == nullptr) return c.RecordPossible(AuditPoint::kNotPositiveDefinite);
  const Literal &factor = *c.Result(), &value = *c.Operand(0);
  if (!IsFloat(factor.shape().element_type())) return;
  c.Count(AuditPoint::kNotPositiveDefinite, factor,
          [&](int64_t i) { return IsNan(factor, i) && !IsNan(value, i); }, {&value, &factor});
}

void TriangularSolve(AuditContext& c) {
  Subnormals(c);
  if (c.attributes().Bool(Attr::kUnitDiagonal)) return;
  const Literal* a = c.Operand(0);
  if (a == nullptr || !IsFloat(a->shape().element_type()))
    return c.RecordPossible(AuditPoint::kSingularTriangle);
  const int64_t n = a->shape().size(a->shape().rank() - 1);
  const auto is_zero = [&](int64_t i) { return i / n % n == i % n && a->GetDouble(i) == 0; };
  c.Count(AuditPoint::kSingularTriangle, *a, is_zero, {a});
}

}  // namespace assay::audit
