// What an element of an output is made of: the instructions behind it, with the elements that each read
// (docs/find.md).
#ifndef ASSAY_FIND_ORIGIN_WHY_H_
#define ASSAY_FIND_ORIGIN_WHY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/run_devices.h"
#include "find/origin/described.h"
#include "run/program.h"

namespace assay {

// An element of an output: "out0[3,7]", "r0p1/out1.0"; without a device that of the first.
struct OutputElement {
  size_t device = 0;
  ShapeIndex leaf;
  int64_t position = 0;
};
// Errors are BadInput: it is no such text, no output of the program, or an index out of range; they say what
// there is.
absl::StatusOr<OutputElement> ParseOutputElement(const Module& module, const DeviceGrid& grid,
                                                 std::string_view text);

// Of an element that is a sum: products of a dot or convolution, or elements of a reduce by add.
struct WhySum {
  int64_t terms = 0;
  double magnitude = 0;         // sum |term|
  double factor = 0;            // sum |term| / |sum|: how much cancels; infinite where the sum is 0
  std::vector<double> largest;  // the terms whose elements are the children, by magnitude
};

struct WhyNode {
  DescribedElement element;
  std::optional<double> error_ulps;  // against its shadow of 256 bits; nullopt: it has none
  // Decimal digits by which the error is more than half an ulp.
  double digits_lost = 0;
  std::optional<WhySum> sum;
  std::vector<size_t> children;    // among the nodes, in the order of the operands
  std::vector<std::string> whole;  // operands of which any element may be part: "%x = f32[8]"
  int64_t more_children = 0;       // not shown
  bool is_left_out = false;        // its step was not recorded
};

struct WhyReport {
  std::vector<WhyNode> nodes;  // the first is the output's; one for each element
  int64_t left_out = 0;        // steps for which there was no room
  std::string no_shadow;       // why no element has a shadow; empty: they have
};

struct WhyOptions {
  size_t max_nodes = 200;
  size_t max_children = 8;  // of a node
  size_t max_terms = 3;     // of a sum
};

// Runs the program once, and once more by numbers of 256 bits where that can be done. Errors are the runs',
// and BadInput for an element beyond the run-time sizes.
absl::StatusOr<WhyReport> ExplainElement(const Program& program, const DeviceGrid& grid,
                                         std::vector<DeviceInputs> inputs, const RunOptions& run,
                                         const OutputElement& output, const WhyOptions& options = {});

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_WHY_H_
