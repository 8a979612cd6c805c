// Running HLO text on literals, and comparing, for tests.
#include "builder/testing.h"

#include "fmt/format.h"
#include "hlo/text/parser.h"
#include "literal/literal_text.h"
#include "run/program.h"

namespace assay::testing {
namespace {

constexpr LiteralTextOptions kHex{.hex_floats = true};

std::string Described(const absl::Status& status) {
  const auto where = PositionOf(status);
  const std::string message(status.message());
  return where && where->known() ? fmt::format("line {}, column {}: {}", where->line, where->column, message)
                                 : message;
}

absl::StatusOr<Literal> RunOnValues(const Program& program, const std::vector<std::string>& arguments,
                                    const RunOptions& options) {
  std::vector<Literal> literals;
  for (const std::string& argument : arguments) {
    absl::StatusOr<Literal> literal = ParseValue(argument);
    if (!literal.ok()) {
      return WithPrefix(literal.status(), fmt::format("argument {} '{}'", literals.size(), argument));
    }
    literals.push_back(*std::move(literal));
  }
  return program.Run(std::move(literals), options);
}

Outcome Judged(const absl::StatusOr<Literal>& actual, std::string_view expected, const Tolerance& tolerance) {
  if (!actual.ok()) return Outcome("no result: " + Described(actual.status()));
  return Equals(*actual, expected, tolerance);
}

}  // namespace

absl::StatusOr<Literal> ParseValue(std::string_view text) { return ParseShapedLiteral(text, kHex); }

absl::StatusOr<Literal> Run(std::string_view hlo, const std::vector<std::string>& arguments,
                            const RunOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Module module, ParseHloText(hlo));
  ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
  return RunOnValues(program, arguments, options);
}

absl::StatusOr<Literal> Run(const builder::XlaComputation& computation,
                            const std::vector<std::string>& arguments, const RunOptions& options) {
  if (computation.IsNull()) return InvalidProgram({}, "the computation is null: its Build failed");
  return RunOnValues(Program(computation.verified()), arguments, options);
}

Outcome Equals(const Literal& actual, std::string_view expected, const Tolerance& tolerance) {
  const absl::StatusOr<Literal> wanted = ParseValue(expected);
  if (!wanted.ok()) {
    return Outcome(fmt::format("the expected value '{}': {}", expected, Described(wanted.status())));
  }
  const Comparison comparison = CompareLiterals(*wanted, actual, tolerance);
  if (comparison.ok()) return Outcome();
  return Outcome(fmt::format("{}\nexpected {} {}\nactual   {} {}", comparison.Report(),
                             wanted->shape().ToString(), LiteralToText(*wanted), actual.shape().ToString(),
                             LiteralToText(actual)));
}

Outcome EvaluatesTo(std::string_view hlo, const std::vector<std::string>& arguments,
                    std::string_view expected, const Tolerance& tolerance, const RunOptions& options) {
  return Judged(Run(hlo, arguments, options), expected, tolerance);
}

Outcome EvaluatesTo(const builder::XlaComputation& computation, const std::vector<std::string>& arguments,
                    std::string_view expected, const Tolerance& tolerance, const RunOptions& options) {
  return Judged(Run(computation, arguments, options), expected, tolerance);
}

Outcome FailsWith(std::string_view hlo, const std::vector<std::string>& arguments, std::string_view message,
                  const RunOptions& options) {
  const absl::StatusOr<Literal> result = Run(hlo, arguments, options);
  if (result.ok()) {
    return Outcome(fmt::format("wanted an error with '{}', got {} {}", message, result->shape().ToString(),
                               LiteralToText(*result)));
  }
  const std::string described = Described(result.status());
  if (described.find(message) != std::string::npos) return Outcome();
  return Outcome(fmt::format("wanted an error with '{}', got: {}", message, described));
}

}  // namespace assay::testing
