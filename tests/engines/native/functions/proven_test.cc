// The proven functions against the functions with a rounding test, which functions_test.cc compares with the
// reference: every f16 and bf16, f32 values spread over the range, strips of every short length.
#include "engines/native/functions/proven.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engines/native/functions/functions.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

std::vector<Isa> FastIsas() {
  std::vector<Isa> isas;
  for (int i = 1; i <= static_cast<int>(MachineIsa()); ++i) isas.push_back(static_cast<Isa>(i));
  return isas;
}

// By the functions with a rounding test.
std::vector<std::byte> Tested(const FunctionRow& row, ElementType type, const std::vector<std::byte>& x) {
  const int64_t bytes = Bytes(type), n = std::ssize(x) / bytes;
  std::vector<std::byte> out(x.size());
  alignas(64) double strip[kStrip];
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = std::min(kStrip, n - i);
    LoadStrip(type, x.data() + i * bytes, bytes, count, strip);
    ApplyFunction(row, MachineIsa(), *Info(type).format, count, strip, nullptr, strip);
    StoreStrip(type, strip, count, out.data() + i * bytes, bytes);
  }
  return out;
}

void CompareProven(ElementType type, const std::vector<std::byte>& x) {
  const int64_t bytes = Bytes(type), n = std::ssize(x) / bytes;
  for (const ProvenRow& row : ProvenRows(Isa::kAvx2)) {
    const std::vector<std::byte> want = Tested(*FindFunction(row.opcode), type, x);
    for (const Isa isa : FastIsas()) {
      const ElementwiseFn f = ProvenFunction(row.opcode, type, isa);
      REQUIRE((f != nullptr || type == ElementType::kF64));
      if (f == nullptr) continue;
      std::vector<std::byte> got(x.size());
      const std::byte* in = x.data();
      f(n, &in, got.data());
      int64_t wrong = 0;
      for (int64_t i = n; i-- > 0;) {
        if (std::memcmp(&got[i * bytes], &want[i * bytes], bytes) != 0) wrong = i + 1;
      }
      uint32_t pattern = 0;
      if (wrong > 0) std::memcpy(&pattern, &x[(wrong - 1) * bytes], bytes);
      CAPTURE(Name(row.opcode), Name(type), static_cast<int>(isa), pattern);
      CHECK(wrong == 0);
    }
  }
}

template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& patterns) {
  std::vector<std::byte> bytes(patterns.size() * sizeof(T));
  std::memcpy(bytes.data(), patterns.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("proven functions: every f16 and bf16", "[native][functions]") {
  std::vector<uint16_t> all;
  for (int pattern = 0; pattern < 1 << 16; ++pattern) all.push_back(static_cast<uint16_t>(pattern));
  CompareProven(ElementType::kF16, BytesOf(all));
  CompareProven(ElementType::kBF16, BytesOf(all));
}

TEST_CASE("proven functions: f32 values spread over the range, and special ones", "[native][functions]") {
  std::vector<uint32_t> some;
  for (uint64_t pattern = 0; pattern < uint64_t{1} << 32; pattern += 32749)
    some.push_back(static_cast<uint32_t>(pattern));
  // Around every power of two: zeros, infinities, NaNs, 1, ranges' ends; logistic's near-midpoints.
  for (uint64_t e = 0; e < 1 << 9; ++e) {
    for (int64_t d = -3; d <= 3; ++d)
      some.push_back(static_cast<uint32_t>((e << 23) + static_cast<uint64_t>(d)));
    for (uint64_t top = 1; top < 16; ++top) some.push_back(static_cast<uint32_t>((e << 23) + (top << 19)));
  }
  for (const float limit :
       {88.72284f, -103.972084f, 89.415985f, 9.010913f, 3.9192059f, -16.635532f, 262144.0f}) {
    const auto pattern = std::bit_cast<uint32_t>(limit);
    for (uint32_t d = 0; d < 100; ++d) some.push_back(pattern - 50 + d);
  }
  // The hardest ones of sine, cosine, expm1, sinh, log and log1p; of tanh and erf that pieces round wrong.
  for (const uint32_t hard :
       {0x46199998u, 0x3dc252ddu, 0xbcd475d0u, 0x3a1285ffu, 0x3d09c4d8u, 0x41178febu, 0x4c5d65a5u,
        0x65d890d3u, 0x6f31a8ecu, 0x35400003u, 0x3710001bu, 0x3efd81adu, 0x5f18b878u, 0x6115cb11u,
        0x3cc958dau, 0x3cc91e91u, 0x3cc5f46du, 0x3fd83528u, 0x3fd80311u, 0x400b7633u}) {
    some.push_back(hard);
    some.push_back(hard ^ 0x80000000u);
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) some.push_back(random());
  CompareProven(ElementType::kF32, BytesOf(some));
}

TEST_CASE("proven functions: f64 values, special ones, and near the ends of the range",
          "[native][functions]") {
  std::vector<uint64_t> some;
  for (uint64_t e = 0; e < 1 << 12; ++e) {
    for (int64_t d = -2; d <= 2; ++d) some.push_back((e << 52) + static_cast<uint64_t>(d));
  }
  std::mt19937_64 random(8);
  const auto push = [&](double x) { some.push_back(std::bit_cast<uint64_t>(x)); };
  for (int i = 0; i < 20000; ++i) {
    some.push_back(random());
    push(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -63));
    push(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -54));
    push(std::ldexp(1.0, -static_cast<int>(random() % 60)) * (random() % 2 == 0 ? 1 : -1));
  }
  for (const double limit : {-745.2, -708.4, -700.0, 700.0, 709.79}) {
    for (int i = -100; i < 100; ++i) push(limit + i * 0.01);
  }
  CompareProven(ElementType::kF64, BytesOf(some));
}

