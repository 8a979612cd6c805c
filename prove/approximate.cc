#include "prove/approximate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/error.h"
#include "fmt/format.h"
#include "prove/functions.h"
#include "prove/parallel.h"
#include "prove/random_proof.h"
#include "prove/subject.h"
#include "prove/worst_cases.h"

namespace assay::prove {
namespace {

constexpr int64_t kChunk = 1 << 20, kDoubles = 1 << 14;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct alignas(64) Strip {
  std::byte bytes[8 * kStrip];
};

// A part of a proof, and how far the results were from the right ones.
struct ApproximateProof {
  Proof proof;
  int64_t most = 0, differ = 0;
  void Merge(const ApproximateProof& part) {
    proof.Merge(part.proof);
    most = std::max(most, part.most);
    differ += part.differ;
  }
};

ElementwiseFn FunctionOf(const approximate::ApproximateFunction& row, Isa isa) {
  if (isa > MachineIsa()) return nullptr;
  for (const approximate::ApproximateFunction& other : approximate::ApproximateFunctions(isa)) {
    if (other.opcode == row.opcode && other.type == row.type) return other.stored;
  }
  return nullptr;
}

// Whether some pattern of 32 bits is further from the right one than `ulps`, and how many are not it. Signs
// and NaNs are far apart as numbers, too.
bool IsFar(const Strip& got, const Strip& want, int64_t ulps, int64_t& most, int64_t& differ) {
  uint32_t a[kStrip], b[kStrip], furthest = 0, different = 0;
  std::memcpy(a, got.bytes, sizeof(a));
  std::memcpy(b, want.bytes, sizeof(b));
  for (int64_t i = 0; i < kStrip; ++i) {
    const uint32_t distance = std::min(a[i] - b[i], b[i] - a[i]);
    furthest = std::max(furthest, distance);
    different += distance != 0;
  }
  if (furthest > static_cast<uint64_t>(ulps)) return true;
  most = std::max<int64_t>(most, furthest);
  differ += different;
  return false;
}

// Compares what each instruction set makes of the n elements of x with the right results.
void CompareStrip(const approximate::ApproximateFunction& row, int64_t n, const Strip& x, const Strip& want,
                  ApproximateProof& whole) {
  const int64_t bytes = Bytes(row.type);
  whole.proof.tried += n;
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    const ElementwiseFn f = FunctionOf(row, isa);
    if (f == nullptr) continue;
    Strip got;
    const std::byte* in = x.bytes;
    f(n, &in, got.bytes);
    if (std::memcmp(got.bytes, want.bytes, static_cast<size_t>(n * bytes)) == 0) continue;
    int64_t ignored = 0;
    const bool counts = isa == Isa::kAvx2;
    if (bytes == 4 && n == kStrip && !IsFar(got, want, row.ulps, whole.most, counts ? whole.differ : ignored))
      continue;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t a = PatternAt(got.bytes, i, row.type), b = PatternAt(want.bytes, i, row.type);
      if (a == b) continue;
      const int64_t distance = PatternDistance(row.type, a, b);
      whole.most = std::max(whole.most, distance);
      whole.differ += counts;
      if (distance > row.ulps)
        whole.proof.AddWrong(WrongLine(
            fmt::format("{} {}", Name(row.type), Hex(PatternAt(x.bytes, i, row.type), Bits(row.type))), a, b,
            Bits(row.type)));
    }
  }
}

// The bits of the instruction sets are the same.
void CompareSets(const approximate::ApproximateFunction& row, int64_t n, const Strip& x,
                 ApproximateProof& whole) {
  const ElementwiseFn f = FunctionOf(row, Isa::kAvx2), g = FunctionOf(row, Isa::kAvx512);
  if (f == nullptr || g == nullptr) return;
  Strip a, b;
  const std::byte* in = x.bytes;
  f(n, &in, a.bytes);
  g(n, &in, b.bytes);
  if (std::memcmp(a.bytes, b.bytes, static_cast<size_t>(n * Bytes(row.type))) != 0)
    whole.proof.AddWrong(fmt::format("{} {}: AVX2 and AVX-512 differ in the strip from {}", Name(row.opcode),
                                     Name(row.type), Hex(PatternAt(x.bytes, 0, row.type), Bits(row.type))));
}

