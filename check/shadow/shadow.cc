#include "check/shadow/shadow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "check/shadow/shadow_rules.h"
#include "evaluator/registry.h"
#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/live.h"
#include "run/executor.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

// Evaluations that look for where the error comes from: as many as take this many applications of functions, and no more than
// this many.
constexpr int64_t kMostWork = 20'000'000;
constexpr int64_t kMostEvaluations = 200;

// A value of the program, and its shadow. An array without one is exact: its shadow is itself.
struct ShadowValue {
  Literal exact;
  HighPtr high;
  std::vector<ShadowValue> elements;  // of a tuple
};

ShadowValue WithoutShadow(const Literal& exact) {
  ShadowValue value{exact, nullptr, {}};
  if (!exact.shape().IsTuple()) return value;
  for (int64_t k = 0; k < exact.tuple_size(); ++k) value.elements.push_back(WithoutShadow(exact.element(k)));
  return value;
}

ShadowValue TupleOf(std::vector<ShadowValue> elements) {
  std::vector<Literal> exact;
  for (const ShadowValue& element : elements) exact.push_back(element.exact);
  return {Literal::Tuple(std::move(exact)), nullptr, std::move(elements)};
}

bool HasFloats(const Shape& shape) {
  if (shape.IsTuple()) return std::any_of(shape.elements().begin(), shape.elements().end(), HasFloats);
  return shape.IsArray() && (IsFloat(shape.element_type()) || IsComplex(shape.element_type()));
}

bool HasDynamic(const Shape& shape) {
  if (shape.IsTuple()) return std::any_of(shape.elements().begin(), shape.elements().end(), HasDynamic);
  return shape.IsArray() && shape.HasDynamic();
}

double UlpOf(double value, const FloatFormat& format) {
  const int exponent = value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1, exponent - format.mantissa_bits);
}

using Place = std::pair<int32_t, int32_t>;  // computation, instruction

class ShadowEvaluator {
 public:
  ShadowEvaluator(const Program& program, const Plan& plan, const DeviceInputs& inputs,
                  const RunOptions& options)
      : module_(program.module()), inputs_(inputs), executor_(plan, options) {}

  // The root by shadows of all; or where `rounding` says so, with the errors of those instructions' own roundings.
  absl::StatusOr<ShadowValue> Evaluate(const std::vector<Place>* rounding) {
    rounding_ = rounding;
    executor_.process() = inputs_.process;
    std::vector<ShadowValue> arguments;
    for (const Literal& argument : inputs_.arguments) arguments.push_back(WithoutShadow(argument));
    return Call(module_.entry, arguments, 0);
  }

  std::map<Place, ShadowInstruction>& found() { return found_; }
  int64_t work() const { return work_; }
  RunContext& run() { return executor_; }

 private:
  absl::StatusOr<ShadowValue> Call(ComputationId id, const std::vector<ShadowValue>& arguments, int depth) {
    if (depth > kMaxCallDepth) return LimitExceeded("call depth", depth, kMaxCallDepth);
    ASSAY_RETURN_IF_ERROR(executor_.Count(kUnitsPerStep));
    const Computation& computation = module_.computation(id);
    if (live_.empty()) live_ = LiveInstructions(module_);
    const auto& live = live_[static_cast<size_t>(id.value)];
    std::vector<ShadowValue> values(computation.instructions.size());
    for (size_t k = 0; k < values.size(); ++k) {
      if (!live[k]) continue;
      const Instruction& instruction = computation.instructions[k];
      ASSAY_RETURN_IF_ERROR(executor_.Count(StepUnitsOf(module_, computation, instruction)));
      ASSAY_RETURN_IF_ERROR(executor_.Charge(1 << 12));
      absl::StatusOr<ShadowValue> value = Step(id, static_cast<int32_t>(k), values, arguments, depth);
      if (!value.ok()) return WithPosition(value.status(), instruction.position);
      values[k] = *std::move(value);
    }
    return values[static_cast<size_t>(computation.root)];
  }