TEST_CASE("proven functions: strips of every short length, in place and with nothing written outside",
          "[native][functions]") {
  std::vector<float> x;
  for (int i = 0; i < 67; ++i) x.push_back(0.37f * static_cast<float>(i - 20));
  for (const Isa isa : FastIsas()) {
    for (const ProvenRow& row : ProvenRows(Isa::kAvx2)) {
      const ElementwiseFn f = ProvenFunction(row.opcode, ElementType::kF32, isa);
      for (int64_t n = 0; n <= std::ssize(x); ++n) {
        std::vector<float> strip = x;
        auto* const at = reinterpret_cast<std::byte*>(strip.data());
        const std::byte* in = at;
        f(n, &in, at);
        bool right = true;
        for (int64_t i = 0; i < std::ssize(x); ++i) {
          float want = x[i];
          const auto* const one = reinterpret_cast<const std::byte*>(&x[i]);
          if (i < n) f(1, &one, reinterpret_cast<std::byte*>(&want));
          right = right && std::bit_cast<uint32_t>(strip[i]) == std::bit_cast<uint32_t>(want);
        }
        CAPTURE(Name(row.opcode), static_cast<int>(isa), n);
        CHECK(right);
      }
    }
  }
}

TEST_CASE(
    "proven functions: streamed results are the others, of every short length and with nothing written "
    "outside",
    "[native][functions]") {
  std::vector<float> x;
  for (int i = 0; i < 67; ++i) x.push_back(0.37f * static_cast<float>(i - 20));
  const auto* const in = reinterpret_cast<const std::byte*>(x.data());
  for (const Isa isa : FastIsas()) {
    for (const ProvenRow& row : ProvenRows(Isa::kAvx2)) {
      const ElementwiseFn f = ProvenFunction(row.opcode, ElementType::kF32, isa);
      const ElementwiseFn streamed = ProvenStreamed(row.opcode, ElementType::kF32, isa);
      REQUIRE(streamed != nullptr);
      for (int64_t n = 0; n <= std::ssize(x); ++n) {
        alignas(64) std::byte got[80 * 4] = {}, want[80 * 4] = {};
        streamed(n, &in, got);
        f(n, &in, want);
        CAPTURE(Name(row.opcode), static_cast<int>(isa), n);
        CHECK(std::memcmp(got, want, sizeof(got)) == 0);
      }
    }
  }
}

}  // namespace assay::native
