#include "check/conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "check/undecided.h"
#include "check/undecided_loops.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/leaves.h"
#include "literal/literal_text.h"
#include "run/inputs/program_io.h"
#include "shape/index.h"

namespace assay {
namespace {

constexpr size_t kWorst = 5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Half the distance between the neighbours of a number, in its format: what it may have been rounded by at
// the end.
double HalfUlp(double value, const FloatFormat& format) {
  if (!std::isfinite(value) || value == 0) return format.min_subnormal / 2;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1, exponent - format.mantissa_bits - 1);
}

class Judgement {
 public:
  Judgement(const BoundedOutput& output, const Literal& actual, Conformance& result,
            const std::function<void(const JudgedElement&)>& each)
      : output_(output),
        actual_(actual),
        result_(result),
        each_(each),
        type_(output.exact.shape().element_type()) {}

  void Run() {
    const Shape& shape = output_.exact.shape();
    result_.elements = shape.num_elements();
    DimVector index(shape.sizes().size(), 0);
    for (int64_t i = 0; i < result_.elements; ++i) {
      JudgeElement(i, index);
      NextIndex(shape.sizes(), {index.data(), index.size()});
    }
    std::sort_heap(result_.worst.begin(), result_.worst.end(), Worse);
    if (ulps_.empty()) return;
    const auto middle = ulps_.begin() + static_cast<std::ptrdiff_t>(ulps_.size() / 2);
    std::nth_element(ulps_.begin(), middle, ulps_.end());
    result_.median_radius_ulps = *middle;
  }

 private:
  static bool Worse(const Conformance::Element& a, const Conformance::Element& b) {
    return a.share > b.share;
  }

  void JudgeElement(int64_t i, const DimVector& index) {
    const double radius = output_.radius.has_value() ? output_.radius->GetDouble(i) : 0;
    const std::byte* const exact = output_.exact.data() + i * Bytes(type_);
    const std::byte* const actual = actual_.data() + i * Bytes(type_);
    const bool is_equal = std::memcmp(exact, actual, static_cast<size_t>(Bytes(type_))) == 0;
    const int64_t ulps = is_equal ? 0 : Ulps(exact, actual);
    result_.largest_ulps = std::max(result_.largest_ulps, ulps);
    if (!(radius < kInfinity)) {
      return EstimateElement(i, index, ulps);
    }
    double share = IsFloat(type_) || IsComplex(type_) ? ShareOfNumbers(exact, actual, radius)
                                                      : ShareOfIntegers(exact, actual, radius);
    if (share > 0 && share <= 1 && IsBeyondEnds(i, actual)) share = kInfinity;
    if (share <= 1) {
      ++result_.inside;
      result_.largest_share = std::max(result_.largest_share, share);
    } else {
      ++result_.outside;
    }
    if (each_) each_({i, share <= 1 ? ElementVerdict::kInside : ElementVerdict::kOutside, share, ulps});
    if (share == 0 || (result_.worst.size() == kWorst && share <= result_.worst.front().share)) return;
    if (result_.worst.size() == kWorst) {
      std::pop_heap(result_.worst.begin(), result_.worst.end(), Worse);
      result_.worst.pop_back();
    }
    result_.worst.push_back(
        {index, ElementToText(type_, exact), ElementToText(type_, actual), radius, ulps, share});
    std::push_heap(result_.worst.begin(), result_.worst.end(), Worse);
  }

  // What no bound says anything of, by samples where there are some.
  void EstimateElement(int64_t i, const DimVector& index, int64_t ulps) {
    const std::byte* const actual = actual_.data() + i * Bytes(type_);
    const Estimate estimate =
        output_.samples != nullptr ? output_.samples->CompareToBounds(i, actual) : Estimate{};
    const double share = estimate.distance == 0 || estimate.verdict == ElementVerdict::kUndecided ? 0
                         : estimate.allowed > 0 ? estimate.distance / estimate.allowed
                                                : kInfinity;
    if (each_) each_({i, estimate.verdict, share, ulps});
    if (output_.samples != nullptr) result_.samples = output_.samples->count();
    result_.largest_spread = std::max(result_.largest_spread, estimate.spread);
    if (estimate.verdict == ElementVerdict::kUndecided) ++result_.unchecked;
    if (estimate.verdict == ElementVerdict::kPlausible) {
      ++result_.plausible;
      if (share <= result_.largest_plausible) return;
      result_.largest_plausible = share;
      result_.nearest_to_implausible = Shown(i, index, ulps, estimate, share);
    }
    if (estimate.verdict != ElementVerdict::kImplausible) return;
    ++result_.implausible;
    const auto at = std::find_if(result_.farthest.begin(), result_.farthest.end(),
                                 [&](const Conformance::Estimated& other) { return other.share < share; });
    if (at == result_.farthest.end() && result_.farthest.size() == kWorst) return;
    result_.farthest.insert(at, Shown(i, index, ulps, estimate, share));
    if (result_.farthest.size() > kWorst) result_.farthest.pop_back();
  }

