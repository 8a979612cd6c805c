#include "run/elements_at.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "literal/element_io.h"
#include "run/element_terms.h"
#include "shape/index.h"

namespace assay {
namespace {

std::shared_ptr<const Shape> ArrayShape(ElementType type, std::initializer_list<int64_t> sizes) {
  return std::make_shared<const Shape>(
      Shape::ArrayOrDie(type, std::span<const int64_t>(sizes.begin(), sizes.size())));
}

// array[positions], one-dimensional.
absl::StatusOr<Literal> Take(EvalContext& context, const Literal& array, std::span<const int64_t> positions) {
  const ElementType type = array.shape().element_type();
  const int64_t n = static_cast<int64_t>(positions.size()), bytes = Bytes(type);
  ASSAY_ASSIGN_OR_RETURN(Literal taken, context.NewLiteral(ArrayShape(type, {n})));
  std::byte* const out = taken.MutableBytes().data();
  for (int64_t i = 0; i < n; ++i) std::memcpy(out + i * bytes, array.data() + positions[i] * bytes, bytes);
  return taken;
}

// Evaluates `instruction` as if it stood alone behind parameters with these values.
absl::StatusOr<Literal> EvalAlone(EvalContext& context, Instruction instruction,
                                  std::vector<Literal> operands) {
  Computation alone;
  instruction.operands.clear();
  for (size_t k = 0; k < operands.size(); ++k) {
    Instruction parameter;
    parameter.opcode = Opcode::kParameter;
    parameter.shape = operands[k].shared_shape();
    parameter.parameter_number = static_cast<int64_t>(k);
    alone.instructions.push_back(std::move(parameter));
    instruction.operands.push_back(static_cast<int32_t>(k));
  }
  alone.instructions.push_back(std::move(instruction));
  const Instruction& last = alone.instructions.back();
  EvalContext of_last(context.run(), context.module(), alone, last, 0);
  return DefinitionOf(last.opcode).eval(of_last, operands);
}

// out[i] = sum over k of lhs[i, k] * rhs[i, k].
absl::StatusOr<Literal> DotOfRows(EvalContext& context, ElementType type, Literal lhs, Literal rhs) {
  Instruction dot;
  dot.opcode = Opcode::kDot;
  dot.shape = ArrayShape(type, {lhs.shape().size(0)});
  for (Attr attr : {Attr::kLhsBatchDims, Attr::kRhsBatchDims}) dot.attributes.Set(attr, Ints{0});
  for (Attr attr : {Attr::kLhsContractingDims, Attr::kRhsContractingDims}) dot.attributes.Set(attr, Ints{1});
  std::vector<Literal> operands;
  operands.push_back(std::move(lhs));
  operands.push_back(std::move(rhs));
  return EvalAlone(context, std::move(dot), std::move(operands));
}

Literal Slice(const Literal& array, int64_t from, std::initializer_list<int64_t> sizes) {
  const ElementType type = array.shape().element_type();
  std::shared_ptr<const Shape> shape = ArrayShape(type, sizes);
  const size_t bytes = static_cast<size_t>(shape->num_bytes());
  return Literal::Borrow(std::move(shape),
                         array.bytes().subspan(static_cast<size_t>(from * Bytes(type)), bytes),
                         std::make_shared<Literal>(array));
}

// Calls fn(first element, elements, first term, terms of each) for runs of elements with as many terms.
template <typename Fn>
absl::Status ForEachRunOfRows(const Terms& terms, Fn fn) {
  int64_t at = 0;
  for (size_t i = 0; i < terms.counts.size();) {
    size_t end = i + 1;
    while (end < terms.counts.size() && terms.counts[end] == terms.counts[i]) ++end;
    const int64_t rows = static_cast<int64_t>(end - i);
    ASSAY_RETURN_IF_ERROR(fn(static_cast<int64_t>(i), rows, at, terms.counts[i]));
    at += rows * terms.counts[i];
    i = end;
  }
  return absl::OkStatus();
}

// The sums or folds of rows that lie one behind the other in `operands`.
absl::StatusOr<Literal> EvalRows(EvalContext& context, const Instruction& instruction, TermRule rule,
                                 const Terms& terms, std::span<const Literal> operands) {
  const ElementType type = instruction.shape->element_type();
  const int64_t n = static_cast<int64_t>(terms.counts.size());
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(ArrayShape(type, {n})));
  std::byte* const out = result.MutableBytes().data();
  ASSAY_RETURN_IF_ERROR(
      ForEachRunOfRows(terms, [&](int64_t first, int64_t rows, int64_t at, int64_t length) -> absl::Status {
        absl::StatusOr<Literal> some;
        Literal row = Slice(operands[0], at, {rows, length});
        if (rule == TermRule::kProducts) {
          some = DotOfRows(context, type, std::move(row), Slice(operands[1], at, {rows, length}));
        } else {
          Instruction reduce = instruction;
          reduce.shape = ArrayShape(type, {rows});
          reduce.attributes.Set(Attr::kDimensions, Ints{1});
          some = EvalAlone(context, std::move(reduce), {std::move(row), Slice(operands[1], 0, {})});
        }
        if (!some.ok()) return some.status();
        std::memcpy(out + first * Bytes(type), some->data(), some->bytes().size());
        return absl::OkStatus();
      }));
  return result;
}

Literal IotaAt(const Instruction& instruction, std::span<const int64_t> positions) {
  const Shape& shape = *instruction.shape;
  const int64_t d = instruction.attributes.Int(Attr::kIotaDimension);
  const int64_t stride = RowMajorStrides(shape.sizes())[d];
  std::vector<int64_t> values;
  for (int64_t position : positions) values.push_back(position / stride % shape.size(d));
  const int64_t n = static_cast<int64_t>(values.size());
  if (!IsFloat(shape.element_type())) return Literal::FromInts(shape.element_type(), {&n, 1}, values);
  return Literal::FromDoubles(shape.element_type(), {&n, 1},
                              std::vector<double>(values.begin(), values.end()));
}

// Which elements of which instructions are needed, found from the root backwards; values forwards.
class Evaluator {
 public:
  Evaluator(EvalContext& context, const StepValues& step, ReplaceElements replace = nullptr)
      : context_(context), step_(step), replace_(std::move(replace)) {}

