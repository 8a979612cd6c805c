#include "evaluator/verify.h"

#include <catch2/catch.hpp>
#include <string>

#include "fmt/format.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

Module Parsed(const std::string& program) {
  absl::StatusOr<Module> module = ParseHloText(program);
  INFO(module.status().message());
  REQUIRE(module.ok());
  return *std::move(module);
}

std::string Message(Module module) {
  const absl::StatusOr<VerifiedModule> verified = Verify(std::move(module));
  if (verified.ok()) return "fine";
  CHECK(ExitCodeOf(verified.status()) == 3);
  return std::string(verified.status().message());
}

bool Has(const std::string& message, const std::string& part) {
  INFO(message);
  CHECK(message.find(part) != std::string::npos);
  return message.find(part) != std::string::npos;
}

const std::string kProgram =
    R"(HloModule m
f {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] call(x), to_apply=f
  ROOT r = f32[] add(x, y)
}
)";

TEST_CASE("verify: a good module passes and keeps its declared shapes", "[verify]") {
  const absl::StatusOr<VerifiedModule> verified = Verify(Parsed(kProgram));
  REQUIRE(verified.ok());
  CHECK(verified->module().entry_computation().root_instruction().shape->ToString() == "f32[]");
}

// Text can't say these; builders and importers can.
TEST_CASE("verify: modules that are nonsense are refused, never followed", "[verify]") {
  Module module;
  Has(Message(module), "no computation");

  module = Parsed(kProgram);
  module.entry.value = 7;
  Has(Message(module), "no entry computation");
  module.entry.value = -1;
  Has(Message(module), "no entry computation");

  module = Parsed(kProgram);
  Instruction& root = module.computations[1].instructions[2];
  root.operands[0] = 2;
  Has(Message(module), "there is a cycle");
  root.operands[0] = 99;
  Has(Message(module), "there is a cycle");
  root.operands[0] = -1;
  Has(Message(module), "there is a cycle");
  root.operands[0] = 0;
  root.control_predecessors = {2};
  Has(Message(module), "control predecessor");
  root.control_predecessors.clear();
  root.operands.push_back(0);
  Has(Message(module), "add has 3 operands, wanted 2");
  root.operands.clear();
  Has(Message(module), "add has 0 operands, wanted 2");

  module = Parsed(kProgram);
  module.computations[1].root = 3;
  Has(Message(module), "no root");
  module.computations[1].root = -1;
  Has(Message(module), "no root");
  module.computations[1].instructions.clear();
  Has(Message(module), "no instruction");
}

TEST_CASE("verify: the call graph has no cycle", "[verify]") {
  for (const int32_t callee : {1, 2, -1}) {
    Module module = Parsed(kProgram);
    module.computations[1].instructions[1].attributes.Set(Attr::kToApply, ComputationId{callee});
    Has(Message(module), "Call-C3");
  }
}

TEST_CASE("verify: attributes are known, of their form, and present where required", "[verify]") {
  Module module = Parsed(kProgram);
  module.computations[1].instructions[2].attributes.Set(Attr::kIndex, int64_t{1});
  Has(Message(module), "add has no attribute 'index'");

  module = Parsed(kProgram);
  module.computations[1].instructions[1].attributes.Set(Attr::kToApply, int64_t{0});
  Has(Message(module), "value of the wrong kind");

  module = Parsed(kProgram);
  module.computations[1].instructions[1].attributes = AttributeMap();
  Has(Message(module), "call needs the attribute 'to_apply'");
}

TEST_CASE("verify: parameter numbers are each used once", "[verify]") {
  for (const int64_t number : {int64_t{1}, int64_t{-1}, INT64_MAX}) {
    Module module = Parsed(kProgram);
    module.computations[1].instructions[0].parameter_number = number;
    Has(Message(module), "Parameter-C1");
  }
}

TEST_CASE("verify: shapes that were left out are filled in", "[verify]") {
  Module module = Parsed(kProgram);
  module.computations[1].instructions[2].shape = nullptr;
  const absl::StatusOr<VerifiedModule> verified = Verify(std::move(module));
  REQUIRE(verified.ok());
  CHECK(verified->module().entry_computation().root_instruction().shape->ToString() == "f32[]");
}

TEST_CASE("verify: errors have the instruction's place and name", "[verify]") {
  const absl::StatusOr<VerifiedModule> verified = Verify(Parsed(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[3] negate(x)
}
)"));
  REQUIRE_FALSE(verified.ok());
  REQUIRE(PositionOf(verified.status()).has_value());
  CHECK(PositionOf(verified.status())->line == 4);
  CHECK(Has(std::string(verified.status().message()), "(in '%r = negate')"));
}

