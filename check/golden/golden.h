// Goldens: one text file a case, that holds a program, its inputs, and what must come out (docs/goldens.md).
//
// The file is HLO or StableHLO text; the header is comment lines `// key: value` before it:
//   oracle: who worked out the expected values       decision: tag in docs/semantics.md
//   generator: who wrote the golden, with its version
//   rule: LABEL, LABEL       the rules of docs/spec that it shows
//   profile: xla-cpu         radius.out0: f32[2] {0x1p-23, inf}  (how far a backend that conforms may be off)
//   options: run flags, with whole numbers (--max-steps, --memory-limit, --timeout,
//   --seed, --replicas, --partitions)
//   arg0: f32[2] {1, 2}      out0: f32[2] {0x1p+0, nan}      infeed0: …     outfeed0: …     host_recv3/0: …
//   r0p1/arg0: …             r0p1/out0: …                    of one device (devices/device_io.h)
//   inputs: FILE.npz         outputs: FILE.npz          (beside the golden, for what is too long for a line)
//   tolerance: 1e-5          outputs agree within this share of the largest element (never with bit-exact
//   oracles) refuse: 3 part of the message
#ifndef ASSAY_CHECK_GOLDEN_GOLDEN_H_
#define ASSAY_CHECK_GOLDEN_GOLDEN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/engine.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "literal/compare.h"
#include "run/engine_list.h"

namespace assay {

struct Golden {
  std::string oracle, decision, generator;
  std::vector<std::string> rules;  // labels of docs/spec that it shows
  std::string profile;             // that `radii` were derived by; empty: none
  RunOptions options;
  DeviceGrid devices = {.replicas = 0, .partitions = 0};  // 0: as many as the program wants
  std::map<std::string, Literal> inputs;                  // arg…, infeed…
  std::map<std::string, Literal> outputs;                 // out…, outfeed…, probe/…
  std::map<std::string, Literal> radii;   // by the key of the output; none: it has to be exact
  std::string inputs_file, outputs_file;  // beside the golden; empty: none
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
  // BadInput where the file could not be read, and the limit of GoldenEngine that ended the run: it says
  // nothing of the golden then.
  absl::Status read;
};

// Who runs the goldens. What a golden's header says of limits and seeds is its own;
// limits hold where it says nothing.
struct GoldenEngine {
  std::span<const Engine* const> engines = EnginesOf();
  Crosscheck crosscheck = Crosscheck::kOff;
  std::string repro_dir = {}, repro_flags = {};  // RunOptions'
  int jobs = 0;
  std::function<bool()> interrupted = {};
  RunLimits limits = {};
  std::shared_ptr<RunGuard> parent_guard = nullptr;       // RunOptions'
  std::shared_ptr<const CustomOps> custom_ops = nullptr;  // Program::Load's
};

// Runs the golden and compares. An HloSnapshot is a golden too: its arguments, its result. Files that can't
// be read or parsed as goldens fail with the reason.
GoldenResult CheckGolden(const std::string& path, const GoldenEngine& engine = {});

// Compares what a backend gave, in an .npz file, with the golden's values: of a golden with a profile nothing
// may lie outside of what it allows. Nothing runs. `read` is not OK where one of the files can't be read.
GoldenResult CheckActual(const std::string& path, const std::string& actual);

// Every golden below the paths: files ending .hlo or .mlir and snapshots, those of a directory in sorted
// order, links to directories not followed. A path that is no directory is taken as it is,
// whether or not it is there.
struct FoundGoldens {
  std::vector<std::string> files;
  // Directories that could not be read to their end, or hold no golden; BadInput.
  std::vector<std::pair<std::string, absl::Status>> errors;
};
FoundGoldens FindGoldens(const std::vector<std::string>& paths);

// The file with its expected values replaced by what the reference gives now, and a diff of the lines.
// Refused (ComparisonFailed) where the oracle is not "assay": the engine under test never decides what is
// right.
struct GoldenUpdate {
  std::string new_text;
  std::string diff;  // empty: nothing to change
};
absl::StatusOr<GoldenUpdate> UpdateGolden(const std::string& path,
                                          const std::function<bool()>& interrupted = {});

// The text of a new golden, oracle "assay", for a program and its inputs, with what the reference gives under
// `options` on `devices` (Golden); of these the golden keeps the seed and the devices. The header of a golden
// that the program was is left out. With a profile (LoadProfile) it has the radii of what conforms to
// that, and names `generator`.
// InvalidProgram: a comment before the program reads as a line of a header; NotSupported: no header has a key
// for a result.
absl::StatusOr<std::string> RecordGolden(std::string_view program_text,
                                         const std::vector<std::pair<std::string, Literal>>& inputs,
                                         const DeviceGrid& devices = {.replicas = 0, .partitions = 0},
                                         const RunOptions& options = {},
                                         std::shared_ptr<const CustomOps> custom_ops = nullptr,
                                         const std::string& profile = "", const std::string& generator = "");

// The text without the lines at its beginning that say what a golden expects.
absl::StatusOr<std::string> WithoutHeader(std::string_view text);

}  // namespace assay

#endif  // ASSAY_CHECK_GOLDEN_GOLDEN_H_
