// Whether a backend's outputs are what a conforming backend may give.
#ifndef ASSAY_CHECK_CONFORMANCE_H_
#define ASSAY_CHECK_CONFORMANCE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/derive_bounds.h"
#include "check/samples.h"
#include "devices/run_devices.h"
#include "run/program.h"

namespace assay {

// An output of a program: the exact value, and how far conforming backends' may lie from it.
struct BoundedOutput {
  std::string key;  // "out0"
  Literal exact;
  std::optional<Literal> radius;  // none: it has to be exact
  // The smallest and the largest value that can be reached, where they say more than the radius:
  // NaN where nothing is known.
  std::optional<Literal> low, high;
  int64_t leaf = 0;  // of the program's root
  // The key in files that have one array for all devices; else empty.
  std::string key_of_all = {};
  std::shared_ptr<const OutputSamples> samples;  // null: nothing is estimated
};
struct BoundedOutputs {
  std::vector<BoundedOutput> outputs;
  std::vector<DerivedBounds::Note> unchecked;
  // A first run left elements undecided, and a second one had forms of the state of these loops.
  std::vector<std::string> loops_with_forms = {};
  LoopSet with_forms = {};  // the same, with those whose state has none
};

// The derived program, planned: to be run as often as wanted.
struct PlannedBounds {
  std::shared_ptr<const Plan> plan;
  std::vector<int64_t> radius_of_leaf, ends_of_leaf;
  std::vector<DerivedBounds::Note> unchecked;
  std::string undecided_collectives = {};
  std::vector<std::string> loops_with_forms = {};
};
// `subnormals`: SubnormalLeaves of the arguments that it will be run on. `with_forms` as DeriveBounds takes
// them.
absl::StatusOr<PlannedBounds> PlanBounds(const Program& program, const Profile& profile,
                                         const std::vector<bool>& subnormals,
                                         std::span<const Engine* const> engines = EnginesOf(),
                                         const LoopSet& with_forms = {});
std::vector<bool> SubnormalLeaves(const std::vector<Literal>& arguments);
absl::StatusOr<std::vector<BoundedOutput>> RunBounds(const PlannedBounds& bounds, const DeviceGrid& grid,
                                                     std::vector<DeviceInputs> inputs, RunOptions options);
// The loops that a second run is to have forms of, as these outputs, of a run without, have undecided
// elements; none: it would say no more. Where several could be why, the program is run once with flags of
// what is undecided.
absl::StatusOr<LoopSet> LoopsForForms(const Program& program, const Profile& profile,
                                      const std::vector<BoundedOutput>& outputs,
                                      const std::vector<DeviceInputs>& inputs, const RunOptions& options,
                                      std::span<const Engine* const> engines);

// Plans and runs the derived program, and where loops leave elements undecided once more, with forms of
// these. On several devices the outputs are each device's, with its name before their keys. Errors are
// DeriveBounds', those of the run, and NotSupported for logical devices (DeviceGrid).
absl::StatusOr<BoundedOutputs> RunWithBounds(const Program& program, const Profile& profile,
                                             const DeviceGrid& grid, std::vector<DeviceInputs> inputs,
                                             RunOptions options,
                                             std::span<const Engine* const> engines = EnginesOf());

// The array that a backend gave for the output; null: none.
template <typename Value>
const Value* ActualOf(const std::map<std::string, Value>& actual, const BoundedOutput& output) {
  auto it = actual.find(output.key);
  if (it == actual.end() && !output.key_of_all.empty()) it = actual.find(output.key_of_all);
  return it == actual.end() ? nullptr : &it->second;
}

// What became of one output.
struct Conformance {
  struct Element {
    DimVector index;
    std::string exact, actual;
    double radius = 0;
    int64_t ulps = 0;  // from exact to actual
    double share =
        0;  // the distance as a share of the radius; 0 where there is no distance, +inf beyond a radius of 0
  };
  std::string key;
  std::string error;  // there is nothing to compare: why
  // One of the five words each. What the bounds leave undecided is plausible, implausible or unchecked.
  int64_t elements = 0, inside = 0, outside = 0, plausible = 0, implausible = 0, unchecked = 0;
  double largest_share = 0;       // of elements inside
  int64_t largest_ulps = 0;       // of all, undecided ones included
  double median_radius_ulps = 0;  // of checked elements of floats: how sharp the bound is
  std::vector<Element> worst;     // those outside first, the largest share first
  struct Estimated {
    DimVector index;
    std::string exact, actual;
    int64_t ulps = 0;
    double spread = 0;    // the largest distance of a sample from the exact value
    double distance = 0;  // of the actual value; +inf: no sample is like it
    double allowed = 0;   // the largest distance that is plausible
    double share = 0;     // of that; +inf: no sample is like it
  };
  int64_t samples = 0;                              // that estimates are made from; 0: none
  double largest_plausible = 0;                     // share of plausible elements
  std::optional<Estimated> nearest_to_implausible;  // the plausible element with that share; none: it is 0
  double largest_spread = 0;                        // of the elements that bounds leave undecided
  std::vector<Estimated> farthest;                  // implausible elements, the largest share first

  bool ok(bool proven_only = false) const {
    return error.empty() && outside == 0 && (proven_only || implausible == 0);
  }
};

// One element, as it was judged.
struct JudgedElement {
  int64_t position = 0;  // row-major
  ElementVerdict verdict = ElementVerdict::kInside;
  double share =
      0;  // as Conformance::Element's; of an estimate, as Conformance::Estimated's; 0 where it is undecided
  int64_t ulps = 0;  // from exact to actual
};
// The actual value of the output; null: the backend has none. Each element is told to `each`, in order.
Conformance CompareToBounds(const BoundedOutput& output, const Literal* actual,
                            const std::function<void(const JudgedElement&)>& each = {});

}  // namespace assay

#endif  // ASSAY_CHECK_CONFORMANCE_H_
