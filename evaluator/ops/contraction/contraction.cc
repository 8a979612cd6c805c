#include "evaluator/ops/contraction/contraction.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/counted.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {
namespace {

// pred < integral < floating < complex: a result must hold the products of its operands, or be an integer
// that a floating sum is converted to.
int ClassRank(ElementType type) {
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      return 0;
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      return 1;
    case TypeClass::kFloat:
      return 2;
    case TypeClass::kComplex:
      return 3;
  }
  return 0;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

constexpr std::string_view kAlgorithms[] = {
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
};

// An element as a factor: one or two doubles, whose sum it is; of a complex element they are its components.
struct Factor {
  double part[2] = {0, 0};
  int parts = 1;
  bool complex = false;
  bool IsImaginary(int i) const { return complex && i == 1; }
};

// Two doubles of the value's sign that sum to it and are zero only if it is, so that times infinity is
// infinity.
Factor SplitInteger(bool negative, uint64_t magnitude) {
  const uint64_t rest = magnitude & 0xffffffff;
  const double sign = negative ? -1 : 1;
  if (magnitude < (uint64_t{1} << 53) || rest == 0) {
    const double half = sign * (static_cast<double>(magnitude) / 2);
    return {{half, half}, 2};
  }
  return {{sign * static_cast<double>(magnitude - rest), sign * static_cast<double>(rest)}, 2};
}

// An element as its kind has it.
struct LoadedElement {
  LoadedElement(const ElementReader& reader, const std::byte* src) { reader.load(src, bytes); }
  template <typename T>
  T As(int i = 0) const {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    return value;
  }
  alignas(16) std::byte bytes[16];
};

Factor LoadFactor(const ElementReader& reader, const std::byte* src) {
  const LoadedElement value(reader, src);
  switch (reader.kind) {
    case ComputeKind::kBool:
      return {{static_cast<double>(value.As<uint8_t>())}};
    case ComputeKind::kInt64: {
      const auto integer = value.As<int64_t>();
      if (Bits(reader.type) < 64) return {{static_cast<double>(integer)}};
      const auto bits = static_cast<uint64_t>(integer);
      return SplitInteger(integer < 0, integer < 0 ? 0 - bits : bits);
    }
    case ComputeKind::kUint64:
      if (Bits(reader.type) < 64) return {{static_cast<double>(value.As<uint64_t>())}};
      return SplitInteger(false, value.As<uint64_t>());
    case ComputeKind::kReal:
      return {{value.As<double>()}};
    case ComputeKind::kComplex:
      return {{value.As<double>(0), value.As<double>(1)}, 2, true};
  }
  return {};
}

// An integer modulo 2^64; a pred is 0 or 1.
uint64_t LoadInteger(const ElementReader& reader, const std::byte* src) {
  const LoadedElement value(reader, src);
  return reader.kind == ComputeKind::kBool ? value.As<uint8_t>() : value.As<uint64_t>();
}

}  // namespace

absl::StatusOr<ElementType> ContractionResultType(const InferContext& context, ElementType lhs,
                                                  ElementType rhs) {
  ElementType result = lhs;
  if (context.declared != nullptr && context.declared->IsArray()) {
    result = context.declared->element_type();
  } else if (lhs != rhs) {
    if (!IsFloat(lhs) || !IsFloat(rhs)) {
      return InvalidProgram(
          context.instruction.position,
          fmt::format("DOT-1: operands have element types {} and {}: the result type must be given",
                      Name(lhs), Name(rhs)));
    }
    result = HigherPrecision(lhs, rhs);
  }
  const int rank = std::max(ClassRank(lhs), ClassRank(rhs));
  if (ClassRank(result) < rank && !(IsIntegral(result) && rank == ClassRank(ElementType::kF32))) {
    return InvalidProgram(context.instruction.position,
                          fmt::format("DOT-1: products of {} and {} can't be summed in a result of type {}",
                                      Name(lhs), Name(rhs), Name(result)));
  }
  return result;
}

