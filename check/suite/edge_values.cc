#include "check/suite/edge_values.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <set>
#include <string>

#include "literal/float_format.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ScalarValue Real(double value) {
  ScalarValue scalar;
  scalar.kind = ComputeKind::kReal;
  scalar.r = value;
  return scalar;
}

// Collects values of one type, each bit pattern once.
class Collection {
 public:
  explicit Collection(ElementType type) : type_(type) {}

  void Add(const ScalarValue& value, EdgeKind kind) {
    std::string bytes(static_cast<size_t>(Bytes(type_)), '\0');
    StoreElement(type_, value, reinterpret_cast<std::byte*>(bytes.data()));
    if (seen_.insert(bytes).second) values_.push_back({value, kind});
  }
  std::vector<EdgeValue> Take() && { return std::move(values_); }

 private:
  const ElementType type_;
  std::set<std::string> seen_;
  std::vector<EdgeValue> values_;
};

// The kind of a value of the format; `kind` where it is normal.
EdgeKind KindOfFloat(double value, const FloatFormat& format, EdgeKind kind) {
  if (std::isnan(value)) return EdgeKind::kNans;
  if (std::isinf(value)) return EdgeKind::kInfinities;
  if (value == 0) return EdgeKind::kZeros;
  return std::abs(value) < std::ldexp(1, format.min_exponent) ? EdgeKind::kSubnormals : kind;
}

void AddRounded(std::initializer_list<double> values, const FloatFormat& format, EdgeKind kind,
                Collection& collection) {
  for (const double value : values) {
    // What a format has no number for says nothing of it: the next case has it as NaN or as an infinity.
    const double rounded = RoundToFormat(value, format);
    if (std::isnan(rounded) && !std::isnan(value)) continue;
    collection.Add(Real(rounded), KindOfFloat(rounded, format, kind));
  }
}

void AddRandomFloats(int count, const FloatFormat& format, SuiteRandom& random, Collection& collection) {
  const auto number = [&](int low, int high) {
    const int exponent = low + static_cast<int>(random.Below(static_cast<uint64_t>(high - low) + 1));
    return std::ldexp(1 + random.Unit(), exponent) * (random.Next() % 2 == 0 ? 1 : -1);
  };
  for (int i = 0; i < count; ++i) {
    AddRounded({number(std::max(-6, format.min_exponent), std::min(5, format.max_exponent - 1))}, format,
               EdgeKind::kOrdinary, collection);
  }
  for (int i = 0; i < count / 2; ++i) {
    AddRounded({number(format.min_exponent, format.max_exponent - 1)}, format, EdgeKind::kExtremes,
               collection);
  }
  for (int i = 0; i < count / 4; ++i) {
    AddRounded({std::ldexp(random.Unit(), format.min_exponent)}, format, EdgeKind::kSubnormals, collection);
  }
}

std::vector<EdgeValue> FloatValues(ElementType type, int num_random, SuiteRandom& random) {
  const FloatFormat& format = *Info(type).format;
  Collection collection(type);
  const double epsilon = std::ldexp(1, -format.mantissa_bits);
  const double least_normal = std::ldexp(1, format.min_exponent);
  AddRounded({1, -1, 2, -3, 0.75, 7}, format, EdgeKind::kOrdinary, collection);
  AddRounded({0.5, -1.5, 2.5, 1 + epsilon}, format, EdgeKind::kTies, collection);
  AddRounded({0.0}, format, EdgeKind::kZeros, collection);
  if (format.has_negative_zero()) AddRounded({-0.0}, format, EdgeKind::kZeros, collection);
  AddRounded({format.max_finite, -format.max_finite, least_normal, -least_normal,
              std::ldexp(1, format.max_exponent / 2)},
             format, EdgeKind::kExtremes, collection);
  if (format.specials != FloatSpecials::kE8M0)
    AddRounded({format.min_subnormal, format.min_subnormal - least_normal}, format, EdgeKind::kSubnormals,
               collection);
  if (format.has_infinity()) AddRounded({kInfinity, -kInfinity}, format, EdgeKind::kInfinities, collection);
  if (format.has_nan()) AddRounded({std::nan("")}, format, EdgeKind::kNans, collection);
  if (num_random == 0) return std::move(collection).Take();
  AddRounded({-2, 3, -0.3, 10, -20, 100, 0.1}, format, EdgeKind::kOrdinary, collection);
  AddRounded({-0.5, 1.5, -2.5, 3.5, 1 - epsilon / 2, -1 - epsilon, 0.5 - epsilon / 4,
              std::ldexp(1, format.mantissa_bits) + 1, std::ldexp(1, format.mantissa_bits - 1) + 0.5},
             format, EdgeKind::kTies, collection);
  AddRounded({NextBelow(format.max_finite, format), std::ldexp(1, format.max_exponent)}, format,
             EdgeKind::kExtremes, collection);
  AddRandomFloats(num_random, format, random, collection);
  return std::move(collection).Take();
}

