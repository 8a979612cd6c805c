#include "find/reduce/values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "find/reduce/edit.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// What becomes of an element, from the simplest on.
enum class NumberForm : uint8_t { kZero, kOne, kHalf, kInteger, kFraction };
constexpr NumberForm kForms[] = {NumberForm::kZero, NumberForm::kOne, NumberForm::kHalf, NumberForm::kInteger,
                                 NumberForm::kFraction};
// Parts of an array of which each becomes zero, or one, alone; more elements than these share parts.
constexpr int64_t kParts = 32;

int64_t NumParts(const Shape& array) { return std::min(kParts, array.num_elements()); }

double InForm(double number, NumberForm form) {
  switch (form) {
    case NumberForm::kZero:
      return 0;
    case NumberForm::kOne:
      return 1;
    case NumberForm::kHalf:
      return std::trunc(number / 2);
    case NumberForm::kInteger:
      return std::isfinite(number) ? std::clamp(std::round(number), -16.0, 16.0) : number;
    case NumberForm::kFraction:
      return std::isfinite(number) ? std::clamp(std::round(number * 8) / 8, -1024.0, 1024.0) : number;
  }
  return number;
}

ScalarValue InForm(ScalarValue value, NumberForm form) {
  switch (value.kind) {
    case ComputeKind::kBool:
      if (form == NumberForm::kZero || form == NumberForm::kOne) value.b = form == NumberForm::kOne ? 1 : 0;
      return value;
    case ComputeKind::kInt64:
      if (form == NumberForm::kHalf) {
        value.i /= 2;
      } else if (form != NumberForm::kFraction) {
        value.i = static_cast<int64_t>(InForm(static_cast<double>(value.i), form));
      }
      return value;
    case ComputeKind::kUint64:
      if (form == NumberForm::kHalf) {
        value.u /= 2;
      } else if (form != NumberForm::kFraction) {
        value.u = static_cast<uint64_t>(InForm(static_cast<double>(value.u), form));
      }
      return value;
    case ComputeKind::kReal:
      value.r = InForm(value.r, form);
      return value;
    case ComputeKind::kComplex:
      value.c = {InForm(value.c.real(), form), form == NumberForm::kOne ? 0 : InForm(value.c.imag(), form)};
      return value;
  }
  return value;
}

// `part` < 0: the whole array.
Literal WithForm(const Literal& array, int64_t part, NumberForm form) {
  const ElementType type = array.shape().element_type();
  const int64_t count = array.shape().num_elements(), parts = NumParts(array.shape());
  const int64_t begin = part < 0 ? 0 : count * part / parts,
                end = part < 0 ? count : count * (part + 1) / parts;
  Literal result = array;
  std::byte* const bytes = result.MutableBytes().data();
  for (int64_t k = begin; k < end; ++k) {
    std::byte* const element = bytes + k * Bytes(type);
    ScalarValue value = InForm(LoadElement(type, element), form);
    // Types of few values have neither 0.125 nor 16.
    const bool is_float = value.kind == ComputeKind::kReal;
    if (is_float) value.r = RoundToFormat(value.r, *Info(type).format);
    StoreElement(type, value, element);
  }
  return result;
}

bool HasNumbers(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamic() && shape.num_elements() > 0;
}

void AddPlaces(const Literal& array, int32_t computation, int32_t instruction,
               std::vector<ReductionPlace>& wholes, std::vector<ReductionPlace>& parts) {
  for (const NumberForm form : kForms) {
    const int64_t how = static_cast<int64_t>(form);
    wholes.push_back({computation, instruction, -1, how});
    if (NumParts(array.shape()) < 2) continue;
    for (int64_t part = 0; part < NumParts(array.shape()); ++part)
      parts.push_back({computation, instruction, part, how});
  }
}

bool AllZero(const Literal& array) {
  const std::span<const std::byte> bytes = array.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

std::vector<ReductionPlace> ValuePlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> wholes, parts;
  for (size_t k = 0; k < from.arguments().size(); ++k) {
    const Literal& argument = from.arguments()[k];
    if (HasNumbers(argument.shape()) && !AllZero(argument))
      AddPlaces(argument, -1, static_cast<int32_t>(k), wholes, parts);
  }
  const Module& module = from.module();
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t k = 0; k < instructions.size(); ++k) {
      const LiteralPtr& literal = instructions[k].literal;
      if (instructions[k].opcode != Opcode::kConstant || literal == nullptr) continue;
      if (HasNumbers(literal->shape()) && !AllZero(*literal))
        AddPlaces(*literal, static_cast<int32_t>(c), static_cast<int32_t>(k), wholes, parts);
    }
  }
  // All arrays in one form before parts of them.
  const auto by_form = [](const ReductionPlace& a, const ReductionPlace& b) { return a.how < b.how; };
  std::stable_sort(wholes.begin(), wholes.end(), by_form);
  wholes.insert(wholes.end(), parts.begin(), parts.end());
  return wholes;
}

absl::StatusOr<TestCase> SimplifyValues(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const ReductionPlace& place : places) {
    const NumberForm form = static_cast<NumberForm>(place.how);
    const size_t at = static_cast<size_t>(place.instruction);
    if (place.computation < 0) {
      to.arguments[at] = WithForm(to.arguments[at], place.which, form);
    } else {
      LiteralPtr& literal =
          to.module.computations[static_cast<size_t>(place.computation)].instructions[at].literal;
      literal = std::make_shared<const Literal>(WithForm(*literal, place.which, form));
    }
  }
  return to;
}

}  // namespace assay
