#include "check/allowance.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "evaluator/bounds/products.h"
#include "hlo/attribute.h"

namespace assay {

namespace {

// Tensor cores add up the products of a group, and the sum so far, in fixed point: each is cut at `bits`
// fraction bits of the largest, and the sum at as many of its own, or to f32 (Fasi, Higham, Mikaitis,
// Pranesh: Numerical behavior of NVIDIA tensor cores, 2021). No group is known to have more than one
// product, so that each of n products is an error of 2 * 2^-bits and of the sum's own cut, of the sum of
// magnitudes.
double TensorCoreUnitOf(const Profile& profile, const InstructionView& view) {
  if (!bound::SumsProducts(view.instruction.opcode)) return 0;
  const std::string_view algorithm = view.attributes().Text(Attr::kAlgorithm);
  const auto bits_of = [&](ElementType type) { return profile.tensor_core_bits[static_cast<size_t>(type)]; };
  int bits = 0;
  for (size_t k = 0; k < 2; ++k) {
    const int own = bits_of(view.operand(k).element_type());
    if (own != 0) bits = bits == 0 ? own : std::min(bits, own);
  }
  // An algorithm says more: f32 and f64 are not what they compute in; parts of operands in bf16, f16 or TF32
  // are added up as products of bf16 are.
  if (algorithm == "dot_f32_f32_f32" || algorithm == "dot_f64_f64_f64") return 0;
  if (algorithm.find("f16") != std::string_view::npos || algorithm.find("tf32") != std::string_view::npos)
    bits = bits_of(ElementType::kBF16);
  return bits == 0 ? 0 : std::ldexp(1, 1 - bits) + std::ldexp(1, -std::min(bits, 23));
}

}  // namespace

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
  if (profile.flushes.Has(component) ||  // a float
      (IsFloat(component) && profile.Underflows(instruction.opcode, component)))
    allowed.absolute += std::ldexp(1, Info(component).format->min_exponent);
  allowed.keeps_precision = profile.keeps_precision.Has(component) ||
                            (profile.contracts && instruction.opcode == Opcode::kMultiply);
  return allowed;
}

Allowance SumAllowanceOf(const Profile& profile, const Instruction& instruction, ElementType type) {
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  Allowance allowed = AllowanceOf(profile, instruction, type);
  allowed.ulps = 0.5;
  for (const Profile::Ulps& rule : profile.ulps) {
    if (rule.op == instruction.opcode && rule.type.value_or(component) == component) allowed.ulps = rule.ulps;
  }
  return allowed;
}

double SumUnitOf(const Profile& profile, const InstructionView& view, ElementType type) {
  const auto component = static_cast<size_t>(IsComplex(type) ? ComponentType(type) : type);
  const bool is_dot = bound::SumsProducts(view.instruction.opcode);
  const ElementType kept = is_dot ? profile.dot_accumulators[component] : profile.accumulators[component];
  return std::max(std::ldexp(1, -Info(kept).format->mantissa_bits - 1), TensorCoreUnitOf(profile, view));
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
