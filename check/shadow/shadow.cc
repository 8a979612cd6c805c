#include "check/shadow/shadow.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <utility>

#include "absl/functional/function_ref.h"
#include "check/shadow/shadow_rules.h"
#include "evaluator/registry.h"
#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/live.h"
#include "run/executor.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

// Evaluations that look for where the error comes from: as many as take this many applications of functions,
// and no more than this many.
constexpr int64_t kMaxWork = 20'000'000;
constexpr int64_t kMaxEvaluations = 200;

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
  exact.reserve(elements.size());
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

  // The root by shadows of all; or where `rounding` says so, with the errors of those
  // instructions' own roundings.
  absl::StatusOr<ShadowValue> Evaluate(const std::vector<Place>* rounding) {
    rounding_ = rounding;
    ++evaluations_;
    executor_.process() = inputs_.process;
    std::vector<ShadowValue> arguments;
    for (const Literal& argument : inputs_.arguments) arguments.push_back(WithoutShadow(argument));
    return Call(module_.entry, arguments, 0);
  }

  // Evaluate looks at these elements as well.
  void Watch(std::span<const ShadowElement> elements) {
    errors_.assign(elements.size(), std::nullopt);
    for (size_t k = 0; k < elements.size(); ++k)
      watched_[{elements[k].calls, elements[k].instruction}].emplace_back(elements[k].position, k);
  }
  std::vector<std::optional<double>>& errors() { return errors_; }
  std::map<Place, ShadowInstruction>& found() { return found_; }
  int64_t work() const { return work_; }
  int64_t evaluations() const { return evaluations_; }

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
      if (!watched_.empty()) LookAt(id, static_cast<int32_t>(k), values[k]);
    }
    return values[static_cast<size_t>(computation.root)];
  }

  absl::StatusOr<ShadowValue> CallFrom(const ShadowCall& call, ComputationId id,
                                       const std::vector<ShadowValue>& arguments, int depth) {
    calls_.push_back(call);
    absl::StatusOr<ShadowValue> value = Call(id, arguments, depth);
    calls_.pop_back();
    return value;
  }

  // The errors of the elements of this value that are watched.
  void LookAt(ComputationId id, int32_t k, const ShadowValue& value) {
    const auto it = watched_.find({calls_, k});
    if (it == watched_.end() || !value.exact.shape().IsArray() ||
        !IsFloat(value.exact.shape().element_type()))
      return;
    const auto found = found_.find({id.value, k});
    if (found != found_.end() && !found->second.restarted.empty()) return;
    const FloatFormat& format = *Info(value.exact.shape().element_type()).format;
    for (const auto& [position, number] : it->second) {
      const double x = value.exact.GetDouble(position);
      if (!std::isfinite(x)) continue;
      if (value.high == nullptr) {
        errors_[number] = 0;
      } else if (value.high->IsFinite(position)) {
        errors_[number] = std::abs(value.high->Minus(position, x)) / UlpOf(x, format);
      }
    }
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
        return CallFrom({k, -1, false}, CalledComputations(instruction)[0], operands, depth + 1);
      case Opcode::kConditional: {
        const std::vector<ComputationId> branches = CalledComputations(instruction);
        const int64_t n = static_cast<int64_t>(branches.size());
        const int64_t selector = operands[0].exact.GetInt(0);
        int64_t branch =
            operands[0].exact.shape().element_type() == ElementType::kPred ? 1 - selector : selector;
        if (branch < 0 || branch >= n) branch = n - 1;
        return CallFrom({k, -1, false}, branches[static_cast<size_t>(branch)],
                        {operands[static_cast<size_t>(branch) + 1]}, depth + 1);
      }
      case Opcode::kWhile: {
        ShadowValue state = operands[0];
        for (int64_t iteration = 0;; ++iteration) {
          ASSAY_ASSIGN_OR_RETURN(
              const ShadowValue more,
              CallFrom({k, iteration, true}, *instruction.attributes.Computation(Attr::kCondition), {state},
                       depth + 1));
          if (more.exact.GetInt(0) == 0) return state;
          ASSAY_ASSIGN_OR_RETURN(
              state, CallFrom({k, iteration, false}, *instruction.attributes.Computation(Attr::kBody),
                              {state}, depth + 1));
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
  int64_t work_ = 0, evaluations_ = 0;
  std::vector<ShadowCall> calls_;  // around the instruction that is evaluated
  // Positions of watched elements, and their numbers in errors_.
  std::map<std::pair<std::vector<ShadowCall>, int32_t>, std::vector<std::pair<int64_t, size_t>>> watched_;
  std::vector<std::optional<double>> errors_;
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

absl::Status RefuseDynamicDimensions(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (HasDynamic(*instruction.shape))
        return NotSupported(instruction.position, "--shadow of a program with dynamic dimensions");
    }
  }
  return absl::OkStatus();
}

// The outputs of the run in which every instruction has its shadow.
struct MeasuredOutputs {
  std::vector<const ShadowValue*> values;  // those of floats, in the order of the root's leaves
  std::vector<double> errors;              // by value: its distance from its shadow
  std::vector<ShadowOutput> outputs;
};

MeasuredOutputs Measure(const ShadowValue& root) {
  MeasuredOutputs measured;
  AppendFloats(root, measured.values);
  for (const auto& [key, value] : ResultsOf(root.exact)) {
    if (!IsFloat(value.shape().element_type())) continue;
    const ShadowValue& shadowed = *measured.values[measured.outputs.size()];
    ShadowOutput output{key, value.shape().num_elements(), 0, 0};
    double squares = 0;
    for (int64_t i = 0; i < output.elements; ++i) {
      const double x = value.GetDouble(i);
      if (!std::isfinite(x)) continue;
      squares += x * x;
      if (shadowed.high == nullptr || !shadowed.high->IsFinite(i)) continue;
      const double ulp = UlpOf(x, *Info(value.shape().element_type()).format);
      output.error_ulps = std::max(output.error_ulps, std::abs(shadowed.high->Minus(i, x)) / ulp);
    }
    const double error = Distance(shadowed, {shadowed.exact, nullptr, {}});
    output.relative_error = error == 0 ? 0 : error / std::sqrt(squares);
    measured.errors.push_back(error);
    measured.outputs.push_back(std::move(output));
  }
  return measured;
}

// The share of the outputs' errors that the roundings of these instructions alone make: the largest over
// outputs.
absl::StatusOr<double> ShareOf(ShadowEvaluator& evaluator, const MeasuredOutputs& measured,
                               const std::vector<Place>& rounding) {
  ASSAY_ASSIGN_OR_RETURN(const ShadowValue root, evaluator.Evaluate(&rounding));
  std::vector<const ShadowValue*> values;
  AppendFloats(root, values);
  double share = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    const double error = measured.errors[k];
    if (error > 0) share = std::max(share, Distance(*values[k], *measured.values[k]) / error);
  }
  return share;
}

