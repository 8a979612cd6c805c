// The conformance suite: what cases there are, and that they say what is open.
#include "check/suite/suite.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "check/suite/edge_values.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

SuiteOptions StrictOptions() {
  SuiteOptions options;
  options.profiles.push_back(*LoadProfile("strict"));
  return options;
}

SuiteCase CaseOf(const std::string& id) {
  SuiteOptions options = StrictOptions();
  options.only = {id};
  const absl::StatusOr<std::vector<SuiteCase>> cases = ChosenSuiteCases(options);
  REQUIRE(cases.ok());
  REQUIRE(cases->size() == 1);
  return (*cases)[0];
}

MadeCase Made(const std::string& id) {
  const absl::StatusOr<MadeCase> made = MakeCase(CaseOf(id), StrictOptions());
  INFO(id << made.status());
  REQUIRE(made.ok());
  return *made;
}

const Literal* Find(const MadeCase& made, const std::string& key) {
  for (const auto& [name, value] : made.arrays) {
    if (name == key) return &value;
  }
  return nullptr;
}

TEST_CASE("suite: every operation has cases or a reason, and ids are unique", "[suite]") {
  const absl::StatusOr<std::vector<SuiteCase>> cases = AllSuiteCases(1);
  REQUIRE(cases.ok());
  std::set<std::string> ids;
  std::map<Opcode, std::set<ElementType>> types;
  for (const SuiteCase& one : *cases) {
    INFO(one.id);
    CHECK(ids.insert(one.id).second);
    CHECK(std::count(one.id.begin(), one.id.end(), '/') == 2);
    types[one.op].insert(one.type);
  }
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto op = static_cast<Opcode>(i);
    INFO(Name(op));
    CHECK(types.contains(op) == ReasonWithoutCases(op).empty());
    // Elementwise operations: every type of the table.
    if (DefinitionOf(op).strip == nullptr || op == Opcode::kStochasticConvert) continue;
    for (int t = 0; t < kNumElementTypes; ++t) {
      const auto type = static_cast<ElementType>(t);
      if (op == Opcode::kBitcastConvert && (IsComplex(type) || Bits(type) == 6)) continue;
      if (DefinitionOf(op).types.Has(type)) CHECK(types[op].contains(type));
    }
  }
}

TEST_CASE("suite: edge values are of the kinds that their names say", "[suite]") {
  SuiteRandom random(1);
  std::map<EdgeKind, int> count;
  for (const EdgeValue& value : EdgeValues(ElementType::kF32, 0, random)) {
    ++count[value.kind];
    if (value.kind == EdgeKind::kSubnormals) CHECK(std::abs(value.value.r) < 0x1p-126);
    if (value.kind == EdgeKind::kZeros) CHECK(value.value.r == 0);
  }
  CHECK(count[EdgeKind::kZeros] == 2);
  CHECK(count[EdgeKind::kInfinities] == 2);
  CHECK(count[EdgeKind::kNans] == 1);
  CHECK(count[EdgeKind::kSubnormals] == 2);
  std::set<int64_t> values;
  for (const EdgeValue& value : EdgeValues(ElementType::kS8, 0, random)) values.insert(value.value.i);
  for (const int64_t wanted : {-128, -127, -1, 0, 1, 7, 8, 9, 126, 127}) CHECK(values.contains(wanted));
  CHECK(AllValues(ElementType::kF8E4M3FN).size() == 256);
  CHECK(AllValues(ElementType::kS4).size() == 16);
}

TEST_CASE("suite: elements that the specification leaves open are marked one by one", "[suite]") {
  // Zeros are a kind of their own: each quotient by zero is open, and no other.
  const MadeCase made = Made("divide/s32/zeros");
  REQUIRE(made.points.size() == 1);
  CHECK(made.points[0].point == "integer-division-by-zero");
  const Literal *divisor = Find(made, "arg1"), *open = Find(made, "open/out0");
  REQUIRE(open != nullptr);
  int64_t count = 0;
  for (int64_t i = 0; i < divisor->shape().num_elements(); ++i) {
    CHECK((divisor->GetInt(i) == 0) == (open->GetInt(i) != 0));
    count += open->GetInt(i);
  }
  CHECK(made.open == count);
  CHECK(made.open > 0);
  CHECK(made.open < made.elements);
}

