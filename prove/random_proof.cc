#include "prove/random_proof.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "prove/parallel.h"
#include "prove/worst_cases.h"

namespace assay::prove {
namespace {

constexpr int64_t kChunk = 1 << 15;

double FromBits(uint64_t bits) { return std::bit_cast<double>(bits); }

// `x` moved by k places in the order of doubles; x is finite and not near zero.
double Moved(double x, int64_t k) { return FromBits(std::bit_cast<uint64_t>(x) + static_cast<uint64_t>(k)); }

double WithExponent(Random& random, int low, int high, int mantissa_bits) {
  const uint64_t mantissa = (random.Next() & ((uint64_t{1} << 52) - 1)) >> (52 - mantissa_bits)
                                                                               << (52 - mantissa_bits);
  const uint64_t exponent = static_cast<uint64_t>(low + random.Below(high - low + 1) + 1023);
  return FromBits((random.Next() << 63) | exponent << 52 | mantissa);
}

// Where results overflow or underflow, or domains end: of exp, expm1, sinh and cosh, tanh, erf, logistic, and
// where f(x) rounds to x, 1 or x + x^2 / 2.
constexpr double kEnds[] = {709.782712893384,
                            710.4758600739439,
                            745.1332191019411,
                            708.3964185322641,
                            36.7368005696771,
                            37.42994775023705,
                            19.06154746539849,
                            5.921587195794508,
                            26.543,
                            22.0,
                            1,
                            2,
                            0.5,
                            0x1p-26,
                            0x1p-27,
                            0x1p-28,
                            0x1p-53,
                            0x1p-54,
                            0x1p-537,
                            0x1p-511,
                            0x1p511,
                            0x1p512,
                            0x1p1000,
                            0x1.fffffffffffffp1023,
                            0x1p-1022,
                            1.5707963267948966,
                            3.141592653589793,
                            0x1p23,
                            0x1p52,
                            0x1p53,
                            0x1p63};

struct Strip64 {
  alignas(64) double x[kStrip], y[kStrip];
  alignas(64) uint64_t result[kStrip];
};

std::string HexPair(double x, double y, ElementType type) {
  if (type == ElementType::kF64) {
    return fmt::format("f64 {}, {}", Hex(std::bit_cast<uint64_t>(x), 64),
                       Hex(std::bit_cast<uint64_t>(y), 64));
  }
  return fmt::format("f32 {}, {}", Hex(std::bit_cast<uint32_t>(static_cast<float>(x)), 32),
                     Hex(std::bit_cast<uint32_t>(static_cast<float>(y)), 32));
}

void RunPairs(const Subject& subject, ElementType type, int64_t n, Strip64& strip) {
  if (type == ElementType::kF64) {
    const std::byte* in[] = {reinterpret_cast<const std::byte*>(strip.x),
                             reinterpret_cast<const std::byte*>(strip.y)};
    subject(n, in, reinterpret_cast<std::byte*>(strip.result));
    return;
  }
  alignas(64) float x[kStrip], y[kStrip];
  alignas(64) uint32_t result[kStrip];
  for (int64_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(strip.x[i]);
    y[i] = static_cast<float>(strip.y[i]);
  }
  const std::byte* in[] = {reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y)};
  subject(n, in, reinterpret_cast<std::byte*>(result));
  for (int64_t i = 0; i < n; ++i) strip.result[i] = result[i];
}

// Pairs that two-argument functions find hard: near one another, one a small integer or its half, a base
// near 1 with a large exponent.
std::pair<double, double> RandomPair(Random& random) {
  const double x = RandomArgument(random);
  switch (random.Below(6)) {
    case 0:
      return {x, std::isfinite(x) && std::fabs(x) > 1e-300 ? Moved(x, random.Below(65) - 32) : 1.0};
    case 1:
      return {x, static_cast<double>(random.Below(129) - 64) / 2};
    case 2: {
      const double base = Moved(1, random.Below(int64_t{1} << (1 + random.Below(50))));
      return {random.Below(2) ? base : 1 / base, WithExponent(random, 0, 60, 52)};
    }
    case 3:
      return {std::fabs(WithExponent(random, -8, 8, 52)), WithExponent(random, -8, 8, 52)};
    case 4:
      return {WithExponent(random, -20, 20, 8), WithExponent(random, -3, 6, 4)};
    default:
      return {x, RandomArgument(random)};
  }
}

template <typename Prove>
void RunChunks(std::string_view name, std::string type, int64_t n, int jobs, const Prove& prove,
               Ledger& ledger) {
  Proof total{.function = std::string(name), .type = std::move(type), .inputs = "random, boundary, hard"};
  std::mutex mutex;
  const Stopwatch watch;
  ParallelFor((n + kChunk - 1) / kChunk, jobs, [&](int64_t chunk) {
    const Proof part = prove(chunk, std::min(kChunk, n - chunk * kChunk));
    const std::lock_guard lock(mutex);
    total.Merge(part);
  });
  total.seconds = watch.Seconds();
  ledger.Add(total);
}

}  // namespace

