#include "check/allowance.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "hlo/attribute.h"

namespace assay {

Allowance AllowanceOf(const Profile& profile, const Instruction& instruction, ElementType type) {
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  Allowance allowed;
  allowed.ulps = profile.UlpsOf(instruction.opcode, component);
  if (const AttrValue* const value = instruction.attributes.Find(Attr::kResultAccuracy)) {
    const ResultAccuracy& accuracy = std::get<ResultAccuracy>(*value);
    if (accuracy.mode == ResultAccuracy::Mode::kTolerance) {
      allowed.ulps = std::max(0.5, accuracy.ulps);
      allowed.relative = accuracy.rtol;
      allowed.absolute = accuracy.atol;
    }
  }
  if (profile.flushes.Has(component))  // a float
    allowed.absolute += std::ldexp(1, Info(component).format->min_exponent);
  allowed.keeps_precision = profile.keeps_precision.Has(component) ||
                            (profile.contracts && instruction.opcode == Opcode::kMultiply);
  return allowed;
}

double SumUnitOf(const Profile& profile, ElementType type) {
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  const ElementType accumulator = profile.accumulators[static_cast<size_t>(component)];
  return std::ldexp(1, -Info(accumulator).format->mantissa_bits - 1);
}

// algorithm= of a dot says more than the profile: what its operands are rounded to, once or in several parts.
double InputUnitOf(const Profile& profile, const Instruction& dot, ElementType type) {
  const std::string_view algorithm = dot.attributes.Text(Attr::kAlgorithm);
  static constexpr std::pair<std::string_view, double> kAlgorithms[] = {
      {"dot_any_f8_any_f8_f32", 0},
      {"dot_any_f8_any_f8_f32_fast_accum", 0},
      {"dot_f16_f16_f16", 0x1p-11},
      {"dot_f16_f16_f32", 0x1p-11},
      {"dot_bf16_bf16_bf16", 0x1p-8},
      {"dot_bf16_bf16_f32", 0x1p-8},
      {"dot_bf16_bf16_f32_x3", 0x1p-15},
      {"dot_bf16_bf16_f32_x6", 0x1p-22},
      {"dot_bf16_bf16_f32_x9", 0x1p-24},
      {"dot_tf32_tf32_f32", 0x1p-10},
      {"dot_tf32_tf32_f32_x3", 0x1p-20},
      {"dot_f32_f32_f32", 0},
      {"dot_f64_f64_f64", 0}};
  for (const auto& [name, unit] : kAlgorithms) {
    if (name == algorithm) return unit;
  }
  const int bits = profile.dot_input_bits[static_cast<size_t>(type)];
  // Cut, not rounded: a whole unit of the last bit that is left.
  return bits == 0 ? 0 : std::ldexp(1, 1 - bits);
}

}  // namespace assay
