// The program before all passes, which what passes make of it is held against.
#ifndef ASSAY_FIND_PASSES_BASELINE_H_
#define ASSAY_FIND_PASSES_BASELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/conformance.h"
#include "check/profile.h"
#include "find/programs/value_trace.h"

namespace assay {

// A program on the baseline's inputs. Where a partitioner has been over it, these are cut for its devices,
// and its outputs are put together again.
struct BaselineRun {
  ProgramInputs inputs;
  bool is_partitioned = false;
  std::vector<Literal> outputs;  // arrays of the result; of several devices one device's after the other's
};

// What became of one output.
struct OutputChange {
  std::string key;
  int64_t elements = 0;
  int64_t different = 0;  // from the baseline, in a bit
  int64_t max_ulps = 0;
  std::string worst;
  int64_t inside = 0, outside = 0, undecided = 0;  // by the baseline's bounds, with a profile
};

class Baseline {
 public:
  // Runs the program; with a profile, its bounds are derived too. `inputs` are of the program's grid; where
  // its devices do not meet each other, all get what device 0 gets.
  static absl::StatusOr<Baseline> Make(Program program, ProgramInputs inputs,
                                       const std::optional<Profile>& profile);

  const Program& program() const { return program_; }
  const ProgramInputs& inputs() const { return inputs_; }
  bool has_bounds() const { return !bounds_.empty(); }
  // Why there are no bounds though there is a profile; OK: there are.
  const absl::Status& bounds_status() const { return bounds_status_; }

  // InvalidProgram where it has other parameters or results, and is no partitioned form of the baseline.
  absl::StatusOr<BaselineRun> Run(const Program& other) const;
  // By output of the baseline.
  std::vector<OutputChange> Compare(const BaselineRun& run) const;

 private:
  explicit Baseline(Program program) : program_(std::move(program)) {}

  Program program_;
  ProgramInputs inputs_;
  bool is_whole_ = true;  // no partitioner has been over it: all devices give what device 0 gives
  std::vector<std::string> keys_;
  std::vector<Literal> outputs_;
  std::vector<BoundedOutput> bounds_;
  absl::Status bounds_status_;
};

}  // namespace assay

#endif  // ASSAY_FIND_PASSES_BASELINE_H_
