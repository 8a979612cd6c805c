// Devices that meet: results that no timing shows, and errors that name who waits for whom.
#include "devices/run_devices.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "devices/device_io.h"
#include "engines/engine.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "tests/run/program_testing.h"

namespace assay::testing {
namespace {

// Takes every copy, and dawdles: it sleeps for a time that nobody can foresee.
class Dawdler final : public Engine, public Kernel {
 public:
  explicit Dawdler(std::atomic<uint64_t>& random) : random_(random) {}
  std::string_view name() const override { return "dawdler"; }
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView view, SingleInstruction(step));
    if (view.instruction.opcode != Opcode::kCopy) return NotSupported({}, "takes copy alone");
    return std::make_shared<Dawdler>(random_);
  }
  absl::StatusOr<Literal> Run(EvalContext&, std::span<Literal> operands) const override {
    const uint64_t drawn = random_.fetch_add(0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 >> 56;
    if (drawn < 64) std::this_thread::sleep_for(std::chrono::microseconds(drawn));
    return std::move(operands[0]);
  }

 private:
  std::atomic<uint64_t>& random_;
};

absl::StatusOr<std::vector<DeviceOutputs>> RunOn(const Plan& plan, const DeviceGrid& grid,
                                                 RunOptions options = {}) {
  return RunDevices(plan, grid, std::vector<DeviceInputs>(static_cast<size_t>(grid.size())),
                    std::move(options));
}

// Four devices add up, permute, gather and exchange, five times over, with a copy before each step.
constexpr std::string_view kIterations = R"(
HloModule iterations, num_partitions=4

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

more {
  p = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  k = s32[] constant(5)
  ROOT c = pred[] compare(n, k), direction=LT
}

iteration {
  p = (s32[], f32[4]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  m = s32[] add(n, one)
  x = f32[4] get-tuple-element(p), index=1
  c0 = f32[4] copy(x)
  r = f32[4] all-reduce(c0), to_apply=sum, channel_id=1, replica_groups={{3,1},{0,2}}, use_global_device_ids=true
  c1 = f32[4] copy(r)
  q = f32[4] collective-permute(c1), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  c2 = f32[4] copy(q)
  t = f32[4] all-to-all(c2), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}
  c3 = f32[4] copy(t)
  id = u32[] partition-id()
  f = f32[] convert(id)
  fb = f32[4] broadcast(f), dimensions={}
  y = f32[4] add(c3, fb)
  k = token[] after-all()
  v = (f32[4], u32[], token[]) recv(k), channel_id=9, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,3},{3,0},{1,2},{2,1}}"}
  s = (f32[4], u32[], token[]) send(y, k), channel_id=9, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,3},{3,0},{1,2},{2,1}}"}
  vd = (f32[4], token[]) recv-done(v), channel_id=9
  sd = token[] send-done(s), channel_id=9
  w = f32[4] get-tuple-element(vd), index=0
  third = f32[] constant(0.333333343)
  tb = f32[4] broadcast(third), dimensions={}
  z = f32[4] multiply(w, tb)
  ROOT out = (s32[], f32[4]) tuple(m, z)
}

ENTRY main {
  zero = s32[] constant(0)
  start = f32[4] constant({1, 0.1, 1e-8, 3e7})
  i = (s32[], f32[4]) tuple(zero, start)
  l = (s32[], f32[4]) while(i), condition=more, body=iteration
  ROOT v = f32[4] get-tuple-element(l), index=1
})";

TEST_CASE("devices: a thousand runs with random delays give equal bytes", "[devices]") {
  std::atomic<uint64_t> random{20261123};
  const Dawdler dawdler(random);
  const std::array<const Engine*, 1> engines = {&dawdler};
  const Program program = ProgramOf(std::string(kIterations));
  const Plan plan = PlanOf(program, engines), reference = PlanOf(program, EngineChoice::kReference);
  const DeviceGrid grid{1, 4};
  const auto expected = RunOn(reference, grid);
  INFO(expected.status());
  REQUIRE(expected.ok());
  REQUIRE_FALSE(Literal::BitwiseEqual((*expected)[0].root, (*expected)[1].root));
  for (int run = 0; run < 1000; ++run) {
    const auto outputs = RunOn(plan, grid);
    INFO(run << ": " << outputs.status());
    REQUIRE(outputs.ok());
    for (size_t id = 0; id < 4; ++id)
      REQUIRE(Literal::BitwiseEqual((*outputs)[id].root, (*expected)[id].root));
  }
}

// ---- mismatches ------------------------------------------------------------------------------------------

// A chain of collectives, each in a function of its own, so that devices that take
// different ways meet in them.
struct Planted {
  std::string text;
  std::string culprit;              // the device that does otherwise
  std::vector<std::string> places;  // one of these instructions is named
};

std::string Sum() {
  return "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n";
}

