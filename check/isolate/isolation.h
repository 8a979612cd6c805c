// What was found of the instructions of a program, each alone (isolate.h).
#ifndef ASSAY_CHECK_ISOLATE_ISOLATION_H_
#define ASSAY_CHECK_ISOLATE_ISOLATION_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "check/conformance.h"
#include "hlo/module.h"
#include "run/program.h"

namespace assay {

// An instruction alone, on the arrays with which the backend was wrong.
struct WrongAlone {
  Program program;
  std::vector<Literal> arguments;
};

struct IsolatedInstruction {
  enum class Verdict : uint8_t {
    kConforms,  // nothing is outside
    kDiffers,   // outside in the program, inside when the backend runs it alone: fused, contracted, reordered
    kViolates,  // outside when the backend runs it alone: proven wrong
    kLeftOut,   // not checked: `why`
  };
  std::string name, op, shape;
  std::string
      inside;  // instructions whose computations it is in, with "/" in between; empty: the entry computation
  ComputationId computation;  // where it stands in the program
  int32_t instruction = 0;
  Verdict verdict = Verdict::kConforms;
  std::string why;         // left out, or undecided
  int64_t runs = 0;        // how often it was looked at: iterations of loops
  int64_t iteration = -1;  // of the innermost loop, the first one where it is outside; -1: in no loop
  // Of all runs; key, error and worst are those of the first result that was outside, when run alone where it
  // was.
  Conformance result;
  // Of one that violates, with IsolateOptions::keeps_wrong; else null.
  std::shared_ptr<const WrongAlone> alone = nullptr;
};

struct Isolation {
  // In program order; what is called stands before its caller.
  std::vector<IsolatedInstruction> instructions;
  int64_t first_wrong = -1;    // the first one that violates
  int64_t first_differs = -1;  // the first one that differs
  // What could not be done as it should, in words: values that are Assay's, as the backend can't give its
  // own; loops that were followed for some iterations only.
  std::vector<std::string> notes;
  int64_t backend_runs = 0;
  bool ok() const { return first_wrong < 0; }
};

struct IsolateOptions {
  RunOptions run;
  std::span<const Engine* const> engines;
  int64_t max_sites = 1000;            // bodies of calls, branches and loops that are looked into
  int64_t max_iterations = 10000;      // of a loop
  int64_t max_loop_bytes = 256 << 20;  // of the values of all iterations of a loop
  bool keeps_wrong = false;            // IsolatedInstruction::alone is wanted
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_ISOLATION_H_
