// A case of the conformance suite before it is evaluated: a program of one operation, and its arguments.
#ifndef ASSAY_CHECK_SUITE_SUITE_CASE_H_
#define ASSAY_CHECK_SUITE_SUITE_CASE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "evaluator/audit.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

struct SuiteCase {
  std::string id;  // op/type/what: stable, and the name of its files
  Opcode op = Opcode::kAbs;
  ElementType type = ElementType::kPred;  // the row of the table it is in
  std::string what;
  std::vector<std::string> tags;
  std::string program;  // HLO text
  std::vector<Literal> arguments;
  // Points of the audit that the program meets, but whose values do not reach its results.
  std::vector<AuditPoint> settled;
  // What leaves the results open besides points of the audit: a decision of docs/semantics.md, or nothing.
  std::string open_by;
};

// All cases, by id. The same seed gives the same cases, and a case is the same whatever others there are.
// An error is of a case's own: its arguments can't be read.
absl::StatusOr<std::vector<SuiteCase>> AllSuiteCases(uint64_t seed);

using AddCase = std::function<void(SuiteCase)>;
// Operations that give each element from those at its index: edge values, alone or in pairs.
void AddElementwiseCases(uint64_t seed, const AddCase& add);
// A program with "$T" in the place of the element type. Arguments are separated by ';', each a shape behind
// how it is filled ("edges $T[4]", "ordinary $T[2,3]", "zero $T[]", "one", "least", "largest"), or with its
// value ("s32[2] {-1, 5}").
struct SuiteTemplate {
  Opcode op;
  std::string_view what;
  TypeSet types;
  std::string_view program;  // behind "HloModule NAME"
  std::string_view arguments;
  std::string_view tags = "";  // separated by blanks
  std::vector<AuditPoint> settled = {};
};
const std::vector<SuiteTemplate>& MoveTemplates();       // that move elements
const std::vector<SuiteTemplate>& ReductionTemplates();  // sums, windows, contractions, solvers
const std::vector<SuiteTemplate>& ControlTemplates();    // order, control flow, structure, random bits
absl::Status AddTemplateCases(uint64_t seed, const AddCase& add);

// Why an operation has no case, where it has none: it needs several devices or the host, it is part of
// another one, or its result is left open. Empty: it has cases.
std::string_view ReasonWithoutCases(Opcode op);

}  // namespace assay

#endif  // ASSAY_CHECK_SUITE_SUITE_CASE_H_