  absl::StatusOr<Literal> Run(std::span<const int64_t> positions) {
    const int32_t root = Need(step_.members.back(), {positions.begin(), positions.end()});
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].is_member) continue;
      const Instruction& instruction = step_.computation.instructions[parts_[i].instruction];
      Terms terms = TermsOf(step_.computation, instruction, parts_[i].at);
      std::vector<int32_t> operands;
      for (size_t k = 0; k < instruction.operands.size(); ++k)
        operands.push_back(Need(instruction.operands[k], std::move(terms.operands[k])));
      parts_[i].operands = std::move(operands);
      parts_[i].counts = std::move(terms.counts);
    }
    std::vector<size_t> order(parts_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return parts_[a].instruction < parts_[b].instruction; });
    for (size_t i : order) ASSAY_RETURN_IF_ERROR(Fill(parts_[i]));
    return parts_[root].value;
  }

  // Elements of operand number k of the step.
  absl::StatusOr<Literal> Operand(int32_t instruction, std::span<const int64_t> positions) {
    const auto at = std::find(step_.operands.begin(), step_.operands.end(), instruction);
    return Take(context_, step_.values[at - step_.operands.begin()], positions);
  }

 private:
  struct Part {
    int32_t instruction;
    std::vector<int64_t> at;
    bool is_member;
    std::vector<int32_t> operands = {};  // parts
    std::vector<int64_t> counts = {};
    Literal value = {};
  };

  int32_t Need(int32_t instruction, std::vector<int64_t> at) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].instruction == instruction && parts_[i].at == at) return static_cast<int32_t>(i);
    }
    const bool is_member =
        std::find(step_.members.begin(), step_.members.end(), instruction) != step_.members.end();
    parts_.push_back({instruction, std::move(at), is_member});
    return static_cast<int32_t>(parts_.size()) - 1;
  }

  absl::Status Fill(Part& part) {
    if (!part.is_member) {
      ASSAY_ASSIGN_OR_RETURN(part.value, Operand(part.instruction, part.at));
      return absl::OkStatus();
    }
    const Instruction& instruction = step_.computation.instructions[part.instruction];
    std::vector<Literal> operands;
    for (int32_t operand : part.operands) operands.push_back(parts_[operand].value);
    const TermRule rule = *TermRuleOf(step_.computation, instruction);
    switch (rule) {
      case TermRule::kIota:
        part.value = IotaAt(instruction, part.at);
        break;
      case TermRule::kMove:
        part.value = operands[0];
        break;
      case TermRule::kElementwise: {
        Instruction few = instruction;
        few.shape = ArrayShape(instruction.shape->element_type(), {static_cast<int64_t>(part.at.size())});
        ASSAY_ASSIGN_OR_RETURN(part.value, EvalAlone(context_, std::move(few), std::move(operands)));
        if (replace_ != nullptr && part.operands.size() == 1)
          return replace_(instruction, part.at, parts_[part.operands[0]].value, part.value);
        break;
      }
      default: {
        const Terms terms{{}, part.counts};
        ASSAY_ASSIGN_OR_RETURN(part.value, EvalRows(context_, instruction, rule, terms, operands));
      }
    }
    return absl::OkStatus();
  }

  EvalContext& context_;
  const StepValues& step_;
  const ReplaceElements replace_;
  std::vector<Part> parts_;
};