std::vector<EdgeValue> IntegerValues(ElementType type, int num_random, SuiteRandom& random) {
  const int bits = Bits(type);
  const bool is_signed = IsSignedIntegral(type);
  const int64_t high = bits == 64 ? (is_signed ? std::numeric_limits<int64_t>::max() : -1)
                                  : (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const int64_t low = is_signed ? -high - 1 : 0;
  Collection collection(type);
  const auto add = [&](int64_t value, EdgeKind kind) {
    ScalarValue scalar;
    scalar.kind = is_signed ? ComputeKind::kInt64 : ComputeKind::kUint64;
    if (is_signed) {
      scalar.i = WrapSigned(value, bits);
    } else {
      scalar.u = WrapUnsigned(static_cast<uint64_t>(value), bits);
    }
    collection.Add(scalar, kind);
  };
  add(0, EdgeKind::kZeros);
  for (const int64_t value : {low, high, low + 1, high - 1}) add(value, EdgeKind::kExtremes);
  // All ones, and shifts by the width and beyond.
  for (const int64_t value : {int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{-7}, int64_t{bits - 1},
                              int64_t{bits}, int64_t{bits + 1}})
    add(value, EdgeKind::kOrdinary);
  for (int i = 0; i < num_random; ++i)
    add(static_cast<int64_t>(random.Next() >> random.Below(64)), EdgeKind::kOrdinary);
  return std::move(collection).Take();
}

ScalarValue Complex(double real, double imaginary) {
  ScalarValue scalar;
  scalar.kind = ComputeKind::kComplex;
  scalar.c = {real, imaginary};
  return scalar;
}

std::vector<EdgeValue> ComplexValues(ElementType type, int num_random, SuiteRandom& random) {
  const ElementType component = ComponentType(type);
  const FloatFormat& format = *Info(component).format;
  Collection collection(type);
  const auto add = [&](double real, double imaginary, EdgeKind kind) {
    const auto of = [&](double part) { return KindOfFloat(part, format, EdgeKind::kOrdinary); };
    if (real == 0 && imaginary == 0) kind = EdgeKind::kZeros;
    for (const double part : {real, imaginary}) {
      if (of(part) > EdgeKind::kZeros) kind = std::max(kind, of(part));
    }
    collection.Add(Complex(real, imaginary), kind);
  };
  if (num_random == 0) {
    const double nan = std::nan(""), max = format.max_finite;
    const std::pair<double, double> parts[] = {
        {0, 0},         {0, -0.0},       {-0.0, 0},        {1, 0},
        {0, 1},         {-2, 3},         {0.5, -0.25},     {-1, -0.0},
        {kInfinity, 0}, {0, kInfinity},  {max, max},       {nan, 0},
        {nan, nan},     {1, -kInfinity}, {kInfinity, nan}, {-kInfinity, kInfinity}};
    for (const auto& [real, imaginary] : parts)
      add(real, imaginary, real == max ? EdgeKind::kExtremes : EdgeKind::kOrdinary);
    return std::move(collection).Take();
  }
  std::vector<double> parts = {
      0, -0.0, 1, -0.5, 3, format.max_finite, format.min_subnormal, kInfinity, -kInfinity, std::nan("")};
  for (const double real : parts) {
    for (const double imaginary : parts) {
      const bool extreme = real == format.max_finite || imaginary == format.max_finite;
      add(real, imaginary, extreme ? EdgeKind::kExtremes : EdgeKind::kOrdinary);
    }
  }
  for (int i = 0; i < num_random; ++i) {
    const auto part = [&] {
      return RoundToFormat(std::ldexp(2 * random.Unit() - 1, static_cast<int>(random.Below(7)) - 2), format);
    };
    const double real = part();
    add(real, part(), EdgeKind::kOrdinary);
  }
  return std::move(collection).Take();
}

}  // namespace

