#include <cmath>
#include <limits>

#include "tests/check/audit_testing.h"

namespace assay {
namespace {

using testing::AuditOf;
using testing::Floats;
using testing::Ints;
using testing::Lines;
using testing::Ran;
using testing::Read;
using testing::Said;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string Binary(const std::string& op, const std::string& type, int n, const std::string& more = "",
                   const std::string& result = "") {
  const std::string shape = type + "[" + std::to_string(n) + "]";
  return "ENTRY e {\n x = " + shape + " parameter(0)\n y = " + shape +
         " parameter(1)\n ROOT r = " + (result.empty() ? shape : result + "[" + std::to_string(n) + "]") +
         " " + op + "(x, y)" + more + "\n}\n";
}

TEST_CASE("audit: integer division by zero", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kIntegerDivisionByZero;
  for (const char* op : {"divide", "remainder"}) {
    const std::string program = Binary(op, "s32", 3);
    CHECK(Read(program, kPoint) == Lines{"r may"});
    CHECK(Ran(program, kPoint, {Ints({7, 5, -3}), Ints({1, 0, 0})}) == Lines{"r depends 2/3 [1]: 5, 0"});
    CHECK(Ran(program, kPoint, {Ints({7, 0, -3}), Ints({1, 2, 3})}) == Lines{"r did not depend"});
  }
  CHECK(Read(Binary("divide", "f32", 3), kPoint).empty());
}

TEST_CASE("audit: divisors that the text knows", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kIntegerDivisionByZero;
  const auto by = [](const std::string& divisor) {
    return "ENTRY e {\n x = s32[3] parameter(0)\n" + divisor + " ROOT r = s32[3] divide(x, y)\n}\n";
  };
  CHECK(Read(by("y = s32[3] constant({1, 2, 3})\n"), kPoint).empty());
  CHECK(Read(by("y = s32[3] constant({1, 0, 3})\n"), kPoint) == Lines{"r always"});
  CHECK(Read(by("c = s32[] constant(4)\n y = s32[3] broadcast(c), dimensions={}\n"), kPoint).empty());
  CHECK(Read(by("y = s32[3] iota(), iota_dimension=0\n"), kPoint) == Lines{"r may"});
  // 1 + an iota, the larger of 1 and anything, 5 where the divisor is 0.
  CHECK(Read(by("i = s32[3] iota(), iota_dimension=0\n c = s32[] constant(1)\n b = s32[3] broadcast(c), "
                "dimensions={}\n"
                " y = s32[3] add(i, b)\n"),
             kPoint)
            .empty());
  CHECK(
      Read(by("c = s32[] constant(1)\n b = s32[3] broadcast(c), dimensions={}\n y = s32[3] maximum(x, b)\n"),
           kPoint)
          .empty());
  CHECK(
      Read(by("c = s32[] constant(2147483647)\n b = s32[3] broadcast(c), dimensions={}\n i = s32[3] iota(), "
              "iota_dimension=0\n y = s32[3] add(i, b)\n"),
           kPoint) == Lines{"r may"});  // it wraps round
}

TEST_CASE("audit: divisors that are moved, and those that other devices may leave zero", "[audit]") {
  const auto divided_by = [](const std::string& divisor) {
    return Read("ENTRY e {\n x = s32[3] parameter(0)\n five = s32[3] constant({5, 5, 5})\n y = s32[3] " +
                    divisor + "\n ROOT r = s32[3] divide(x, y)\n}\n",
                AuditPoint::kIntegerDivisionByZero);
  };
  CHECK(divided_by("reverse(five), dimensions={0}").empty());
  CHECK(divided_by("all-to-all(five), replica_groups={{0}}, dimensions={0}").empty());
  for (const char* collective : {"collective-permute(five), source_target_pairs={{0,0}}",
                                 "collective-broadcast(five), replica_groups={{0}}"})
    CHECK(divided_by(collective) == Lines{"r may"});
}

TEST_CASE("audit: integer division that overflows", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kIntegerDivisionOverflow;
  const int64_t min = std::numeric_limits<int32_t>::min();
  const std::string program = Binary("divide", "s32", 3);
  CHECK(Read(program, kPoint) == Lines{"r may"});
  CHECK(Ran(program, kPoint, {Ints({min, min, 1}), Ints({1, -1, -1})}) ==
        Lines{"r depends 1/3 [1]: -2147483648, -1"});
  CHECK(Ran(program, kPoint, {Ints({min, 4, 1}), Ints({1, -1, -1})}) == Lines{"r did not depend"});
  CHECK(Read(Binary("divide", "u32", 3), kPoint).empty());
}

TEST_CASE("audit: shifts past the width", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kShiftPastWidth;
  for (const char* op : {"shift-left", "shift-right-logical", "shift-right-arithmetic"}) {
    const std::string program = Binary(op, "s32", 4);
    CHECK(Read(program, kPoint) == Lines{"r may"});
    CHECK(Ran(program, kPoint, {Ints({1, 1, 1, 1}), Ints({0, 31, 32, -1})}) ==
          Lines{"r depends 2/4 [2]: 1, 32"});
    CHECK(Ran(program, kPoint, {Ints({1, 1, 1, 1}), Ints({0, 31, 1, 2})}) == Lines{"r did not depend"});
  }
  CHECK(Read("ENTRY e {\n x = u8[2] parameter(0)\n c = u8[] constant(7)\n b = u8[2] broadcast(c), "
             "dimensions={}\n"
             " y = u8[2] and(x, b)\n ROOT r = u8[2] shift-left(x, y)\n}\n",
             kPoint)
            .empty());
}

TEST_CASE("audit: negative exponents of integers", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kNegativeExponent;
  CHECK(Ran(Binary("power", "s32", 2), kPoint, {Ints({2, 2}), Ints({3, -1})}) ==
        Lines{"r depends 1/2 [1]: 2, -1"});
  CHECK(Ran(Binary("power", "s32", 2), kPoint, {Ints({2, 2}), Ints({3, 1})}) == Lines{"r did not depend"});
  CHECK(Read(Binary("power", "u32", 2), kPoint).empty());
}

TEST_CASE("audit: floats that their integer type does not hold", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kCastOutOfRange;
  const auto cast = [](const std::string& from, const std::string& to) {
    return "ENTRY e {\n x = " + from + "[4] parameter(0)\n ROOT r = " + to + "[4] convert(x)\n}\n";
  };
  CHECK(Read(cast("f32", "s8"), kPoint) == Lines{"r may"});
  CHECK(Ran(cast("f32", "s8"), kPoint, {Floats({127.9, -128.9, 128, -129})}) ==
        Lines{"r depends 2/4 [2]: 128"});
  CHECK(Ran(cast("f32", "u8"), kPoint, {Floats({-0.9, 255.5, 256, -1})}) == Lines{"r depends 2/4 [2]: 256"});
  CHECK(Ran(cast("f32", "s32"), kPoint, {Floats({0, 1, 2, kNan})}) == Lines{"r depends 1/4 [3]: nan"});
  CHECK(Ran(cast("f64", "s64"), kPoint, {Floats({0x1p63, -0x1p63, 0, 1}, ElementType::kF64)}) ==
        Lines{"r depends 1/4 [0]: 9.2233720368547758e+18"});
  CHECK(Ran(cast("f32", "s8"), kPoint, {Floats({127.9, -128.9, 0, 1})}) == Lines{"r did not depend"});
  CHECK(Read(cast("s32", "s8"), kPoint).empty());
  CHECK(Read(cast("f32", "f16"), kPoint).empty());
}

TEST_CASE("audit: slices that leave their array", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kIndexClamped;
  const std::string slice =
      "ENTRY e {\n x = f32[4,4] parameter(0)\n i = s32[] parameter(1)\n z = s32[] constant(0)\n"
      " ROOT r = f32[2,4] dynamic-slice(x, i, z), dynamic_slice_sizes={2,4}\n}\n";
  const auto start = [](int64_t value) { return Literal::ScalarInt(ElementType::kS32, value); };
  const int64_t sizes[] = {4, 4};
  const Literal x = Literal::FromDoubles(ElementType::kF32, sizes, std::vector<double>(16, 1));
  CHECK(Read(slice, kPoint) == Lines{"r may"});
  CHECK(Ran(slice, kPoint, {x, start(3)}) == Lines{"r depends 1/1 start [3,0], the array [4,4]"});
  CHECK(Ran(slice, kPoint, {x, start(-1)}) == Lines{"r depends 1/1 start [-1,0], the array [4,4]"});
  CHECK(Ran(slice, kPoint, {x, start(2)}) == Lines{"r did not depend"});
  const std::string update =
      "ENTRY e {\n x = f32[4] parameter(0)\n u = f32[2] parameter(1)\n i = s32[] parameter(2)\n"
      " ROOT r = f32[4] dynamic-update-slice(x, u, i)\n}\n";
  CHECK(Read(update, kPoint) == Lines{"r may"});
  CHECK(Ran(update, kPoint, {Floats({1, 2, 3, 4}), Floats({5, 6}), start(3)}) ==
        Lines{"r depends 1/1 start [3], the array [4]"});
  CHECK(Ran(update, kPoint, {Floats({1, 2, 3, 4}), Floats({5, 6}), start(2)}) == Lines{"r did not depend"});
  // The text knows where it starts.
  const auto at = [](const std::string& constant) {
    return "ENTRY e {\n x = f32[4] parameter(0)\n i = s32[] constant(" + constant +
           ")\n ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}\n}\n";
  };
  CHECK(Read(at("2"), kPoint).empty());
  CHECK(Read(at("3"), kPoint) == Lines{"r always"});
}

std::string Gather(const std::string& more = "") {
  return "ENTRY e {\n x = f32[5,3] parameter(0)\n i = s32[3,1] parameter(1)\n ROOT r = f32[3,3] gather(x, "
         "i), "
         "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
         "slice_sizes={1,3}" +
         more + "\n}\n";
}

Literal Column(std::vector<int64_t> values) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size()), 1};
  return Literal::FromInts(ElementType::kS32, sizes, values);
}

