#include "run/crosscheck.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/hash_map.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/literal_text.h"
#include "literal/random.h"
#include "run/elements_at.h"
#include "run/reference.h"
#include "run/reproducer.h"
#include "shape/index.h"

namespace assay {
namespace {

// Up to this work the reference makes the whole result: where elements can be computed alone,
// and where they can't.
constexpr double kAllWork = 1 << 6, kAllWorkWithoutRule = 1 << 11;
constexpr double kReproducerWork = 1 << 30;  // the reference makes the whole result for a reproducer
constexpr int64_t kTermsAtOnce = 1 << 16;

double Elements(const Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(shape.num_elements());
  double sum = 0;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) sum += Elements(element);
  }
  return sum;
}

std::span<const int32_t> MembersOf(const Step& step) {
  if (step.fusion != nullptr) return step.fusion->members;
  return {&step.instruction, 1};
}

double WorkOf(const Computation& computation, const Step& step) {
  double work = 0;
  for (int32_t member : MembersOf(step)) work += ReferenceWork(computation, computation.instructions[member]);
  return work;
}

// Differences between single elements: how many, and the worst.
class MismatchSummary {
 public:
  explicit MismatchSummary(const Shape& shape) : shape_(shape), type_(shape.element_type()) {}

  // `allowed`: what the kernel promised, besides the expected value.
  void Add(int64_t position, const std::byte* expected, const std::byte* actual,
           const std::string& allowed = {}) {
    ++count_;
    int64_t ulps = 0;
    if (const FloatFormat* format = Info(type_).format; format != nullptr && IsFloat(type_))
      ulps = UlpDistance(LoadElement(type_, expected).r, LoadElement(type_, actual).r, *format);
    if (count_ > 1 && ulps <= ulps_) return;
    ulps_ = ulps;
    DimVector index(shape_.rank());
    IndexOfPosition(position, shape_.sizes(), std::span<int64_t>(index.data(), index.size()));
    text_ = fmt::format("[{}]: expected {}, actual {}", fmt::join(index, ","), ElementToText(type_, expected),
                        ElementToText(type_, actual));
    if (IsFloat(type_)) text_ += ulps == INT64_MAX ? " (no number of ulps)" : fmt::format(" ({} ulp)", ulps);
    text_ += allowed;
  }

  absl::Status Status(size_t compared) const {
    if (count_ == 0) return absl::OkStatus();
    return ComparisonFailed(
        fmt::format("{} of {} compared elements wrong, the worst {}", count_, compared, text_));
  }

 private:
  const Shape& shape_;
  const ElementType type_;
  int64_t count_ = 0, ulps_ = 0;
  std::string text_;
};

std::vector<int64_t> AllPositions(int64_t n) {
  std::vector<int64_t> positions(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) positions[static_cast<size_t>(i)] = i;
  return positions;
}

void CompareElements(const Accuracy& accuracy, const Literal& expected, const Literal& actual,
                     std::span<const int64_t> positions, MismatchSummary& worst) {
  const ElementType type = actual.shape().element_type();
  const int64_t bytes = Bytes(type);
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::byte* const a = expected.data() + static_cast<int64_t>(i) * bytes;
    const std::byte* const b = actual.data() + positions[i] * bytes;
    const ExactElement exact{type, a};
    if (!accuracy.Allows(exact, b)) worst.Add(positions[i], a, b, accuracy.Allowed(exact));
  }
}

// All of a value, leaf by leaf, by an accuracy that looks at single values.
absl::Status CompareWhole(const Accuracy& accuracy, const Literal& expected, const Literal& actual) {
  if (&accuracy == &BitExact()) return CompareWithReference(expected, actual);
  if (actual.shape().IsTuple()) {
    for (int64_t i = 0; i < actual.tuple_size(); ++i)
      ASSAY_RETURN_IF_ERROR(CompareWhole(accuracy, expected.element(i), actual.element(i)));
    return absl::OkStatus();
  }
  if (!actual.shape().IsArray()) return absl::OkStatus();
  if (expected.runtime_sizes() != actual.runtime_sizes()) return CompareWithReference(expected, actual);
  const std::vector<int64_t> positions = AllPositions(actual.shape().num_elements());
  MismatchSummary worst(actual.shape());
  CompareElements(accuracy, expected, actual, positions, worst);
  return worst.Status(positions.size());
}

void CompareSums(std::span<const SumOfTerms> exact, const Accuracy& accuracy, const Literal& actual,
                 std::span<const int64_t> positions, MismatchSummary& worst) {
  const ElementType type = actual.shape().element_type();
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::byte* const b = actual.data() + positions[i] * Bytes(type);
    const ScalarValue rounded{.kind = ComputeKind::kReal,
                              .r = RoundToFormat(exact[i].sum, *Info(type).format)};
    std::byte a[8];
    StoreElement(type, rounded, a);
    const ExactElement element{type, a, &exact[i]};
    if (!accuracy.Allows(element, b)) worst.Add(positions[i], a, b, accuracy.Allowed(element));
  }
}

