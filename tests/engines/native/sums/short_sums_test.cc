// Sums in doubles that are claimed to be exact, against sums of 113 bits, which hold all of these.
#include "engines/native/sums/short_sums.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace assay::native {
namespace {

bool SameBits(float a, float b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

float Rounded(const std::vector<float>& terms, double init) {
  __float128 sum = init;
  for (float term : terms) sum += term;
  return static_cast<float>(sum);
}

// Whether AddFew answers, on every instruction set; its answer must be right.
bool Answers(const std::vector<float>& terms, double init) {
  int answers = 0, sets = 0;
  for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > MachineIsa()) continue;
    ++sets;
    float result = 0;
    if (!AddFew(SumKernelsOf(isa), terms.data(), static_cast<int64_t>(terms.size()), init, &result)) continue;
    ++answers;
    INFO("terms " << terms.size() << " init " << init);
    CHECK(SameBits(result, Rounded(terms, init)));
  }
  CHECK((answers == 0 || answers == sets));
  return answers > 0;
}

TEST_CASE("few sums: exact for ordinary terms, ties and cancellation among them", "[native][sums]") {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 20000; ++round) {
    std::vector<float> terms(1 + random() % 40);
    for (float& term : terms) term = normal(random);
    CHECK(Answers(terms, round % 3 == 0 ? 0.0 : normal(random)));
  }
  CHECK(Answers({1, 0x1p-24f}, 0));  // a tie, to even
  CHECK(Answers({1 + 0x1p-23f, 0x1p-24f}, 0));
  CHECK(Answers({3, -1, -2}, 0));  // +0
  CHECK(Answers({3, -1}, -2));
  CHECK(Answers({-0.0f, 5, 0.0f, -5}, -0.0));
  CHECK(Answers({0x1.fffffep127f, 0x1.fffffep127f}, 0));  // infinity
  CHECK(Answers({0x1p-149f, 0x1p-148f, 0x1p-126f}, 0));
}

TEST_CASE("few sums: terms of any size are right or refused", "[native][sums]") {
  std::mt19937_64 random(2);
  int answered = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<float> terms(1 + random() % 12);
    const int spread = 1 + static_cast<int>(random() % 60);
    for (float& term : terms) {
      const auto bits = static_cast<int32_t>(random() & 0xffffff);
      term = std::ldexp(static_cast<float>(bits) * (random() % 2 ? 1.0f : -1.0f),
                        static_cast<int>(random() % static_cast<uint64_t>(spread)) - 30);
    }
    answered += Answers(terms, 0);
  }
  CHECK(answered > 10000);
  CHECK(answered < 50000);
  CHECK_FALSE(Answers({0x1p60f, 1, -0x1p60f}, 0));
  CHECK_FALSE(Answers({0, -0.0f}, 0));  // signs of zeros are not settled here
  CHECK_FALSE(Answers({1, std::numeric_limits<float>::infinity()}, 0));
  CHECK_FALSE(Answers({1, std::numeric_limits<float>::quiet_NaN()}, 0));
  CHECK_FALSE(Answers({std::numeric_limits<float>::quiet_NaN()}, 0));
}

// 1 + 2^-24 is a tie; 2^-(k+23) more decides it, and from k = 30 on no double has all of that.
TEST_CASE("few sums: a bit that doubles lose is never needed", "[native][sums]") {
  for (int k = 20; k <= 100; ++k) {
    const float last = std::ldexp(1.0f, -k - 23), large = std::ldexp(1.0f, -k);
    const bool answers = Answers({1, 0x1p-24f, large + last, -large}, 0);
    CHECK(answers == (k < 28));
    CHECK(Answers({large + last, -large, 1}, 0x1p-24) == answers);
  }
}

TEST_CASE("few sums: side by side they are what they are alone", "[native][sums]") {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (int64_t columns = 1; columns <= kFewColumns; ++columns) {
    std::vector<float> array(static_cast<size_t>(30 * columns));
    for (float& x : array) x = random() % 8 == 0 ? 0.0f : normal(random);
    array[0] = std::numeric_limits<float>::infinity();
    std::vector<int64_t> rows;
    for (int64_t r = 0; r < 30; r += 2) rows.push_back(r * columns);
    for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > MachineIsa()) continue;
      float sums[kFewColumns];
      const uint32_t there = AddFewRows(SumKernelsOf(isa), array.data(), rows, columns, 0.25, sums);
      CHECK(there == ((uint32_t{1} << columns) - 1) - 1);  // all but column 0
      for (int64_t j = 1; j < columns; ++j) {
        std::vector<float> terms;
        for (int64_t row : rows) terms.push_back(array[static_cast<size_t>(row + j)]);
        CHECK(SameBits(sums[j], Rounded(terms, 0.25)));
      }
    }
  }
}

}  // namespace
}  // namespace assay::native
