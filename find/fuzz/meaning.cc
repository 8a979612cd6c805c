#include "find/fuzz/meaning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/quoted.h"
#include "base/run_guard.h"
#include "check/conformance.h"
#include "devices/run_devices.h"
#include "find/values/value_recorder.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/literal_text.h"

namespace assay::fuzz {
namespace {

// The choices that rewrites make when a test case is reduced: the same at each try.
constexpr uint64_t kSeed = 1;

RunOptions RunOptionsOf(const MeaningOptions& options) {
  RunOptions run = options.ask.run;
  run.parent_guard = WorkScope::Current();
  run.jobs = 1;
  return run;
}

DeviceGrid GridOfCase(const CheckedCase& test_case) {
  return {.replicas = 1, .partitions = test_case.module().num_partitions};
}

// The same arguments on each device.
std::vector<DeviceInputs> InputsOfCase(const CheckedCase& test_case) {
  DeviceInputs inputs;
  inputs.arguments = test_case.arguments();
  return std::vector<DeviceInputs>(static_cast<size_t>(GridOfCase(test_case).size()), inputs);
}

// By device.
absl::StatusOr<std::vector<Literal>> RunCase(const CheckedCase& test_case, const MeaningOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, test_case.program().PlanFor(options.ask.engines));
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<DeviceOutputs> outputs,
      RunDevices(*plan, GridOfCase(test_case), InputsOfCase(test_case), RunOptionsOf(options)));
  std::vector<Literal> roots;
  for (DeviceOutputs& of : outputs) roots.push_back(std::move(of.root));
  return roots;
}

std::string OnDevice(const CheckedCase& test_case, size_t id) {
  const DeviceGrid grid = GridOfCase(test_case);
  return grid.size() == 1 ? "" : grid.NameOf(static_cast<int64_t>(id)) + "/";
}

absl::StatusOr<std::string> BitsDiffer(const CheckedCase& one, const CheckedCase& other,
                                       const MeaningOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> expected, RunCase(one, options));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Literal> actual, RunCase(other, options));
  for (size_t id = 0; id < actual.size(); ++id) {
    const Comparison comparison = CompareLiterals(expected[0], actual[id], {});
    if (!comparison.ok()) return OnDevice(other, id) + comparison.Report();
  }
  return std::string();
}

// --- Where roundings have moved ---

bool IsFinite(const Literal& array) {
  const ElementType type = array.shape().element_type();
  if (!IsFloat(type) && !IsComplex(type)) return true;
  for (int64_t i = 0; i < array.shape().num_elements(); ++i) {
    const ScalarValue value = LoadElement(type, array.data() + i * Bytes(type));
    if (IsComplex(type) ? !std::isfinite(std::abs(value.c)) : !std::isfinite(value.r)) return false;
  }
  return true;
}

using ValuesByName = std::map<std::string, Literal>;

// The values of all instructions, of the first device and of the others.
absl::StatusOr<std::vector<ValuesByName>> ValuesOf(const CheckedCase& test_case,
                                                   const MeaningOptions& options) {
  const DeviceGrid grid = GridOfCase(test_case);
  ASSAY_ASSIGN_OR_RETURN(RunValues run, RunForValues(test_case.program(), grid, InputsOfCase(test_case),
                                                     RunOptionsOf(options), {}));
  std::vector<ValuesByName> values(static_cast<size_t>(grid.size()));
  for (auto& [name, value] : run.values) {
    size_t device = 0;
    for (size_t id = 0; grid.size() > 1 && id < values.size(); ++id) {
      if (const std::string prefix = OnDevice(test_case, id); name.starts_with(prefix)) {
        device = id;
        name.erase(0, prefix.size());
        break;
      }
    }
    if (value.shape().IsArray()) values[device].emplace(std::move(name), std::move(value));
  }
  return values;
}