// Of 64 bits each the largest factors give 2^128 - 2^65 + 1, which int128 does not hold: it is no value of
// the indices' type, so that nothing is known of them.
TEST_CASE("audit: indices that are a product of unsigned numbers of 64 bits", "[audit]") {
  const auto gather = [](const std::string& type, const std::string& index) {
    return "ENTRY e {\n x = f32[5,3] parameter(0)\n i = " + type + "[3,1] parameter(1)\n" + index +
           " ROOT r = f32[3,3] gather(x, p), offset_dims={1}, collapsed_slice_dims={0}, "
           "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}\n}\n";
  };
  for (const std::string type : {"u64", "s64", "u32"}) {
    const std::string shape = type + "[3,1]";
    CHECK(Read(gather(type, " p = " + shape + " multiply(i, i)\n"), AuditPoint::kIndexClamped) ==
          Lines{"r may"});
    CHECK(Read(gather(type, " q = " + shape + " multiply(i, i)\n p = " + shape + " multiply(q, i)\n"),
               AuditPoint::kIndexClamped) == Lines{"r may"});
    // Factors that are known: 4 is the last row, 5 is beyond.
    const auto of_constants = [&](const std::string& by) {
      return gather(type, " a = " + shape + " constant({{1}, {0}, {2}})\n b = " + shape + " constant({{" +
                              by + "}, {0}, {0}})\n p = " + shape + " multiply(a, b)\n");
    };
    CHECK(Read(of_constants("2"), AuditPoint::kIndexClamped).empty());
    CHECK(Read(of_constants("3"), AuditPoint::kIndexClamped) == Lines{"r may"});
  }
  CHECK(
      Read(gather(
               "s64",
               " c = s64[3,1] constant({{-9223372036854775808}, {1}, {1}})\n p = s64[3,1] multiply(c, c)\n"),
           AuditPoint::kIndexClamped) == Lines{"r may"});
}