TEST_CASE("suite: where StableHLO says what happens the case is judged", "[suite]") {
  for (const char* const id : {"dynamic-slice/f32/out-of-range", "maximum/f32/nans", "compare/f32/lt-special",
                               "gather/s8/out-of-range", "add/f32/subnormals"}) {
    const MadeCase made = Made(id);
    INFO(id);
    CHECK(made.open == 0);
    CHECK(made.points.empty());
    CHECK(made.elements > 0);
  }
  // What NaNs are among complex numbers nobody says.
  const MadeCase complex = Made("maximum/c64/nans");
  CHECK(complex.open == complex.elements);
  CHECK(complex.points[0].point == "complex-maximum");
  CHECK(Made("maximum/c64/zeros").open == 0);
  CHECK(Made("rng-bit-generator/u32/three-fry").open > 0);
}

TEST_CASE("suite: radii are those of the profile, and none where a result is exact", "[suite]") {
  const MadeCase exact = Made("negate/f32/ordinary");
  CHECK(Find(exact, "radius/strict/out0") == nullptr);
  CHECK(exact.unbounded == 0);
  // Correctly rounded by strict; off by ulps by xla-cpu.
  CHECK(Find(Made("exponential/f32/ordinary"), "radius/strict/out0") == nullptr);
  SuiteOptions options;
  options.profiles.push_back(*LoadProfile("xla-cpu"));
  const absl::StatusOr<MadeCase> wide = MakeCase(CaseOf("exponential/f32/ordinary"), options);
  REQUIRE(wide.ok());
  const Literal* const radius = Find(*wide, "radius/xla-cpu/out0");
  REQUIRE(radius != nullptr);
  CHECK(radius->GetDouble(0) > 0);
  CHECK(!Made("exponential/f32/ordinary").stablehlo.empty());
  // Where a part may be taken for zero the logarithm is open at its cut: at zero and to the left of it.
  const absl::StatusOr<MadeCase> flushed = MakeCase(CaseOf("log/c64/subnormals"), options);
  REQUIRE(flushed.ok());
  CHECK(flushed->unbounded > 0);
  const Literal *const operand = Find(*flushed, "arg0"), *const radii = Find(*flushed, "radius/xla-cpu/out0");
  for (int64_t i = 0; i < flushed->elements; ++i) {
    const std::complex<double> value = LoadElement(ElementType::kC64, operand->data() + 8 * i).c;
    const auto is_small = [](double part) { return std::abs(part) < 0x1p-126; };
    const bool is_exact =
        (value.real() == 0 || !is_small(value.real())) && (value.imag() == 0 || !is_small(value.imag()));
    const bool at_cut = is_small(value.imag()) && !(value.real() >= 0x1p-126);
    CHECK((!is_exact && at_cut) == std::isinf(radii->GetDouble(i)));
  }
  CHECK(Made("log/c64/subnormals").unbounded == 0);
  const MadeCase without = Made("stochastic-convert/f32/to-s8");
  CHECK(without.stablehlo.empty());
  CHECK(without.why_no_stablehlo.find("stochastic-convert") != std::string::npos);
}

TEST_CASE("suite: a case is the same whatever others there are", "[suite]") {
  SuiteOptions sample = StrictOptions();
  sample.sample = 40;
  const absl::StatusOr<std::vector<SuiteCase>> some = ChosenSuiteCases(sample);
  REQUIRE(some.ok());
  CHECK(some->size() == 40);
  for (const SuiteCase& one : *some) {
    const SuiteCase alone = CaseOf(one.id);
    CHECK(alone.program == one.program);
    REQUIRE(alone.arguments.size() == one.arguments.size());
    for (size_t k = 0; k < one.arguments.size(); ++k)
      CHECK(Literal::BitwiseEqual(alone.arguments[k], one.arguments[k]));
  }
  sample.seed = 2;
  const SuiteCase before = CaseOf("reduce/f32/add");
  sample.only = {before.id};
  CHECK(!Literal::BitwiseEqual((*ChosenSuiteCases(sample))[0].arguments[0], before.arguments[0]));
}

}  // namespace
}  // namespace assay