  Conformance::Estimated Shown(int64_t i, const DimVector& index, int64_t ulps, const Estimate& estimate,
                               double share) const {
    const std::byte* const exact = output_.exact.data() + i * Bytes(type_);
    const std::byte* const actual = actual_.data() + i * Bytes(type_);
    return {index,
            ElementToText(type_, exact),
            ElementToText(type_, actual),
            ulps,
            estimate.spread,
            estimate.distance,
            estimate.allowed,
            share};
  }

  std::pair<double, double> Parts(const std::byte* element) const {
    const ElementType component = IsComplex(type_) ? ComponentType(type_) : type_;
    double real = 0, imaginary = 0;
    LoadStrip(component, element, 0, 1, &real);
    if (IsComplex(type_)) LoadStrip(component, element + Bytes(component), 0, 1, &imaginary);
    return {real, imaginary};
  }

  // The distance of two numbers as a share of the radius and half an ulp of the actual one, by which it may
  // have been rounded last: no number of the type lies in between,
  // so this lets nothing through where the radius is 0.
  double ShareOfNumbers(const std::byte* exact, const std::byte* actual, double radius) {
    const FloatFormat& format = *Info(IsComplex(type_) ? ComponentType(type_) : type_).format;
    const auto [er, ei] = Parts(exact);
    const auto [ar, ai] = Parts(actual);
    if (std::isfinite(er) && std::isfinite(ei))
      ulps_.push_back(radius / (2 * HalfUlp(std::hypot(er, ei), format)));
    const auto same = [](double e, double a) { return e == a || (std::isnan(e) && std::isnan(a)); };
    if (same(er, ar) && same(ei, ai)) return 0;
    if (!std::isfinite(er) || !std::isfinite(ei) || !std::isfinite(ar) || !std::isfinite(ai))
      return kInfinity;
    const double distance = std::hypot(ar - er, ai - ei);
    const double allowed = radius + HalfUlp(ar, format) + (IsComplex(type_) ? HalfUlp(ai, format) : 0);
    if (distance <= allowed) return std::min(1.0, radius > 0 ? distance / radius : 1);
    return radius > 0 ? distance / radius : kInfinity;
  }

  // What can be reached lies on one side of the exact value, or nearer on that side.
  // A number may have been rounded last, as above.
  bool IsBeyondEnds(int64_t i, const std::byte* actual) const {
    if (!output_.low.has_value() || IsComplex(type_)) return false;
    const double value = IsFloat(type_) ? Parts(actual).first : IntegerOf(actual);
    const double room = IsFloat(type_) && std::isfinite(value) ? HalfUlp(value, *Info(type_).format) : 0;
    return value + room < output_.low->GetDouble(i) || value - room > output_.high->GetDouble(i);
  }

  double IntegerOf(const std::byte* element) const {
    const ScalarValue value = LoadElement(type_, element);
    return value.kind == ComputeKind::kInt64 ? static_cast<double>(value.i)
                                             : static_cast<double>(value.u) + value.b;
  }

  double ShareOfIntegers(const std::byte* exact, const std::byte* actual, double radius) const {
    const int64_t distance = Ulps(exact, actual);
    if (distance == 0) return 0;
    return radius > 0 ? static_cast<double>(distance) / radius : kInfinity;
  }