TEST_CASE("audit: reducers over more elements than int64 counts", "[audit]") {
  const std::string keep =
      "k {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] subtract(a, b)\n}\n";
  // 2^32 x 2^32 positions: their number is 0 in 64 bits.
  CHECK(Read(keep + "ENTRY e {\n x = f32[1,1] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[1,1] "
                    "reduce-window(x, z), "
                    "window={size=4294967296x4294967296 pad=0_4294967295x0_4294967295}, to_apply=k\n}\n",
             AuditPoint::kOrderSensitive) == Lines{"r may"});
  const std::string bytes =
      "k {\n a = s8[] parameter(0)\n b = s8[] parameter(1)\n ROOT s = s8[] subtract(a, b)\n}\n";
  CHECK(
      Read(bytes +
               "ENTRY e {\n x = s8[9223372036854775807] parameter(0)\n z = s8[] constant(0)\n ROOT r = s8[] "
               "reduce(x, z), dimensions={0}, to_apply=k\n}\n",
           AuditPoint::kOrderSensitive) == Lines{"r may"});
}

TEST_CASE("audit: gather", "[audit]") {
  const int64_t sizes[] = {5, 3};
  const Literal x = Literal::FromDoubles(ElementType::kF32, sizes, std::vector<double>(15, 1));
  CHECK(Read(Gather(), AuditPoint::kIndexClamped) == Lines{"r may"});
  CHECK(Ran(Gather(), AuditPoint::kIndexClamped, {x, Column({4, 5, -1})}) ==
        Lines{"r depends 2/3 index vector [1]: [5,0]"});
  CHECK(Ran(Gather(), AuditPoint::kIndexClamped, {x, Column({4, 0, 3})}) == Lines{"r did not depend"});
  CHECK(Read(Gather(), AuditPoint::kIndicesNotSorted).empty());
  const std::string sorted = Gather(", indices_are_sorted=true");
  CHECK(Read(sorted, AuditPoint::kIndicesNotSorted) == Lines{"r may"});
  CHECK(Ran(sorted, AuditPoint::kIndicesNotSorted, {x, Column({1, 1, 3})}) == Lines{"r did not depend"});
  CHECK(Ran(sorted, AuditPoint::kIndicesNotSorted, {x, Column({1, 3, 2})}) ==
        Lines{"r depends 1/3 index vector [2]: [2,0] behind [3,0]"});
}

