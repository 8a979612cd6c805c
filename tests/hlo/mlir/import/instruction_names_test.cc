// Names that count up, against numbers that are written one by one.
#include "hlo/mlir/import/instruction_names.h"

#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"

namespace assay::mlir {
namespace {

std::string Next(InstructionNames& names, Opcode opcode) {
  std::string name;
  names.Next(opcode, &name);
  return name;
}

TEST_CASE("names count over all opcodes", "[mlir]") {
  InstructionNames names;
  for (uint64_t i = 1; i < 12'000; ++i) {
    const auto opcode = static_cast<Opcode>(i % kNumOpcodes);
    REQUIRE(Next(names, opcode) == fmt::format("{}.{}", Name(opcode), i));
  }
}

TEST_CASE("names count through every number of digits", "[mlir]") {
  uint64_t power = 10;
  for (int digits = 2; digits <= 19; ++digits, power *= 10) {
    InstructionNames names(power - 3);
    for (uint64_t i = power - 2; i < power + 12; ++i) {
      const Opcode opcode = i % 2 == 0 ? Opcode::kOr : Opcode::kDynamicUpdateSlice;
      REQUIRE(Next(names, opcode) == fmt::format("{}.{}", Name(opcode), i));
    }
  }
}

}  // namespace
}  // namespace assay::mlir
