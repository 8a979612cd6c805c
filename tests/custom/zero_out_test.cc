// The document's running example in its stages, in programs made by the builder: through the wrappers that
// its registration gives, to the kernels of a library that was built apart. Results are worked by hand.
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <iterator>

#include "builder/builder.h"
#include "custom/attr_config.h"
#include "custom/gradient_program.h"
#include "custom/library.h"
#include "custom/op_document.h"
#include "fmt/format.h"
#include "tests/custom/library_file.h"
#include "tests/run/run_text.h"

namespace assay::builder::zero_out {
#include "tests/custom/zero_out_wrappers.inc"
}  // namespace assay::builder::zero_out

namespace assay::custom {
namespace {

using builder::XlaBuilder;
using builder::XlaOp;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;
namespace wrappers = builder::zero_out;

const OpSet& ZeroOutOps() {
  static const std::shared_ptr<const OpSet> ops = [] {
    OpRegistry registry;
    const auto loaded = LoadOps(registry, LibraryFileOf("libraries/zero_out"));
    INFO(loaded.status());
    REQUIRE(loaded.ok());
    return registry.ops();
  }();
  return *ops;
}

// The parameters of a program, the values they get, and its instructions.
struct Built {
  std::vector<std::string> arguments;  // "s32[2] {1, 2}"
  std::function<void(XlaBuilder*, const std::vector<XlaOp>&)> write;
};

absl::StatusOr<Program> ZeroOutProgram(const Built& built) {
  XlaBuilder b("zero_out");
  b.SetCustomOps(std::shared_ptr<const OpSet>(std::shared_ptr<const OpSet>(), &ZeroOutOps()));
  std::vector<XlaOp> parameters;
  for (const std::string& argument : built.arguments) {
    const auto i = static_cast<int64_t>(parameters.size());
    parameters.push_back(builder::Parameter(&b, i, Value(argument).shape(), fmt::format("x{}", i)));
  }
  built.write(&b, parameters);
  ASSAY_ASSIGN_OR_RETURN(const builder::XlaComputation computation, b.Build());
  return Program(computation.verified());
}

// The result by each engine on each number of threads, which are the same: its text, or the error.
std::string GivenBy(const Built& built) {
  const absl::StatusOr<Program> program = ZeroOutProgram(built);
  if (!program.ok())
    return fmt::format("exit {}: {}", ExitCodeOf(program.status()), std::string(program.status().message()));
  std::string first;
  for (const EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
    for (const int jobs : {1, 2, 7}) {
      std::vector<Literal> values;
      for (const std::string& argument : built.arguments) values.push_back(Value(argument));
      RunOptions options;
      options.jobs = jobs;
      const absl::StatusOr<Literal> result = program->Run(std::move(values), options, EnginesOf(engine));
      const std::string text = result.ok() ? LiteralToText(*result)
                                           : fmt::format("exit {}: {}", ExitCodeOf(result.status()),
                                                         std::string(result.status().message()));
      if (first.empty()) first = text;
      CHECK(text == first);
    }
  }
  return first;
}

using OneCall = XlaOp (*)(XlaBuilder*, XlaOp, const Shape&);
std::string GivenByOne(OneCall call, const std::string& argument) {
  return GivenBy({{argument}, [&](XlaBuilder* b, const std::vector<XlaOp>& x) {
                    call(b, x[0], Value(argument).shape());
                  }});
}

std::string GivenByAttribute(int64_t preserve_index, const std::string& argument) {
  return GivenBy({{argument}, [&](XlaBuilder* b, const std::vector<XlaOp>& x) {
                    wrappers::AcmeZeroOut(b, x[0], Value(argument).shape(), preserve_index);
                  }});
}

constexpr char kFive[] = "s32[5] {5, 4, 3, 2, 1}";

}  // namespace

TEST_CASE("zero out by the builder: the wrappers are those of the registration", "[custom]") {
  std::ifstream file(ASSAY_SOURCE_DIR "/tests/custom/zero_out_wrappers.inc");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::string wanted;
  for (const auto& [name, op] : ZeroOutOps().ops()) wanted += CppWrapper(op->interface()) + "\n";
  CHECK(text == wanted);
}

TEST_CASE("zero out by the builder: plain, and with validation, two operations of one library", "[custom]") {
  CHECK(GivenByOne(wrappers::AcmeZeroOutFirst, kFive) == "{5, 0, 0, 0, 0}");
  CHECK(GivenByOne(wrappers::AcmeZeroOutFirst, "s32[2,2] {{1, 2}, {3, 4}}") == "{ { 1, 0 }, { 0, 0 } }");
  CHECK(GivenByOne(wrappers::AcmeZeroOutFirst, "s32[0] {}") == "{}");
  CHECK(GivenByOne(wrappers::AcmeZeroOutVector, kFive) == "{5, 0, 0, 0, 0}");
  CHECK_THAT(GivenByOne(wrappers::AcmeZeroOutVector, "s32[2,1] {{5}, {4}}"),
             StartsWith("exit 5: op Acme.ZeroOutVector: expected a vector, got [2,1]"));
  CHECK(GivenBy({{kFive}, [](XlaBuilder* b, const std::vector<XlaOp>& x) {
                   const Shape shape = Value(kFive).shape();
                   const XlaOp first = wrappers::AcmeZeroOutFirst(b, x[0], shape);
                   builder::Add(first, wrappers::AcmeZeroOutVector(b, x[0], shape));
                 }}) == "{10, 0, 0, 0, 0}");
}

TEST_CASE("zero out by the builder: an attribute and its default", "[custom]") {
  CHECK(GivenByAttribute(2, kFive) == "{0, 0, 3, 0, 0}");
  CHECK(GivenByAttribute(4, "s32[2,3] {{1, 2, 3}, {4, 5, 6}}") == "{ { 0, 0, 0 }, { 0, 5, 0 } }");
  CHECK(GivenBy({{kFive}, [](XlaBuilder* b, const std::vector<XlaOp>& x) {
                   wrappers::AcmeZeroOut(b, x[0], Value(kFive).shape());
                 }}) == "{5, 0, 0, 0, 0}");
  CHECK_THAT(GivenByAttribute(5, kFive),
             StartsWith("exit 5: op Acme.ZeroOut: preserve_index is 5, the input has 5 elements"));
  CHECK_THAT(GivenByAttribute(-1, kFive),
             StartsWith("exit 3: ") &&
                 Contains("attr 'preserve_index' of op Acme.ZeroOut: value -1 is less than 0"));
}

TEST_CASE("zero out by the builder: polymorphic over types", "[custom]") {
  for (const std::string type : {"f32", "f64", "bf16"})
    CHECK(GivenByAttribute(1, type + "[2] {1.5, -0.25}") == "{0, -0.25}");
  CHECK_THAT(GivenByAttribute(1, "s8[2] {1, 2}"),
             StartsWith("exit 3: ") && Contains("op Acme.ZeroOut: value s8 is none of f32, f64, s32, bf16"));
}

TEST_CASE("zero out by the builder: over lists", "[custom]") {
  const auto lists = [](auto call, const std::string& second, const std::string& result) {
    return GivenBy({{"s32[2] {1, 2}", second},
                    [&](XlaBuilder* b, const std::vector<XlaOp>& x) { call(b, x, *ParseShape(result)); }});
  };
  CHECK(lists(wrappers::AcmeZeroOutEach, "s32[3] {3, 4, 5}", "(s32[2], s32[3])") == "( {1, 0}, {3, 0, 0} )");
  CHECK(lists(wrappers::AcmeZeroOutMixed, "f32[2] {3, 4}", "(s32[2], f32[2])") == "( {1, 0}, {3, 0} )");
  CHECK_THAT(lists(wrappers::AcmeZeroOutEach, "f32[2] {3, 4}", "(s32[2], f32[2])"),
             StartsWith("exit 3: ") && Contains("Acme.ZeroOutEach"));
}

TEST_CASE("zero out by the builder: several threads change nothing", "[custom]") {
  constexpr int64_t kSize = 300'000, kKept = 234'567;
  CHECK(GivenBy({{}, [&](XlaBuilder* b, const std::vector<XlaOp>&) {
                   const Shape shape = *ParseShape(fmt::format("s32[{}]", kSize));
                   const XlaOp x = builder::Iota(b, shape, 0);
                   const XlaOp y = wrappers::AcmeZeroOut(b, x, shape, kKept);
                   builder::Slice(y, {kKept - 1}, {kKept + 2}, {1});
                 }}) == fmt::format("{{0, {}, 0}}", kKept));
  CHECK(GivenBy({{}, [&](XlaBuilder* b, const std::vector<XlaOp>&) {
                   const Shape shape = *ParseShape(fmt::format("s32[{}]", kSize));
                   const XlaOp y = wrappers::AcmeZeroOut(b, builder::Iota(b, shape, 0), shape, kKept);
                   XlaBuilder sum("sum");
                   const Shape scalar = *ParseShape("s32[]");
                   builder::Add(builder::Parameter(&sum, 0, scalar, "a"),
                                builder::Parameter(&sum, 1, scalar, "b"));
                   const absl::StatusOr<builder::XlaComputation> add = sum.Build();
                   REQUIRE(add.ok());
                   builder::ReduceAll(y, builder::ConstantR0<int32_t>(b, 0), *add);
                 }}) == fmt::format("{}", kKept));
}

TEST_CASE("zero out by the builder: the shape function is asked as a call is added", "[custom]") {
  CHECK_THAT(GivenBy({{kFive},
                      [](XlaBuilder* b, const std::vector<XlaOp>& x) {
                        wrappers::AcmeZeroOut(b, x[0], *ParseShape("s32[4]"));
                      }}),
             StartsWith("exit 3: ") &&
                 Contains("op Acme.ZeroOut: output 0 has the shape [5], the program says s32[4]"));
  // Without one the program's shape is trusted, and the run finds what is wrong.
  CHECK_THAT(
      GivenBy({{kFive},
               [](XlaBuilder* b, const std::vector<XlaOp>& x) {
                 wrappers::AcmeZeroOutFirst(b, x[0], *ParseShape("s32[4]"));
               }}),
      StartsWith(
          "exit 5: op Acme.ZeroOutFirst: output 0 is allocated with the sizes [5], the program says s32[4]"));
}

TEST_CASE("zero out by the builder: its gradient", "[custom][gradient]") {
  const auto program =
      ZeroOutProgram({{"f32[2,3] {{1, 2, 3}, {4, 5, 6}}"}, [](XlaBuilder* b, const std::vector<XlaOp>& x) {
                        wrappers::AcmeZeroOut(b, x[0], *ParseShape("f32[2,3]"), 4);
                      }});
  REQUIRE(program.ok());
  const Instruction& call = program->verified().module().entry_computation().instructions.back();
  const Shape& shape = *call.shape;
  const Shape* const operands[] = {&shape};
  const absl::StatusOr<std::string> gradient =
      GradientProgram(*ZeroOutOps().FindOp("Acme.ZeroOut"), call, operands, {&shape, 1});
  INFO(gradient.status());
  REQUIRE(gradient.ok());
  // Of x, y and dL/dy: only element 4 of x has a say in L.
  const absl::StatusOr<Literal> found =
      RunText(*gradient, {"f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[2,3] {{0, 0, 0}, {0, 5, 0}}",
                          "f32[2,3] {{10, 20, 30}, {40, 50, 60}}"});
  INFO(found.status());
  REQUIRE(found.ok());
  CHECK(LiteralToText(*found) == "( { { 0, 0, 0 }, { 0, 50, 0 } } )");
}

TEST_CASE("libraries of operations: what is refused leaves nothing behind",
          "[custom][library][LIB-1][LIB-2]") {
  OpRegistry registry;
  for (const std::string name :
       {"no_entry_point", "other_version", "bad_spec", "two_interfaces", "no_such_op", "throws"}) {
    INFO(name);
    const auto added = LoadOps(registry, LibraryFileOf("libraries/" + name));
    REQUIRE_FALSE(added.ok());
    CHECK_THAT(std::string(added.status().message()), Contains("libraries/" + name + ".so: "));
    CHECK(registry.ops()->ops().empty());
    // It was not loaded, and is refused again.
    CHECK_FALSE(LoadOps(registry, LibraryFileOf("libraries/" + name)).ok());
  }
  for (const std::string name : {"crashes", "exits"}) {
    const auto added = LoadOps(registry, LibraryFileOf("libraries/" + name), /*isolated=*/true);
    CHECK(ExitCodeOf(added.status()) == 5);
    CHECK(registry.ops()->ops().empty());
  }
  const std::vector<std::string> names = {"Acme.ZeroOutFirst", "Acme.ZeroOutVector", "Acme.ZeroOut",
                                          "Acme.ZeroOutEach", "Acme.ZeroOutMixed"};
  const auto added = LoadOps(registry, LibraryFileOf("libraries/zero_out"));
  REQUIRE(added.ok());
  CHECK(*added == names);
  CHECK(LoadOps(registry, LibraryFileOf("libraries/zero_out"))->empty());
  // A name that another library has with another interface: this one's other operations don't come in either.
  REQUIRE(LoadOps(registry, LibraryFileOf("libraries/good")).ok());
  const std::shared_ptr<const OpSet> before = registry.ops();
  const auto clash = LoadOps(registry, LibraryFileOf("libraries/other_good"));
  CHECK_THAT(std::string(clash.status().message()),
             Contains("other_good.so: op Test.Good is registered already, with another interface"));
  CHECK(registry.ops() == before);
  CHECK(before->ops().size() == names.size() + 1);
}

}  // namespace assay::custom
