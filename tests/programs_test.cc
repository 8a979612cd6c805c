// The fifteen real programs, before and after XLA:CPU's own passes, against what XLA:CPU computed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_io.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Integers, predicates and random bits exactly; f32 within 1e-5 of the largest element, narrow floats within
// 2 ulps.
Tolerance ToleranceFor(ElementType type) {
  Tolerance tolerance;
  if (type == ElementType::kF32 || type == ElementType::kC64) tolerance.scale_rtol = 1e-5;
  if (IsFloat(type) && Bits(type) < 32) tolerance.ulps = 2;
  return tolerance;
}

NamedLiterals RunProgram(const fs::path& directory, const std::string& form) {
  const absl::StatusOr<std::string> text = ReadFile(directory / form);
  REQUIRE(text.ok());
  const absl::StatusOr<Program> program = Program::Load(form, *text);
  INFO(program.status());
  REQUIRE(program.ok());
  const auto arrays = ReadNpzFile(directory / "inputs.npz");
  REQUIRE(arrays.ok());
  absl::StatusOr<std::vector<Literal>> arguments = ArgumentsFrom(program->verified(), *arrays, nullptr);
  INFO(arguments.status());
  REQUIRE(arguments.ok());
  const absl::StatusOr<Literal> root = program->Run(*std::move(arguments));
  INFO(root.status());
  REQUIRE(root.ok());
  return ResultsOf(*root);
}

void CheckProgram(const fs::path& directory, const std::string& form) {
  INFO(directory.filename() << " " << form);
  const auto expected = ReadNpzFile(directory / "xla_cpu.npz");
  REQUIRE(expected.ok());
  const NamedLiterals results = RunProgram(directory, form);
  CHECK(results.size() == expected->size());
  for (const auto& [key, actual] : results) {
    INFO(key);
    REQUIRE(expected->count(key) == 1);
    const absl::StatusOr<Literal> wanted = DecodeNpy(key, expected->at(key), actual.shape());
    REQUIRE(wanted.ok());
    const Comparison comparison =
        CompareLiterals(*wanted, actual, ToleranceFor(actual.shape().element_type()));
    INFO(comparison.Report());
    CHECK(comparison.ok());
  }
}

// Another form of program.hlo gives its outputs, bit for bit.
void CheckSameBytes(const fs::path& directory, const std::string& form) {
  INFO(directory.filename() << " " << form);
  const NamedLiterals expected = RunProgram(directory, "program.hlo");
  const NamedLiterals results = RunProgram(directory, form);
  REQUIRE(results.size() == expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    CHECK(results[i].first == expected[i].first);
    CHECK(Literal::BitwiseEqual(results[i].second, expected[i].second));
  }
}

TEST_CASE("programs: the real programs agree with XLA:CPU", "[programs]") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory()) continue;
    ++count;
    CheckProgram(entry.path(), "program.hlo");
    CheckSameBytes(entry.path(), "program.pb");
    CheckProgram(entry.path(), "optimized.hlo");
  }
  CHECK(count == 15);
}

// JAX leaves chlo.erf_inv in StableHLO and expands it in HLO; only those results may differ
// (docs/semantics.md, chlo-expansion).
void CheckSameAsHlo(const fs::path& directory, const std::string& form) {
  INFO(directory.filename() << " " << form);
  const NamedLiterals expected = RunProgram(directory, "program.hlo");
  const NamedLiterals results = RunProgram(directory, form);
  CHECK(results.size() == expected.size());
  const std::string name = directory.filename();
  for (const auto& [key, actual] : results) {
    INFO(key);
    const auto wanted =
        std::find_if(expected.begin(), expected.end(),
                     [&wanted_key = key](const auto& entry) { return entry.first == wanted_key; });
    REQUIRE(wanted != expected.end());
    const bool expanded = (name == "branches" && key == "out0") || (name == "random_draws" && key == "out1");
    Tolerance tolerance;
    if (expanded) tolerance.ulps = 8;
    const Comparison comparison = CompareLiterals(wanted->second, actual, tolerance);
    INFO(comparison.Report());
    CHECK(comparison.ok());
    if (!expanded) CHECK(Literal::BitwiseEqual(wanted->second, actual));
  }
}

TEST_CASE("programs: StableHLO gives the bytes of HLO", "[programs]") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory()) continue;
    ++count;
    CheckSameAsHlo(entry.path(), "program.mlir");
    CheckSameAsHlo(entry.path(), "program.mlirbc");
  }
  CHECK(count == 15);
}

}  // namespace
}  // namespace assay
