// Goldens: one text file a case, that holds a program, its inputs, and what must come out (docs/goldens.md).
//
// The file is HLO text; the header is comment lines `// key: value` before it:
//   oracle: who worked out the expected values       decision: tag in docs/semantics.md
//   options: run flags (--max-steps, --memory-limit, --timeout, --seed, --replicas, --partitions)
//   arg0: f32[2] {1, 2}      out0: f32[2] {0x1p+0, nan}      infeed0: …     outfeed0: …
//   inputs: FILE.npz         outputs: FILE.npz          (beside the golden, for what is too long for a line)
//   tolerance: 1e-5          outputs agree within this share of the largest element (never with bit-exact
//   oracles) refuse: 3 part of the message
#ifndef ASSAY_GOLDEN_GOLDEN_H_
#define ASSAY_GOLDEN_GOLDEN_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluator/engine.h"
#include "evaluator/eval_context.h"
#include "literal/compare.h"
#include "shape/error.h"

namespace assay {

struct Golden {
  std::string oracle, decision;
  RunOptions options;
  std::map<std::string, Literal> inputs;   // arg…, infeed…
  std::map<std::string, Literal> outputs;  // out…, outfeed…
  std::string inputs_file, outputs_file;   // beside the golden; empty: none
  std::optional<double> tolerance;
  std::optional<int> refuse_code;
  std::string refuse_text;
  std::string_view program;  // the whole text: the header is comments
};

// Errors: InvalidProgram with the header line's position.
absl::StatusOr<Golden> ParseGolden(std::string_view text);

// What happened when a golden was run.
struct GoldenResult {
  std::string path;
  bool passed = false;
  std::string report;  // why not; empty if passed
};

// Who runs the goldens. What a golden's header says of limits and seeds is its own.
struct GoldenEngine {
  EngineChoice choice = EngineChoice::kExact;
  native::Isa isa = native::MachineIsa();
  std::span<const Engine* const> engines = {};  // where there are any, these instead
  Crosscheck crosscheck = Crosscheck::kOff;
  int jobs = 0;
};

// Runs the golden and compares. An HloSnapshot is a golden too: its arguments, its result. Files that can't be read or parsed as goldens fail with the reason.
GoldenResult CheckGolden(const std::string& path, const GoldenEngine& engine = {});

// Every golden below the paths (files ending .hlo, and snapshots; directories are walked in sorted order).
std::vector<std::string> FindGoldens(const std::vector<std::string>& paths);

// The file with its expected values replaced by what the reference gives now, and a diff of the lines.
// Refused (ComparisonFailed) where the oracle is not "assay": the engine under test never decides what is
// right.
struct GoldenUpdate {
  std::string new_text;
  std::string diff;  // empty: nothing to change
};
absl::StatusOr<GoldenUpdate> UpdateGolden(const std::string& path);

// The text of a new golden, oracle "assay", for a program and its inputs.
absl::StatusOr<std::string> RecordGolden(std::string_view program_text,
                                         const std::vector<std::pair<std::string, Literal>>& inputs);

}  // namespace assay

#endif  // ASSAY_GOLDEN_GOLDEN_H_