// What the reference runs of the step again counts from where the kernel began, and then no more.
class CountedOnce {
 public:
  CountedOnce(int64_t& step_units, int64_t before) : step_units_(step_units), after_(step_units) {
    step_units = before;
  }
  ~CountedOnce() { step_units_ = after_; }
  CountedOnce(const CountedOnce&) = delete;
  CountedOnce& operator=(const CountedOnce&) = delete;

 private:
  int64_t& step_units_;
  const int64_t after_;
};

absl::Status CheckSums(EvalContext& context, const StepValues& values, const Accuracy& accuracy,
                       const Literal& actual, std::span<const int64_t> positions) {
  const int64_t terms = TermsOfElement(values.computation, values.members).value_or(1);
  const size_t at_once =
      static_cast<size_t>(std::max<int64_t>(1, kTermsAtOnce / std::max<int64_t>(terms, 1)));
  MismatchSummary worst(actual.shape());
  for (size_t i = 0; i < positions.size(); i += at_once) {
    const auto some = positions.subspan(i, std::min(at_once, positions.size() - i));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<SumOfTerms> exact, SumsAt(context, values, some));
    CompareSums(exact, accuracy, actual, some, worst);
  }
  return worst.Status(positions.size());
}

// The results of an approximation at `positions` of its instruction,
// which are put in place of the right ones.
absl::Status CheckApproximation(const Approximation& approximation, const Instruction& instruction,
                                std::span<const int64_t> positions, const Literal& operand, Literal& value) {
  const ElementType type = value.shape().element_type();
  const int64_t bytes = Bytes(type);
  std::vector<std::byte> found(value.bytes().size());
  const std::byte* const in = operand.data();
  ASSAY_RETURN_IF_ERROR(approximation.run(std::ssize(positions), &in, found.data()));
  MismatchSummary worst(*instruction.shape);
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::byte* const a = value.data() + static_cast<int64_t>(i) * bytes;
    const std::byte* const b = found.data() + static_cast<int64_t>(i) * bytes;
    const ExactElement exact{type, a};
    if (approximation.accuracy->Allows(exact, b)) continue;
    worst.Add(positions[i], a, b,
              fmt::format(" of %{}{}", instruction.name, approximation.accuracy->Allowed(exact)));
  }
  std::copy(found.begin(), found.end(), value.MutableBytes().begin());
  return worst.Status(positions.size());
}

// Every approximation by itself, and what the other members make of its results.
absl::Status CheckMembers(EvalContext& context, const StepValues& values, const Kernel& kernel,
                          const Literal& actual, std::span<const int64_t> positions) {
  const auto replace = [&](const Instruction& member, std::span<const int64_t> at, const Literal& operand,
                           Literal& value) {
    const Approximation approximation = kernel.ApproximationOf(member);
    return approximation.run == nullptr ? absl::OkStatus()
                                        : CheckApproximation(approximation, member, at, operand, value);
  };
  MismatchSummary worst(actual.shape());
  for (size_t i = 0; i < positions.size(); i += kTermsAtOnce) {
    const auto some = positions.subspan(i, std::min<size_t>(kTermsAtOnce, positions.size() - i));
    ASSAY_ASSIGN_OR_RETURN(const Literal expected, ElementsAt(context, values, some, replace));
    CompareElements(kernel.accuracy(), expected, actual, some, worst);
  }
  return worst.Status(positions.size());
}

}  // namespace

RunCounts& RunCounts::OfProcess() {
  static auto* const counts = new RunCounts;
  return *counts;
}

uint64_t RunCounts::Next(const std::shared_ptr<const Kernel>& kernel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Count& count = counts_[kernel.get()];
  if (count.runs != 0 && !count.kernel.expired()) return ++count.runs;
  count = {kernel, 1};
  if (counts_.size() > most_) DropExpired();
  return 1;
}

void RunCounts::DropExpired() {
  absl::erase_if(counts_, [](const auto& count) { return count.second.kernel.expired(); });
  most_ = std::max(kFewest, 2 * counts_.size());
}

double ReferenceWork(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode == Opcode::kWhile) return HUGE_VAL;  // nobody knows how often it iterates
  double sum = Elements(*instruction.shape);
  for (int32_t operand : instruction.operands) sum += Elements(*computation.instructions[operand].shape);
  return std::max(sum, DefinitionOf(instruction.opcode).work({computation, instruction}).elements);
}

absl::Status CompareWithReference(const Literal& reference, const Literal& actual) {
  const Comparison comparison = CompareLiterals(reference, actual, {.bitwise = true});
  return comparison.ok() ? absl::OkStatus() : ComparisonFailed(comparison.Report());
}

