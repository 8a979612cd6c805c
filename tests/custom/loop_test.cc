// Calls of a user's code in the body of a loop, where what was made for a call serves each iteration.
#include <atomic>
#include <cfenv>
#include <thread>

#include "assay/op_library.h"
#include "custom/registry.h"
#include "tests/custom/ffi/handler_testing.h"

namespace assay::custom {
namespace {

using Catch::Contains;
using Catch::StartsWith;

// A loop over (i, v) of `iterations` iterations, i counted up; `body` makes y of i and v.
std::string Loop(const std::string& type, const std::string& start, int iterations, const std::string& body) {
  return fmt::format(R"(HloModule m
condition {{
  c = (s32[], {0}) parameter(0)
  ci = s32[] get-tuple-element(c), index=0
  n = s32[] constant({2})
  ROOT l = pred[] compare(ci, n), direction=LT
}}
body {{
  b = (s32[], {0}) parameter(0)
  i = s32[] get-tuple-element(b), index=0
  v = {0} get-tuple-element(b), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {3}
  ROOT r = (s32[], {0}) tuple(j, y)
}}
ENTRY e {{
  zero = s32[] constant(0)
  start = {0} constant({1})
  s = (s32[], {0}) tuple(zero, start)
  w = (s32[], {0}) while(s), condition=condition, body=body
  ROOT x = {0} get-tuple-element(w), index=1
}}
)",
                     type, start, iterations, body);
}

std::string CallOf(const std::string& target, const std::string& operands, const std::string& type,
                   const std::string& more = "") {
  return fmt::format("y = {} custom-call({}), custom_call_target=\"{}\", api_version=API_VERSION_TYPED_FFI{}",
                     type, operands, target, more);
}

std::string TextOf(const absl::StatusOr<Literal>& result) {
  return result.ok() ? LiteralToText(*result)
                     : fmt::format("exit {}: {}", ExitCodeOf(result.status()),
                                   std::string(result.status().message()));
}

// How often, since a test set them to 0.
std::atomic<int> made = 0, computed = 0, forwarded = 0;

// y = x + 1, of a small array that is copied for the kernel, and of a large one.
class NextNumbers : public op::Kernel {
 public:
  explicit NextNumbers(op::KernelConstruction* c) : Kernel(c) { ++made; }
  void Compute(op::KernelContext* c) override {
    ++computed;
    const op::Tensor x = c->input(0);
    op::Tensor y;
    ASSAY_REQUIRES_OK(c, c->forward_input_or_allocate({0}, 0, x.shape(), &y));
    if (y.data() == x.data()) ++forwarded;
    for (int64_t i = 0; i < x.num_elements(); ++i) y.flat<float>()[i] = x.flat<float>()[i] + 1;
    ASSAY_REQUIRES(c, y.flat<float>()[0] != 7, op::FailedPrecondition("seven"));
  }
};

std::shared_ptr<const OpSet> NextOps() {
  OpRegistry registry;
  const absl::StatusOr<Registrations> registrations = Collect([](const AssayRegistrar* registrar) {
    op::OpBuilder("Test.Next")
        .Input("x: f32")
        .Output("y: f32")
        .SetShapeFn(op::UnchangedShape)
        .Tell(*registrar);
    op::Name("Test.Next").Device(op::kCpu).Tell<NextNumbers>(*registrar);
  });
  REQUIRE(registrations.ok());
  REQUIRE(registry.Add(*registrations).ok());
  return registry.ops();
}

// y = x, and a rounding that is not the one it found.
class RoundingUpward : public op::Kernel {
 public:
  using Kernel::Kernel;
  void Compute(op::KernelContext* c) override {
    op::Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    y.flat<float>()[0] = c->input(0).flat<float>()[0];
    std::fesetround(FE_UPWARD);
  }
};

using ffi::RunWith;
namespace abi = ffi::abi;

abi::Error* Instantiate(abi::CallFrame* frame) {
  if (!ffi::AnswersVersion(*frame)) ++made;
  return nullptr;
}

// result = operand 0 + 1; an error at 7.
abi::Error* Next(abi::CallFrame* frame) {
  if (ffi::AnswersVersion(*frame)) return nullptr;
  ++computed;
  const int32_t x = *static_cast<const int32_t*>(ffi::ArgumentOf(*frame, 0).data);
  *static_cast<int32_t*>(ffi::ResultOf(*frame, 0).data) = x + 1;
  return x + 1 == 7 ? ffi::NewError(*frame, abi::ErrorCode::kAborted, "seven") : nullptr;
}

abi::Error* RoundUpward(abi::CallFrame* frame) {
  if (ffi::AnswersVersion(*frame)) return nullptr;
  *static_cast<float*>(ffi::ResultOf(*frame, 0).data) =
      *static_cast<const float*>(ffi::ArgumentOf(*frame, 0).data);
  std::fesetround(FE_UPWARD);
  return nullptr;
}

// Writes 1 to its result in the first iteration only.
abi::Error* WriteOnce(abi::CallFrame* frame) {
  if (ffi::AnswersVersion(*frame)) return nullptr;
  if (*static_cast<const int32_t*>(ffi::ArgumentOf(*frame, 0).data) == 0)
    *static_cast<int32_t*>(ffi::ResultOf(*frame, 0).data) = 1;
  return nullptr;
}

}  // namespace

