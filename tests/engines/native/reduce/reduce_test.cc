// Reductions of the native engine against the reference engine, and sums against rational arithmetic.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/engine_testing.h"
#include "tests/engines/native/native_testing.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::testing {
namespace {

std::string Reduce(const std::string& type, const std::string& sizes, const std::string& dimensions,
                   const std::string& result_sizes, const std::string& op = "add") {
  return ReduceOf(type, sizes, dimensions, result_sizes, RootOf(type, op));
}

}  // namespace

TEST_CASE("native reduce: sums over every set of dimensions", "[native][reduce]") {
  CheckAgainstReference(Reduce("f32", "7,19,33", "2", "7,19"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "1", "7,33"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "0", "19,33"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "0,2", "19"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "0,1", "33"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "0,1,2", ""), kAllDraws);
  CheckAgainstReference(Reduce("f32", "7,19,33", "", "7,19,33"), kAllDraws);
  CheckAgainstReference(Reduce("f32", "0,5", "0", "5"), kAllDraws);
}

TEST_CASE("native reduce: sums of every kind of type", "[native][reduce]") {
  for (const char* type :
       {"f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn", "c64", "c128"}) {
    CheckAgainstReference(Reduce(type, "9,37", "1", "9"), kAllDraws);
    CheckAgainstReference(Reduce(type, "37,21", "0", "21"), kAllDraws);
    CheckAgainstReference(Reduce(type, "700", "0", ""), kAllDraws);
  }
}

TEST_CASE("native reduce: sums in many parts", "[native][reduce]") {
  for (const char* type : {"f32", "f64", "bf16", "c64"}) {
    CheckAgainstReference(Reduce(type, "100003", "0", ""), kAllDraws);
    CheckAgainstReference(Reduce(type, "5003,17", "0", "17"), kAllDraws);
  }
  CheckAgainstReference(Reduce("f32", "700,530", "0", "530"), kAllDraws);
}

TEST_CASE("native reduce: associative reducers", "[native][reduce]") {
  for (const char* type : {"s8", "u8", "s4", "u4", "s16", "s32", "u32", "u64", "s64", "pred"}) {
    for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
      // Each application of the reference takes its time: the large arrays are folded once.
      CheckAgainstReference(Reduce(type, "300001", "0", "", op), {Draw::kIntegers});
      CheckAgainstReference(Reduce(type, "5,401,67", "1", "5,67", op), {Draw::kNormal});
      CheckAgainstReference(Reduce(type, "5,67,201", "0,2", "67", op), {Draw::kIntegers});
      CheckAgainstReference(Reduce(type, "2001", "0", "", op), {Draw::kNormal, Draw::kIntegers});
      CheckAgainstReference(Reduce(type, "5,41,67", "1", "5,67", op), {Draw::kNormal, Draw::kIntegers});
      CheckAgainstReference(Reduce(type, "13,41,9", "2", "13,41", op), {Draw::kNormal, Draw::kIntegers});
    }
  }
  for (const char* type :
       {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e8m0fnu", "f4e2m1fn"}) {
    for (const char* op : {"maximum", "minimum"}) {
      CheckAgainstReference(Reduce(type, "150001", "0", "", op), {Draw::kNormal, Draw::kSpecials});
      CheckAgainstReference(Reduce(type, "2001", "0", "", op), kAllDraws);
      CheckAgainstReference(Reduce(type, "5,41,67", "1", "5,67", op), kAllDraws);
      CheckAgainstReference(Reduce(type, "5,67,41", "0,2", "67", op), kAllDraws);
      CheckAgainstReference(Reduce(type, "7,9", "1", "7", op), kAllDraws);
      CheckAgainstReference(Reduce(type, "13,41,9", "2", "13,41", op), kAllDraws);
    }
  }
}

