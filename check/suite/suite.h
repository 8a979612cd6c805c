// The conformance suite: cases with exact answers, and how far a backend may be from them, as files that
// another program reads (docs/conformance.md).
#ifndef ASSAY_CHECK_SUITE_SUITE_H_
#define ASSAY_CHECK_SUITE_SUITE_H_

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/profile.h"
#include "check/suite/suite_case.h"
#include "devices/run_devices.h"
#include "run/inputs/program_io.h"

namespace assay {

struct SuiteOptions {
  uint64_t seed = 1;
  std::vector<Profile> profiles;  // whose radii the files have; the first one is the default of who runs it
  std::vector<std::string> only;  // prefixes of ids; empty: all
  int64_t sample = 0;             // this many cases, spread over all by their ids; 0: all
  std::string generator;          // "assay 0.1.0"
  // Labels of the rules that the specification has for an operation.
  std::function<std::vector<std::string>(Opcode)> rules_of;
  RunOptions run;
};

// An output's elements that the specification leaves open, and where.
struct OpenPoint {
  std::string point;      // of the audit, or a decision of docs/semantics.md
  std::string operation;  // the instruction's
  int64_t count = 0;      // elements of the output; all of them, where they can't be told apart
};

// A case with its answers.
struct MadeCase {
  std::string hlo;
  std::string stablehlo;  // empty: StableHLO has no counterpart
  std::string why_no_stablehlo;
  NamedLiterals arrays;  // arg0, …, out0, …, open/out0, radius/PROFILE/out0, low/…, high/…
  std::vector<std::string> arguments, results;    // shapes
  int64_t elements = 0, open = 0, unbounded = 0;  // of results; unbounded: by the first profile
  std::vector<OpenPoint> points;
};

absl::StatusOr<std::vector<SuiteCase>> ChosenSuiteCases(const SuiteOptions& options);
// The error of a program that does not load names the case: it is the suite's.
absl::StatusOr<MadeCase> MakeCase(const SuiteCase& of, const SuiteOptions& options);

// Writes the cases and index.json to a folder, which is made: all of them, or none where there is an error
// (base/new_folder.h). The same options give the same bytes.
// Returns the number of cases.
absl::StatusOr<int64_t> WriteSuite(const std::string& folder, const SuiteOptions& options);

}  // namespace assay

#endif  // ASSAY_CHECK_SUITE_SUITE_H_