TEST_CASE("loops: a registered kernel is made once for all iterations", "[custom][loop]") {
  const std::shared_ptr<const OpSet> ops = NextOps();
  const std::string alias = ", output_to_operand_aliasing={{}: (0, {})}";
  for (const std::string& more : {std::string(), alias}) {
    for (const int size : {2, 100}) {
      const std::string type = fmt::format("f32[{}]", size);
      const std::string start =
          "{" + fmt::format("{}", fmt::join(std::vector<int>(static_cast<size_t>(size), 10), ", ")) + "}";
      const std::string text = Loop(type, start, 1000, CallOf("Test.Next", "v", type, more));
      made = computed = forwarded = 0;
      const absl::StatusOr<Literal> result = RunWith(ops, text, {});
      REQUIRE(result.ok());
      for (int i = 0; i < size; ++i) CHECK(result->GetDouble(i) == 1010);
      CHECK(made == 1);
      CHECK(computed == 1000);
      // Only where the program lets the result have the operand's memory; the constant keeps its own, and
      // small values may lie elsewhere while a kernel runs.
      if (more.empty()) CHECK(forwarded == 0);
      if (!more.empty() && size == 100) CHECK(forwarded == 999);
      CHECK(TextOf(RunWith(ops, text, {}, EngineChoice::kReference)) == LiteralToText(*result));
    }
  }
  CHECK_THAT(TextOf(RunWith(ops, Loop("f32[1]", "{1}", 10, CallOf("Test.Next", "v", "f32[1]")), {})),
             StartsWith("exit 5: op Test.Next: seven"));
}

TEST_CASE("loops: a handler of XLA's FFI is instantiated once for all iterations", "[custom][ffi][loop]") {
  const auto ops = ffi::OpsWith("next", abi::HandlerBundle{Instantiate, nullptr, nullptr, Next});
  const std::string text = Loop("s32[]", "100", 1000, CallOf("next", "v", "s32[]"));
  made = computed = 0;
  CHECK(TextOf(RunWith(ops, text, {})) == "1100");
  CHECK(made == 1);
  CHECK(computed == 1000);
  CHECK(TextOf(RunWith(ops, text, {}, EngineChoice::kReference)) == "1100");
  CHECK_THAT(TextOf(RunWith(ops, Loop("s32[]", "0", 10, CallOf("next", "v", "s32[]")), {})),
             StartsWith("exit 5: ffi: target 'next', execute: ABORTED: seven"));
}

TEST_CASE("loops: no iteration sees what a handler wrote in another one", "[custom][ffi][loop]") {
  const auto ops = ffi::OpsWith("once", WriteOnce);
  const std::string sum =
      "c = s32[] custom-call(i), custom_call_target=\"once\", api_version=API_VERSION_TYPED_FFI\n  y = s32[] "
      "add(v, c)";
  for (const EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact})
    CHECK(TextOf(RunWith(ops, Loop("s32[]", "0", 5, sum), {}, engine)) == "1");
}

// 1 + 10^-12 is 1, and more where it is rounded upward.
TEST_CASE("loops: roundings that a kernel leaves behind are undone", "[custom][ffi][loop]") {
  OpRegistry registry;
  const absl::StatusOr<Registrations> registrations = Collect([](const AssayRegistrar* registrar) {
    op::OpBuilder("Test.Up").Input("x: f32").Output("y: f32").Tell(*registrar);
    op::Name("Test.Up").Device(op::kCpu).Tell<RoundingUpward>(*registrar);
  });
  REQUIRE(registrations.ok());
  REQUIRE(registry.Add(*registrations).ok());
  const auto text = [](const std::string& target) {
    return Loop("f32[1]", "{1}", 3,
                "small = f32[1] constant({1e-12})\n  u = f32[1] custom-call(v), custom_call_target=\"" +
                    target + "\", api_version=API_VERSION_TYPED_FFI\n  y = f32[1] add(u, small)");
  };
  for (const EngineChoice engine : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
    CHECK(TextOf(RunWith(registry.ops(), text("Test.Up"), {}, engine)) == "{1}");
    CHECK(TextOf(RunWith(ffi::OpsWith("up", RoundUpward), text("up"), {}, engine)) == "{1}");
  }
  CHECK(std::fegetround() == FE_TONEAREST);
}

// The memory that a call keeps for its next run is one run's at a time.
TEST_CASE("loops: one program runs on several threads at once", "[custom][ffi][loop]") {
  const auto handlers = ffi::OpsWith("next", Next);
  const std::string handled =
      "HloModule m\nENTRY e {\n  v = s32[] parameter(0)\n  ROOT " + CallOf("next", "v", "s32[]") + "\n}\n";
  const std::string computed_text = "HloModule m\nENTRY e {\n  v = f32[3] parameter(0)\n  ROOT " +
                                    CallOf("Test.Next", "v", "f32[3]") + "\n}\n";
  const absl::StatusOr<Program> handler = ffi::ProgramWith(handlers, handled);
  const absl::StatusOr<Program> kernel = ffi::ProgramWith(NextOps(), computed_text);
  REQUIRE(handler.ok());
  REQUIRE(kernel.ok());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 300; ++k) {
        const int value = 1000 * (t + 1) + k;
        RunOptions options;
        options.jobs = 1;
        const auto one = handler->Run({Value(fmt::format("s32[] {}", value))}, options);
        const auto two = kernel->Run({Value(fmt::format("f32[3] {{0, 1, {}}}", value))}, options);
        if (!one.ok() || one->GetInt(0) != value + 1) ++wrong;
        if (!two.ok() || two->GetDouble(2) != value + 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace assay::custom