TEST_CASE("native reduce: a sum is the rational sum, rounded once", "[native][reduce]") {
  constexpr int64_t kLength = 20011;
  for (const char* name : {"f32", "bf16", "f64"}) {
    const ElementType type = *ElementTypeFromName(name);
    int kernels = 0;
    const Plan plan =
        NativePlan(ReferencePlan(Reduce(name, std::to_string(kLength), "0", "")), MachineIsa(), &kernels);
    REQUIRE(kernels > 0);
    for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kTies, Draw::kSmall, Draw::kLarge,
                      Draw::kIntegers, Draw::kZeros}) {
      const std::vector<Literal> arguments = DrawnArguments(plan, draw, 5);
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, 2);
      REQUIRE(result.ok());
      RationalSum sum;
      sum.Add(arguments[1].GetDouble(0));
      for (int64_t i = kLength; i-- > 0;) sum.Add(arguments[0].GetDouble(i));
      INFO(name << " draw " << static_cast<int>(draw));
      CHECK(SameBits(result->GetDouble(0), sum.Round(type)));
    }
  }
}

// max and min of f32 rows by a plain loop over their patterns: NaN beats all, -0 is below +0.
TEST_CASE("native reduce: extremes of rows of every length", "[native][reduce]") {
  const std::vector<uint32_t> specials = {0x00000000, 0x80000000, 0x7f800000, 0xff800000,
                                          0x7fc00001, 0xffc12345, 0x7f800001, 0xff800001,
                                          0x00000001, 0x80000001, 0x7f7fffff, 0xff7fffff};
  const auto key = [](uint32_t x) {
    const int64_t size = x & 0x7fffffff;
    return x >> 31 != 0 ? -1 - size : size;
  };
  for (int64_t length : {2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 1000}) {
    constexpr int64_t kRows = 300;
    std::mt19937_64 random(static_cast<uint64_t>(length));
    std::vector<uint32_t> x;
    for (int64_t i = 0; i < kRows * length; ++i) {
      const uint64_t kind = static_cast<uint64_t>(i / length % 6), drawn = random();
      const uint32_t number = static_cast<uint32_t>(drawn) % 0x7f800000;
      const uint32_t sign = kind == 0   ? 0
                            : kind == 1 ? 0x80000000
                                        : static_cast<uint32_t>(drawn >> 32) & 0x80000000;
      const bool is_special = kind >= 3 && drawn >> 40 < (uint64_t{1} << 24) / static_cast<uint64_t>(length);
      const size_t some = kind == 3 ? 4 : specials.size();  // no NaN, then any
      x.push_back(is_special  ? specials[random() % some]
                  : kind == 5 ? specials[random() % 2]
                              : number | sign);
    }
    Literal input = *Literal::Make(*Shape::Array(ElementType::kF32, std::vector<int64_t>{kRows, length}));
    std::memcpy(input.MutableBytes().data(), x.data(), x.size() * 4);
    for (bool maximum : {true, false}) {
      const Plan reference = ReferencePlan(
          Reduce("f32", fmt::format("{},{}", kRows, length), "1", "300", maximum ? "maximum" : "minimum"));
      const double init = maximum ? -HUGE_VAL : HUGE_VAL;
      for (Isa isa : MachineIsas()) {
        int kernels = 0;
        const Plan plan = NativePlan(reference, isa, &kernels);
        REQUIRE(RootHasKernel(plan));
        for (int jobs : {1, 2, 7}) {
          const absl::StatusOr<Literal> result =
              RunPlan(plan, {input, Literal::ScalarDouble(ElementType::kF32, init)}, jobs);
          REQUIRE(result.ok());
          int64_t wrong = 0;
          for (int64_t r = 0; r < kRows; ++r) {
            uint32_t best = maximum ? 0xff800000 : 0x7f800000;
            bool nan = false;
            for (int64_t i = 0; i < length; ++i) {
              const uint32_t element = x[static_cast<size_t>(r * length + i)];
              nan |= (element & 0x7fffffff) > 0x7f800000;
              if (maximum ? key(element) > key(best) : key(element) < key(best)) best = element;
            }
            uint32_t found;
            std::memcpy(&found, result->data() + 4 * r, 4);
            wrong += found != (nan ? 0x7fc00000 : best) ? 1 : 0;
          }
          INFO("length " << length << " maximum " << maximum << " jobs " << jobs);
          CHECK(wrong == 0);
        }
      }
    }
  }
}

}  // namespace assay::testing
