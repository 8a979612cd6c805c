// Which instruction made the first NaN of a run, and where it went (docs/find.md).
#ifndef ASSAY_FIND_ORIGIN_TRACE_H_
#define ASSAY_FIND_ORIGIN_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/run_devices.h"
#include "find/origin/described.h"
#include "find/origin/element_kinds.h"
#include "run/program.h"

namespace assay {

// An instruction that gave an element of the kind that no element of its operands is.
struct TracedProducer {
  DescribedElement element;                // the first such
  int64_t elements = 0;                    // of the value that are such
  int64_t runs = 1;                        // of the instruction in which it gave such elements
  std::vector<DescribedElement> operands;  // what the element is made of: infinities first, then by magnitude
  int64_t more_operands = 0;
};

struct TracedOutput {
  std::string key;                  // "out0", "r0p1/out1.0"
  int64_t elements = 0, count = 0;  // all, and those of the kind
  std::vector<int64_t> index;       // of the first of these
  // Whether the element comes from the first producer of the run: the first that does, if there is one.
  bool from_first = false;
  // From what gave that element to the output, as a walk back finds it; empty: count is 0.
  std::vector<DescribedElement> path;
  int64_t left_out_of_path = 0;  // behind the first half of it
  bool is_complete = true;       // the path begins at a producer; not where its step was left out
};

struct TraceReport {
  TraceKind kind = TraceKind::kNan;
  std::optional<TracedProducer> first;
  // Where no output has one of its elements: the instructions that read them and give none of the kind.
  std::vector<DescribedElement> ended_at;
  int64_t more_ended_at = 0;
  std::vector<TracedProducer> others;  // further producers, in the order of the run
  int64_t more_others = 0;
  std::vector<TracedOutput> outputs;  // of floats and complex numbers
  int64_t left_out = 0;               // steps for which there was no room: what is said may lack them
  // A limit on the elements that are looked at ended the search for producers, of which there may be more, or
  // the search for paths and ends.
  bool is_partial = false, is_search_cut = false;
};

// Runs the program once. Errors are the run's.
absl::StatusOr<TraceReport> TraceRun(const Program& program, const DeviceGrid& grid,
                                     std::vector<DeviceInputs> inputs, const RunOptions& run, TraceKind kind);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_TRACE_H_