std::string Scatter(const std::string& type, const std::string& combiner, const std::string& more = "") {
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT c = " + type +
         "[] " + combiner + "\n}\nENTRY e {\n x = " + type +
         "[4] parameter(0)\n i = s32[3,1] parameter(1)\n u = " + type +
         "[3] parameter(2)\n ROOT r = " + type +
         "[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
         "scatter_dims_to_operand_dims={0}, "
         "index_vector_dim=1, to_apply=f" +
         more + "\n}\n";
}

TEST_CASE("audit: scatter drops windows", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kScatterDropped;
  const std::string program = Scatter("s32", "add(a, b)");
  CHECK(Read(program, kPoint) == Lines{"r may"});
  CHECK(Ran(program, kPoint, {Ints({0, 0, 0, 0}), Column({0, 4, -1}), Ints({1, 2, 3})}) ==
        Lines{"r depends 2/3 index vector [1]: [4]"});
  CHECK(Ran(program, kPoint, {Ints({0, 0, 0, 0}), Column({0, 3, 1}), Ints({1, 2, 3})}) ==
        Lines{"r did not depend"});
}

TEST_CASE("audit: scatter collisions count where their order shows", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kScatterCollision;
  const auto ran = [&](const std::string& program, std::vector<int64_t> indices, bool floats) {
    std::vector<Literal> arguments = {floats ? Floats({0, 0, 0, 0}) : Ints({0, 0, 0, 0}), Column(indices),
                                      floats ? Floats({1, 2, 2}) : Ints({1, 2, 2})};
    return Ran(program, kPoint, std::move(arguments));
  };
  CHECK(Read(Scatter("s32", "add(a, b)"), kPoint).empty());
  CHECK(ran(Scatter("s32", "add(a, b)"), {1, 1, 1}, false).empty());
  CHECK(ran(Scatter("f32", "maximum(a, b)"), {1, 1, 1}, true).empty());
  CHECK(Read(Scatter("f32", "add(a, b)"), kPoint) == Lines{"r may"});
  CHECK(ran(Scatter("f32", "add(a, b)"), {1, 3, 1}, true) ==
        Lines{"r depends 1/4 element [1]: updates [0] and [2]"});
  CHECK(ran(Scatter("f32", "add(a, b)"), {1, 3, 2}, true) == Lines{"r did not depend"});
  CHECK(ran(Scatter("s32", "subtract(b, a)"), {2, 2, 0}, false) ==
        Lines{"r depends 1/4 element [2]: updates [0] and [1]"});
  // The last one is taken: updates that are alike leave nothing open.
  const std::string last = "f {\n a = s32[] parameter(0)\n ROOT b = s32[] parameter(1)\n}\n" +
                           Scatter("s32", "add(a, b)").substr(Scatter("s32", "add(a, b)").find("ENTRY"));
  CHECK(ran(last, {3, 1, 3}, false) == Lines{"r depends 1/4 element [3]: updates [0] and [2]"});
  CHECK(ran(last, {3, 1, 1}, false) == Lines{"r did not depend"});
}

