#include "check/shadow/shadow_rules.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "evaluator/registry.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay {
namespace {

struct FunctionOf {
  Opcode opcode;
  HighFunction function;
};
constexpr FunctionOf kFunctions[] = {
    {Opcode::kAbs, HighFunction::kAbs},
    {Opcode::kAcos, HighFunction::kAcos},
    {Opcode::kAcosh, HighFunction::kAcosh},
    {Opcode::kAsin, HighFunction::kAsin},
    {Opcode::kAsinh, HighFunction::kAsinh},
    {Opcode::kAtanh, HighFunction::kAtanh},
    {Opcode::kCbrt, HighFunction::kCbrt},
    {Opcode::kCos, HighFunction::kCos},
    {Opcode::kCosh, HighFunction::kCosh},
    {Opcode::kErf, HighFunction::kErf},
    {Opcode::kExp, HighFunction::kExp},
    {Opcode::kExpm1, HighFunction::kExpm1},
    {Opcode::kLog, HighFunction::kLog},
    {Opcode::kLog1p, HighFunction::kLog1p},
    {Opcode::kLogistic, HighFunction::kLogistic},
    {Opcode::kNegate, HighFunction::kNegate},
    {Opcode::kRsqrt, HighFunction::kRsqrt},
    {Opcode::kSin, HighFunction::kSin},
    {Opcode::kSinh, HighFunction::kSinh},
    {Opcode::kSqrt, HighFunction::kSqrt},
    {Opcode::kTan, HighFunction::kTan},
    {Opcode::kTanh, HighFunction::kTanh},
    {Opcode::kAdd, HighFunction::kAdd},
    {Opcode::kAtan2, HighFunction::kAtan2},
    {Opcode::kDivide, HighFunction::kDivide},
    {Opcode::kMaximum, HighFunction::kMaximum},
    {Opcode::kMinimum, HighFunction::kMinimum},
    {Opcode::kMultiply, HighFunction::kMultiply},
    {Opcode::kPower, HighFunction::kPower},
    {Opcode::kRemainder, HighFunction::kRemainder},
    {Opcode::kSubtract, HighFunction::kSubtract},
    {Opcode::kConvert, HighFunction::kCopy},
    {Opcode::kReducePrecision, HighFunction::kCopy},
};

HighFunction FunctionFor(Opcode opcode) {
  for (const FunctionOf& row : kFunctions) {
    if (row.opcode == opcode) return row.function;
  }
  return HighFunction::kNone;
}

// Operands whose elements the operation moves: all, the first one, or two. 0: it moves none.
size_t MovedOperands(const InstructionView& view) {
  switch (view.instruction.opcode) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      return 1;
    case Opcode::kBitcast:
      return view.operand(0).element_type() == view.result().element_type() ? 1 : 0;
    case Opcode::kPad:
    case Opcode::kDynamicUpdateSlice:
      return 2;
    case Opcode::kConcatenate:
      return view.num_operands();
    default:
      return 0;
  }
}

// The reducer's function of its two parameters, where it is one of these alone.
HighFunction FoldOf(const Computation& reducer) {
  const Instruction& root = reducer.root_instruction();
  if (reducer.parameters.size() != 2 || root.operands.size() != 2) return HighFunction::kNone;
  const auto [low, high] = std::minmax(root.operands[0], root.operands[1]);
  const auto [first, second] = std::minmax(reducer.parameters[0], reducer.parameters[1]);
  if (low != first || high != second) return HighFunction::kNone;
  const HighFunction f = FunctionFor(root.opcode);
  const bool folds = f == HighFunction::kAdd || f == HighFunction::kMultiply || f == HighFunction::kMaximum ||
                     f == HighFunction::kMinimum;
  return folds ? f : HighFunction::kNone;
}

class Rule {
 public:
  Rule(EvalContext& context, std::span<const Literal> operands, std::span<const HighPtr> high)
      : context_(context),
        view_{context.computation(), context.instruction()},
        operands_(operands),
        high_(high) {}

