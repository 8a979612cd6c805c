// Programs and values as text, for tests: one instruction between parameters and root, evaluated.
#ifndef ASSAY_TESTS_RUN_RUN_TEXT_H_
#define ASSAY_TESTS_RUN_RUN_TEXT_H_

#include <string>
#include <vector>

#include "hlo/text/parser.h"
#include "literal/literal_text.h"
#include "run/program.h"
#include "shape/shape_text.h"

namespace assay {

// "f32[2] {1, nan}": a shape, then the value; hex floats are accepted.
inline Literal Value(const std::string& text) {
  const size_t space = text.find(' ');
  const absl::StatusOr<Shape> shape = ParseShape(text.substr(0, space));
  if (!shape.ok()) return Literal::Token();
  const absl::StatusOr<Literal> value = ParseLiteral(*shape, text.substr(space + 1), {.hex_floats = true});
  return value.ok() ? *value : Literal::Token();
}

inline absl::StatusOr<Literal> RunText(const std::string& program, const std::vector<std::string>& arguments,
                                       const RunOptions& options = {}) {
  ASSAY_ASSIGN_OR_RETURN(const Program loaded, Program::Load("program.hlo", program));
  std::vector<Literal> values;
  for (const std::string& argument : arguments) values.push_back(Value(argument));
  RunOptions checked = options;
  checked.crosscheck = Crosscheck::kFull;  // so that the test holds for the reference and for fast kernels
  return loaded.Run(std::move(values), checked);
}

// The program of one instruction over its operands.
inline std::string OpProgram(const std::string& op, const std::vector<std::string>& operands,
                             const std::string& result_shape, const std::string& attributes = "") {
  std::string program = R"(HloModule m
ENTRY e {
)",
              names;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    program += "  " + name + " = " + operands[i].substr(0, operands[i].find(' ')) + " parameter(" +
               std::to_string(i) + ")\n";
    names += (i > 0 ? ", " : "") + name;
  }
  return program + "  ROOT r = " + result_shape + " " + op + "(" + names + ")" + attributes + "\n}\n";
}

// True if the instruction gives `expected`, bit for bit.
inline bool Gives(const std::string& op, const std::vector<std::string>& operands,
                  const std::string& expected, const std::string& attributes = "") {
  const std::string shape = expected.substr(0, expected.find(' '));
  const absl::StatusOr<Literal> result = RunText(OpProgram(op, operands, shape, attributes), operands);
  const Literal wanted = Value(expected);
  const bool same = result.ok() && Literal::BitwiseEqual(*result, wanted);
  if (!same) {
    UNSCOPED_INFO(op << " gives "
                     << (result.ok() ? LiteralToText(*result, {.hex_floats = true})
                                     : std::string(result.status().message()))
                     << ", wanted " << LiteralToText(wanted, {.hex_floats = true}));
  }
  return same;
}

// The error of an instruction that is refused; empty where it is not.
inline std::string Refusal(const std::string& op, const std::vector<std::string>& operand_shapes,
                           const std::string& result_shape, const std::string& attributes = "") {
  const absl::StatusOr<Program> program =
      Program::Load("program.hlo", OpProgram(op, operand_shapes, result_shape, attributes));
  return program.ok() ? "" : std::string(program.status().message());
}

}  // namespace assay

#endif  // ASSAY_TESTS_RUN_RUN_TEXT_H_