uint64_t Random::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double RandomArgument(Random& random) {
  const double sign = random.Below(2) ? -1 : 1;
  switch (random.Below(16)) {
    case 0:
      return FromBits(random.Next());
    case 1:
      return FromBits((random.Next() << 63) | (random.Next() >> (12 + random.Below(52))));  // subnormal
    case 2:
    case 3:
      return WithExponent(random, -60, 12, 52);
    case 4:
    case 5:
    case 6:
      return WithExponent(random, -8, 9, 52);
    case 7:
      return WithExponent(random, -30, 10, static_cast<int>(1 + random.Below(24)));
    case 8:  // near an integer or its half
      return sign * Moved(static_cast<double>(1 + random.Below(int64_t{1} << (1 + random.Below(20)))) / 2,
                          random.Below(17) - 8);
    case 9:  // near a multiple of pi / 2
      return sign * Moved(static_cast<double>(1 + random.Below(int64_t{1} << (1 + random.Below(40)))) *
                              1.5707963267948966,
                          random.Below(9) - 4);
    case 10:
      return sign * Moved(std::ldexp(1, static_cast<int>(random.Below(200) - 100)), random.Below(33) - 16);
    case 11:
      return sign * (1 + WithExponent(random, -52, -2, 52));
    case 12:
      return sign * Moved(kEnds[random.Below(std::ssize(kEnds))], -random.Below(1000));
    case 13:
      return WithExponent(random, -1022, 1023, 52);
    case 14:
      return sign * FromBits(0x3fe0000000000000 + (random.Next() >> 12));  // 1/2 to 1
    default:
      return sign * static_cast<double>(random.Next() >> 11) * 0x1p-43;  // evenly to 1024
  }
}

std::vector<double> BoundaryArguments() {
  std::vector<double> values = {0.0,
                                -0.0,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(),
                                FromBits(0xfff0000000000001)};
  for (const double end : kEnds) {
    for (int64_t k = -64; k <= 64; ++k) {
      const double x = Moved(end, k);
      values.insert(values.end(), {x, -x});
    }
  }
  for (int e = -1074; e < 1024; ++e) values.insert(values.end(), {std::ldexp(1, e), -std::ldexp(1, e)});
  for (int k = 1; k <= 1100; ++k) values.insert(values.end(), {k / 2.0, -k / 2.0, 1.0 / k});
  for (uint64_t k = 1; k <= 64; ++k) values.insert(values.end(), {FromBits(k), -FromBits(k)});
  return values;
}