  absl::StatusOr<HighPtr> Apply() {
    if (MovedOperands(view_) > 0) return Moved();
    const SumDef& sum = DefinitionOf(view_.instruction.opcode).sum;
    if (sum.of == SumDef::Of::kProducts) return Summed(HighFunction::kAdd);
    if (sum.of == SumDef::Of::kFold) {
      if (view_.num_operands() != 2) return HighPtr();
      const auto reducer = view_.attributes().Computation(Attr::kToApply);
      const HighFunction f = FoldOf(context_.module().computation(*reducer));
      return f == HighFunction::kNone ? HighPtr() : Summed(f);
    }
    return Elementwise();
  }

  // Of each element of a sum or fold: the position of its terms.
  absl::Status ForEachSum(const std::function<absl::Status(int64_t, const Terms&)>& each) {
    const SumDef& sum = DefinitionOf(view_.instruction.opcode).sum;
    const Shape& shape = view_.result();
    DimVector index(shape.sizes().size(), 0);
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      Terms terms;
      terms.operands.resize(2);
      sum.add_terms(view_, index, terms);
      ASSAY_RETURN_IF_ERROR(each(i, terms));
      ASSAY_RETURN_IF_ERROR(context_.Charge(1 + static_cast<int64_t>(terms.operands[0].size())));
      NextIndex(shape.sizes(), {index.data(), index.size()});
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::shared_ptr<HighArray>> New() {
    return HighArray::Make(view_.result().num_elements(), context_.run().budget());
  }
  absl::StatusOr<HighPtr> Operand(size_t k) {
    if (high_[k] != nullptr) return high_[k];
    return HighOf(context_, operands_[k]);
  }

  absl::StatusOr<HighPtr> Summed(HighFunction fold) {
    const bool products = DefinitionOf(view_.instruction.opcode).sum.of == SumDef::Of::kProducts;
    ASSAY_ASSIGN_OR_RETURN(const HighPtr a, Operand(0));
    ASSAY_ASSIGN_OR_RETURN(const HighPtr b, Operand(1));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<HighArray> result, New());
    ASSAY_RETURN_IF_ERROR(ForEachSum([&](int64_t i, const Terms& terms) {
      if (!products) result->Copy(i, *b, 0);
      for (size_t t = 0; t < terms.operands[0].size(); ++t) {
        if (products) {
          result->AddProduct(i, *a, terms.operands[0][t], *b, terms.operands[1][t]);
        } else {
          result->Apply(fold, i, *result, i, *a, terms.operands[0][t]);
        }
      }
      return absl::OkStatus();
    }));
    return HighPtr(result);
  }

  absl::StatusOr<HighPtr> Elementwise() {
    const Opcode opcode = view_.instruction.opcode;
    const bool selects = opcode == Opcode::kSelect;
    const bool clamps = opcode == Opcode::kClamp;
    const HighFunction f = FunctionFor(opcode);
    if (f == HighFunction::kNone && !selects && !clamps) return HighPtr();
    std::vector<HighPtr> of(operands_.size());
    for (size_t k = selects ? 1 : 0; k < operands_.size(); ++k) {
      if (IsComplex(operands_[k].shape().element_type())) return HighPtr();
      ASSAY_ASSIGN_OR_RETURN(of[k], Operand(k));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<HighArray> result, New());
    const auto at = [&](size_t k, int64_t i) { return operands_[k].shape().IsScalar() ? 0 : i; };
    for (int64_t i = 0; i < result->size(); ++i) {
      if (selects) {
        const size_t chosen = operands_[0].GetInt(at(0, i)) != 0 ? 1 : 2;
        result->Copy(i, *of[chosen], i);
      } else if (clamps) {
        result->Apply(HighFunction::kMaximum, i, *of[1], i, *of[0], at(0, i));
        result->Apply(HighFunction::kMinimum, i, *result, i, *of[2], at(2, i));
      } else if (TakesTwo(f)) {
        result->Apply(f, i, *of[0], i, *of[1], i);
      } else {
        result->Apply(f, i, *of[0], i);
      }
      ASSAY_RETURN_IF_ERROR(context_.Charge(64));
    }
    return HighPtr(result);
  }