  int64_t Ulps(const std::byte* exact, const std::byte* actual) const {
    if (IsFloat(type_) || IsComplex(type_)) {
      const FloatFormat& format = *Info(IsComplex(type_) ? ComponentType(type_) : type_).format;
      const auto [er, ei] = Parts(exact);
      const auto [ar, ai] = Parts(actual);
      return std::max(UlpDistance(er, ar, format), UlpDistance(ei, ai, format));
    }
    const ScalarValue e = LoadElement(type_, exact), a = LoadElement(type_, actual);
    constexpr uint64_t kZero = uint64_t{1} << 63;
    const uint64_t x = e.kind == ComputeKind::kInt64 ? kZero + static_cast<uint64_t>(e.i) : e.u + e.b;
    const uint64_t y = a.kind == ComputeKind::kInt64 ? kZero + static_cast<uint64_t>(a.i) : a.u + a.b;
    const uint64_t distance = x > y ? x - y : y - x;
    return static_cast<int64_t>(std::min<uint64_t>(distance, std::numeric_limits<int64_t>::max()));
  }

  const BoundedOutput& output_;
  const Literal& actual_;
  Conformance& result_;
  const std::function<void(const JudgedElement&)>& each_;
  const ElementType type_;
  std::vector<double> ulps_;  // of the radius
};

}  // namespace

std::vector<bool> SubnormalLeaves(const std::vector<Literal>& arguments) {
  std::vector<bool> subnormals;
  for (const Literal& argument : arguments) {
    ForEachLeaf(argument, [&](const ShapeIndex&, const Literal& leaf) {
      subnormals.push_back(leaf.shape().IsArray() && HasSubnormals(leaf));
    });
  }
  return subnormals;
}

absl::StatusOr<PlannedBounds> PlanBounds(const Program& program, const Profile& profile,
                                         const std::vector<bool>& subnormals,
                                         std::span<const Engine* const> engines, const LoopSet& with_forms) {
  ASSAY_ASSIGN_OR_RETURN(DerivedBounds bounds,
                         DeriveBounds(program.verified(), profile, subnormals, with_forms));
  ASSAY_ASSIGN_OR_RETURN(const Program derived, Program::OfModule(std::move(bounds.module)));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, derived.PlanFor(engines));
  return PlannedBounds{std::move(plan),
                       std::move(bounds.radius_of_leaf),
                       std::move(bounds.ends_of_leaf),
                       std::move(bounds.unchecked),
                       std::move(bounds.undecided_collectives),
                       std::move(bounds.loops_with_forms)};
}

namespace {

// Of one device, by the root of the derived program.
std::vector<BoundedOutput> OutputsOf(const PlannedBounds& bounds, const Literal& root) {
  const NamedLiterals values = ResultsOf(root.element(0));
  std::vector<BoundedOutput> result;
  size_t next = 0;
  int64_t leaf = 0;
  ForEachLeaf(root.element(0).shape(), [&](const ShapeIndex&, const Shape& shape) {
    const int64_t element = bounds.radius_of_leaf[leaf], ends = bounds.ends_of_leaf[leaf];
    ++leaf;
    if (!shape.IsArray() || next >= values.size()) return;  // a token has no key
    const auto& [key, value] = values[next++];
    BoundedOutput output{key, value, std::nullopt, std::nullopt, std::nullopt, leaf - 1, {}};
    if (element >= 0) output.radius = root.element(element);
    if (ends >= 0) {
      output.low = root.element(ends);
      output.high = root.element(ends + 1);
    }
    result.push_back(std::move(output));
  });
  return result;
}

}  // namespace

absl::StatusOr<std::vector<BoundedOutput>> RunBounds(const PlannedBounds& bounds, const DeviceGrid& grid,
                                                     std::vector<DeviceInputs> inputs, RunOptions options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs,
                         RunDevices(*bounds.plan, grid, std::move(inputs), std::move(options)));
  if (outputs.size() == 1) return OutputsOf(bounds, outputs[0].root);
  std::vector<BoundedOutput> all;
  for (size_t id = 0; id < outputs.size(); ++id) {
    for (BoundedOutput& output : OutputsOf(bounds, outputs[id].root)) {
      output.key_of_all = output.key;
      output.key = fmt::format("{}/{}", grid.NameOf(static_cast<int64_t>(id)), output.key);
      all.push_back(std::move(output));
    }
  }
  return all;
}

