// What the tests of the ops that move elements share: running HLO text, and arrays that a slow second method
// can index.
#ifndef ASSAY_TESTS_EVALUATOR_OPS_SHAPE_TESTING_H_
#define ASSAY_TESTS_EVALUATOR_OPS_SHAPE_TESTING_H_

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "run/program.h"

namespace assay::testing {

inline absl::StatusOr<Literal> RunText(const std::string& text, std::vector<Literal> arguments) {
  ASSAY_ASSIGN_OR_RETURN(const Program program, Program::Load("program.hlo", text));
  return program.Run(std::move(arguments), {.crosscheck = Crosscheck::kFull});
}

inline Literal RunOk(const std::string& text, std::vector<Literal> arguments) {
  INFO(text);
  auto result = RunText(text, std::move(arguments));
  if (!result.ok()) FAIL(std::string(result.status().message()));
  return *std::move(result);
}

using Index = std::vector<int64_t>;

// A dense s32 array.
struct Array {
  Index sizes;
  std::vector<int64_t> values;

  explicit Array(Index s, int64_t value = 0) : sizes(std::move(s)), values(Count(), value) {}
  int64_t Count() const {
    int64_t n = 1;
    for (int64_t size : sizes) n *= size;
    return n;
  }
  int64_t& At(const Index& index) {
    int64_t at = 0;
    for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
    return values[at];
  }
  // Calls fn for every index, row-major.
  template <typename Fn>
  void ForEach(const Fn& fn) const {
    Index index(sizes.size(), 0);
    for (int64_t i = 0; i < Count(); ++i) {
      fn(index);
      for (size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
    }
  }
  Literal ToLiteral() const { return Literal::FromInts(ElementType::kS32, sizes, values); }
  std::string Text() const { return fmt::format("s32[{}]", fmt::join(sizes, ",")); }
};

inline std::vector<int64_t> ValuesOf(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) values.push_back(literal.GetInt(i));
  return values;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  Array Fill(Index sizes, int64_t low, int64_t high) {
    Array array(std::move(sizes));
    for (int64_t& value : array.values) value = Int(low, high);
    return array;
  }
  Index Sizes(int rank, int64_t low, int64_t high) {
    Index sizes;
    for (int d = 0; d < rank; ++d) sizes.push_back(Int(low, high));
    return sizes;
  }
  // A random choice of `count` of the numbers, in random order.
  Index Pick(Index numbers, size_t count) {
    std::shuffle(numbers.begin(), numbers.end(), engine_);
    numbers.resize(count);
    return numbers;
  }

 private:
  std::mt19937 engine_;
};

inline Index Upto(int64_t n) {
  Index numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(i);
  return numbers;
}
inline bool Has(const Index& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}
inline std::string Braces(const Index& list) { return fmt::format("{{{}}}", fmt::join(list, ",")); }

}  // namespace assay::testing

#endif  // ASSAY_TESTS_EVALUATOR_OPS_SHAPE_TESTING_H_
