// Times calls of code of the user's in the body of a loop over f32[8]: what one more call costs, and what one
// more reverse costs, a step of the interpreter that does as little. Nanoseconds, the best of several.
#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "assay/op_library.h"
#include "custom/ffi/ffi_ops.h"
#include "custom/registry.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "run/program.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;
namespace abi = custom::ffi::abi;

constexpr int kIterations = 4000, kMore = 4;

// Its output is its input.
class Empty : public op::Kernel {
 public:
  using Kernel::Kernel;
  void Compute(op::KernelContext* c) override {
    op::Tensor y;
    ASSAY_REQUIRES_OK(c, c->forward_input_or_allocate({0}, 0, c->output_shape(0), &y));
  }
};

abi::Error* EmptyHandler(abi::CallFrame* frame) {
  if (frame->extensions == nullptr) return nullptr;
  abi::Metadata& metadata = *reinterpret_cast<abi::MetadataExtension*>(frame->extensions)->metadata;
  metadata.version.major = abi::kMajorVersion;
  metadata.version.minor = abi::kMinorVersion;
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const CustomOps>> KernelOps() {
  ASSAY_ASSIGN_OR_RETURN(const custom::Registrations registrations,
                         custom::Collect([](const AssayRegistrar* registrar) {
                           op::OpBuilder("Bench.Empty")
                               .Input("x: f32")
                               .Output("y: f32")
                               .SetShapeFn(op::UnchangedShape)
                               .Tell(*registrar);
                           op::Name("Bench.Empty").Device(op::kCpu).Tell<Empty>(*registrar);
                         }));
  custom::OpRegistry registry;
  ASSAY_RETURN_IF_ERROR(registry.Add(registrations).status());
  return registry.ops();
}

absl::StatusOr<std::shared_ptr<const CustomOps>> HandlerOps() {
  auto ops = std::make_shared<custom::ffi::FfiOps>();
  ASSAY_RETURN_IF_ERROR(ops->Register("empty", {nullptr, nullptr, nullptr, EmptyHandler}));
  return ops;
}

// `step`: an instruction on f32[8] with {} for its operand.
std::string Loop(const std::string& step, int steps) {
  std::string body, last = "x";
  for (int k = 0; k < steps; ++k) {
    body += fmt::format("  y{} = f32[8] {}\n", k, fmt::format(fmt::runtime(step), last));
    last = fmt::format("y{}", k);
  }
  return fmt::format(R"(HloModule m
condition {{
  c = (s32[], f32[8]) parameter(0)
  ci = s32[] get-tuple-element(c), index=0
  n = s32[] constant({})
  ROOT l = pred[] compare(ci, n), direction=LT
}}
body {{
  b = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(b), index=0
  x = f32[8] get-tuple-element(b), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
{}  ROOT r = (s32[], f32[8]) tuple(j, {})
}}
ENTRY e {{
  zero = s32[] constant(0)
  start = f32[8] constant({{1, 2, 3, 4, 5, 6, 7, 8}})
  s = (s32[], f32[8]) tuple(zero, start)
  ROOT w = (s32[], f32[8]) while(s), condition=condition, body=body
}}
)",
                     kIterations, body, last);
}

absl::StatusOr<Program> ProgramOf(const std::string& text, const std::shared_ptr<const CustomOps>& ops) {
  return Program::Load("loop.hlo", text, {.custom_ops = ops});
}

// The programs run in turn, so that a clock that changes is the same for both.
absl::Status Report(const char* name, const std::string& step, const std::shared_ptr<const CustomOps>& ops) {
  ASSAY_ASSIGN_OR_RETURN(const Program one, ProgramOf(Loop(step, 1), ops));
  ASSAY_ASSIGN_OR_RETURN(const Program more, ProgramOf(Loop(step, 1 + kMore), ops));
  const Program* const programs[] = {&one, &more};
  double best[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  RunOptions options;
  options.jobs = 1;
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 2; ++k) {
      const Clock::time_point start = Clock::now();
      ASSAY_RETURN_IF_ERROR(programs[k]->Run({}, options).status());
      const double nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
      best[k] = std::min(best[k], nanoseconds / kIterations);
    }
  }
  fmt::print("{:36}  {:10.0f}  {:10.0f}\n", name, best[0], (best[1] - best[0]) / kMore);
  return absl::OkStatus();
}

absl::Status ReportAll() {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const CustomOps> kernels, KernelOps());
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const CustomOps> handlers, HandlerOps());
  const std::string call = "custom-call({}), custom_call_target=",
                    forward = ", output_to_operand_aliasing={{{{}}: (0, {{}})}}";
  const std::string handler = call + "\"empty\", api_version=API_VERSION_TYPED_FFI";
  fmt::print("{:36}  {:>10}  {:>10}\n", "nanoseconds", "an iteration", "one more");
  ASSAY_RETURN_IF_ERROR(Report("add (the loop is compiled)", "add({0}, {0})", nullptr));
  ASSAY_RETURN_IF_ERROR(
      Report("reverse (a step of the interpreter)", "reverse({}), dimensions={{0}}", nullptr));
  ASSAY_RETURN_IF_ERROR(Report("empty kernel", call + "\"Bench.Empty\"", kernels));
  ASSAY_RETURN_IF_ERROR(
      Report("empty kernel, its memory forwarded", call + "\"Bench.Empty\"" + forward, kernels));
  ASSAY_RETURN_IF_ERROR(Report("empty handler of XLA's FFI", handler, handlers));
  return Report("the same, its memory aliased", handler + forward, handlers);
}

}  // namespace
}  // namespace assay

int main() {
  const absl::Status status = assay::ReportAll();
  if (!status.ok())
    fmt::print(stderr, "{}\n", std::string_view(status.message().data(), status.message().size()));
  return status.ok() ? 0 : 1;
}