std::string Chain(const std::string& name, const std::vector<std::string>& calls) {
  std::string text = name + " {\n  v0 = f32[2] parameter(0)\n";
  for (size_t i = 0; i < calls.size(); ++i)
    text += fmt::format("  v{} = f32[2] call(v{}), to_apply={}\n", i + 1, i, calls[i]);
  return text + fmt::format("  ROOT r = f32[2] copy(v{})\n}}\n\n", calls.size());
}

Planted MismatchNumber(std::mt19937& random, int number) {
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int devices = 2 + draw(5), steps = 2 + draw(4), culprit = draw(devices), at = draw(steps);
  std::string functions = Sum(), ids;
  for (int d = 0; d < devices; ++d) ids += (d == 0 ? "" : ",") + std::to_string(d);
  std::vector<std::string> usual, other;
  for (int s = 0; s < steps; ++s) {
    const std::string groups = ", channel_id=1, replica_groups={{" + ids + "}}";
    std::string pairs;
    for (int d = 0; d < devices; ++d)
      pairs += fmt::format("{}{{{},{}}}", d == 0 ? "" : ",", d, (d + 1) % devices);
    const std::string ops[] = {
        "all-reduce(x), to_apply=sum, use_global_device_ids=true" + groups,
        "collective-permute(x), channel_id=1, source_target_pairs={" + pairs + "}",
        "collective-broadcast(x)" + groups,
    };
    functions += fmt::format("f{} {{\n  x = f32[2] parameter(0)\n  ROOT meet{} = f32[2] {}\n}}\n\n", s, s,
                             ops[draw(3)]);
    usual.push_back(fmt::format("f{}", s));
  }
  other = usual;
  Planted planted;
  planted.culprit = fmt::format("r0p{}", culprit);
  const auto transfer = [&](const std::string& name, int channel, bool receives) {
    const std::string pair = fmt::format(
        ", channel_id={}, frontend_attributes={{_xla_send_recv_source_target_pairs=\"{{{{{},{}}}}}\"}}",
        channel, culprit, (culprit + 1) % devices);
    std::string text = fmt::format("{} {{\n  x = f32[2] parameter(0)\n  t = token[] after-all()\n", name);
    text += fmt::format("  s = (f32[2], u32[], token[]) send(x, t){}\n", pair);
    if (receives) text += fmt::format("  v = (f32[2], u32[], token[]) recv(t){}\n", pair);
    if (receives)
      text += fmt::format("  got{} = (f32[2], token[]) recv-done(v), channel_id={}\n", channel, channel);
    text += fmt::format("  d = token[] send-done(s), channel_id={}\n", channel);
    return text + "  ROOT r = f32[2] copy(x)\n}\n\n";
  };
  switch (number % 4) {
    case 0:  // it does not take part
      other.erase(other.begin() + at);
      planted.places = {fmt::format("meet{}", at)};
      for (int s = at + 1; s < steps; ++s) planted.places.push_back(fmt::format("meet{}", s));
      break;
    case 1: {  // two steps the other way round
      const int first = draw(steps - 1);
      std::swap(other[static_cast<size_t>(first)], other[static_cast<size_t>(first) + 1]);
      planted.places = {fmt::format("meet{}", first)};
      break;
    }
    case 2:  // it sends on another channel
      functions += transfer("right", 5, true) + transfer("wrong", 6, true);
      usual.insert(usual.begin() + at, "right");
      other.insert(other.begin() + at, "wrong");
      planted.places = {"got5", "got6"};
      break;
    default:  // it sends nothing of what is received
      functions += transfer("right", 5, true);
      usual.insert(usual.begin() + at, "right");
      planted.places = {"got5"};
  }
  planted.text =
      fmt::format("HloModule m, num_partitions={}\n\n", devices) + functions + Chain("usual", usual) +
      Chain("other", other) +
      fmt::format(
          "ENTRY e {{\n  p = u32[] partition-id()\n  k = u32[] constant({})\n"
          "  q = pred[] compare(p, k), direction=EQ\n  x = f32[2] constant({{1, 2}})\n"
          "  ROOT r = f32[2] conditional(q, x, x), true_computation=other, false_computation=usual\n}}\n",
          culprit);
  return planted;
}

