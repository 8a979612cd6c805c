#include "literal/element_io.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "literal/float_format.h"

namespace assay {
namespace {

using T = ElementType;
std::vector<T> AllTypes() {
  std::vector<T> types;
  for (int t = 0; t < kNumElementTypes; ++t) types.push_back(static_cast<T>(t));
  return types;
}
const FloatFormat& FormatOf(T type) { return *Info(type).format; }

// Random elements as the type stores them.
std::vector<std::byte> RandomElements(T type, int64_t n, std::mt19937_64* random) {
  std::vector<std::byte> bytes(n * Bytes(type));
  for (int64_t i = 0; i < n; ++i) {
    uint64_t pattern[2] = {(*random)(), (*random)()};
    if (type == T::kPred) pattern[0] &= 1;
    if (Bits(type) < 8) {
      pattern[0] = IsSignedIntegral(type) ? static_cast<uint64_t>(WrapSigned(pattern[0], Bits(type)))
                                          : WrapUnsigned(pattern[0], Bits(type));
    }
    // NaNs and infinities more often than chance gives them.
    if ((type == T::kF32 || type == T::kC64) && i % 5 == 0) pattern[0] |= 0x7f800000;
    if (type == T::kF32 && i % 7 == 0) pattern[0] = 0x7f800000;
    std::memcpy(bytes.data() + i * Bytes(type), pattern, Bytes(type));
  }
  return bytes;
}

// What one element is in its kind, as bytes.
std::vector<std::byte> SlowLoad(T type, const std::byte* element) {
  uint64_t words[2] = {0, 0};
  std::memcpy(words, element, Bytes(type));
  if (IsSignedIntegral(type))
    words[0] =
        static_cast<uint64_t>(static_cast<int64_t>(words[0] << (64 - Bits(type))) >> (64 - Bits(type)));
  if (IsFloat(type)) words[0] = std::bit_cast<uint64_t>(DecodeFloat(words[0], FormatOf(type)));
  if (type == T::kC64) {
    words[1] = std::bit_cast<uint64_t>(DecodeFloat(words[0] >> 32, FormatOf(T::kF32)));
    words[0] = std::bit_cast<uint64_t>(DecodeFloat(words[0] & 0xffffffff, FormatOf(T::kF32)));
  }
  std::vector<std::byte> result(KindBytes(KindOf(type)));
  std::memcpy(result.data(), words, result.size());
  return result;
}

}  // namespace

TEST_CASE("element io: strips of any stride load what their elements are", "[element_io]") {
  std::mt19937_64 random(1);
  for (T type : AllTypes()) {
    const int64_t bytes = Bytes(type);
    const int64_t kind_bytes = KindBytes(KindOf(type));
    for (int64_t n : {0, 1, 2, 3, 31, 32, 33, 100, 256, 300}) {
      const std::vector<std::byte> elements = RandomElements(type, 3 * 300 + 1, &random);
      for (int64_t step : {1, 0, -1, 2, -3, 3}) {
        const std::byte* first = elements.data() + (step < 0 ? -step * n * bytes : 0);
        std::vector<std::byte> strip(n * kind_bytes + 16, std::byte{0xcd});
        LoadStrip(type, first, step * bytes, n, strip.data());
        int wrong = 0;
        for (int64_t i = 0; i < n; ++i) {
          const std::vector<std::byte> expected = SlowLoad(type, first + i * step * bytes);
          wrong += std::memcmp(strip.data() + i * kind_bytes, expected.data(), kind_bytes) != 0;
        }
        INFO(Name(type) << " n " << n << " step " << step);
        CHECK(wrong == 0);
        CHECK(strip[n * kind_bytes] == std::byte{0xcd});
      }
    }
  }
}

TEST_CASE("element io: storing what was loaded gives the same bytes, and no others", "[element_io]") {
  std::mt19937_64 random(2);
  for (T type : AllTypes()) {
    const int64_t bytes = Bytes(type);
    for (int64_t n : {1, 31, 32, 33, 256, 300}) {
      std::vector<std::byte> elements = RandomElements(type, n, &random);
      if (IsFloat(type) && Bits(type) < 8) {
        for (std::byte& b : elements) b &= std::byte((1 << Bits(type)) - 1);
      }
      std::vector<std::byte> strip(n * 16);
      LoadStrip(type, elements.data(), bytes, n, strip.data());
      for (int64_t step : {1, 2, -1, -2}) {
        std::vector<std::byte> target(4 * n * bytes, std::byte{0xcd});
        std::byte* first = target.data() + (step < 0 ? 2 * n * bytes : 0);
        StoreStrip(type, strip.data(), n, first, step * bytes);
        int wrong = 0;
        for (int64_t i = 0; i < n; ++i) {
          std::byte* element = first + i * step * bytes;
          wrong += std::memcmp(element, elements.data() + i * bytes, bytes) != 0;
          std::memset(element, 0xcd, bytes);
        }
        INFO(Name(type) << " n " << n << " step " << step);
        CHECK(wrong == 0);
        CHECK(target == std::vector<std::byte>(4 * n * bytes, std::byte{0xcd}));
      }
    }
  }
}

TEST_CASE("element io: every pattern of the narrow floats, alone and in company", "[element_io]") {
  for (T type : AllTypes()) {
    if (!IsFloat(type) || Bits(type) > 16) continue;
    const int64_t count = int64_t{1} << Bits(type);
    const int64_t bytes = Bytes(type);
    std::vector<std::byte> elements(count * bytes);
    for (int64_t i = 0; i < count; ++i) std::memcpy(&elements[i * bytes], &i, bytes);
    std::vector<double> values(count);
    LoadStrip(type, elements.data(), bytes, count, values.data());
    std::vector<std::byte> stored(count * bytes), one_by_one(count * bytes);
    StoreStrip(type, values.data(), count, stored.data(), bytes);
    int wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double expected = DecodeFloat(i, FormatOf(type));
      wrong += std::bit_cast<uint64_t>(values[i]) != std::bit_cast<uint64_t>(expected);
      // In a block of its own, so that no NaN next to it chooses the slow path.
      double alone = 0;
      LoadStrip(type, &elements[i * bytes], bytes, 1, &alone);
      wrong += std::bit_cast<uint64_t>(alone) != std::bit_cast<uint64_t>(expected);
      StoreStrip(type, &expected, 1, &one_by_one[i * bytes], bytes);
    }
    INFO(Name(type));
    CHECK(wrong == 0);
    CHECK(stored == elements);
    CHECK(one_by_one == elements);
  }
}