constexpr double kSmallestNormal = 0x1p-126;

// f(x) of each element, as f64.
template <typename Fn>
absl::StatusOr<Literal> Widen(EvalContext& context, const Literal& array, Fn f) {
  const ElementType type = array.shape().element_type();
  const int64_t n = array.shape().num_elements(), bytes = Bytes(type);
  ASSAY_ASSIGN_OR_RETURN(Literal wide, context.NewLiteral(ArrayShape(ElementType::kF64, {n})));
  auto* const out = reinterpret_cast<double*>(wide.MutableBytes().data());
  for (int64_t i = 0; i < n; i += kStrip)
    LoadStrip(type, array.data() + i * bytes, bytes, std::min(kStrip, n - i), out + i);
  std::transform(out, out + n, out, f);
  return wide;
}

// Whether products of elements of the type are doubles that neither over- nor underflow.
bool HasExactProducts(ElementType type) { return IsFloat(type) && type != ElementType::kF64; }

// The sum of n such terms. Each addition's error is a double (TwoSum); they are summed in doubles. No sum of
// finite terms is infinite, so an infinite or NaN one is the answer.
SumOfTerms SumOf(const double* lhs, const double* rhs, int64_t n) {
  SumOfTerms of;
  of.terms = n;
  double error = 0;
  for (int64_t k = 0; k < n; ++k) {
    const double a = std::fabs(lhs[k]), b = std::fabs(rhs[k]), term = lhs[k] * rhs[k];
    const double s = of.sum + term, z = s - of.sum;
    error += (of.sum - (s - z)) + (term - z);
    of.sum = s;
    of.magnitude += a * b;
    of.subnormal += (a < kSmallestNormal ? a * b : 0) + (b < kSmallestNormal ? a * b : 0);
  }
  if (std::isfinite(of.sum)) of.sum += error;
  const double up = 1 + static_cast<double>(n) * 0x1p-52;
  of.magnitude *= up;
  of.subnormal *= up;
  return of;
}

std::vector<SumOfTerms> SumsOfExactProducts(const Terms& terms, std::span<const Literal> factors) {
  const int64_t all = factors[0].shape().num_elements();
  std::vector<double> wide[2];
  for (size_t k = 0; k < 2; ++k) {
    const ElementType type = factors[k].shape().element_type();
    wide[k].resize(static_cast<size_t>(all));
    for (int64_t i = 0; i < all; i += kStrip)
      LoadStrip(type, factors[k].data() + i * Bytes(type), Bytes(type), std::min(kStrip, all - i),
                &wide[k][i]);
  }
  std::vector<SumOfTerms> sums;
  int64_t at = 0;
  for (int64_t count : terms.counts) {
    sums.push_back(SumOf(wide[0].data() + at, wide[1].data() + at, count));
    at += count;
  }
  return sums;
}

}  // namespace

