// A StableHLO text and the HLO text that it must mean: the same random inputs give the same bits.
#ifndef ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_
#define ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_

#include <catch2/catch.hpp>
#include <string>

#include "evaluator/verify.h"
#include "hlo/mlir/import.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "run/executor.h"
#include "run/inputs/random_inputs.h"

namespace assay {

inline absl::StatusOr<VerifiedModule> Verified(absl::StatusOr<Module> module) {
  if (!module.ok()) return module.status();
  return Verify(*std::move(module));
}

// func.func @main of one operation line or more, which ends with the return.
inline std::string Main(const std::string& arguments, const std::string& results, const std::string& body) {
  return "func.func @main(" + arguments + ") -> " + results + " {\n" + body + "\n}\n";
}

inline void CheckSame(const std::string& mlir, const std::string& hlo) {
  INFO(mlir);
  const absl::StatusOr<VerifiedModule> actual = Verified(ParseStableHloText(mlir));
  INFO(actual.status());
  REQUIRE(actual.ok());
  INFO(ModuleToText(actual->module()));
  const absl::StatusOr<VerifiedModule> wanted = Verified(ParseHloText(hlo));
  INFO(wanted.status());
  REQUIRE(wanted.ok());
  for (uint64_t seed : {1, 2}) {
    const auto inputs = RandomInputs(*wanted, seed);
    REQUIRE(inputs.ok());
    const absl::StatusOr<Literal> a = Evaluate(*actual, *inputs);
    INFO(a.status());
    REQUIRE(a.ok());
    const absl::StatusOr<Literal> b = Evaluate(*wanted, *inputs);
    INFO(b.status());
    REQUIRE(b.ok());
    INFO(LiteralToText(*a) << "\nwanted\n" << LiteralToText(*b));
    CHECK(Literal::BitwiseEqual(*a, *b));
  }
}

// The value of a program without arguments.
inline std::string Evaluated(const std::string& mlir) {
  const absl::StatusOr<VerifiedModule> module = Verified(ParseStableHloText(mlir));
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<Literal> value = Evaluate(*module, {});
  return value.ok() ? LiteralToText(*value, {.hex_floats = true}) : std::string(value.status().message());
}

}  // namespace assay

#endif  // ASSAY_TESTS_HLO_MLIR_SAME_PROGRAM_H_