TEST_CASE("audit: what scatter is promised", "[audit]") {
  const auto ran = [](const std::string& more, AuditPoint point, std::vector<int64_t> indices) {
    return Ran(Scatter("s32", "add(a, b)", more), point,
               {Ints({0, 0, 0, 0}), Column(std::move(indices)), Ints({1, 2, 3})});
  };
  constexpr AuditPoint kUnique = AuditPoint::kIndicesNotUnique, kSorted = AuditPoint::kIndicesNotSorted;
  CHECK(Read(Scatter("s32", "add(a, b)"), kUnique).empty());
  CHECK(Read(Scatter("s32", "add(a, b)", ", unique_indices=true"), kUnique) == Lines{"r may"});
  CHECK(ran(", unique_indices=true", kUnique, {2, 0, 2}) == Lines{"r depends 1/3 twice: [2]"});
  CHECK(ran(", unique_indices=true", kUnique, {2, 0, 1}) == Lines{"r did not depend"});
  CHECK(ran(", unique_indices=true", kUnique, {9, 0, 9}) == Lines{"r did not depend"});  // dropped, both
  CHECK(ran("", kUnique, {2, 0, 2}).empty());
  CHECK(ran(", indices_are_sorted=true", kSorted, {2, 0, 1}) ==
        Lines{"r depends 1/3 index vector [1]: [0] behind [2]"});
  CHECK(ran(", indices_are_sorted=true", kSorted, {0, 1, 1}) == Lines{"r did not depend"});
}

std::string Sort(const std::string& compare, const std::string& more = "") {
  return "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n p = s32[] parameter(2)\n q = s32[] "
         "parameter(3)\n"
         " ROOT c = pred[] compare(a, b), " +
         compare +
         "\n}\nENTRY e {\n k = f32[3] parameter(0)\n v = s32[3] parameter(1)\n"
         " ROOT r = (f32[3], s32[3]) sort(k, v), dimensions={0}, to_apply=f" +
         more + "\n}\n";
}

TEST_CASE("audit: sorts that are not stable", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kSortEqualKeys;
  CHECK(Read(Sort("direction=LT"), kPoint) == Lines{"r may"});
  CHECK(Ran(Sort("direction=LT"), kPoint, {Floats({2, 1, 2}), Ints({7, 8, 9})}) ==
        Lines{"r depends 1/3 [1] of the result: (2, 7) and (2, 9)"});
  CHECK(Ran(Sort("direction=LT"), kPoint, {Floats({2, 1, 3}), Ints({7, 8, 9})}) == Lines{"r did not depend"});
  CHECK(Ran(Sort("direction=LT"), kPoint, {Floats({2, 1, 2}), Ints({7, 8, 7})}) == Lines{"r did not depend"});
  CHECK(Ran(Sort("direction=LT", ", is_stable=true"), kPoint, {Floats({2, 1, 2}), Ints({7, 8, 9})}).empty());
}

TEST_CASE("audit: comparators that make no order", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kSortNotAnOrder;
  const Literal nan = Floats({2, kNan, 1}), values = Ints({7, 8, 9});
  CHECK(Read(Sort("direction=LT"), kPoint) == Lines{"r may"});
  CHECK(Ran(Sort("direction=LT"), kPoint, {nan, values}) ==
        Lines{"r depends 1/3 [1] of the result: (nan, 8) is neither smaller nor larger than (2, 7)"});
  CHECK(Ran(Sort("direction=LT"), kPoint, {Floats({2, 3, 1}), values}) == Lines{"r did not depend"});
  CHECK(Read(Sort("direction=LT, type=TOTALORDER"), kPoint).empty());
  CHECK(Ran(Sort("direction=LT, type=TOTALORDER"), kPoint, {nan, values}).empty());
  CHECK(Read(Sort("direction=LE"), kPoint) == Lines{"r always"});
  CHECK(Ran(Sort("direction=LE"), kPoint, {Floats({2, 3, 1}), values}) ==
        Lines{"r depends 3/3 [0] of the result: (1, 9) is smaller than itself"});
}

TEST_CASE("audit: NaN among what the larger is taken of", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kNanInExtreme;
  for (const char* op : {"maximum", "minimum"}) {
    const std::string program = Binary(op, "f32", 3);
    CHECK(Read(program, kPoint) == Lines{"r may"});
    CHECK(Ran(program, kPoint, {Floats({1, kNan, 2}), Floats({1, 2, kNan})}) ==
          Lines{"r depends 2/3 [1]: nan, 2"});
    CHECK(Ran(program, kPoint, {Floats({1, 1, 2}), Floats({1, 2, 3})}) == Lines{"r did not depend"});
  }
  CHECK(Read(Binary("maximum", "s32", 3), kPoint).empty());
  const std::string clamp =
      "ENTRY e {\n l = f32[] parameter(0)\n x = f32[2] parameter(1)\n h = f32[] parameter(2)\n"
      " ROOT r = f32[2] clamp(l, x, h)\n}\n";
  const auto scalar = [](double value) { return Literal::ScalarDouble(ElementType::kF32, value); };
  CHECK(Ran(clamp, kPoint, {scalar(0), Floats({1, kNan}), scalar(2)}) ==
        Lines{"r depends 1/2 [1]: 0, nan, 2"});
  CHECK(Ran(clamp, kPoint, {scalar(0), Floats({1, 2}), scalar(kNan)}) ==
        Lines{"r depends 2/2 [0]: 0, 1, nan"});
  CHECK(Ran(clamp, kPoint, {scalar(0), Floats({1, 2}), scalar(2)}) == Lines{"r did not depend"});
  const std::string topk =
      "ENTRY e {\n x = f32[3] parameter(0)\n ROOT r = (f32[1], s32[1]) topk(x), k=1, largest=true\n}\n";
  CHECK(Ran(topk, kPoint, {Floats({1, kNan, 2})}) == Lines{"r depends 1/3 [1]: nan"});
  CHECK(Ran(topk, kPoint, {Floats({1, 3, 2})}) == Lines{"r did not depend"});
}