Proof ProveRandom(const Function1& f, const Subject& subject, int64_t chunk, int64_t n) {
  Proof proof{.function = std::string(f.name), .type = "f64"};
  std::vector<double> inputs;
  if (chunk == 0) {
    inputs = BoundaryArguments();
    for (const WorstCases1& cases : WorstCases()) {
      if (cases.function != f.name) continue;
      for (const double x : cases.arguments) inputs.insert(inputs.end(), {x, -x});
    }
  }
  Random random(static_cast<uint64_t>(chunk) * 1000003 + static_cast<uint64_t>(f.opcode));
  while (std::ssize(inputs) < n) inputs.push_back(RandomArgument(random));
  Oracle oracle;
  Strip64 strip;
  for (int64_t begin = 0; begin < std::ssize(inputs); begin += kStrip) {
    const int64_t count = std::min(kStrip, std::ssize(inputs) - begin);
    const std::byte* in[] = {reinterpret_cast<const std::byte*>(&inputs[begin])};
    subject(count, in, reinterpret_cast<std::byte*>(strip.result));
    for (int64_t i = 0; i < count; ++i) {
      const double x = inputs[begin + i];
      const uint64_t wanted = oracle.WantDouble(f, x);
      if (strip.result[i] == wanted) continue;
      proof.AddWrong(WrongLine("f64 " + Hex(std::bit_cast<uint64_t>(x), 64), strip.result[i], wanted, 64));
    }
  }
  proof.tried = std::ssize(inputs);
  return proof;
}

Proof ProveRandomPairs(const Function2& f, ElementType type, const Subject& subject, int64_t chunk,
                       int64_t n) {
  Proof proof{.function = std::string(f.name), .type = std::string(Name(type))};
  const NumberFormat& format = FormatOf(type);
  std::vector<std::pair<double, double>> inputs;
  if (chunk == 0) {
    for (const WorstCase2& c : WorstPairs()) {
      if (c.function == f.name) inputs.emplace_back(c.x, c.y);
    }
    const double special[] = {0.0,
                              -0.0,
                              1,
                              -1,
                              2,
                              -2,
                              3,
                              0.5,
                              -0.5,
                              1.5,
                              0x1p-1074,
                              0x1p-149,
                              0x1.fffffep127,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    for (const double x : special) {
      for (const double y : special) inputs.emplace_back(x, y);
    }
  }
  Random random(static_cast<uint64_t>(chunk) * 1000003 + static_cast<uint64_t>(f.opcode) + 500);
  while (std::ssize(inputs) < n) inputs.push_back(RandomPair(random));
  Oracle oracle;
  Strip64 strip;
  for (int64_t begin = 0; begin < std::ssize(inputs); begin += kStrip) {
    const int64_t count = std::min(kStrip, std::ssize(inputs) - begin);
    for (int64_t i = 0; i < count; ++i) std::tie(strip.x[i], strip.y[i]) = inputs[begin + i];
    if (type == ElementType::kF32) {
      for (int64_t i = 0; i < count; ++i) {
        strip.x[i] = static_cast<float>(strip.x[i]);
        strip.y[i] = static_cast<float>(strip.y[i]);
      }
    }
    RunPairs(subject, type, count, strip);
    for (int64_t i = 0; i < count; ++i) {
      const double x = strip.x[i], y = strip.y[i];
      const uint64_t wanted =
          type == ElementType::kF64 ? oracle.WantDouble(f, x, y) : oracle.Want(f, x, y, format);
      if (strip.result[i] == wanted) continue;
      proof.AddWrong(WrongLine(HexPair(x, y, type), strip.result[i], wanted, format.bits));
    }
  }
  proof.tried = std::ssize(inputs);
  return proof;
}

void ProveDoubles(int64_t n, const std::vector<std::string>& names, const std::string& engine, int jobs,
                  Ledger& ledger) {
  const auto chosen = [&](std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Function1& f : Functions1()) {
    const Subject subject = SubjectStrip(engine, f, ElementType::kF64);
    if (!chosen(f.name) || !subject) continue;
    RunChunks(
        f.name, "f64", n, jobs,
        [&](int64_t chunk, int64_t count) { return ProveRandom(f, subject, chunk, count); }, ledger);
  }
  for (const Function2& f : Functions2()) {
    for (const ElementType type : {ElementType::kF64, ElementType::kF32}) {
      const ElementType types[] = {type, type};
      const Subject subject = SubjectStrip(engine, f.opcode, types, type);
      if (!chosen(f.name) || !subject) continue;
      RunChunks(
          f.name, std::string(Name(type)), n, jobs,
          [&](int64_t chunk, int64_t count) { return ProveRandomPairs(f, type, subject, chunk, count); },
          ledger);
    }
  }
}

}  // namespace assay::prove