absl::Status CheckPrecision(const InferContext& context, int64_t min_count, int64_t max_count) {
  const Instruction& instruction = context.instruction;
  if (const AttrValue* value = instruction.attributes.Find(Attr::kOperandPrecision)) {
    const auto& words = std::get<std::vector<Word>>(*value);
    const int64_t count = static_cast<int64_t>(words.size());
    if (count != 0 && count != min_count && count != max_count) {
      return InvalidProgram(instruction.position,
                            fmt::format("{}: operand_precision has {}, wanted {}", IdName(instruction.opcode),
                                        Counted(count, "entry"), min_count));
    }
    for (const Word& word : words) {
      const std::string name = Lower(word.text);
      if (name == "default" || name == "high" || name == "highest") continue;
      return InvalidProgram(instruction.position,
                            fmt::format("{}: operand_precision has the unknown entry '{}'",
                                        IdName(instruction.opcode), word.text));
    }
  }
  if (!instruction.attributes.Has(Attr::kAlgorithm)) return absl::OkStatus();
  const std::string algorithm = Lower(instruction.attributes.Text(Attr::kAlgorithm));
  if (std::find(std::begin(kAlgorithms), std::end(kAlgorithms), algorithm) == std::end(kAlgorithms)) {
    return InvalidProgram(instruction.position, fmt::format("{}: algorithm '{}' is unknown",
                                                            IdName(instruction.opcode), algorithm));
  }
  return absl::OkStatus();
}

// Decision: dot-float-to-integer
ProductSum::ProductSum(ElementType lhs, ElementType rhs, ElementType result)
    : lhs_(lhs),
      rhs_(rhs),
      result_(result),
      sum_(
          IsIntegral(result) && (IsFloat(lhs) || IsFloat(rhs))
              ? (lhs == ElementType::kF64 || rhs == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32)
              : result),
      exact_(IsFloat(sum_) || IsComplex(sum_)),
      convert_(sum_ == result ? StripKernel()
                              : DefinitionOf(Opcode::kConvert).strip(Instruction(), {&sum_, 1}, result)) {
  Clear();
}

void ProductSum::Clear() {
  for (ExactSum* sum : {&real_, &imaginary_}) {
    sum->Clear();
    sum->Add(0.0);
  }
  integer_ = 0;
}

void ProductSum::Add(const std::byte* lhs, const std::byte* rhs) {
  if (!exact_) {
    integer_ += LoadInteger(lhs_, lhs) * LoadInteger(rhs_, rhs);
    return;
  }
  const Factor a = LoadFactor(lhs_, lhs), b = LoadFactor(rhs_, rhs);
  for (int i = 0; i < a.parts; ++i) {
    for (int j = 0; j < b.parts; ++j) {
      if (a.IsImaginary(i) && b.IsImaginary(j)) {
        real_.SubtractProduct(a.part[i], b.part[j]);
      } else {
        (a.IsImaginary(i) || b.IsImaginary(j) ? imaginary_ : real_).AddProduct(a.part[i], b.part[j]);
      }
    }
  }
}

void ProductSum::Store(std::byte* dst) const {
  if (exact_) {
    const FloatFormat& format = *Info(sum_).format;
    const double parts[2] = {real_.Round(format), IsComplex(sum_) ? imaginary_.Round(format) : 0};
    if (sum_ == result_) return StoreStrip(result_, parts, 1, dst, 0);
    const void* const in[] = {parts};
    int64_t converted;
    convert_.fn(convert_.params, 1, in, &converted);
    StoreStrip(result_, &converted, 1, dst, 0);
  } else if (result_ == ElementType::kPred) {
    *dst = static_cast<std::byte>(integer_ != 0);
  } else {
    StoreStrip(result_, &integer_, 1, dst, 0);
  }
}

}  // namespace assay
