// What a plan copies between host and device.
#include "plan/transfers.h"

#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

class OnDevice final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal>) const override { return Fallback("idle"); }
  bool is_on_device() const override { return true; }
  bool reads_on_host(int64_t operand) const override { return operand == 1; }
  bool gives_on_host(int64_t element) const override { return element == 1; }
};

class PassesOn final : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal>) const override { return Fallback("idle"); }
  bool is_on_device() const override { return true; }
  bool passes_operand() const override { return true; }
};

// By step "NAME:to device/to host", of a plan whose steps of `opcode` are on a device, and its reshapes pass
// their operand on.
std::string TransfersIn(const std::string& body, Opcode opcode) {
  const VerifiedModule verified = Verified("ENTRY e {\n" + body + "}\n");
  const Computation& entry = verified.module().entry_computation();
  ComputationPlan plan = Ordered(verified.module(), entry);
  for (Step& step : plan.steps) {
    const Instruction& instruction = entry.instructions[static_cast<size_t>(step.instruction)];
    if (instruction.opcode == opcode) step.kernel = std::make_shared<OnDevice>();
    if (instruction.opcode == Opcode::kReshape) step.kernel = std::make_shared<PassesOn>();
    if (instruction.opcode == Opcode::kTuple) step.kind = StepKind::kTuple;
    if (instruction.opcode == Opcode::kGetTupleElement) {
      step.kind = StepKind::kGetTupleElement;
      step.element = instruction.attributes.Int(Attr::kIndex);
    }
  }
  std::string text;
  const std::vector<DeviceCopies> transfers = TransfersOf(entry, plan);
  for (size_t s = 0; s < transfers.size(); ++s) {
    if (transfers[s].to_device == 0 && transfers[s].to_host == 0) continue;
    const std::string& name = entry.instructions[static_cast<size_t>(plan.steps[s].instruction)].name;
    text += (text.empty() ? "" : " ") + name + ":" + std::to_string(transfers[s].to_device) + "/" +
            std::to_string(transfers[s].to_host);
  }
  return text;
}

}  // namespace

TEST_CASE("transfers: a value is copied once each way, where it is read", "[plan]") {
  CHECK(TransfersIn(R"(x = f32[4] parameter(0)
y = f64[4] parameter(1)
a = f32[4] negate(x)
b = f32[4] negate(a)
c = f32[4] negate(x)
s = f32[4] add(b, c)
t = f32[4] multiply(b, s)
u = f64[4] negate(y)
v = f32[4] negate(t)
ROOT r = (f32[4], f64[4]) tuple(v, u)
)",
                    Opcode::kNegate) == "a:16/0 s:0/32 u:32/0 v:16/0 r:0/48");
}

TEST_CASE("transfers: a root on the device is copied to the host", "[plan]") {
  CHECK(TransfersIn("x = f32[4] parameter(0)\nROOT a = f32[4] negate(x)\n", Opcode::kNegate) == "a:16/16");
}

TEST_CASE("transfers: a value that is passed on stays where it is", "[plan]") {
  CHECK(TransfersIn(R"(x = f32[4] parameter(0)
y = f32[2,2] reshape(x)
a = f32[2,2] negate(y)
b = f32[4] reshape(a)
c = f32[4] negate(b)
d = f32[2,2] reshape(c)
ROOT r = f32[2,2] add(d, y)
)",
                    Opcode::kNegate) == "a:16/0 r:0/16");
}

// The kernel reads its second operand, and gives its second result, in the host's memory.
TEST_CASE("transfers: what a kernel wants on the host is not copied", "[plan]") {
  CHECK(TransfersIn(R"(x = f32[4] parameter(0)
y = f64[4] parameter(1)
c = (f32[4], f32[4], f32[4]) custom-call(x, y, x), custom_call_target="unknown"
a = f32[4] get-tuple-element(c), index=0
b = f32[4] get-tuple-element(c), index=1
d = f32[4] get-tuple-element(c), index=2
s = f32[4] add(a, b)
ROOT r = (f32[4], f32[4]) tuple(s, d)
)",
                    Opcode::kCustomCall) == "c:16/0 s:0/16 r:0/16");
}

TEST_CASE("transfers: none where no kernel is on a device", "[plan]") {
  CHECK(TransfersIn("x = f32[4] parameter(0)\nROOT a = f32[4] negate(x)\n", Opcode::kSin).empty());
}

}  // namespace assay::testing