std::optional<int64_t> TermsOfElement(const Computation& computation, std::span<const int32_t> members) {
  int64_t most = 1;
  for (int32_t member : members) {
    const Instruction& instruction = computation.instructions[member];
    const std::optional<TermRule> rule = TermRuleOf(computation, instruction);
    if (!rule || (rule == TermRule::kIota && IsComplex(instruction.shape->element_type())))
      return std::nullopt;
    most = std::max(most, MaxTerms(computation, instruction));
  }
  return most;
}

absl::StatusOr<Literal> ElementsAt(EvalContext& context, const StepValues& step,
                                   std::span<const int64_t> positions) {
  return Evaluator(context, step).Run(positions);
}

absl::StatusOr<Literal> ElementsAt(EvalContext& context, const StepValues& step,
                                   std::span<const int64_t> positions, ReplaceElements replace) {
  return Evaluator(context, step, std::move(replace)).Run(positions);
}

absl::StatusOr<std::vector<SumOfTerms>> SumsAt(EvalContext& context, const StepValues& step,
                                               std::span<const int64_t> positions) {
  const Instruction& root = step.root();
  const Terms terms = TermsOf(step.computation, root, positions);
  Evaluator evaluator(context, step);
  std::vector<Literal> factors;
  for (size_t k = 0; k < 2; ++k) {
    ASSAY_ASSIGN_OR_RETURN(Literal elements, evaluator.Operand(root.operands[k], terms.operands[k]));
    factors.push_back(std::move(elements));
  }
  if (HasExactProducts(factors[0].shape().element_type()) &&
      HasExactProducts(factors[1].shape().element_type()))
    return SumsOfExactProducts(terms, factors);
  std::vector<SumOfTerms> sums(positions.size());
  const auto add = [&](auto f, auto g, double SumOfTerms::*field) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const Literal lhs, Widen(context, factors[0], f));
    ASSAY_ASSIGN_OR_RETURN(const Literal rhs, Widen(context, factors[1], g));
    Instruction products;
    products.shape = ArrayShape(ElementType::kF64, {});
    const Literal both[] = {lhs, rhs};
    ASSAY_ASSIGN_OR_RETURN(const Literal values,
                           EvalRows(context, products, TermRule::kProducts, terms, both));
    for (size_t i = 0; i < sums.size(); ++i) sums[i].*field += values.GetDouble(static_cast<int64_t>(i));
    return absl::OkStatus();
  };
  const auto itself = [](double x) { return x; };
  const auto magnitude = [](double x) { return std::fabs(x); };
  const auto subnormal = [](double x) { return std::fabs(x) < kSmallestNormal ? std::fabs(x) : 0; };
  ASSAY_RETURN_IF_ERROR(add(itself, itself, &SumOfTerms::sum));
  ASSAY_RETURN_IF_ERROR(add(magnitude, magnitude, &SumOfTerms::magnitude));
  const auto has_subnormals = [&](const Literal& array) {
    for (int64_t i = 0; i < array.shape().num_elements(); ++i) {
      const double x = array.GetDouble(i);
      if (x != 0 && subnormal(x) != 0) return true;
    }
    return false;
  };
  if (has_subnormals(factors[0])) ASSAY_RETURN_IF_ERROR(add(subnormal, magnitude, &SumOfTerms::subnormal));
  if (has_subnormals(factors[1])) ASSAY_RETURN_IF_ERROR(add(magnitude, subnormal, &SumOfTerms::subnormal));
  for (size_t i = 0; i < sums.size(); ++i) sums[i].terms = terms.counts[i];
  return sums;
}

}  // namespace assay