TEST_CASE("devices: planted mismatches end at once, and who waits for whom is named", "[devices]") {
  std::mt19937 random(7);
  for (int number = 0; number < 200; ++number) {
    const Planted planted = MismatchNumber(random, number);
    INFO(number << "\n" << planted.text);
    const Program program = ProgramOf(planted.text);
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0});
    REQUIRE(grid.ok());
    const auto start = std::chrono::steady_clock::now();
    const auto outputs = RunOn(PlanOf(program), *grid);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    REQUIRE_FALSE(outputs.ok());
    const std::string message(outputs.status().message());
    INFO(message);
    CHECK(ExitCodeOf(outputs.status()) == 5);
    CHECK(message.find("deadlock: ") == 0);
    CHECK(message.find(planted.culprit) != std::string::npos);
    CHECK(std::any_of(planted.places.begin(), planted.places.end(), [&](const std::string& place) {
      return message.find("'%" + place + " =") != std::string::npos;
    }));
    CHECK(seconds.count() < 10);  // far below, unless it waited for a limit
    for (int again = 0; again < 3; ++again)
      CHECK(RunOn(PlanOf(program), *grid).status().message() == outputs.status().message());
  }
}

constexpr std::string_view kEndless = R"(
HloModule m, replica_count=3

always {
  x = u32[] parameter(0)
  ROOT c = pred[] constant(true)
}

next {
  x = u32[] parameter(0)
  k = u32[] constant(1)
  ROOT y = u32[] add(x, k)
}

spins {
  x = u32[] parameter(0)
  ROOT w = u32[] while(x), condition=always, body=next
}

feeds {
  x = u32[] parameter(0)
  t = token[] after-all()
  i = (u32[], token[]) infeed(t)
  ROOT v = u32[] get-tuple-element(i), index=0
}

ENTRY e {
  p = u32[] replica-id()
  k = u32[] constant(1)
  q = pred[] compare(p, k), direction=EQ
  ROOT r = u32[] conditional(q, p, p), true_computation=feeds, false_computation=spins
})";

TEST_CASE("devices: one that fails ends those that would run for ever", "[devices]") {
  for (int again = 0; again < 5; ++again) {
    const auto outputs = RunOn(PlanOf(std::string(kEndless)), {3, 1});
    REQUIRE_FALSE(outputs.ok());
    CHECK(std::string(outputs.status().message()).find("infeed exhausted") == 0);
    CHECK(std::string(outputs.status().message()).find("(on r1p0)") != std::string::npos);
  }
}

TEST_CASE("devices: limits and Ctrl-C end all of them", "[devices]") {
  std::string text(kEndless);
  text.replace(text.find("true_computation=feeds"), 22, "true_computation=spins");
  const Plan plan = PlanOf(text);
  const auto timed = RunOn(plan, {3, 1}, {.limits = {.timeout_seconds = 0.05}});
  CHECK(absl::IsResourceExhausted(timed.status()));
  const auto stepped = RunOn(plan, {3, 1}, {.limits = {.max_steps = 1000}});
  CHECK(absl::IsResourceExhausted(stepped.status()));
  std::atomic<int> asked{0};
  RunOptions options;
  options.interrupted = [&] { return ++asked > 3; };
  CHECK(absl::IsCancelled(RunOn(plan, {3, 1}, options).status()));
}

TEST_CASE("devices: as many as a program's groups name", "[devices]") {
  const auto grid_of = [](const std::string& line, const std::string& header = "") {
    const Program program = ProgramOf("HloModule m" + header + "\n" + Sum() +
                                      "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = " + line + "\n}\n");
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0});
    return grid.ok() ? fmt::format("{}x{}", grid->replicas, grid->partitions)
                     : std::string(grid.status().message());
  };
  CHECK(grid_of("f32[4] all-reduce(x), to_apply=sum") == "1x1");
  CHECK(grid_of("f32[4] all-reduce(x), to_apply=sum, replica_groups={{0,3},{1,2}}") == "4x1");
  CHECK(grid_of("f32[4] all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{0,3},{1,2}}, "
                "use_global_device_ids=true") == "1x4");
  CHECK(grid_of("f32[4] all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{0,3},{1,2}}, "
                "use_global_device_ids=true",
                ", replica_count=2") == "2x2");
  CHECK(grid_of("f32[4] all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{0,1}}",
                ", num_partitions=3") == "2x3");
  CHECK(grid_of("f32[12] all-gather(x), dimensions={0}") == "3x1");
  CHECK(grid_of("f32[24] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}") == "2x3");
  CHECK(grid_of("f32[2] reduce-scatter(x), dimensions={0}, to_apply=sum") == "2x1");
  CHECK(grid_of("f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,6}}") == "1x7");
  CHECK(grid_of("f32[4] collective-permute(x), source_target_pairs={{0,4096}}").find("devices") == 0);
}

TEST_CASE("devices: inputs and outputs by name", "[devices]") {
  CHECK(WithoutDevice("r0p1/arg0") == "arg0");
  CHECK(WithoutDevice("r12p30/arg0.1") == "arg0.1");
  for (const char* key :
       {"arg0", "r0/arg0", "rp/arg0", "r0p/arg0", "r0p1arg0", "p0r1/arg0", "host_recv3/0", "r-1p0/x"})
    CHECK(WithoutDevice(key) == key);
}

}  // namespace
}  // namespace assay::testing