// Whether all values are finite that one program alone has, or that differ.
bool ChangedAreFinite(const ValuesByName& one, const ValuesByName& other) {
  for (const auto& [name, value] : one) {
    const auto it = other.find(name);
    const bool is_same = it != other.end() && Literal::BitwiseEqual(value, it->second);
    if (!is_same && (!IsFinite(value) || (it != other.end() && !IsFinite(it->second)))) return false;
  }
  for (const auto& [name, value] : other) {
    if (!one.contains(name) && !IsFinite(value)) return false;
  }
  return true;
}

absl::StatusOr<bool> OnlyRoundingsMoved(const CheckedCase& one, const CheckedCase& other,
                                        const MeaningOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ValuesByName> before, ValuesOf(one, options));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ValuesByName> after, ValuesOf(other, options));
  for (const ValuesByName& of_device : after) {
    if (!ChangedAreFinite(before[0], of_device)) return false;
  }
  return true;
}

struct Range {
  double low, high;
};

// What the value that is not rounded may be. Of a complex number both parts lie within the radius.
struct Unrounded {
  Range real{}, imaginary{};
};

Unrounded UnroundedAt(const BoundedOutput& output, int64_t i) {
  const ElementType type = output.exact.shape().element_type();
  const ScalarValue value = LoadElement(type, output.exact.data() + i * Bytes(type));
  const double known = output.radius ? output.radius->GetDouble(i) : 0;
  const double radius = known >= 0 ? known : std::numeric_limits<double>::infinity();
  const auto around = [radius](double x) { return Range{x - radius, x + radius}; };
  if (IsComplex(type)) return {around(value.c.real()), around(value.c.imag())};
  double x = value.r;
  if (!IsFloat(type))
    x = value.kind == ComputeKind::kInt64 ? static_cast<double>(value.i)
                                          : static_cast<double>(value.u) + value.b;
  Unrounded range = {around(x), {}};
  if (output.low) {
    range.real.low = std::fmax(range.real.low, output.low->GetDouble(i));
    range.real.high = std::fmin(range.real.high, output.high->GetDouble(i));
  }
  return range;
}

// Results may have been rounded last: by half an ulp each.
bool Meet(const Range& a, const Range& b, const FloatFormat* format) {
  const auto ulp = [&](double x) {
    if (format == nullptr || !std::isfinite(x)) return 0.0;
    return std::ldexp(std::abs(x), -format->mantissa_bits) + format->min_subnormal;
  };
  const auto before = [&](const Range& x, const Range& y) {
    return x.high + ulp(x.high) < y.low - ulp(y.low);
  };
  return !before(a, b) && !before(b, a);
}

std::string ApartText(const BoundedOutput& one, const BoundedOutput& other, int64_t i) {
  const ElementType type = one.exact.shape().element_type();
  const auto text = [&](const BoundedOutput& output) {
    return fmt::format("{} (+-{:.3g})", ElementToText(type, output.exact.data() + i * Bytes(type)),
                       output.radius ? output.radius->GetDouble(i) : 0);
  };
  return fmt::format("{}: element {} is {} and {}: no number is within both bounds", other.key, i, text(one),
                     text(other));
}

// How no number can be what both outputs stand for; empty: one can, for each element.
std::string Apart(const BoundedOutput& one, const BoundedOutput& other) {
  const ElementType type = one.exact.shape().element_type();
  const FloatFormat* const format = Info(IsComplex(type) ? ComponentType(type) : type).format;
  for (int64_t i = 0; i < one.exact.shape().num_elements(); ++i) {
    const Unrounded a = UnroundedAt(one, i), b = UnroundedAt(other, i);
    const bool meet = Meet(a.real, b.real, format) && Meet(a.imaginary, b.imaginary, format);
    if (!meet && !std::isnan(a.real.low + b.real.low)) return ApartText(one, other, i);
  }
  return {};
}

// The same, by which results may also be left as they are: an allowance of half an ulp is that of the one
// result that is rounded correctly.
Profile WithUnrounded(Profile profile) {
  for (Profile::Ulps& line : profile.ulps) line.ulps = std::max(line.ulps, 1.0);
  return profile;
}

