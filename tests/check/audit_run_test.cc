#include <fstream>
#include <sstream>

#include "tests/check/audit_testing.h"

namespace assay {
namespace {

using testing::AuditedProgram;
using testing::AuditOf;
using testing::Floats;
using testing::Ints;
using testing::Lines;
using testing::Ran;
using testing::Read;
using testing::Said;

constexpr AuditPoint kByZero = AuditPoint::kIntegerDivisionByZero;

// Five iterations, i = 0 to 4; each divides 12 by (i - 2) and by i.
constexpr char kLoop[] = R"(
iteration {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  two = s32[] constant(2)
  twelve = s32[] constant(12)
  d = s32[] subtract(i, two)
  q = s32[] divide(twelve, d)
  p = s32[] divide(twelve, i)
  t = s32[] divide(twelve, two)
  y = s32[] add(q, p)
  z = s32[] add(y, t)
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT r = (s32[], s32[]) tuple(n, z)
}
more {
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  z = s32[] constant(0)
  s = (s32[], s32[]) tuple(z, z)
  ROOT w = (s32[], s32[]) while(s), condition=more, body=iteration
}
)";

TEST_CASE("audit: every iteration of a loop is looked at", "[audit]") {
  const AuditReport report = AuditOf(kLoop, {});
  CHECK(Said(report, kByZero) == Lines{"q depends 1/5 []: 12, 0", "p depends 1/5 []: 12, 0"});
  for (const AuditFinding& finding : report.findings) {
    if (finding.point != kByZero) continue;
    CHECK(finding.runs == 5);
    CHECK(finding.met == 1);
    CHECK(finding.first_run == (finding.instruction == "q" ? 2 : 0));
    CHECK(finding.computation == "iteration");
  }
}

TEST_CASE("audit: calls, members of fusions and branches that are taken are looked at", "[audit]") {
  constexpr char kText[] = R"(
f {
  a = s32[2] parameter(0)
  b = s32[2] parameter(1)
  ROOT inner = s32[2] divide(a, b)
}
fused {
  a = s32[2] parameter(0)
  b = s32[2] parameter(1)
  q = s32[2] remainder(a, b)
  ROOT r = s32[2] add(q, a)
}
taken {
  p = (s32[2], s32[2]) parameter(0)
  a = s32[2] get-tuple-element(p), index=0
  b = s32[2] get-tuple-element(p), index=1
  ROOT yes = s32[2] divide(a, b)
}
left {
  p = (s32[2], s32[2]) parameter(0)
  a = s32[2] get-tuple-element(p), index=0
  b = s32[2] get-tuple-element(p), index=1
  ROOT no = s32[2] divide(b, a)
}
ENTRY e {
  x = s32[2] parameter(0)
  y = s32[2] parameter(1)
  unused = s32[2] divide(x, y)
  c = s32[2] call(x, y), to_apply=f
  g = s32[2] fusion(c, y), kind=kLoop, calls=fused
  t = (s32[2], s32[2]) tuple(g, y)
  sure = pred[] constant(true)
  ROOT d = s32[2] conditional(sure, t, t), true_computation=taken, false_computation=left
}
)";
  CHECK(Read(kText, kByZero) == Lines{"inner may", "q may", "yes may", "no may"});
  CHECK(Ran(kText, kByZero, {Ints({4, 4}), Ints({2, 0})}) == Lines{"inner depends 1/2 [1]: 4, 0",
                                                                   "q depends 1/2 [1]: -1, 0",
                                                                   "yes depends 1/2 [1]: -2, 0", "no may"});
}