  absl::StatusOr<ShadowValue> Step(ComputationId id, int32_t k, const std::vector<ShadowValue>& values,
                                   const std::vector<ShadowValue>& arguments, int depth) {
    const Computation& computation = module_.computation(id);
    const Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
    const auto operand = [&](size_t o) -> const ShadowValue& {
      return values[static_cast<size_t>(instruction.operands[o])];
    };
    std::vector<ShadowValue> operands;
    for (size_t o = 0; o < instruction.operands.size(); ++o) operands.push_back(operand(o));
    switch (instruction.opcode) {
      case Opcode::kParameter:
        return arguments[static_cast<size_t>(instruction.parameter_number)];
      case Opcode::kConstant:
        return WithoutShadow(*instruction.literal);
      case Opcode::kTuple:
        return TupleOf(std::move(operands));
      case Opcode::kGetTupleElement:
        return operands[0].elements[static_cast<size_t>(instruction.attributes.Int(Attr::kIndex))];
      case Opcode::kCall:
      case Opcode::kFusion:
        return Call(CalledComputations(instruction)[0], operands, depth + 1);
      case Opcode::kConditional: {
        const std::vector<ComputationId> branches = CalledComputations(instruction);
        const int64_t n = static_cast<int64_t>(branches.size());
        const int64_t selector = operands[0].exact.GetInt(0);
        int64_t branch =
            operands[0].exact.shape().element_type() == ElementType::kPred ? 1 - selector : selector;
        if (branch < 0 || branch >= n) branch = n - 1;
        return Call(branches[static_cast<size_t>(branch)], {operands[static_cast<size_t>(branch) + 1]},
                    depth + 1);
      }
      case Opcode::kWhile: {
        ShadowValue state = operands[0];
        while (true) {
          ASSAY_ASSIGN_OR_RETURN(
              const ShadowValue more,
              Call(*instruction.attributes.Computation(Attr::kCondition), {state}, depth + 1));
          if (more.exact.GetInt(0) == 0) return state;
          ASSAY_ASSIGN_OR_RETURN(state,
                                 Call(*instruction.attributes.Computation(Attr::kBody), {state}, depth + 1));
        }
      }
      default:
        if (DefinitionOf(instruction.opcode).is_identity) return operands[0];
        return Apply(id, k, operands, depth);
    }
  }

  absl::StatusOr<ShadowValue> Apply(ComputationId id, int32_t k, const std::vector<ShadowValue>& operands,
                                    int depth) {
    const Computation& computation = module_.computation(id);
    const Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
    EvalContext context(executor_, module_, computation, instruction, depth);
    std::vector<Literal> exact, given;
    std::vector<HighPtr> high;
    bool shadowed = false, floats = false;
    for (const ShadowValue& operand : operands) {
      exact.push_back(operand.exact);
      high.push_back(operand.high);
      shadowed = shadowed || operand.high != nullptr;
      floats = floats || HasFloats(operand.exact.shape());
    }
    given = exact;
    ASSAY_ASSIGN_OR_RETURN(const Literal result,
                           DefinitionOf(instruction.opcode).eval(context, {given.data(), given.size()}));
    ASSAY_ASSIGN_OR_RETURN(const ShadowDecision decision, CountOtherwise(context, exact, high, result));
    ShadowInstruction& found = Found(id, k);
    if (rounding_ == nullptr) found.otherwise += decision.otherwise;
    ShadowValue value = WithoutShadow(result);
    if (!HasFloats(result.shape()) || decision.is_one) return value;
    HighPtr local;
    const bool has_rule = result.shape().IsArray() && IsFloat(result.shape().element_type());
    const std::vector<HighPtr> none(operands.size());
    if (has_rule) {
      ASSAY_ASSIGN_OR_RETURN(value.high, ApplyShadowRule(context, exact, high));
    }
    if (value.high == nullptr) {
      if (floats && rounding_ == nullptr)
        found.restarted = has_rule ? "there is no rule for it" : "complex numbers and tuples have no rule";
      return value;
    }
    work_ += WorkOf(context);
    const bool rounds =
        rounding_ != nullptr && std::binary_search(rounding_->begin(), rounding_->end(), Place{id.value, k});
    if (rounding_ == nullptr || rounds) {
      local = value.high;
      if (shadowed) {
        ASSAY_ASSIGN_OR_RETURN(local, ApplyShadowRule(context, exact, none));
      }
    }
    if (rounding_ == nullptr) {
      ASSAY_RETURN_IF_ERROR(Count(context, found, exact, result, *value.high, *local));
    } else if (rounds) {
      ASSAY_ASSIGN_OR_RETURN(value.high, Rounded(context, result, *value.high, *local));
    } else if (!shadowed && IsEqual(result, *value.high)) {
      value.high = nullptr;
    }
    if (value.high != nullptr && rounding_ == nullptr && IsEqual(result, *value.high)) value.high = nullptr;
    return value;
  }

