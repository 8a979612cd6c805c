// Which instructions run at all.
#include "plan/live.h"

#include "tests/plan/pass_testing.h"

namespace assay::testing {

TEST_CASE("live: what the root needs, and effects, also those of a call", "[plan]") {
  const VerifiedModule verified = Verified(R"(
says {
  a = f32[] parameter(0)
  k = token[] after-all()
  o = token[] outfeed(a, k), outfeed_shape=f32[]
  ROOT r = f32[] negate(a)
}
quiet {
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  dead = f32[] sine(y)
  unread = f32[] call(x), to_apply=quiet
  heard = f32[] call(x), to_apply=says
  ROOT root = f32[] cosine(x)
})");
  const Module& module = verified.module();
  const std::vector<std::vector<bool>> live = LiveInstructions(module);
  const Computation& entry = module.entry_computation();
  std::string names;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    if (live[static_cast<size_t>(module.entry.value)][i]) names += entry.instructions[i].name + " ";
  }
  CHECK(names == "x heard root ");
}

TEST_CASE("live: what control dependencies name runs", "[plan]") {
  const VerifiedModule verified = Verified(R"(
ENTRY e {
  x = f32[] parameter(0)
  before = f32[] sine(x)
  ROOT r = f32[] cosine(x), control-predecessors={before}
})");
  CHECK(LiveInstructions(verified.module())[0] == std::vector<bool>{true, true, true});
}

TEST_CASE("live: computations in loops, called at any depth", "[plan]") {
  const VerifiedModule verified = Verified(R"(
deep { a = f32[] parameter(0)
  ROOT r = f32[] negate(a) }
body { a = f32[] parameter(0)
  ROOT r = f32[] call(a), to_apply=deep }
condition { a = f32[] parameter(0)
  k = f32[] constant(0)
  ROOT r = pred[] compare(a, k), direction=LT }
outside { a = f32[] parameter(0)
  ROOT r = f32[] sine(a) }
ENTRY e {
  x = f32[] parameter(0)
  w = f32[] while(x), condition=condition, body=body
  ROOT r = f32[] call(w), to_apply=outside
})");
  const Module& module = verified.module();
  const std::vector<bool> in_loop = ComputationsInLoops(module);
  for (size_t c = 0; c < in_loop.size(); ++c) {
    INFO(module.computations[c].name);
    const std::string& name = module.computations[c].name;
    CHECK(in_loop[c] == (name == "deep" || name == "body" || name == "condition"));
  }
}

}  // namespace assay::testing