ApproximateProof ApproximatePatterns(const approximate::ApproximateFunction& row, int64_t first, int64_t n) {
  const Subject exact = SubjectStrip("exact", row.opcode, {&row.type, 1}, row.type);
  ApproximateProof whole;
  Strip x, want;
  for (int64_t at = first; at < first + n; at += kStrip) {
    if (row.type == ElementType::kF32) {
      auto* const patterns = reinterpret_cast<uint32_t*>(x.bytes);
      for (int64_t i = 0; i < kStrip; ++i) patterns[i] = static_cast<uint32_t>(at + i);
    } else {
      for (int64_t i = 0; i < kStrip; ++i) SetPattern(x.bytes, i, row.type, static_cast<uint64_t>(at + i));
    }
    const std::byte* in = x.bytes;
    exact(kStrip, &in, want.bytes);
    CompareStrip(row, kStrip, x, want, whole);
    CompareSets(row, kStrip, x, whole);
  }
  return whole;
}

ApproximateProof NearDoubles(const approximate::ApproximateFunction& row, const Function1& f, int64_t chunk,
                             int64_t n) {
  Random random(static_cast<uint64_t>(chunk) * 3 + 1);
  std::vector<double> arguments;
  if (chunk == 0) {
    arguments = BoundaryArguments();
    for (const WorstCases1& cases : WorstCases()) {
      if (cases.function == f.name)
        arguments.insert(arguments.end(), cases.arguments.begin(), cases.arguments.end());
    }
  }
  while (std::ssize(arguments) < n) arguments.push_back(RandomArgument(random));
  ApproximateProof whole;
  Oracle oracle;
  Strip x, want;
  for (size_t at = 0; at < arguments.size(); at += kStrip) {
    const int64_t count = std::min<int64_t>(kStrip, std::ssize(arguments) - static_cast<int64_t>(at));
    for (int64_t i = 0; i < count; ++i) {
      const double argument = arguments[at + static_cast<size_t>(i)];
      SetPattern(x.bytes, i, row.type, std::bit_cast<uint64_t>(argument));
      SetPattern(want.bytes, i, row.type, oracle.WantDouble(f, argument));
    }
    CompareStrip(row, count, x, want, whole);
    CompareSets(row, count, x, whole);
  }
  return whole;
}

}  // namespace

int64_t PatternDistance(ElementType type, uint64_t a, uint64_t b) {
  if (a == b) return 0;
  const uint64_t sign = uint64_t{1} << (Bits(type) - 1);
  const uint64_t infinity = type == ElementType::kF64   ? 0x7ff0000000000000
                            : type == ElementType::kF32 ? 0x7f800000
                            : type == ElementType::kF16 ? 0x7c00
                                                        : 0x7f80;
  const uint64_t m = a & ~sign, n = b & ~sign;
  if ((a & sign) != (b & sign) || m > infinity || n > infinity) return kNever;
  return static_cast<int64_t>(m > n ? m - n : n - m);
}

Proof ProveApproximatePatterns(const approximate::ApproximateFunction& row, int64_t first, int64_t n) {
  return ApproximatePatterns(row, first, n).proof;
}

absl::Status ProveApproximate(const std::string& name, int64_t doubles, int jobs, Ledger& ledger) {
  bool any = false;
  for (const approximate::ApproximateFunction& row : approximate::ApproximateFunctions(Isa::kAvx2)) {
    const Function1* const f = FindFunction1(Name(row.opcode));
    if (f == nullptr || (name != "all" && FindFunction1(name) != f)) continue;
    any = true;
    const bool is_double = row.type == ElementType::kF64;
    const int64_t all = is_double ? doubles : int64_t{1} << Bits(row.type);
    const int64_t chunk = is_double ? kDoubles : std::min(kChunk, all);
    ApproximateProof total{.proof = {.function = std::string(f->name), .type = std::string(Name(row.type))}};
    std::mutex mutex;
    const Stopwatch watch;
    ParallelFor((all + chunk - 1) / chunk, jobs, [&](int64_t i) {
      const ApproximateProof part = is_double ? NearDoubles(row, *f, i, std::min(chunk, all - i * chunk))
                                              : ApproximatePatterns(row, i * chunk, chunk);
      const std::lock_guard lock(mutex);
      total.Merge(part);
    });
    total.proof.seconds = watch.Seconds();
    total.proof.inputs = fmt::format("{}; {} ulp at most, {:.2g} % not nearest",
                                     is_double ? "random, boundary, hard" : "all", total.most,
                                     100 * static_cast<double>(total.differ) /
                                         static_cast<double>(std::max<int64_t>(1, total.proof.tried)));
    ledger.Add(total.proof);
  }
  return any ? absl::OkStatus() : BadInput("--approximate: no function " + name);
}

}  // namespace assay::prove
