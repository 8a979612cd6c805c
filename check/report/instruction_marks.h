// What a comparison found of each instruction, for the graph and the table of a report.
#ifndef ASSAY_CHECK_REPORT_INSTRUCTION_MARKS_H_
#define ASSAY_CHECK_REPORT_INSTRUCTION_MARKS_H_

#include <optional>
#include <string>
#include <vector>

#include "check/derive_bounds.h"
#include "check/isolate/isolation.h"
#include "check/report/element_picture.h"

namespace assay {

struct InstructionMark {
  bool is_checked = false;               // the numbers below hold
  bool is_left_out = false;              // it could not be checked: `why`
  bool differs_only_in_program = false;  // outside where it runs with others, inside alone
  bool violates = false;                 // proven wrong, or gives an output that is outside
  Severity severity = Severity::kEqual;
  int64_t ulps = 0, elements = 0, outside = 0, undecided = 0, runs = 0;
  int64_t plausible = 0, implausible = 0;
  double share = 0, bound_ulps = 0;
  std::string why;
  std::string output;  // the outputs that it gives, by key
};

// By computation and instruction.
using InstructionMarks = std::vector<std::vector<InstructionMark>>;

// With every instruction's own verdict where it was isolated; else with those of the outputs, at the
// instructions that give them. An instruction of a computation that is called from several places has the
// worst of what was found.
InstructionMarks MarksOf(const Module& module, const std::vector<Conformance>& outputs,
                         const std::vector<DerivedBounds::Note>& notes, const Isolation* isolation);

// In words, short: "4 outside", "undecided", "2 ulps, 12 %"; empty where nothing is known.
std::string Summary(const InstructionMark& mark);
// "3 ulps"; what is no number of ulps (NaN, infinities) is said.
std::string UlpsText(int64_t ulps);

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_INSTRUCTION_MARKS_H_