  // Lets the operation move numbers that say where elements are, and moves as it did.
  absl::StatusOr<HighPtr> Moved() {
    const size_t moved = MovedOperands(view_);
    Computation computation;
    std::vector<Literal> operands(operands_.begin(), operands_.end());
    std::vector<HighPtr> from;
    std::vector<int64_t> begins;
    int64_t begin = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      Instruction parameter(Opcode::kParameter);
      parameter.shape = std::make_shared<Shape>(view_.operand(k));
      if (k < moved) {
        ASSAY_ASSIGN_OR_RETURN(HighPtr numbers, Operand(k));
        parameter.shape = Places(view_.operand(k));
        ASSAY_ASSIGN_OR_RETURN(operands[k], Literal::Make(parameter.shape, context_.run().budget()));
        auto* const places = reinterpret_cast<int64_t*>(operands[k].MutableBytes().data());
        for (int64_t i = 0; i < numbers->size(); ++i) places[i] = begin + i;
        begins.push_back(begin);
        begin += numbers->size();
        from.push_back(std::move(numbers));
      }
      computation.instructions.push_back(std::move(parameter));
    }
    computation.instructions.push_back(view_.instruction);
    Instruction& copy = computation.instructions.back();
    copy.shape = Places(view_.result());
    for (size_t k = 0; k < operands.size(); ++k) copy.operands[k] = static_cast<int32_t>(k);
    EvalContext context(context_.run(), context_.module(), computation, copy, 1);
    ASSAY_ASSIGN_OR_RETURN(const Literal places,
                           DefinitionOf(copy.opcode).eval(context, {operands.data(), operands.size()}));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<HighArray> result, New());
    for (int64_t i = 0; i < result->size(); ++i) {
      const int64_t place = places.GetInt(i);
      const size_t k =
          static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), place) - begins.begin()) - 1;
      // Operands without elements begin where the next one does, and upper_bound gives the last of these.
      result->Copy(i, *from[k], place - begins[k]);
      ASSAY_RETURN_IF_ERROR(context_.Charge(1));
    }
    return HighPtr(result);
  }
  static std::shared_ptr<const Shape> Places(const Shape& shape) {
    return std::make_shared<Shape>(Shape::ArrayOrDie(ElementType::kS64, shape.sizes()));
  }

  EvalContext& context_;
  const InstructionView view_;
  const std::span<const Literal> operands_;
  const std::span<const HighPtr> high_;
};

}  // namespace

absl::StatusOr<HighPtr> HighOf(EvalContext& context, const Literal& array) {
  const Shape& shape = array.shape();
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<HighArray> high,
                         HighArray::Make(shape.num_elements(), context.run().budget()));
  const ElementType type = shape.element_type();
  for (int64_t i = 0; i < high->size(); ++i) {
    const ScalarValue value = LoadElement(type, array.data() + i * Bytes(type));
    if (value.kind == ComputeKind::kReal) {
      high->Set(i, value.r);
    } else if (value.kind == ComputeKind::kInt64) {
      high->SetInt(i, value.i);
    } else {
      high->SetUint(i, value.kind == ComputeKind::kBool ? value.b : value.u);
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(1));
  }
  return HighPtr(high);
}

absl::StatusOr<HighPtr> ApplyShadowRule(EvalContext& context, std::span<const Literal> operands,
                                        std::span<const HighPtr> high) {
  return Rule(context, operands, high).Apply();
}