TEST_CASE("verify: devices, layouts and aliases of the module", "[verify]") {
  Module module = Parsed(kProgram);
  module.replica_count = 0;
  Has(Message(module), "replica_count is 0");
  module = Parsed(kProgram);
  module.num_partitions = -3;
  Has(Message(module), "num_partitions is -3");
  module = Parsed(kProgram);
  module.input_output_alias.push_back({{0}, 0, {}, false});
  Has(Message(module), "the result has no element {0}");
  module.input_output_alias[0] = {{}, 1, {}, false};
  Has(Message(module), "parameter number is 1");
  module.input_output_alias[0] = {{}, 0, {4}, false};
  Has(Message(module), "has no element {4}");
  module = Parsed(kProgram);
  module.buffer_donor.push_back({-1, {}});
  Has(Message(module), "buffer_donor");
}

TEST_CASE("verify: a channel may be used again, by sends, recvs and collectives", "[verify]") {
  const auto program = [](const std::string& more) {
    return R"(HloModule m
ENTRY e {
  x = s32[4] parameter(0)
  t = token[] after-all()
  a = (s32[4], u32[], token[]) send(x, t), channel_id=1
  b = token[] send-done(a), channel_id=1
)" + more + R"(  ROOT z = s32[4] negate(x)
}
)";
  };
  CHECK(Message(Parsed(program(""))) == "fine");
  CHECK(Message(Parsed(program("  c = (s32[4], u32[], token[]) send(x, t), channel_id=1\n"))) == "fine");
  CHECK(Message(Parsed(program("  c = (s32[4], u32[], token[]) recv(t), channel_id=1\n"))) == "fine");
  CHECK(
      Message(Parsed(program("  c = s32[4] collective-permute(x), source_target_pairs={{0,3}}, channel_id=1\n"
                             "  d = s32[4] all-to-all(x), dimensions={0}, channel_id=1\n"))) == "fine");
  Has(Message(Parsed(
          program("  c = s32[4] collective-permute(x), source_target_pairs={{0,3}}, channel_id=-1\n"))),
      "GRP: channel_id is -1, wanted at least 1");
}

// Goldens show what a run on one device makes of them.
TEST_CASE("verify: a number of devices that is not said may be any", "[verify]") {
  const auto program = [](const std::string& header, const std::string& root) {
    return "HloModule m" + header +
           "\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
           "ENTRY e {\n  x = f32[6,3] parameter(0)\n  ROOT r = " +
           root + "\n}\n";
  };
  const std::string groups = "f32[6,3] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=add";
  CHECK(Message(Parsed(program("", groups))) == "fine");
  CHECK(Message(Parsed(program(", replica_count=4", groups))) == "fine");
  Has(Message(Parsed(program(", replica_count=3", groups))), "GRP-C4: id 3");
  const std::string gather = "f32[24,3] all-gather(x), replica_groups={}, dimensions={0}";
  CHECK(Message(Parsed(program("", gather))) == "fine");
  Has(Message(Parsed(program(", replica_count=2", gather))), "inferred f32[12,3]");
  Has(Message(Parsed(program("", "f32[20,3] all-gather(x), replica_groups={}, dimensions={0}"))),
      "inferred f32[6,3]");
  Has(Message(Parsed(program("", "f32[24,3] all-gather(x), replica_groups={{0,1}}, dimensions={0}"))),
      "inferred f32[12,3]");
  // An id stands for all partitions, whose number is not said either.
  CHECK(Message(Parsed(program("",
                               "f32[24,3] all-gather(x), channel_id=1, replica_groups={{0,1}}, "
                               "dimensions={0}"))) == "fine");
  Has(Message(Parsed(program("",
                             "f32[18,3] all-gather(x), channel_id=1, replica_groups={{0,1}}, "
                             "dimensions={0}"))),
      "inferred f32[12,3]");
  CHECK(Message(Parsed(program("",
                               "f32[2,3] reduce-scatter(x), replica_groups={}, dimensions={0}, "
                               "to_apply=add"))) == "fine");
  CHECK(Message(Parsed(program(", num_partitions=4",
                               "f32[2,6] custom-call(x), "
                               "custom_call_target=\"SPMDFullToShardShape\""))) == "fine");
}

TEST_CASE("verify: a module of many computations is checked in linear time", "[verify]") {
  std::string program = R"(HloModule m
g0 {
  ROOT p = s32[] parameter(0)
}
)";
  for (int i = 1; i < 20000; ++i) {
    program += fmt::format(R"(g{} {{
  p = s32[] parameter(0)
  ROOT r = s32[] call(p), to_apply=g{}
}}
)",
                           i, i - 1);
  }
  program += R"(ENTRY e {
  ROOT p = s32[] parameter(0)
}
)";
  CHECK(Message(Parsed(program)) == "fine");
}

}  // namespace
}  // namespace assay
