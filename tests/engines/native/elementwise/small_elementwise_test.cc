// Elementwise steps of few elements, around the 64 up to which they have a kernel of their own,
// against plain arithmetic.
#include <catch2/catch.hpp>
#include <cmath>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

// {f(0), f(1), …}.
template <class F>
std::vector<int64_t> Numbers(int64_t n, const F& f) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(f(i));
  return numbers;
}

Literal Ints(ElementType type, const std::vector<int64_t>& values) {
  const int64_t n = std::ssize(values);
  return Literal::FromInts(type, {&n, 1}, values);
}

// The arrays of the result by every instruction set; the arguments stay what they are, and steps count as the
// reference counts them.
void CheckArrays(const std::string& body, const std::vector<Literal>& arguments,
                 const std::vector<Literal>& wanted) {
  const Plan reference = ReferencePlan(body);
  Executor referee(reference, {});
  REQUIRE(referee.Run(arguments).ok());
  for (Isa isa : MachineIsas()) {
    int kernels = 0;
    const Plan plan = NativePlan(reference, isa, &kernels);
    CHECK(kernels > 0);
    Executor executor(plan, {});
    const absl::StatusOr<Literal> result = executor.Run(arguments);
    INFO(body);
    REQUIRE(result.ok());
    REQUIRE(result->tuple_size() == std::ssize(wanted));
    for (size_t k = 0; k < wanted.size(); ++k)
      CHECK(Literal::BitwiseEqual(result->element(static_cast<int64_t>(k)), wanted[k]));
    CHECK(executor.statistics().steps == referee.statistics().steps);
  }
}

constexpr int64_t kSizes[] = {1, 2, 7, 63, 64, 65};

TEST_CASE("small elementwise: an operand that is needed again keeps its elements", "[native][elementwise]") {
  for (int64_t n : kSizes) {
    const Literal x = Ints(ElementType::kS32, Numbers(n, [](int64_t i) { return i - 3; }));
    const Literal doubled = Ints(ElementType::kS32, Numbers(n, [](int64_t i) { return 2 * (i - 3); }));
    const Literal squares =
        Ints(ElementType::kS32, Numbers(n, [](int64_t i) { return 4 * (i - 3) * (i - 3); }));
    CheckArrays(fmt::format(R"(x = s32[{0}] parameter(0)
y = s32[{0}] add(x, x)
z = s32[{0}] multiply(y, y)
ROOT r = (s32[{0}], s32[{0}], s32[{0}]) tuple(x, y, z))",
                            n),
                {x}, {x, doubled, squares});
  }
}

TEST_CASE("small elementwise: types of other kinds and widths, in storage that is free",
          "[native][elementwise]") {
  for (int64_t n : kSizes) {
    // x, then -x as f64, then as s64 again: each in the storage of the one before.
    const auto value = [](int64_t i) { return 1000 * i - 7; };
    const Literal x = Ints(ElementType::kS64, Numbers(n, value));
    const Literal negated = Ints(ElementType::kS64, Numbers(n, [&](int64_t i) { return -value(i); }));
    CheckArrays(fmt::format(R"(x = s64[{0}] parameter(0)
y = s64[{0}] negate(x)
f = f64[{0}] convert(y)
z = s64[{0}] convert(f)
ROOT r = (s64[{0}]) tuple(z))",
                            n),
                {x}, {negated});
    // s8 wraps: 100 + 100 = -56.
    const Literal bytes = Ints(ElementType::kS8, Numbers(n, [](int64_t i) { return i % 2 == 0 ? 100 : -3; }));
    const Literal wrapped =
        Ints(ElementType::kS8, Numbers(n, [](int64_t i) { return i % 2 == 0 ? -56 : -6; }));
    const Literal wide = Ints(ElementType::kS64, Numbers(n, [](int64_t i) { return i % 2 == 0 ? -56 : -6; }));
    CheckArrays(fmt::format(R"(x = s8[{0}] parameter(0)
y = s8[{0}] add(x, x)
z = s64[{0}] convert(y)
ROOT r = (s8[{0}], s64[{0}]) tuple(y, z))",
                            n),
                {bytes}, {wrapped, wide});
  }
}

TEST_CASE("small elementwise: three operands, comparisons and scalars", "[native][elementwise]") {
  for (int64_t n : kSizes) {
    const Literal x = Ints(ElementType::kS64, Numbers(n, [](int64_t i) { return i * i - 40; }));
    const Literal y = Ints(ElementType::kS64, Numbers(n, [](int64_t i) { return 9 - i; }));
    const Literal larger =
        Ints(ElementType::kS64, Numbers(n, [](int64_t i) { return std::max(i * i - 40, 9 - i); }));
    const Literal above = Ints(ElementType::kPred, Numbers(n, [](int64_t i) { return i * i - 40 > 9 - i; }));
    CheckArrays(fmt::format(R"(x = s64[{0}] parameter(0)
y = s64[{0}] parameter(1)
p = pred[{0}] compare(x, y), direction=GT
z = s64[{0}] select(p, x, y)
ROOT r = (pred[{0}], s64[{0}]) tuple(p, z))",
                            n),
                {x, y}, {above, larger});
  }
  const Literal seven = Literal::ScalarInt(ElementType::kU16, 7),
                ten = Literal::ScalarInt(ElementType::kU16, 10);
  CheckArrays(
      R"(x = u16[] parameter(0)
y = u16[] parameter(1)
z = u16[] subtract(x, y)
ROOT r = (u16[]) tuple(z))",
      {seven, ten}, {Literal::ScalarInt(ElementType::kU16, 65533)});
}

TEST_CASE("small elementwise: elements count as the reference counts them", "[native][elementwise]") {
  // 4,096 elements are a step: 130 additions of 64 are two.
  std::string body = R"(x = s32[64] parameter(0)
y0 = s32[64] add(x, x)
)";
  for (int i = 1; i < 130; ++i) body += fmt::format("y{} = s32[64] add(y{}, x)\n", i, i - 1);
  const Literal x = Ints(ElementType::kS32, Numbers(64, [](int64_t i) { return i; }));
  const Literal sum = Ints(ElementType::kS32, Numbers(64, [](int64_t i) { return 131 * i; }));
  CheckArrays(body + "ROOT r = (s32[64]) tuple(y129)", {x}, {sum});
}

}  // namespace
}  // namespace assay::testing