absl::StatusOr<ShadowDecision> CountOtherwise(EvalContext& context, std::span<const Literal> operands,
                                              std::span<const HighPtr> high, const Literal& result) {
  const Opcode opcode = context.instruction().opcode;
  const bool compares = opcode == Opcode::kCompare;
  const bool rounds = opcode == Opcode::kRoundNearestAfz || opcode == Opcode::kRoundNearestEven;
  const bool floors = opcode == Opcode::kFloor;
  const bool ceils = opcode == Opcode::kCeil;
  const bool signs = opcode == Opcode::kSign;
  ShadowDecision decision;
  decision.is_one = compares || rounds || floors || ceils || signs;
  if (!decision.is_one || operands.empty() || !IsFloat(operands[0].shape().element_type())) return decision;
  if (std::all_of(high.begin(), high.end(), [](const HighPtr& h) { return h == nullptr; })) return decision;
  HighPtr a = high[0], b = compares ? high[1] : nullptr;
  if (a == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(a, HighOf(context, operands[0]));
  }
  if (compares && b == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(b, HighOf(context, operands[1]));
  }
  for (int64_t i = 0; i < a->size(); ++i) {
    if (compares) {
      // Any of the six comparisons is a function of the order.
      const double x = operands[0].GetDouble(i), y = operands[1].GetDouble(i);
      decision.otherwise += a->Compare(i, *b, i) != (x <=> y);
      continue;
    }
    const double off = a->Minus(i, result.GetDouble(i));
    const double value = a->Get(i);
    const bool same = floors  ? off >= 0 && off < 1
                      : ceils ? off <= 0 && off > -1
                      : signs ? (value > 0) - (value < 0) == result.GetDouble(i)
                              : std::abs(off) <= 0.5;
    decision.otherwise += !same && a->IsFinite(i);
  }
  ASSAY_RETURN_IF_ERROR(context.Charge(a->size()));
  return decision;
}

absl::StatusOr<int64_t> CancelledBits(EvalContext& context, std::span<const Literal> operands,
                                      const Literal& result) {
  const InstructionView view{context.computation(), context.instruction()};
  const HighFunction f = FunctionFor(view.instruction.opcode);
  const int most = Info(result.shape().element_type()).format->mantissa_bits + 1;
  int64_t cancelled = 0;
  // Zero of terms that are not has lost all digits.
  const auto see = [&](double largest, double sum) {
    if (!std::isfinite(largest) || !std::isfinite(sum) || largest == 0) return;
    const int64_t bits = sum == 0 ? most : std::ilogb(largest) - std::ilogb(sum);
    cancelled = std::max(cancelled, std::min<int64_t>(bits, sum == 0 ? most : INT64_MAX));
  };
  if (f == HighFunction::kAdd || f == HighFunction::kSubtract) {
    for (int64_t i = 0; i < result.shape().num_elements(); ++i)
      see(std::max(std::abs(operands[0].GetDouble(i)), std::abs(operands[1].GetDouble(i))),
          result.GetDouble(i));
    return cancelled;
  }
  const SumDef& sum = DefinitionOf(view.instruction.opcode).sum;
  if (sum.of == SumDef::Of::kNothing) return 0;
  const bool products = sum.of == SumDef::Of::kProducts;
  if (!products) {
    const auto reducer = view.attributes().Computation(Attr::kToApply);
    if (view.num_operands() != 2 || FoldOf(context.module().computation(*reducer)) != HighFunction::kAdd)
      return 0;
  }
  if (!IsFloat(operands[0].shape().element_type()) || !IsFloat(operands[1].shape().element_type())) return 0;
  ASSAY_RETURN_IF_ERROR(Rule(context, operands, {}).ForEachSum([&](int64_t i, const Terms& terms) {
    double largest = products ? 0 : std::abs(operands[1].GetDouble(0));
    for (size_t t = 0; t < terms.operands[0].size(); ++t) {
      const double a = operands[0].GetDouble(terms.operands[0][t]);
      largest = std::max(largest, std::abs(products ? a * operands[1].GetDouble(terms.operands[1][t]) : a));
    }
    see(largest, result.GetDouble(i));
    return absl::OkStatus();
  }));
  return cancelled;
}

}  // namespace assay
