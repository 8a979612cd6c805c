// Where two programs part: the first instruction of the second one whose value the first one does not have.
#ifndef ASSAY_FIND_PROGRAMS_FIRST_DIFFERENCE_H_
#define ASSAY_FIND_PROGRAMS_FIRST_DIFFERENCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/profile.h"
#include "find/programs/counterparts.h"
#include "find/programs/value_trace.h"

namespace assay {

// An evaluation of an instruction, as it is shown.
struct ShownRun {
  std::string computation, name, op, shape;
  int64_t ordinal = 0, runs = 1;  // which of how many
};

struct ElementPair {
  DimVector index;
  std::string first, second;
};

// An instruction of the second program, its counterpart in the first one, and how their values differ.
struct InstructionPair {
  ShownRun second;
  std::optional<ShownRun> first;
  MatchedBy matched_by = MatchedBy::kName;  // of `first`
  int64_t elements = 0, different = 0;      // bits; 0: the values are not comparable, or equal
  int64_t max_ulps = 0;
  std::vector<ElementPair> shown;  // the first few that differ
};

struct FirstDifference {
  InstructionPair pair;
  // Where the first difference is in an instruction without counterpart: the first one behind it that has
  // one, whose value differs.
  std::optional<InstructionPair> counterpart_behind;
  // With a profile: the first one whose value is outside of the bounds that its counterpart, an instruction
  // of the first program's entry computation, has there.
  std::optional<InstructionPair> outside;
  int64_t differing = 0;    // evaluations of the second program that differ and lead to differing outputs
  bool is_complete = true;  // else a trace was too long, and its end was left out
};

// An output that differs, as digests.
struct OutputPair {
  ValueDigest first, second;
};

// An evaluation of the second program differs where
// - the first one has no evaluation of the same opcode with the same operands and result, and
// - its counterpart has the same operands and another result, or no evaluation of the first program and
//   none of its parameters has one of its arrays.
// Of those that lead to a differing output through others that differ, the first one is taken. What makes
// values from nothing, and what only moves such values or has no counterpart and only moves, is passed over:
// a pass may bring in constants and transposes that mean nothing by themselves. From there it is gone back as
// long as an operand is not the counterpart's: a value may be one of the first program by chance.
// nullopt: no value of the two differs on the way to these outputs. `profile` may be null; with one,
// FirstDifference::outside is searched among the first kMaxBounded that have a counterpart by name, structure
// or operands.
constexpr size_t kMaxBounded = 32;
absl::StatusOr<std::optional<FirstDifference>> FindFirstDifference(
    const Program& first, const ProgramInputs& first_inputs, const Program& second,
    const ProgramInputs& second_inputs, const std::vector<OutputPair>& outputs, const ValueTrace& first_trace,
    const ValueTrace& second_trace, const Profile* profile = nullptr);

}  // namespace assay

#endif  // ASSAY_FIND_PROGRAMS_FIRST_DIFFERENCE_H_