TEST_CASE("audit: each application of a reducer that may depend is looked at", "[audit]") {
  constexpr char kText[] = R"(
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  d = s32[] divide(a, b)
  ROOT s = s32[] add(d, b)
}
ENTRY e {
  x = s32[3] parameter(0)
  z = s32[] constant(8)
  ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=f
}
)";
  CHECK(Read(kText, kByZero) == Lines{"d may"});
  // 8 / 2 + 2 = 6, 6 / 0 + 0 = -1, -1 / 1 + 1 = 0.
  const AuditReport report = AuditOf(kText, {Ints({2, 0, 1})});
  CHECK(Said(report, kByZero) == Lines{"d depends 1/3 []: 6, 0"});
  CHECK(report.findings.front().runs == 3);
  CHECK(Ran(kText, kByZero, {Ints({2, 1, 1})}) == Lines{"d did not depend"});
}

TEST_CASE("audit: the computation of a map is looked at", "[audit]") {
  constexpr char kText[] = R"(
f {
  a = s32[] parameter(0)
  c = s32[] constant(6)
  ROOT d = s32[] divide(c, a)
}
ENTRY e {
  x = s32[3] parameter(0)
  ROOT r = s32[3] map(x), dimensions={0}, to_apply=f
}
)";
  CHECK(Ran(kText, kByZero, {Ints({2, 0, 0})}) == Lines{"d depends 2/3 []: 6, 0"});
}

TEST_CASE("audit: NaNs and subnormal numbers of a comparator belong to its sort", "[audit]") {
  constexpr char kText[] = R"(
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[3] parameter(0)
  ROOT r = f32[3] sort(x), dimensions={0}, to_apply=f, is_stable=true
}
)";
  CHECK(Read(kText, AuditPoint::kNanInCompare).empty());
  CHECK(Read(kText, AuditPoint::kSortNotAnOrder) == Lines{"r may"});
}

TEST_CASE("audit: run-time sizes are respected", "[audit]") {
  constexpr char kText[] = R"(
ENTRY e {
  x = s32[4] parameter(0)
  y = s32[4] parameter(1)
  n = s32[] constant(2)
  a = s32[<=4] set-dimension-size(x, n), dimensions={0}
  b = s32[<=4] set-dimension-size(y, n), dimensions={0}
  ROOT r = s32[<=4] divide(a, b)
}
)";
  CHECK(Ran(kText, kByZero, {Ints({1, 2, 3, 4}), Ints({1, 1, 0, 0})}) == Lines{"r did not depend"});
  CHECK(Ran(kText, kByZero, {Ints({1, 2, 3, 4}), Ints({1, 0, 0, 0})}) == Lines{"r depends 1/4 [1]: 2, 0"});
}

TEST_CASE("audit: limits end it", "[audit]") {
  std::vector<DeviceInputs> inputs(1);
  RunOptions options;
  options.limits.max_steps = 3;
  const absl::StatusOr<AuditReport> report =
      AuditRun(AuditedProgram(kLoop), DeviceGrid{}, std::move(inputs), options);
  CHECK(absl::IsResourceExhausted(report.status()));
}

TEST_CASE("audit: results are those of a plain run", "[audit]") {
  // An update in place must not change what is looked at behind it.
  constexpr char kText[] = R"(
ENTRY e {
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  a = s32[3] add(x, y)
  b = s32[3] add(a, a)
  ROOT r = s32[3] divide(b, a)
}
)";
  CHECK(Ran(kText, kByZero, {Ints({1, 2, -3}), Ints({1, 0, 3})}) == Lines{"r depends 1/3 [2]: 0, 0"});
}

TEST_CASE("audit: docs/audit.md has the facts of every point", "[audit]") {
  std::ifstream file(ASSAY_SOURCE_DIR "/docs/audit.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  for (int p = 0; p < kNumAuditPoints; ++p) {
    const auto point = static_cast<AuditPoint>(p);
    const AuditPointFacts& facts = FactsOf(point);
    std::string row = "| `" + std::string(Name(point)) + "` |";
    for (const std::string_view fact :
         {facts.open, facts.stablehlo, facts.xla_cpu, facts.xla_gpu, facts.assay}) {
      CHECK(!fact.empty());
      row += " " + std::string(fact) + " |";
    }
    INFO(row);
    CHECK(text.find(row) != std::string::npos);
  }
}

}  // namespace
}  // namespace assay