TEST_CASE("audit: clamps between crossed bounds", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kClampCrossed;
  const std::string clamp =
      "ENTRY e {\n l = s32[2] parameter(0)\n x = s32[2] parameter(1)\n h = s32[2] parameter(2)\n"
      " ROOT r = s32[2] clamp(l, x, h)\n}\n";
  CHECK(Read(clamp, kPoint) == Lines{"r may"});
  CHECK(Ran(clamp, kPoint, {Ints({0, 5}), Ints({1, 1}), Ints({1, 1})}) == Lines{"r depends 1/2 [1]: 5, 1"});
  CHECK(Ran(clamp, kPoint, {Ints({0, 1}), Ints({1, 1}), Ints({1, 1})}) == Lines{"r did not depend"});
  CHECK(Read("ENTRY e {\n l = s32[] constant(0)\n x = s32[2] parameter(0)\n h = s32[] constant(9)\n"
             " ROOT r = s32[2] clamp(l, x, h)\n}\n",
             kPoint)
            .empty());
}

TEST_CASE("audit: orders of NaN", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kNanInCompare;
  const std::string less = Binary("compare", "f32", 2, ", direction=LT", "pred");
  CHECK(Read(less, kPoint) == Lines{"r may"});
  CHECK(Ran(less, kPoint, {Floats({1, kNan}), Floats({1, 2})}) == Lines{"r depends 1/2 [1]: nan, 2"});
  CHECK(Ran(less, kPoint, {Floats({1, 3}), Floats({1, 2})}) == Lines{"r did not depend"});
  CHECK(Read(Binary("compare", "f32", 2, ", direction=NE", "pred"), kPoint).empty());
  CHECK(Read(Binary("compare", "f32", 2, ", direction=LT, type=TOTALORDER", "pred"), kPoint).empty());
  CHECK(Read(Binary("compare", "s32", 2, ", direction=LT", "pred"), kPoint).empty());
}

std::string Reduce(const std::string& type, const std::string& root) {
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT c = " + type +
         "[] " + root + "\n}\nENTRY e {\n x = " + type + "[3] parameter(0)\n z = " + type +
         "[] parameter(1)\n ROOT r = " + type + "[] reduce(x, z), dimensions={0}, to_apply=f\n}\n";
}

Literal Scalar(double value) { return Literal::ScalarDouble(ElementType::kF32, value); }

TEST_CASE("audit: NaN in reductions", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kNanInExtreme;
  const std::string program = Reduce("f32", "maximum(a, b)");
  CHECK(Read(program, kPoint) == Lines{"r may"});
  CHECK(Ran(program, kPoint, {Floats({1, kNan, 2}), Scalar(-INFINITY)}) == Lines{"r depends 1/3 [1]: nan"});
  CHECK(Ran(program, kPoint, {Floats({1, 1, 2}), Scalar(-INFINITY)}) == Lines{"r did not depend"});
  CHECK(Ran(Reduce("f32", "add(a, b)"), kPoint, {Floats({1, kNan, 2}), Scalar(0)}).empty());
}

