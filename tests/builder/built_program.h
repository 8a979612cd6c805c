// What the builder's tests share: values and shapes from text, programs built, printed,
// read back and evaluated.
#ifndef ASSAY_TESTS_BUILDER_BUILT_PROGRAM_H_
#define ASSAY_TESTS_BUILDER_BUILT_PROGRAM_H_

#include <catch2/catch.hpp>
#include <string>

#include "builder/builder.h"
#include "builder/testing.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "run/program.h"
#include "shape/shape_text.h"

namespace assay::builder {

inline Shape ShapeOf(const std::string& text) {
  const absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << shape.status());
  REQUIRE(shape.ok());
  return *shape;
}

inline XlaOp Value(XlaBuilder* b, const std::string& text) {
  const absl::StatusOr<Literal> literal = testing::ParseValue(text);
  INFO(text << literal.status());
  REQUIRE(literal.ok());
  return ConstantLiteral(b, *literal);
}

inline XlaComputation Must(const absl::StatusOr<XlaComputation>& computation) {
  INFO(computation.status());
  REQUIRE(computation.ok());
  return *computation;
}

// Builds; checks that the text is a fixed point of reading and printing and that the reading verifies.
inline XlaComputation Built(XlaBuilder* b) {
  const XlaComputation computation = Must(b->Build());
  const std::string text = computation.ToText();
  INFO(text);
  const absl::StatusOr<Module> read = ParseHloText(text);
  INFO(read.status());
  REQUIRE(read.ok());
  CHECK(ModuleToText(*read) == text);
  const auto verified = Verify(*read);
  INFO(verified.status());
  CHECK(verified.ok());
  return computation;
}

// The value of a program without parameters: "f32[2] {1, 2}".
inline std::string Result(XlaBuilder* b) {
  const XlaComputation computation = Built(b);
  const absl::StatusOr<Literal> value = Program(computation.verified()).Run({});
  INFO(computation.ToText() << value.status());
  REQUIRE(value.ok());
  return value->shape().ToString() + " " + LiteralToText(*value);
}

// The value of what `make` builds.
template <typename Make>
std::string Of(Make make) {
  XlaBuilder b("test");
  make(&b);
  return Result(&b);
}

// The instruction of the given opcode in what `make` builds, with its parameters.
template <typename Make>
std::string TextOf(const std::string& opcode, Make make) {
  XlaBuilder b("test");
  make(&b);
  const std::string text = Built(&b).ToText();
  const size_t at = text.find(" " + opcode + "(");
  if (at == std::string::npos) return "no " + opcode + " in " + text;
  const size_t begin = text.rfind('\n', at) + 3;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace assay::builder

#endif  // ASSAY_TESTS_BUILDER_BUILT_PROGRAM_H_