// Neighbours [begin, end) among the instructions that round, in program order.
struct Group {
  double share;
  size_t begin, end;

  size_t size() const { return end - begin; }
  // In the order in which they are cut: what can be cut, and of that the largest share, comes last.
  bool operator<(const Group& other) const {
    return std::pair(size() > 1, share) < std::pair(other.size() > 1, other.share);
  }
};

// Cuts the group with the largest share in two, again and again, until all are of one of the `count`
// instructions or `max_evaluations` calls of `share_of` are spent.
absl::StatusOr<std::vector<Group>> BisectByShare(
    size_t count, int64_t max_evaluations,
    absl::FunctionRef<absl::StatusOr<double>(size_t begin, size_t end)> share_of) {
  std::priority_queue<Group> groups;
  if (count == 1) {
    ASSAY_ASSIGN_OR_RETURN(const double share, share_of(0, 1));
    groups.push({share, 0, 1});
  } else if (count > 1) {
    groups.push({1, 0, count});  // all roundings make all of the error
  }
  for (int64_t left = max_evaluations; left >= 2 && !groups.empty() && groups.top().size() > 1; left -= 2) {
    const Group whole = groups.top();
    groups.pop();
    const size_t middle = (whole.begin + whole.end) / 2;
    for (const auto& [begin, end] : {std::pair(whole.begin, middle), std::pair(middle, whole.end)}) {
      ASSAY_ASSIGN_OR_RETURN(const double share, share_of(begin, end));
      groups.push({share, begin, end});
    }
  }
  std::vector<Group> result;
  for (; !groups.empty(); groups.pop()) result.push_back(groups.top());
  return result;
}

// Fills ShadowInstruction::share and group of the instructions that round.
absl::Status Attribute(ShadowEvaluator& evaluator, const MeasuredOutputs& measured, int64_t max_evaluations) {
  std::vector<Place> rounding;
  for (const auto& [place, found] : evaluator.found()) {
    if (found.local_ulps > 0) rounding.push_back(place);
  }
  const auto share_of = [&](size_t begin, size_t end) {
    const auto first = rounding.begin();
    return ShareOf(evaluator, measured,
                   {first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)});
  };
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Group> groups,
                         BisectByShare(rounding.size(), max_evaluations, share_of));
  for (const Group& group : groups) {
    for (size_t k = group.begin; k < group.end; ++k) {
      ShadowInstruction& found = evaluator.found()[rounding[k]];
      found.share = group.share;
      found.group = static_cast<int64_t>(group.begin);
      found.group_size = static_cast<int64_t>(group.size());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShadowReport> RunShadow(const Program& program, const DeviceInputs& inputs,
                                       const RunOptions& options) {
  ASSAY_RETURN_IF_ERROR(RefuseDynamicDimensions(program.module()));
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, program.PlanAsWritten());
  ShadowEvaluator evaluator(program, plan, inputs, options);
  ASSAY_ASSIGN_OR_RETURN(const ShadowValue root, evaluator.Evaluate(nullptr));
  MeasuredOutputs measured = Measure(root);
  const int64_t work = std::max<int64_t>(1, evaluator.work());
  ASSAY_RETURN_IF_ERROR(
      Attribute(evaluator, measured, std::min(kMaxEvaluations, std::max<int64_t>(2, kMaxWork / work))));
  ShadowReport report;
  report.outputs = std::move(measured.outputs);
  report.evaluations = evaluator.evaluations();
  for (auto& [place, found] : evaluator.found()) {
    if (found.runs > 0 || found.otherwise > 0 || !found.restarted.empty())
      report.instructions.push_back(std::move(found));
  }
  return report;
}

absl::StatusOr<std::vector<std::optional<double>>> ShadowErrorsOf(const Program& program,
                                                                  const DeviceInputs& inputs,
                                                                  const RunOptions& options,
                                                                  std::span<const ShadowElement> elements) {
  ASSAY_RETURN_IF_ERROR(RefuseDynamicDimensions(program.module()));
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, program.PlanAsWritten());
  ShadowEvaluator evaluator(program, plan, inputs, options);
  evaluator.Watch(elements);
  ASSAY_RETURN_IF_ERROR(evaluator.Evaluate(nullptr).status());
  return std::move(evaluator.errors());
}

}  // namespace assay
