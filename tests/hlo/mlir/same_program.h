// A StableHLO text and the HLO text that it must mean: the same random inputs give the same bits.
#ifndef ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_
#define ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_

#include <catch2/catch.hpp>
#include <string>

#include "hlo/load/stablehlo.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "run/inputs/random_inputs.h"
#include "run/program.h"

namespace assay {

inline absl::StatusOr<Program> Verified(absl::StatusOr<Module> module) {
  if (!module.ok()) return module.status();
  return Program::OfModule(*std::move(module));
}

// func.func @main of one operation line or more, which ends with the return.
inline std::string Main(const std::string& arguments, const std::string& results, const std::string& body) {
  return "func.func @main(" + arguments + ") -> " + results + " {\n" + body + "\n}\n";
}

inline void CheckSame(const std::string& mlir, const std::string& hlo) {
  INFO(mlir);
  const absl::StatusOr<Program> actual = Verified(ParseStableHloText(mlir));
  INFO(actual.status());
  REQUIRE(actual.ok());
  INFO(ModuleToText(actual->module()));
  const absl::StatusOr<Program> wanted = Verified(ParseHloText(hlo));
  INFO(wanted.status());
  REQUIRE(wanted.ok());
  for (uint64_t seed : {1, 2}) {
    const auto inputs = RandomInputs(wanted->verified(), seed);
    REQUIRE(inputs.ok());
    const absl::StatusOr<Literal> a = actual->Run(*inputs);
    INFO(a.status());
    REQUIRE(a.ok());
    const absl::StatusOr<Literal> b = wanted->Run(*inputs);
    INFO(b.status());
    REQUIRE(b.ok());
    INFO(LiteralToText(*a) << "\nwanted\n" << LiteralToText(*b));
    CHECK(Literal::BitwiseEqual(*a, *b));
  }
}

// The value of a program without arguments.
inline std::string Evaluated(const std::string& mlir) {
  const absl::StatusOr<Program> program = Verified(ParseStableHloText(mlir));
  if (!program.ok()) return std::string(program.status().message());
  const absl::StatusOr<Literal> value = program->Run({});
  return value.ok() ? LiteralToText(*value, {.hex_floats = true}) : std::string(value.status().message());
}

}  // namespace assay

#endif  // ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_