namespace {

bool IsUndecided(const BoundedOutput& output) {
  if (!output.radius.has_value()) return false;
  for (int64_t i = 0; i < output.radius->shape().num_elements(); ++i) {
    if (!(output.radius->GetDouble(i) < kInfinity)) return true;
  }
  return false;
}

// The second run, of which only outputs are taken that the first one left undecided.
absl::Status AddLoopForms(const Program& program, const Profile& profile, const std::vector<bool>& subnormals,
                          const DeviceGrid& grid, std::vector<DeviceInputs> inputs, const RunOptions& options,
                          std::span<const Engine* const> engines, BoundedOutputs& result) {
  ASSAY_ASSIGN_OR_RETURN(LoopSet loops,
                         LoopsForForms(program, profile, result.outputs, inputs, options, engines));
  if (loops.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(PlannedBounds bounds, PlanBounds(program, profile, subnormals, engines, loops));
  if (bounds.loops_with_forms.empty()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(std::vector<BoundedOutput> outputs,
                         RunBounds(bounds, grid, std::move(inputs), options));
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (IsUndecided(result.outputs[k])) result.outputs[k] = std::move(outputs[k]);
  }
  result.loops_with_forms = std::move(bounds.loops_with_forms);
  result.with_forms = std::move(loops);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoopSet> LoopsForForms(const Program& program, const Profile& profile,
                                      const std::vector<BoundedOutput>& outputs,
                                      const std::vector<DeviceInputs>& inputs, const RunOptions& options,
                                      std::span<const Engine* const> engines) {
  if (!profile.stores_loop_state) return LoopSet();
  std::vector<int64_t> leaves;
  for (const BoundedOutput& output : outputs) {
    if (IsUndecided(output)) leaves.push_back(output.leaf);
  }
  std::vector<int32_t> behind = LoopsBehind(program.module(), leaves);
  if (behind.size() > 1 && inputs.size() == 1) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> undecided,
                           FindUndecided(program, profile, inputs[0].arguments, options, engines));
    std::erase_if(behind, [&](int32_t k) { return !undecided[static_cast<size_t>(k)]; });
  }
  LoopSet loops;
  for (const int32_t k : behind) loops.merge(LoopsIn(program.module(), k));
  return loops;
}

absl::StatusOr<BoundedOutputs> RunWithBounds(const Program& program, const Profile& profile,
                                             const DeviceGrid& grid, std::vector<DeviceInputs> inputs,
                                             RunOptions options, std::span<const Engine* const> engines) {
  if (inputs.size() != 1 && grid.logical) {
    return NotSupported(
        {}, fmt::format("bounds of a program on {} logical devices; want 1, or a partitioned program",
                        inputs.size()));
  }
  // One program for all: what is subnormal on one device may be so on any.
  std::vector<bool> subnormals;
  for (const DeviceInputs& device : inputs) {
    const std::vector<bool> own = SubnormalLeaves(device.arguments);
    subnormals.resize(std::max(subnormals.size(), own.size()));
    for (size_t k = 0; k < own.size(); ++k) subnormals[k] = subnormals[k] || own[k];
  }
  ASSAY_ASSIGN_OR_RETURN(PlannedBounds bounds, PlanBounds(program, profile, subnormals, engines));
  if (inputs.size() > 1 && !bounds.undecided_collectives.empty()) {
    return NotSupported(
        {}, fmt::format("bounds on {} devices: whether the collectives in '{}' run depends on values "
                        "that are not exact; want exact ones",
                        inputs.size(), bounds.undecided_collectives));
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<BoundedOutput> outputs, RunBounds(bounds, grid, inputs, options));
  BoundedOutputs result{std::move(outputs), std::move(bounds.unchecked)};
  ASSAY_RETURN_IF_ERROR(
      AddLoopForms(program, profile, subnormals, grid, std::move(inputs), options, engines, result));
  return result;
}

Conformance CompareToBounds(const BoundedOutput& output, const Literal* actual,
                            const std::function<void(const JudgedElement&)>& each) {
  Conformance result;
  result.key = output.key;
  if (actual == nullptr) {
    result.error = "the backend gave no such output";
  } else if (!Shape::Compatible(output.exact.shape(), actual->shape())) {
    result.error = fmt::format("the backend gave {}, want {}", actual->shape().ToString(),
                               output.exact.shape().ToString());
  } else {
    Judgement(output, *actual, result, each).Run();
  }
  return result;
}

}  // namespace assay
