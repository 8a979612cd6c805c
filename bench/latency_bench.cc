// Times small programs from text to result in one process: the first time, when caches, tables and code are
// cold, the best of many, each stage by itself, and the best of many that the process has loaded before
// (program_cache.h). Microseconds.
// Usage: latency_bench [PROGRAM.hlo]...: by default a few built-in ones.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "hlo/text/parser.h"
#include "run/inputs/random_inputs.h"
#include "run/program_cache.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kScalarAdd[] = R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
)";

constexpr char kSoftmax[] = R"(HloModule m
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[8,16] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[8] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[8,16] broadcast(m), dimensions={0}
  d = f32[8,16] subtract(x, mb)
  e = f32[8,16] exponential(d)
  s = f32[8] reduce(e, zero), dimensions={1}, to_apply=sum
  sb = f32[8,16] broadcast(s), dimensions={0}
  ROOT r = f32[8,16] divide(e, sb)
}
)";

constexpr char kMlp[] = R"(HloModule m
ENTRY e {
  x = f32[32,64] parameter(0)
  w = f32[64,64] parameter(1)
  b = f32[64] parameter(2)
  v = f32[64,10] parameter(3)
  h = f32[32,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[32,64] broadcast(b), dimensions={1}
  a = f32[32,64] add(h, bb)
  t = f32[32,64] tanh(a)
  ROOT y = f32[32,10] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

struct Times {
  double parse = 0, verify = 0, plan = 0, run = 0;
  double total() const { return parse + verify + plan + run; }
};

double MicrosecondsSince(Clock::time_point& mark) {
  const Clock::time_point now = Clock::now();
  return std::chrono::duration<double, std::micro>(now - std::exchange(mark, now)).count();
}

absl::StatusOr<Times> TimeOnce(const std::string& text) {
  Times times;
  Clock::time_point mark = Clock::now();
  ASSAY_ASSIGN_OR_RETURN(Module module, ParseHloText(text));
  times.parse = MicrosecondsSince(mark);
  ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
  times.verify = MicrosecondsSince(mark);
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor());
  times.plan = MicrosecondsSince(mark);
  ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> arguments, RandomInputs(program.verified(), 1));
  MicrosecondsSince(mark);
  Executor executor(*plan, {});
  ASSAY_ASSIGN_OR_RETURN(const Literal root, executor.Run(std::move(arguments)));
  times.run = MicrosecondsSince(mark);
  return times;
}

// The microseconds from text to result where the program is in the process's cache.
absl::StatusOr<double> TimeLoaded(const std::string& text) {
  double loaded = 0;
  for (int i = 0; i < 200; ++i) {
    Clock::time_point mark = Clock::now();
    ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramCache::OfProcess().Load("program.hlo", text));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor());
    double time = MicrosecondsSince(mark);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> arguments, RandomInputs(program.verified(), 1));
    MicrosecondsSince(mark);
    Executor executor(*plan, {});
    ASSAY_ASSIGN_OR_RETURN(const Literal root, executor.Run(std::move(arguments)));
    time += MicrosecondsSince(mark);
    loaded = i == 0 ? time : std::min(loaded, time);
  }
  return loaded;
}

absl::Status Report(const std::string& name, const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(const Times first, TimeOnce(text));
  Times best = first;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 3 || (i < 2000 && Clock::now() - start < std::chrono::milliseconds(300)); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Times times, TimeOnce(text));
    for (double Times::*stage : {&Times::parse, &Times::verify, &Times::plan, &Times::run})
      best.*stage = std::min(best.*stage, times.*stage);
  }
  ASSAY_ASSIGN_OR_RETURN(const double loaded, TimeLoaded(text));
  fmt::print("{:32}  {:9.1f}  {:9.1f}  {:9.1f}  {:9.1f}  {:9.1f}  {:9.1f}  {:9.1f}\n", name, first.total(),
             best.total(), best.parse, best.verify, best.plan, best.run, loaded);
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& files) {
  std::vector<std::pair<std::string, std::string>> programs;
  for (const std::string& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    programs.emplace_back(file.substr(std::max<size_t>(file.size(), 32) - 32), text.str());
  }
  if (files.empty()) programs = {{"scalar add", kScalarAdd}, {"softmax 8x16", kSoftmax}, {"MLP 32x64", kMlp}};
  fmt::print("{:32}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}\n", "microseconds", "first", "again",
             "parse", "verify", "plan", "run", "loaded");
  for (const auto& [name, text] : programs) {
    if (const absl::Status status = Report(name, text); !status.ok()) {
      fmt::print(stderr, "{}: {}\n", name,
                 std::string_view(status.message().data(), status.message().size()));
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main({argv + 1, argv + argc}); }
