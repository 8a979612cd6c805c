// The order of steps.
#include "plan/order.h"

#include "tests/plan/pass_testing.h"

namespace assay::testing {
namespace {

std::string OrderOf(const std::string& body) {
  const VerifiedModule verified = Verified("ENTRY e {\n" + body + "}\n");
  const Computation& entry = verified.module().entry_computation();
  return Steps(entry, Ordered(verified.module(), entry));
}

}  // namespace

TEST_CASE("order: that of the text, without parameters and dead instructions", "[plan]") {
  CHECK(OrderOf(R"(x = f32[] parameter(0)
b = f32[] sine(x)
dead = f32[] cosine(x)
a = f32[] tanh(x)
ROOT r = f32[] add(a, b)
)") == "b a r");
}

TEST_CASE("order: a get-tuple-element follows its tuple at once", "[plan]") {
  CHECK(OrderOf(R"(x = f32[4] parameter(0)
t = (f32[4], f32[4]) tuple(x, x)
n = f32[4] negate(x)
g = f32[4] get-tuple-element(t), index=0
h = f32[4] get-tuple-element(t), index=1
s = f32[4] add(n, g)
ROOT r = f32[4] add(s, h)
)") == "t g h n s r");
  // Not where control dependencies say when.
  CHECK(OrderOf(R"(x = f32[4] parameter(0)
t = (f32[4], f32[4]) tuple(x, x)
n = f32[4] negate(x)
g = f32[4] get-tuple-element(t), index=0, control-predecessors={n}
ROOT r = f32[4] add(n, g)
)") == "t n g r");
}

TEST_CASE("order: a recv-done waits for the send on its channel", "[plan]") {
  CHECK(OrderOf(R"(x = f32[] parameter(0)
k = token[] after-all()
v = (f32[], u32[], token[]) recv(k), channel_id=7
d = (f32[], token[]) recv-done(v), channel_id=7
s = (f32[], u32[], token[]) send(x, k), channel_id=7
e = token[] send-done(s), channel_id=7
ROOT r = f32[] get-tuple-element(d), index=0
)") == "k v s d r e");
}

TEST_CASE("order: two that wait for each other are a deadlock", "[plan]") {
  const VerifiedModule verified = Verified(R"(ENTRY e {
  k = token[] after-all()
  v = (f32[], u32[], token[]) recv(k), channel_id=7
  d = (f32[], token[]) recv-done(v), channel_id=7
  g = f32[] get-tuple-element(d), index=0
  s = (f32[], u32[], token[]) send(g, k), channel_id=7
  e = token[] send-done(s), channel_id=7
  ROOT r = f32[] negate(g)
})");
  const Module& module = verified.module();
  ComputationPlan plan;
  const absl::Status status =
      OrderSteps(module, module.entry_computation(), LiveInstructions(module)[0], plan);
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains("deadlock"));
}

}  // namespace assay::testing