TEST_CASE("audit: initial values", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kInitNotIdentity;
  const std::string sum = Reduce("f32", "add(a, b)"), largest = Reduce("f32", "maximum(a, b)");
  CHECK(Read(sum, kPoint) == Lines{"r may"});
  CHECK(Ran(sum, kPoint, {Floats({1, 2, 3}), Scalar(5)}) == Lines{"r depends 3/3 [0]: f(5, 1) = 6"});
  CHECK(Ran(sum, kPoint, {Floats({1, 2, -0.0}), Scalar(0)}) == Lines{"r did not depend"});
  CHECK(Ran(largest, kPoint, {Floats({1, -2, 3}), Scalar(0)}) == Lines{"r depends 1/3 [1]: f(0, -2) = 0"});
  CHECK(Ran(largest, kPoint, {Floats({1, 2, 3}), Scalar(0)}) == Lines{"r did not depend"});
  const auto with = [](std::string program, const std::string& constant) {
    const size_t at = program.find("parameter(1)\n ROOT r");
    return program.replace(at, 12, "constant(" + constant + ")");
  };
  CHECK(Read(with(sum, "0"), kPoint).empty());
  CHECK(Read(with(sum, "5"), kPoint) == Lines{"r always"});
  CHECK(Read(with(largest, "-inf"), kPoint).empty());
  CHECK(Read(with(Reduce("f32", "multiply(a, b)"), "1"), kPoint).empty());
  CHECK(Read(with(Reduce("s32", "minimum(a, b)"), "2147483647"), kPoint).empty());
  CHECK(Read(with(Reduce("s32", "and(a, b)"), "-1"), kPoint).empty());
  CHECK(Read(with(Reduce("s32", "or(a, b)"), "1"), kPoint) == Lines{"r always"});
  const std::string window =
      "f {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\nENTRY e {\n x = "
      "f32[3] "
      "parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[2] reduce-window(x, z), window={size=2}, "
      "to_apply=f\n}\n";
  CHECK(Ran(window, kPoint, {Floats({1, 2, 3}), Scalar(5)}) == Lines{"r depends 3/3 [0]: f(5, 1) = 6"});
  CHECK(Ran(window, kPoint, {Floats({1, 2, 3}), Scalar(0)}) == Lines{"r did not depend"});
}

TEST_CASE("audit: reducers whose order shows", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kOrderSensitive;
  CHECK(Read(Reduce("f32", "add(a, b)"), kPoint).empty());
  CHECK(Read(Reduce("f32", "subtract(a, b)"), kPoint) == Lines{"r may"});
  // 0 - 1 - 2 - 4 = -7 in any order.
  CHECK(Ran(Reduce("f32", "subtract(a, b)"), kPoint, {Floats({1, 2, 4}), Scalar(0)}) ==
        Lines{"r did not depend"});
  const std::string argmax =
      "f {\n a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] "
      "parameter(3)\n"
      " m = pred[] compare(a, b), direction=GE\n v = f32[] select(m, a, b)\n k = s32[] select(m, i, j)\n"
      " ROOT t = (f32[], s32[]) tuple(v, k)\n}\nENTRY e {\n x = f32[3] parameter(0)\n p = s32[3] iota(), "
      "iota_dimension=0\n"
      " z = f32[] constant(-inf)\n o = s32[] constant(0)\n ROOT r = (f32[], s32[]) reduce(x, p, z, o), "
      "dimensions={0}, "
      "to_apply=f\n}\n";
  CHECK(Read(argmax, kPoint) == Lines{"r may"});
  CHECK(Ran(argmax, kPoint, {Floats({1, 3, 2})}) == Lines{"r did not depend"});
  CHECK(Ran(argmax, kPoint, {Floats({3, 1, 3})}) == Lines{"r depends 1/1 []: 0, in reverse order 2"});
}

TEST_CASE("audit: random numbers", "[audit]") {
  const std::string program =
      "ENTRY e {\n a = f32[] constant(0)\n b = f32[] constant(1)\n ROOT r = f32[4] rng(a, b), "
      "distribution=rng_uniform\n}\n";
  CHECK(Read(program, AuditPoint::kRandomNumbers) == Lines{"r always"});
  CHECK(Ran(program, AuditPoint::kRandomNumbers, {}) == Lines{"r depends 4/4 "});
  CHECK(Read(Binary("add", "f32", 2), AuditPoint::kRandomNumbers).empty());
}

TEST_CASE("audit: subnormal numbers", "[audit]") {
  constexpr AuditPoint kPoint = AuditPoint::kSubnormals;
  const std::string product = Binary("multiply", "f32", 2);
  CHECK(Read(product, kPoint) == Lines{"r may"});
  CHECK(Ran(product, kPoint, {Floats({1, 0x1p-100}), Floats({1, 0x1p-40})}) ==
        Lines{"r depends 1/6 result [1]: 7.17465e-43"});
  CHECK(Ran(product, kPoint, {Floats({1, 0x1p-130}), Floats({1, 0x1p40})}) ==
        Lines{"r depends 1/6 operand 0 [1]: 7.34684e-40"});
  CHECK(Ran(product, kPoint, {Floats({1, 0}), Floats({1, 0x1p-126})}) == Lines{"r did not depend"});
  CHECK(Ran(Binary("multiply", "bf16", 1), kPoint,
            {Floats({0x1p-100}, ElementType::kBF16), Floats({0x1p-30}, ElementType::kBF16)})
            .size() == 1);
  CHECK(Read(Binary("multiply", "f16", 1), kPoint).empty());
  CHECK(Read(Binary("multiply", "s32", 1), kPoint).empty());
  CHECK(Read("ENTRY e {\n x = f32[2] parameter(0)\n ROOT r = f32[2] negate(x)\n}\n", kPoint).empty());
}