absl::StatusOr<std::string> BoundsDiffer(const CheckedCase& one, const CheckedCase& other,
                                         const MeaningOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const bool is_comparable, OnlyRoundingsMoved(one, other, options));
  if (!is_comparable) return std::string();
  const Profile profile = WithUnrounded(options.profile);
  const auto bounds = [&](const CheckedCase& test_case) {
    return RunWithBounds(test_case.program(), profile, GridOfCase(test_case), InputsOfCase(test_case),
                         RunOptionsOf(options), options.ask.engines);
  };
  ASSAY_ASSIGN_OR_RETURN(const BoundedOutputs before, bounds(one));
  ASSAY_ASSIGN_OR_RETURN(const BoundedOutputs after, bounds(other));
  for (size_t k = 0; k < after.outputs.size(); ++k) {
    std::string apart = Apart(before.outputs[k % before.outputs.size()], after.outputs[k]);
    if (!apart.empty()) return apart;
  }
  return std::string();
}

class MeaningTest final : public InterestTest {
 public:
  explicit MeaningTest(MeaningOptions options) : options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<OtherMeaning> found, FindOtherMeaning(test_case, options_));
    if (!found) return Interest{false, "programs that mean the same give the same"};
    return Interest{true, found->what};
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return fmt::format("assay diff {} rewritten.hlo --inputs {}", ShellArgument(program),
                       ShellArgument(inputs));
  }

 private:
  const MeaningOptions options_;
};

}  // namespace

absl::StatusOr<std::string> OutputsDiffer(const CheckedCase& one, const CheckedCase& other, Keeps keeps,
                                          const MeaningOptions& options) {
  return keeps == Keeps::kBits ? BitsDiffer(one, other, options) : BoundsDiffer(one, other, options);
}

std::string MeaningCommand(const OtherMeaning& other, std::string_view profile, const std::string& program,
                           const std::string& rewritten, const std::string& inputs) {
  const std::string files = ShellArgument(inputs);
  if (other.program.module().num_partitions > 1) {
    return fmt::format("assay diff --spmd {} {} --inputs {}", ShellArgument(rewritten),
                       ShellArgument(program), files);
  }
  const std::string bounds =
      other.keeps == Keeps::kBits ? "" : " --profile " + ShellArgument(std::string(profile));
  return fmt::format("assay diff {} {} --inputs {}{}", ShellArgument(program), ShellArgument(rewritten),
                     files, bounds);
}

absl::StatusOr<std::optional<OtherMeaning>> FindOtherMeaning(const CheckedCase& test_case,
                                                             const MeaningOptions& options) {
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    for (int32_t k = 0; k < static_cast<int32_t>(test_case.entry().instructions.size()); ++k) {
      const Instruction& instruction = test_case.entry().instructions[static_cast<size_t>(k)];
      if (!rewrite.applies(test_case.module(), instruction)) continue;
      ASSAY_RETURN_IF_ERROR(PollWork());
      TestCase rewritten = test_case.Copy();
      Choices choices(kSeed);
      if (!ApplyRewrite(rewrite, k, choices, rewritten.module).ok()) continue;
      absl::StatusOr<CheckedCase> other = CheckedCase::Of(std::move(rewritten));
      if (!other.ok()) return other.status();
      ASSAY_ASSIGN_OR_RETURN(const std::string differ,
                             OutputsDiffer(test_case, *other, rewrite.keeps, options));
      if (differ.empty()) continue;
      std::string what = fmt::format("'{}' of %{}: {}", rewrite.name, instruction.name, differ);
      return OtherMeaning{*std::move(other), rewrite.keeps, std::move(what)};
    }
  }
  return std::optional<OtherMeaning>();
}

std::unique_ptr<InterestTest> AskMeaning(MeaningOptions options) {
  return std::make_unique<MeaningTest>(std::move(options));
}

}  // namespace assay::fuzz