CrossChecker::Extent CrossChecker::ExtentOf(const Computation& computation, const Step& step) {
  // Nearly every run ends here, so that a step of a microsecond must not wait for what follows.
  const bool samples = options_.crosscheck != Crosscheck::kFull;
  const uint64_t run = samples ? run_counts_->Next(step.kernel) : 0;
  if (samples && !std::has_single_bit(run)) return {};
  const bool bit_exact = &step.kernel->accuracy() == &BitExact();
  const std::span<const int32_t> members = MembersOf(step);
  const Shape& result = *computation.instructions[step.instruction].shape;
  const std::optional<int64_t> terms = TermsOfElement(computation, members);
  // What has no rule for single elements is computed again as a whole: a custom call.
  const bool as_whole = bit_exact || !terms;
  if (!samples) {
    if (as_whole) return {Extent::kAll, {}};
    return {Extent::kElements, AllPositions(result.num_elements())};
  }
  const double work = WorkOf(computation, step);
  if (as_whole && work <= kAllWork) return {Extent::kAll, {}};
  const int64_t n = result.IsArray() ? result.num_elements() : 0;
  if (!terms || n == 0)
    return {as_whole && work <= kAllWorkWithoutRule ? Extent::kAll : Extent::kNothing, {}};
  // The reference takes up to 5 us for a function, and 10 ns for a term of a sum; kernels 0.5 ns and 0.01 ns.
  const int64_t wanted =
      *terms == 1 ? std::clamp<int64_t>(n >> 19, 4, 64) : std::clamp<int64_t>(n >> 18, 2, 64);
  if (*terms > 1 && wanted * *terms > std::max<int64_t>(kTermsAtOnce / 4, (n * *terms) >> 13)) return {};
  Extent extent{Extent::kElements, {0, n - 1}};
  RandomSource random(DerivedSeed(static_cast<uint64_t>(step.instruction), run));
  while (static_cast<int64_t>(extent.positions.size()) < wanted)
    extent.positions.push_back(random.Between(0, n - 1));
  return extent;
}

absl::StatusOr<Literal> CrossChecker::Run(EvalContext& context, const Computation& computation,
                                          const Step& step, std::span<Literal> operands) {
  const Extent extent = ExtentOf(computation, step);
  if (extent.kind == Extent::kNothing) return step.kernel->Run(context, operands);
  std::vector<Literal> again(operands.begin(), operands.end());  // shared, so the kernel overwrites none
  const int64_t before = step_units_;
  ASSAY_ASSIGN_OR_RETURN(Literal result, step.kernel->Run(context, operands));
  ++checked_;
  const CountedOnce counted(step_units_, before);
  const std::span<const int32_t> reads = step.Reads(computation);
  const StepValues values{computation, MembersOf(step), reads, again};
  absl::Status status;
  Literal expected;
  if (extent.kind == Extent::kAll) {
    std::vector<Literal> to_use = again;
    ASSAY_ASSIGN_OR_RETURN(expected, RunReference(context, computation, step, std::span<Literal>(to_use)));
    status = CompareWhole(step.kernel->accuracy(), expected, result);
  } else {
    const Accuracy& accuracy = step.kernel->accuracy();
    switch (accuracy.basis()) {
      case Accuracy::Basis::kSum:
        status = CheckSums(context, values, accuracy, result, extent.positions);
        break;
      case Accuracy::Basis::kMembers:
        status = CheckMembers(context, values, *step.kernel, result, extent.positions);
        break;
      case Accuracy::Basis::kValue: {
        ASSAY_ASSIGN_OR_RETURN(expected, ElementsAt(context, values, extent.positions));
        MismatchSummary worst(result.shape());
        CompareElements(accuracy, expected, result, extent.positions, worst);
        status = worst.Status(extent.positions.size());
        break;
      }
    }
    if (!status.ok() && ExitCodeOf(status) != 1) return status;
  }
  if (status.ok()) return result;
  status = WithPrefix(status, fmt::format("cross-check: the kernel of engine {} differs from the reference",
                                          step.engine == nullptr ? "unknown" : step.engine->name()));
  if (options_.repro_dir.empty()) return status;
  std::span<const int64_t> positions;
  if (extent.kind == Extent::kElements && WorkOf(computation, step) > kReproducerWork) {
    positions = extent.positions;
    ASSAY_ASSIGN_OR_RETURN(expected, ElementsAt(context, values, positions));
  } else if (extent.kind == Extent::kElements) {
    std::vector<Literal> to_use = again;
    ASSAY_ASSIGN_OR_RETURN(expected, RunReference(context, computation, step, std::span<Literal>(to_use)));
  }
  return WithReproducer(status, {context.module(), values, expected, positions, result}, options_);
}

}  // namespace assay
