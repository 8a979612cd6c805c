#include "run/trace/roofline.h"

#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int64_t kCopied = int64_t{64} << 20;  // bytes; no cache should hold them
constexpr int64_t kCached = int64_t{64}
                            << 10;  // read, and as much written: half of a small second-level cache
constexpr int64_t kMaxCached = int64_t{256} << 10;  // of a step
constexpr int64_t kGrain = int64_t{1} << 20;
constexpr int64_t kIterations = 10'000;  // of a loop of multiply-adds: some 30 microseconds
constexpr int kChains = 12;  // multiply-adds that do not wait for each other: 4 cycles by 2 or 3 pipes

double SecondsOf(absl::FunctionRef<void()> work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Loops of kChains independent x = x * a + b. What they give depends on n, so that none is left out.
#define ASSAY_FMA_LOOP(name, target, Vector, Scalar, fill, fma)                           \
  target Scalar name(int64_t n) {                                                         \
    Vector x[kChains], a = fill(Scalar{0.5}), b = fill(Scalar{1});                        \
    _Pragma("GCC unroll 16") for (int k = 0; k < kChains; ++k) x[k] = a;                  \
    for (int64_t i = 0; i < n; ++i) {                                                     \
      _Pragma("GCC unroll 16") for (int k = 0; k < kChains; ++k) x[k] = fma(x[k], a, b);  \
    }                                                                                     \
    _Pragma("GCC unroll 16") for (int k = 1; k < kChains; ++k) x[0] = fma(x[k], a, x[0]); \
    Scalar first;                                                                         \
    std::memcpy(&first, &x[0], sizeof(first));                                            \
    return first;                                                                         \
  }
inline __m128 MultiplyAdd(__m128 x, __m128 a, __m128 b) { return _mm_add_ps(_mm_mul_ps(x, a), b); }
inline __m128d MultiplyAdd(__m128d x, __m128d a, __m128d b) { return _mm_add_pd(_mm_mul_pd(x, a), b); }
ASSAY_FMA_LOOP(F32Baseline, , __m128, float, _mm_set1_ps, MultiplyAdd)
ASSAY_FMA_LOOP(F64Baseline, , __m128d, double, _mm_set1_pd, MultiplyAdd)
ASSAY_FMA_LOOP(F32Avx2, ASSAY_AVX2, __m256, float, _mm256_set1_ps, _mm256_fmadd_ps)
ASSAY_FMA_LOOP(F64Avx2, ASSAY_AVX2, __m256d, double, _mm256_set1_pd, _mm256_fmadd_pd)
ASSAY_FMA_LOOP(F32Avx512, ASSAY_AVX512, __m512, float, _mm512_set1_ps, _mm512_fmadd_ps)
ASSAY_FMA_LOOP(F64Avx512, ASSAY_AVX512, __m512d, double, _mm512_set1_pd, _mm512_fmadd_pd)
#undef ASSAY_FMA_LOOP

// Operations a second of a loop of multiply-adds over vectors of `lanes`, by all threads.
template <typename Scalar>
double RateOf(Parallel& parallel, int lanes, Scalar (*loop)(int64_t n)) {
  const int64_t parts = 16 * parallel.jobs();
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = SecondsOf([&] {
      parallel.For(parts, 1, [&](int64_t begin, int64_t end) {
        volatile Scalar kept = loop((end - begin) * kIterations);
        static_cast<void>(kept);
      });
    });
    best = std::max(best, 2.0 * lanes * kChains * static_cast<double>(parts * kIterations) / seconds);
  }
  return best;
}

// Past the caches on the way out, as a large result should go.
void CopyPart(const std::byte* from, std::byte* to, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
}

struct Unmap {
  void operator()(std::byte* pages) const { munmap(pages, 2 * kCopied); }
};

double CopyRate(Parallel& parallel) {
  void* const pages = mmap(nullptr, 2 * kCopied, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return 0;
  const std::unique_ptr<std::byte, Unmap> from(static_cast<std::byte*>(pages));
  std::byte* const to = from.get() + kCopied;
  madvise(pages, 2 * kCopied, MADV_HUGEPAGE);
  parallel.For(2 * kCopied, kGrain, [&](int64_t begin, int64_t end) {
    std::memset(from.get() + begin, 1, static_cast<size_t>(end - begin));
  });
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = SecondsOf([&] {
      parallel.For(kCopied, kGrain, [&](int64_t begin, int64_t end) {
        CopyPart(from.get() + begin, to + begin, end - begin);
      });
    });
    best = std::max(best, 2.0 * static_cast<double>(kCopied) / seconds);
  }
  return best;
}

double CachedCopyRate(Parallel& parallel) {
  const int64_t parts = 16 * parallel.jobs(), copies = 32;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double seconds = SecondsOf([&] {
      parallel.For(parts, 1, [&](int64_t begin, int64_t end) {
        static thread_local std::byte from[kCached], to[kCached];
        for (int64_t k = 0; k < (end - begin) * copies; ++k) {
          std::memcpy(to, from, kCached);
          __asm__ volatile("" : : "r"(to) : "memory");  // somebody looks
        }
      });
    });
    best = std::max(best, 2.0 * static_cast<double>(kCached * parts * copies) / seconds);
  }
  return best;
}

bool IsDouble(const Shape& shape) {
  if (!shape.IsArray()) return std::any_of(shape.elements().begin(), shape.elements().end(), IsDouble);
  return shape.element_type() == ElementType::kF64 || shape.element_type() == ElementType::kC128;
}

}  // namespace

Peaks MeasurePeaks(Parallel& parallel, Isa isa) {
  Peaks peaks{.copy = CopyRate(parallel), .cached = CachedCopyRate(parallel)};
  switch (isa) {
    case Isa::kBaseline:
      peaks.f32 = RateOf(parallel, 4, F32Baseline);
      peaks.f64 = RateOf(parallel, 2, F64Baseline);
      break;
    case Isa::kAvx2:
      peaks.f32 = RateOf(parallel, 8, F32Avx2);
      peaks.f64 = RateOf(parallel, 4, F64Avx2);
      break;
    case Isa::kAvx512:
      peaks.f32 = RateOf(parallel, 16, F32Avx512);
      peaks.f64 = RateOf(parallel, 8, F64Avx512);
      break;
  }
  return peaks;
}

std::optional<double> ShareOfRoofline(const Peaks& peaks, const Computation& computation, const Step& step,
                                      const Cost& cost, double seconds) {
  if (!cost.known || cost.per_iteration || seconds <= 0 || (cost.bytes() == 0 && cost.flops == 0))
    return std::nullopt;
  const auto is_double = [&](int32_t i) {
    return IsDouble(*computation.instructions[static_cast<size_t>(i)].shape);
  };
  const std::span<const int32_t> reads = step.Reads(computation);
  const bool as_f64 = is_double(step.instruction) || std::any_of(reads.begin(), reads.end(), is_double);
  const double compute = cost.flops / (as_f64 ? peaks.f64 : peaks.f32);
  const double rate = cost.bytes() <= kMaxCached ? peaks.cached : peaks.copy;
  const double move = rate > 0 ? cost.bytes() / rate : 0;
  return std::max(compute, move) / seconds;
}

}  // namespace assay
