// Audits of programs in tests.
#ifndef ASSAY_TESTS_CHECK_AUDIT_TESTING_H_
#define ASSAY_TESTS_CHECK_AUDIT_TESTING_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "check/audit.h"

namespace assay::testing {

inline Program AuditedProgram(const std::string& text) {
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *program;
}

inline AuditReport AuditOf(const std::string& text, std::vector<Literal> arguments, RunOptions options = {}) {
  std::vector<DeviceInputs> inputs(1);
  inputs[0].arguments = std::move(arguments);
  const absl::StatusOr<AuditReport> report =
      AuditRun(AuditedProgram(text), DeviceGrid{}, std::move(inputs), std::move(options));
  INFO(report.status());
  REQUIRE(report.ok());
  return *report;
}

// What the report says of a point, one line an instruction: "d depends 2/3 [1]: 7, 0", "d did not depend",
// "d may", "d always".
inline std::vector<std::string> Said(const AuditReport& report, AuditPoint point) {
  std::vector<std::string> lines;
  for (const AuditFinding& finding : report.findings) {
    if (finding.point != point) continue;
    if (finding.met > 0) {
      lines.push_back(finding.instruction + " depends " + std::to_string(finding.count) + "/" +
                      std::to_string(finding.of) + " " + finding.first);
    } else if (finding.runs > 0) {
      lines.push_back(finding.instruction + " did not depend");
    } else {
      lines.push_back(finding.instruction + (finding.always ? " always" : " may"));
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

// By the text.
inline Lines Read(const std::string& text, AuditPoint point) {
  return Said(AuditText(AuditedProgram(text).module()), point);
}
// In a run.
inline Lines Ran(const std::string& text, AuditPoint point, std::vector<Literal> arguments) {
  return Said(AuditOf(text, std::move(arguments)), point);
}

inline Literal Ints(std::vector<int64_t> values, ElementType type = ElementType::kS32) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Literal::FromInts(type, {&size, 1}, values);
}
inline Literal Floats(std::vector<double> values, ElementType type = ElementType::kF32) {
  const int64_t size = static_cast<int64_t>(values.size());
  return Literal::FromDoubles(type, {&size, 1}, values);
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_CHECK_AUDIT_TESTING_H_
