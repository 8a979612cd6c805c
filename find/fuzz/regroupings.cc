// Rewrites that group the same terms otherwise: in integers and in maxima that keeps every bit, in floats it
// moves roundings.
#include <algorithm>
#include <utility>

#include "find/fuzz/rewrite_parts.h"

namespace assay::fuzz {
namespace {

bool IsExact(Opcode opcode, ElementType type) {
  return opcode == Opcode::kMaximum || opcode == Opcode::kMinimum || !IsFloat(type);
}

bool IsSameOperation(const Module& module, const Instruction& instruction, size_t operand) {
  const Instruction& inner =
      module.entry_computation().instructions[static_cast<size_t>(instruction.operands[operand])];
  return inner.opcode == instruction.opcode && IsStaticArray(module, inner);
}

// (a op b) op c, or a op (b op c)
bool IsChain(const Module& module, const Instruction& instruction) {
  return Commutes(module, instruction) &&
         (IsSameOperation(module, instruction, 0) || IsSameOperation(module, instruction, 1));
}

bool IsExactChain(const Module& module, const Instruction& instruction) {
  return IsChain(module, instruction) && IsExact(instruction.opcode, instruction.shape->element_type());
}

bool IsRoundedChain(const Module& module, const Instruction& instruction) {
  return IsChain(module, instruction) && !IsExact(instruction.opcode, instruction.shape->element_type());
}

int32_t GroupOtherwise(RewriteSite& site) {
  Instruction outer = site.before();
  const bool is_first = IsSameOperation(site.module, outer, 0);
  Instruction inner = site.edit.before(outer.operands[is_first ? 0 : 1]);
  const int32_t x = site.edit.At(inner.operands[0]), y = site.edit.At(inner.operands[1]);
  const int32_t other = site.edit.At(outer.operands[is_first ? 1 : 0]);
  if (is_first) {
    inner.operands = {y, other};
    outer.operands = {x, site.edit.Add(std::move(inner))};
  } else {
    inner.operands = {other, x};
    outer.operands = {site.edit.Add(std::move(inner)), y};
  }
  return site.edit.Add(std::move(outer));
}

bool IsReduceOfTwoDimensions(const Module& module, const Instruction& instruction) {
  return IsPlainReduce(module, instruction) && instruction.attributes.List(Attr::kDimensions).size() > 1;
}

bool IsExactReduce(const Module& module, const Instruction& instruction) {
  return IsReduceOfTwoDimensions(module, instruction) && !SumsFloats(module, instruction);
}

bool IsRoundedReduce(const Module& module, const Instruction& instruction) {
  return IsReduceOfTwoDimensions(module, instruction) && SumsFloats(module, instruction);
}

// One dimension, then the others.
int32_t ReduceInSteps(RewriteSite& site) {
  Instruction then = site.before();
  const std::span<const int64_t> listed = then.attributes.List(Attr::kDimensions);
  Ints dimensions(listed.begin(), listed.end());
  const auto taken = dimensions.begin() + site.choices.Below(std::ssize(dimensions));
  const int64_t d = *taken;
  dimensions.erase(taken);
  for (int64_t& other : dimensions) other -= other > d ? 1 : 0;
  Instruction first = site.before();
  first.operands = {site.edit.At(first.operands[0]), WritePartialStart(site)};
  first.attributes.Set(Attr::kDimensions, Ints{d});
  first.shape = nullptr;
  then.operands = {site.edit.Add(std::move(first)), site.edit.At(then.operands[1])};
  then.attributes.Set(Attr::kDimensions, std::move(dimensions));
  return site.edit.Add(std::move(then));
}

// Contracts a dimension of two elements and more.
bool IsLongDot(const Module& module, const Instruction& instruction) {
  if (!IsPlainDot(module, instruction)) return false;
  const Shape& lhs =
      *module.entry_computation().instructions[static_cast<size_t>(instruction.operands[0])].shape;
  return std::ranges::any_of(instruction.attributes.List(Attr::kLhsContractingDims),
                             [&](int64_t d) { return lhs.size(d) > 1; });
}

bool IsExactDot(const Module& module, const Instruction& instruction) {
  return IsLongDot(module, instruction) && !IsFloat(instruction.shape->element_type());
}

bool IsRoundedDot(const Module& module, const Instruction& instruction) {
  return IsLongDot(module, instruction) && IsFloat(instruction.shape->element_type());
}

int32_t SliceOf(RewriteSite& site, int32_t array, int64_t dimension, int64_t start, int64_t limit) {
  const Shape shape = *site.edit.at(array).shape;
  SliceConfig slices;
  for (int64_t d = 0; d < shape.rank(); ++d)
    slices.push_back(d == dimension ? SliceDimension{start, limit, 1} : SliceDimension{0, shape.size(d), 1});
  return Write(site, Opcode::kSlice, {array}, {{Attr::kSlice, std::move(slices)}});
}

// The sum of two dots, of a part of a contracted dimension each.
int32_t DotInParts(RewriteSite& site) {
  const Instruction& dot = site.before();
  const int32_t lhs = site.edit.At(dot.operands[0]), rhs = site.edit.At(dot.operands[1]);
  const std::span<const int64_t> contracted = dot.attributes.List(Attr::kLhsContractingDims);
  std::vector<size_t> long_ones;
  for (size_t k = 0; k < contracted.size(); ++k) {
    if (site.edit.at(lhs).shape->size(contracted[k]) > 1) long_ones.push_back(k);
  }
  const size_t k = long_ones[static_cast<size_t>(site.choices.Below(std::ssize(long_ones)))];
  const int64_t of_lhs = contracted[k], of_rhs = dot.attributes.List(Attr::kRhsContractingDims)[k];
  const int64_t size = site.edit.at(lhs).shape->size(of_lhs);
  const int64_t cut = 1 + site.choices.Below(size - 1);
  const auto part = [&](int64_t start, int64_t limit) {
    Instruction some = dot;
    const int32_t a = SliceOf(site, lhs, of_lhs, start, limit);
    some.operands = {a, SliceOf(site, rhs, of_rhs, start, limit)};
    return site.edit.Add(std::move(some));
  };
  const int32_t first = part(0, cut);
  return Write(site, Opcode::kAdd, {first, part(cut, size)});
}

constexpr EqualRewrite kRegroupings[] = {
    {"group otherwise", IsExactChain, nullptr, GroupOtherwise},
    {"reduce in two steps", IsExactReduce, nullptr, ReduceInSteps},
    {"dot in two parts", IsExactDot, nullptr, DotInParts},
    {"group floats otherwise", IsRoundedChain, nullptr, GroupOtherwise, Keeps::kMeaning},
    {"sum in two steps", IsRoundedReduce, nullptr, ReduceInSteps, Keeps::kMeaning},
    {"dot of floats in two parts", IsRoundedDot, nullptr, DotInParts, Keeps::kMeaning},
};

}  // namespace

std::span<const EqualRewrite> Regroupings() { return kRegroupings; }

}  // namespace assay::fuzz