  static int64_t WorkOf(EvalContext& context) {
    const Work work =
        DefinitionOf(context.instruction().opcode).work({context.computation(), context.instruction()});
    return static_cast<int64_t>(std::min(1e15, work.elements + 30 * work.functions));
  }

  static bool IsEqual(const Literal& result, const HighArray& high) {
    for (int64_t i = 0; i < high.size(); ++i) {
      const double x = result.GetDouble(i), y = high.Get(i);
      const bool equal =
          high.IsFinite(i) ? high.Minus(i, x) == 0 : x == y || (std::isnan(x) && std::isnan(y));
      if (!equal) return false;
    }
    return true;
  }

  // The shadow, and what the rounding of this instruction adds to it.
  absl::StatusOr<HighPtr> Rounded(EvalContext& context, const Literal& result, const HighArray& high,
                                  const HighArray& local) {
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<HighArray> sum,
                           HighArray::Make(high.size(), executor_.budget()));
    ASSAY_ASSIGN_OR_RETURN(const HighPtr rounded, HighOf(context, result));
    for (int64_t i = 0; i < high.size(); ++i) {
      if (!local.IsFinite(i) || !rounded->IsFinite(i)) {
        sum->Copy(i, high, i);
        continue;
      }
      sum->Apply(HighFunction::kSubtract, i, *rounded, i, local, i);
      sum->Apply(HighFunction::kAdd, i, *sum, i, high, i);
    }
    return HighPtr(sum);
  }

  ShadowInstruction& Found(ComputationId id, int32_t k) {
    const auto [it, is_new] = found_.try_emplace({id.value, k});
    if (is_new) {
      const Computation& computation = module_.computation(id);
      const Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
      it->second.computation = computation.name;
      it->second.name = instruction.name;
      it->second.op = Name(instruction.opcode);
      it->second.shape = instruction.shape->ToString();
    }
    return it->second;
  }

  absl::Status Count(EvalContext& context, ShadowInstruction& found, std::span<const Literal> operands,
                     const Literal& result, const HighArray& high, const HighArray& local) {
    const FloatFormat& format = *Info(result.shape().element_type()).format;
    ++found.runs;
    found.elements += high.size();
    for (int64_t i = 0; i < high.size(); ++i) {
      const double x = result.GetDouble(i);
      if (!std::isfinite(x) || !high.IsFinite(i) || !local.IsFinite(i)) continue;
      const double ulp = UlpOf(x, format);
      found.local_ulps = std::max(found.local_ulps, std::abs(local.Minus(i, x)) / ulp);
      found.inherited_ulps = std::max(found.inherited_ulps, std::abs(high.Minus(i, local, i)) / ulp);
      found.error_ulps = std::max(found.error_ulps, std::abs(high.Minus(i, x)) / ulp);
    }
    ASSAY_RETURN_IF_ERROR(context.Charge(high.size()));
    ASSAY_ASSIGN_OR_RETURN(const int64_t bits, CancelledBits(context, operands, result));
    found.cancelled_digits = std::max(found.cancelled_digits, static_cast<double>(bits) * std::log10(2.0));
    return absl::OkStatus();
  }

  const Module& module_;
  const DeviceInputs& inputs_;
  Executor executor_;
  std::vector<std::vector<bool>> live_;
  const std::vector<Place>* rounding_ = nullptr;
  std::map<Place, ShadowInstruction> found_;
  int64_t work_ = 0;
};

void AppendFloats(const ShadowValue& value, std::vector<const ShadowValue*>& leaves) {
  for (const ShadowValue& element : value.elements) AppendFloats(element, leaves);
  if (value.exact.shape().IsArray() && IsFloat(value.exact.shape().element_type())) leaves.push_back(&value);
}

// The root of the sum of squares of the finite differences between two shadows.
double Distance(const ShadowValue& a, const ShadowValue& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.exact.shape().num_elements(); ++i) {
    const double x = a.exact.GetDouble(i);
    const double off = a.high && b.high ? a.high->Minus(i, *b.high, i)
                       : a.high         ? a.high->Minus(i, x)
                       : b.high         ? b.high->Minus(i, x)
                                        : 0;
    if (std::isfinite(off)) sum += off * off;
  }
  return std::sqrt(sum);
}

}  // namespace