TEST_CASE("audit: factorizations", "[audit]") {
  const std::string cholesky =
      "ENTRY e {\n x = f32[2,2] parameter(0)\n ROOT r = f32[2,2] cholesky(x), lower=true\n}\n";
  const int64_t sizes[] = {2, 2};
  const auto matrix = [&](std::vector<double> values) {
    return Literal::FromDoubles(ElementType::kF32, sizes, values);
  };
  CHECK(Read(cholesky, AuditPoint::kOtherTriangle) == Lines{"r always"});
  CHECK(Read("ENTRY e {\n x = f32[1,1] parameter(0)\n ROOT r = f32[1,1] cholesky(x), lower=true\n}\n",
             AuditPoint::kOtherTriangle)
            .empty());
  CHECK(Ran(cholesky, AuditPoint::kNotPositiveDefinite, {matrix({4, 2, 2, 5})}) == Lines{"r did not depend"});
  CHECK(Ran(cholesky, AuditPoint::kNotPositiveDefinite, {matrix({1, 2, 2, 1})}).front().find("r depends") ==
        0);
  const auto solve = [](const std::string& unit) {
    return "ENTRY e {\n a = f32[2,2] parameter(0)\n b = f32[2,1] parameter(1)\n ROOT r = f32[2,1] "
           "triangular-solve(a, b), "
           "left_side=true, lower=true, transpose_a=NO_TRANSPOSE, unit_diagonal=" +
           unit + "\n}\n";
  };
  const int64_t column[] = {2, 1};
  const Literal b = Literal::FromDoubles(ElementType::kF32, column, std::vector<double>{1, 1});
  CHECK(Ran(solve("false"), AuditPoint::kSingularTriangle, {matrix({1, 0, 0, 0}), b}) ==
        Lines{"r depends 1/4 [1,1]: 0"});
  CHECK(Ran(solve("false"), AuditPoint::kSingularTriangle, {matrix({1, 0, 0, 2}), b}) ==
        Lines{"r did not depend"});
  CHECK(Read(solve("true"), AuditPoint::kSingularTriangle).empty());
}

TEST_CASE("audit: the order of groups of replicas with all their partitions", "[audit]") {
  const auto said = [](const std::string& header, const std::string& collective) {
    const absl::StatusOr<Program> program = Program::Load(
        "test.hlo",
        "HloModule m" + header +
            "\nsum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n"
            "f { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] subtract(a, b) }\n"
            "ENTRY e { x = s32[4] parameter(0)\n ROOT r = " +
            collective + " }\n");
    INFO(program.status());
    REQUIRE(program.ok());
    return Said(AuditText(program->module()), AuditPoint::kGroupOrder);
  };
  const std::string both = ", replica_count=2, num_partitions=2";
  CHECK(said(both, "s32[16] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}") ==
        Lines{"r always"});
  CHECK(said("", "s32[16] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}") ==
        Lines{"r always"});
  CHECK(
      said(both,
           "s32[1] reduce-scatter(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}, to_apply=sum") ==
      Lines{"r always"});
  CHECK(said(both, "s32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, to_apply=f") ==
        Lines{"r always"});
  // No order shows, one replica or one partition, ids of devices, ids of replicas.
  CHECK(said(both, "s32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, to_apply=sum").empty());
  CHECK(said(both, "s32[8] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0},{1}}").empty());
  CHECK(
      said(", replica_count=2", "s32[8] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1}}")
          .empty());
  CHECK(said(both,
             "s32[16] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,1,2,3}}, "
             "use_global_device_ids=true")
            .empty());
  CHECK(said(both, "s32[8] all-gather(x), dimensions={0}, replica_groups={{0,1}}").empty());
  // What was imported from StableHLO.
  CHECK(said(both,
             "s32[16] all-gather(x), dimensions={0}, channel_id=1, replica_groups={{0,2,1,3}}, "
             "use_global_device_ids=true, "
             "frontend_attributes={stablehlo.group_mode=\"cross_replica_and_partition\"}") ==
        Lines{"r always"});
}

}  // namespace
}  // namespace assay