std::string_view Name(EdgeKind kind) {
  static constexpr std::string_view kNames[] = {"ordinary",   "ties",       "zeros", "extremes",
                                                "subnormals", "infinities", "nans"};
  return kNames[static_cast<size_t>(kind)];
}

SuiteRandom::SuiteRandom(uint64_t seed, std::string_view name) : state_(seed ^ 0xcbf29ce484222325) {
  for (const char c : name) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
}

uint64_t SuiteRandom::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<EdgeValue> EdgeValues(ElementType type, int num_random, SuiteRandom& random) {
  if (type == ElementType::kPred) {
    ScalarValue scalar;
    scalar.kind = ComputeKind::kBool;
    std::vector<EdgeValue> values = {{scalar, EdgeKind::kOrdinary}};
    scalar.b = 1;
    values.push_back({scalar, EdgeKind::kOrdinary});
    return values;
  }
  if (IsIntegral(type)) return IntegerValues(type, num_random, random);
  return IsComplex(type) ? ComplexValues(type, num_random, random) : FloatValues(type, num_random, random);
}

std::vector<EdgeValue> AllValues(ElementType type) {
  std::vector<EdgeValue> values;
  const int count = type == ElementType::kPred ? 2 : 1 << Bits(type);
  for (int pattern = 0; pattern < count; ++pattern) {
    const auto byte = static_cast<std::byte>(pattern);
    const ScalarValue value = LoadElement(type, &byte);
    values.push_back({value, IsFloat(type) ? KindOfFloat(value.r, *Info(type).format, EdgeKind::kOrdinary)
                                           : EdgeKind::kOrdinary});
  }
  return values;
}

ScalarValue OrdinaryValue(ElementType type, SuiteRandom& random) {
  const int64_t whole = static_cast<int64_t>(random.Below(9)) - 4;
  ScalarValue scalar;
  scalar.kind = KindOf(type);
  switch (scalar.kind) {
    case ComputeKind::kBool:
      scalar.b = random.Next() % 2;
      break;
    case ComputeKind::kInt64:
      scalar.i = WrapSigned(whole, Bits(type));
      break;
    case ComputeKind::kUint64:
      scalar.u = WrapUnsigned(static_cast<uint64_t>(whole + 4), Bits(type));
      break;
    case ComputeKind::kReal: {
      const FloatFormat& format = *Info(type).format;
      const bool is_positive = format.specials == FloatSpecials::kE8M0;
      scalar.r = RoundToFormat(
          is_positive ? std::ldexp(1, static_cast<int>(whole)) : 0.5 * static_cast<double>(whole), format);
      break;
    }
    case ComputeKind::kComplex:
      scalar.c = {0.5 * static_cast<double>(whole), static_cast<double>(random.Below(5)) - 2};
      break;
  }
  return scalar;
}

Literal ArrayOf(ElementType type, const std::vector<int64_t>& sizes, const std::vector<ScalarValue>& values) {
  Literal array = *Literal::Make(Shape::ArrayOrDie(type, sizes));
  std::byte* const bytes = array.MutableBytes().data();
  for (size_t i = 0; i < values.size(); ++i)
    StoreElement(type, values[i], bytes + static_cast<int64_t>(i) * Bytes(type));
  return array;
}

}  // namespace assay
