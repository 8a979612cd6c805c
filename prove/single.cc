#include "prove/single.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "fmt/format.h"
#include "prove/parallel.h"

namespace assay::prove {
namespace {

constexpr uint32_t kSign = uint32_t{1} << 31;
constexpr uint32_t kNaN = 0x7fc00000;
constexpr int64_t kStrips = (int64_t{1} << 32) / kStrip;

// A strip of answers from approximations: the true value lies within 2^-48 of y, relatively. If both ends
// round to one float, that is the answer; else `decided` is 0. y beyond 2^1000 stands for any larger number.
// Rounding m - e and m + e to double is far below the slack in 2^-48,
// and where y underflows both ends give zero.
void Decide(const double* y, uint32_t* wanted, uint32_t* decided) {
  for (int64_t i = 0; i < kStrip; ++i) {
    const double a = std::fabs(y[i]);
    const double m = a > 0x1p1000 ? 0x1p1000 : a;
    const double e = m * 0x1p-48;
    const uint32_t low = std::bit_cast<uint32_t>(static_cast<float>(m - e));
    const uint32_t high = std::bit_cast<uint32_t>(static_cast<float>(m + e));
    const uint32_t sign = static_cast<uint32_t>(std::bit_cast<uint64_t>(y[i]) >> 32) & kSign;
    const bool nan = a != a;
    wanted[i] = nan ? kNaN : low | sign;
    decided[i] = nan || low == high;
  }
}

// Number of places where the subject's answer is not known to be right.
int64_t CountDoubts(const uint32_t* got, const uint32_t* wanted, const uint32_t* decided) {
  uint32_t doubts = 0;
  for (int64_t i = 0; i < kStrip; ++i)
    doubts += static_cast<uint32_t>(got[i] != wanted[i]) | (decided[i] ^ 1);
  return doubts;
}

// FNV-1a of the running program: answers of another build prove nothing about this one.
std::string ProgramHash() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  uint64_t hash = 0xcbf29ce484222325;
  char buffer[1 << 16];
  while (program.read(buffer, sizeof(buffer)), program.gcount() > 0) {
    for (std::streamsize i = 0; i < program.gcount(); ++i) {
      hash = (hash ^ static_cast<unsigned char>(buffer[i])) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x}", hash);
}

// The finished units of a function: lines "unit tried seconds" after the program's hash. Units with wrong
// answers are not noted, so that they are run and shown again.
class State {
 public:
  explicit State(std::string path) : path_(std::move(path)), hash_(ProgramHash()) {
    std::ifstream in(path_);
    std::string hash;
    if (!(in >> hash) || hash != hash_) return;
    int64_t unit = 0;
    Proof done;
    while (in >> unit >> done.tried >> done.seconds) finished_[unit] = done;
  }
  bool Has(int64_t unit) const { return finished_.contains(unit); }
  const std::map<int64_t, Proof>& finished() const { return finished_; }
  absl::Status Open() {
    out_.open(path_, std::ios::trunc);
    out_ << hash_ << '\n';
    for (const auto& [unit, done] : finished_) Write(unit, done);
    out_.flush();
    return out_ ? absl::OkStatus() : BadInput(fmt::format("{}: can't be written", path_));
  }
  void Note(int64_t unit, const Proof& done) {
    finished_[unit] = done;
    Write(unit, done);
    out_.flush();
  }

 private:
  void Write(int64_t unit, const Proof& done) {
    out_ << fmt::format("{} {} {:.3f}\n", unit, done.tried, done.seconds);
  }
  const std::string path_, hash_;
  std::map<int64_t, Proof> finished_;
  std::ofstream out_;
};

}  // namespace

Proof ProveUnit(const Function1& f, const Subject& subject, int64_t unit, int64_t strips) {
  Proof proof{.function = std::string(f.name), .type = "f32"};
  const NumberFormat& format = FormatOf(ElementType::kF32);
  Oracle oracle;
  const Stopwatch watch;
  alignas(64) uint32_t x[kStrip], got[kStrip], wanted[kStrip] = {}, decided[kStrip] = {};
  alignas(64) double y[kStrip];
  for (int64_t strip = unit; strip < kStrips && strips > 0; strip += kUnits, --strips) {
    for (int64_t i = 0; i < kStrip; ++i) x[i] = static_cast<uint32_t>(strip * kStrip + i);
    const std::byte* in[] = {reinterpret_cast<const std::byte*>(x)};
    subject(kStrip, in, reinterpret_cast<std::byte*>(got));
    if (f.approximate != nullptr) {
      for (int64_t i = 0; i < kStrip; ++i) y[i] = f.approximate(std::bit_cast<float>(x[i]));
      Decide(y, wanted, decided);
    }
    proof.tried += kStrip;
    if (CountDoubts(got, wanted, decided) == 0) continue;
    for (int64_t i = 0; i < kStrip; ++i) {
      if (decided[i] != 0 && got[i] == wanted[i]) continue;
      const uint64_t right = oracle.Want(f, std::bit_cast<float>(x[i]), format);
      if (got[i] != right) proof.AddWrong(WrongLine("f32 " + Hex(x[i], 32), got[i], right, 32));
    }
  }
  proof.seconds = watch.Seconds();
  return proof;
}

absl::Status ProveSingle(const Function1& f, const std::string& engine, Shard shard, int jobs,
                         const std::string& folder, Ledger& ledger) {
  const Subject subject = SubjectStrip(engine, f, ElementType::kF32);
  if (!subject) return BadInput(fmt::format("{} has no f32 strip", f.name));
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  State state(fmt::format("{}/f32-{}-{}.state", folder, f.name, engine));
  ASSAY_RETURN_IF_ERROR(state.Open());
  std::vector<int64_t> units;
  for (int64_t unit = shard.index; unit < kUnits; unit += shard.count) {
    if (!state.Has(unit)) units.push_back(unit);
  }
  Proof total{.function = std::string(f.name), .type = "f32"};
  std::mutex mutex;
  const Stopwatch watch;
  double shown = 0;
  int64_t done = 0;
  ParallelFor(std::ssize(units), jobs, [&](int64_t i) {
    const Proof part = ProveUnit(f, subject, units[i]);
    const std::lock_guard lock(mutex);
    if (part.wrong == 0) {
      state.Note(units[i], part);
    } else {
      total.Merge(part);
      total.seconds += part.seconds;
    }
    ++done;
    if (const double now = watch.Seconds(); now > shown + 1 || done == std::ssize(units)) {
      shown = now;
      fmt::print(stderr, "\r{} f32: {} of {} units, {} wrong, {:.0f} s, {:.0f} s to go  ", f.name,
                 state.finished().size(), kUnits, total.wrong, now,
                 now / static_cast<double>(done) * static_cast<double>(std::ssize(units) - done));
    }
  });
  if (!units.empty()) fmt::print(stderr, "\n");
  for (const auto& [unit, part] : state.finished()) {
    total.Merge(part);
    total.seconds += part.seconds;
  }
  total.inputs = total.tried == int64_t{1} << 32
                     ? "all"
                     : fmt::format("{} of {} strides", total.tried / (kStrips / kUnits * kStrip), kUnits);
  ledger.Add(total);
  return absl::OkStatus();
}

}  // namespace assay::prove