TEST_CASE("element io: unused upper bits of an element are not read", "[element_io]") {
  const std::byte dirty{0xf5};
  CHECK(LoadElement(T::kU4, &dirty).u == 5);
  CHECK(LoadElement(T::kS4, &dirty).i == 5);
  CHECK(LoadElement(T::kU1, &dirty).u == 1);
  CHECK(LoadElement(T::kS1, &dirty).i == -1);
  CHECK(LoadElement(T::kS2, &dirty).i == 1);
  CHECK(LoadElement(T::kF4E2M1FN, &dirty).r == 3);
  CHECK(LoadElement(T::kF6E3M2FN, &dirty).r == -5);
  CHECK(LoadElement(T::kPred, &dirty).b == 1);
}

TEST_CASE("element io: integers keep their low bits", "[element_io]") {
  const auto store = [](T type, int64_t value) {
    std::byte bytes[8] = {};
    StoreStrip(type, &value, 1, bytes, 0);
    int64_t result = 0;
    std::memcpy(&result, bytes, Bytes(type));
    return result;
  };
  CHECK(store(T::kS4, 9) == 0xf9);
  CHECK(store(T::kU4, 0x19) == 0x9);
  CHECK(store(T::kS1, 3) == 0xff);
  CHECK(store(T::kU2, -1) == 3);
  CHECK(store(T::kU8, -1) == 0xff);
  CHECK(store(T::kS16, 0x12345) == 0x2345);
  CHECK(WrapSigned(0x180, 8) == -128);
  CHECK(WrapSigned(1, 1) == -1);
  CHECK(WrapSigned(INT64_MIN, 64) == INT64_MIN);
  CHECK(WrapUnsigned(~uint64_t{0}, 4) == 15);
  int64_t values[] = {127, 128, -129};
  WrapStrip(T::kS8, values, 3);
  CHECK(values[1] == -128);
  CHECK(values[2] == 127);
}

TEST_CASE("element io: -0 stored to a type without it is zero, not NaN", "[element_io]") {
  for (T type : {T::kF8E4M3FNUZ, T::kF8E5M2FNUZ, T::kF8E4M3B11FNUZ}) {
    const double values[2] = {-0.0, -1.0};
    std::byte bytes[2];
    StoreStrip(type, values, 2, bytes, 1);
    CHECK(bytes[0] == std::byte{0});
    CHECK(bytes[1] != std::byte{0});
  }
}

TEST_CASE("element io: elements and indices one at a time", "[element_io]") {
  ScalarValue value;
  value.c = {1.5, -2};
  std::byte bytes[16];
  StoreElement(T::kC64, value, bytes);
  CHECK(LoadElement(T::kC64, bytes).c == std::complex<double>(1.5, -2));
  CHECK(LoadElement(T::kC64, bytes).kind == ComputeKind::kComplex);
  const uint64_t big = ~uint64_t{0};
  CHECK(LoadIndex(T::kU64, reinterpret_cast<const std::byte*>(&big)) == INT64_MAX);
  CHECK(LoadIndex(T::kS64, reinterpret_cast<const std::byte*>(&big)) == -1);
  CHECK(LoadIndex(T::kU16, reinterpret_cast<const std::byte*>(&big)) == 65535);
}

}  // namespace assay