absl::StatusOr<ShadowReport> RunShadow(const Program& program, DeviceInputs inputs, RunOptions options) {
  const Module& module = program.module();
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (HasDynamic(*instruction.shape))
        return NotSupported(instruction.position, "--shadow of a program with dynamic dimensions");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, program.PlanAsWritten());
  ShadowEvaluator evaluator(program, plan, inputs, options);
  ASSAY_ASSIGN_OR_RETURN(const ShadowValue pure, evaluator.Evaluate(nullptr));
  ShadowReport report;
  report.evaluations = 1;
  const int64_t work = std::max<int64_t>(1, evaluator.work());
  std::vector<const ShadowValue*> outputs;
  AppendFloats(pure, outputs);
  std::vector<double> errors;
  size_t next = 0;
  for (const auto& [key, value] : ResultsOf(pure.exact)) {
    if (!IsFloat(value.shape().element_type())) continue;
    const ShadowValue& of = *outputs[next++];
    ShadowOutput output{key, value.shape().num_elements(), 0, 0};
    double squares = 0;
    for (int64_t i = 0; i < output.elements; ++i) {
      const double x = value.GetDouble(i);
      if (!std::isfinite(x)) continue;
      squares += x * x;
      if (of.high == nullptr || !of.high->IsFinite(i)) continue;
      const double ulp = UlpOf(x, *Info(value.shape().element_type()).format);
      output.error_ulps = std::max(output.error_ulps, std::abs(of.high->Minus(i, x)) / ulp);
    }
    errors.push_back(Distance(of, {of.exact, nullptr, {}}));
    output.relative_error = errors.back() == 0 ? 0 : errors.back() / std::sqrt(squares);
    report.outputs.push_back(std::move(output));
  }
  // Groups of instructions that round, in program order; the one with the largest share is cut in two, again and again.
  std::vector<Place> rounding;
  for (const auto& [place, found] : evaluator.found()) {
    if (found.local_ulps > 0) rounding.push_back(place);
  }
  struct Group {
    double share;
    size_t begin, end;
    bool operator<(const Group& other) const {
      return std::pair(end - begin > 1, share) < std::pair(other.end - other.begin > 1, other.share);
    }
  };
  const auto share_of = [&](size_t begin, size_t end) -> absl::StatusOr<double> {
    const std::vector<Place> members(rounding.begin() + static_cast<std::ptrdiff_t>(begin),
                                     rounding.begin() + static_cast<std::ptrdiff_t>(end));
    ASSAY_ASSIGN_OR_RETURN(const ShadowValue value, evaluator.Evaluate(&members));
    ++report.evaluations;
    std::vector<const ShadowValue*> leaves;
    AppendFloats(value, leaves);
    double share = 0;
    for (size_t k = 0; k < leaves.size(); ++k) {
      if (errors[k] > 0) share = std::max(share, Distance(*leaves[k], *outputs[k]) / errors[k]);
    }
    return share;
  };
  std::priority_queue<Group> groups;
  if (!rounding.empty()) groups.push({1, 0, rounding.size()});
  const int64_t most = std::min(kMostEvaluations, std::max<int64_t>(2, kMostWork / work));
  if (rounding.size() == 1) {
    ASSAY_ASSIGN_OR_RETURN(const double share, share_of(0, 1));
    groups.pop();
    groups.push({share, 0, 1});
  }
  while (!groups.empty() && groups.top().end - groups.top().begin > 1 && report.evaluations + 2 <= most + 1) {
    const Group whole = groups.top();
    groups.pop();
    const size_t middle = (whole.begin + whole.end) / 2;
    for (const auto& [begin, end] : {std::pair(whole.begin, middle), std::pair(middle, whole.end)}) {
      ASSAY_ASSIGN_OR_RETURN(const double share, share_of(begin, end));
      groups.push({share, begin, end});
    }
  }
  for (; !groups.empty(); groups.pop()) {
    const Group& group = groups.top();
    for (size_t k = group.begin; k < group.end; ++k) {
      ShadowInstruction& found = evaluator.found()[rounding[k]];
      found.share = group.share;
      found.group = static_cast<int64_t>(group.begin);
      found.group_size = static_cast<int64_t>(group.end - group.begin);
    }
  }
  for (auto& [place, found] : evaluator.found()) {
    if (found.runs > 0 || found.otherwise > 0 || !found.restarted.empty())
      report.instructions.push_back(std::move(found));
  }
  return report;
}

}  // namespace assay
