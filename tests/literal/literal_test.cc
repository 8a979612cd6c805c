#include "literal/literal.h"

#include <algorithm>
#include <cstring>

#include "catch2/catch.hpp"
#include "shape/shape_text.h"

namespace assay {
namespace {

std::shared_ptr<const Shape> S(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  INFO(text << ": " << shape.status());
  REQUIRE(shape.ok());
  return std::make_shared<const Shape>(*shape);
}

Literal Ints(ElementType type, std::vector<int64_t> sizes, std::vector<int64_t> values) {
  return Literal::FromInts(type, sizes, values);
}

std::vector<int64_t> Values(const Literal& literal) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) values.push_back(literal.GetInt(i));
  return values;
}

TEST_CASE("literal: a new array is zero and has one element's bytes for each", "[literal]") {
  for (std::string_view text : {"f32[]", "c128[]", "s4[7]", "f64[3,5]", "u8[100000]", "pred[0]"}) {
    CAPTURE(text);
    const Literal literal = Literal::Make(S(text)).value();
    CHECK(static_cast<int64_t>(literal.bytes().size()) == literal.shape().num_bytes());
    for (std::byte b : literal.bytes()) REQUIRE(b == std::byte{0});
  }
}

TEST_CASE("literal: large arrays are aligned to 64 bytes", "[literal]") {
  for (bool zero : {true, false}) {
    const Literal literal = Literal::Make(S("u8[1001]"), nullptr, zero).value();
    CHECK(reinterpret_cast<uintptr_t>(literal.data()) % 64 == 0);
  }
}

TEST_CASE("literal: borrowed memory is shared, kept alive and never written", "[literal]") {
  auto lender = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{1, 2, 3});
  const std::weak_ptr<std::vector<int32_t>> watch = lender;
  Literal a = Literal::Borrow(S("s32[3]"), std::as_bytes(std::span(*lender)), lender);
  lender = nullptr;
  CHECK(Literal::BitwiseEqual(a, Ints(ElementType::kS32, {3}, {1, 2, 3})));
  CHECK_FALSE(a.IsUnique());
  Literal b = a;
  const int32_t seven = 7;
  std::memcpy(b.MutableBytes().data(), &seven, 4);
  CHECK(watch.lock()->front() == 1);
  CHECK((a.GetInt(0) == 1 && b.GetInt(0) == 7 && b.IsUnique()));
  REQUIRE(a.Unshare().ok());
  CHECK(watch.expired());
  CHECK((a.GetInt(2) == 3 && a.IsUnique()));
}

TEST_CASE("literal: copies share storage until one is written", "[literal]") {
  Literal a = Ints(ElementType::kS32, {3}, {1, 2, 3});
  CHECK(a.IsUnique());
  Literal b = a;
  CHECK_FALSE(a.IsUnique());
  CHECK(a.SharesStorageWith(b));
  const int32_t seven = 7;
  std::memcpy(b.MutableBytes().data(), &seven, 4);
  CHECK_FALSE(a.SharesStorageWith(b));
  CHECK(Values(a) == std::vector<int64_t>{1, 2, 3});
  CHECK(Values(b) == std::vector<int64_t>{7, 2, 3});
  const std::byte* before = b.data();
  CHECK(b.MutableBytes().data() == before);
}

TEST_CASE("literal: unsharing copies shared storage and leaves unique storage", "[literal]") {
  Literal a = Ints(ElementType::kS32, {20}, std::vector<int64_t>(20, 5));
  const std::byte* before = a.data();
  REQUIRE(a.Unshare().ok());
  CHECK(a.data() == before);
  const Literal b = a;
  REQUIRE(a.Unshare().ok());
  CHECK_FALSE(a.SharesStorageWith(b));
  CHECK(Literal::BitwiseEqual(a, b));
}

TEST_CASE("literal: the budget counts live bytes and refuses what passes it", "[literal]") {
  auto budget = std::make_shared<MemoryBudget>(1000);
  {
    Literal a = Literal::Make(S("f32[100]"), budget).value();
    const Literal shared = a;
    CHECK(budget->live() == 400);
    const absl::Status status = Literal::Make(S("f32[151]"), budget).status();
    CHECK(ExitCodeOf(status) == 5);
    CHECK(std::string(status.message()) ==
          "memory in bytes, for one more f32[151], is 1004, over the limit of 1000");
    CHECK(budget->live() == 400);
    const Literal b = Literal::Make(S("(f32[150], token[])"), budget).value();
    CHECK(budget->live() == 1000);
    CHECK(ExitCodeOf(a.Unshare()) == 5);
    CHECK(a.SharesStorageWith(shared));
    a.MutableBytes();
    CHECK(budget->live() == 1000);
  }
  CHECK(budget->live() == 0);
  CHECK(budget->peak() == 1000);
}

TEST_CASE("literal: freed large storage is taken up again, within the peak", "[literal]") {
  constexpr int64_t kMiB = 1 << 20;
  auto budget = std::make_shared<MemoryBudget>(64 * kMiB);
  const auto make = [&](std::string_view shape, bool zero = true) {
    return Literal::Make(S(shape), budget, zero).value();
  };
  Literal a = make("u8[5242880]");
  std::memset(a.MutableBytes().data(), 0xee, a.bytes().size());
  const std::byte* const pages = a.data();
  a = Literal();
  CHECK(budget->live() == 0);
  CHECK(budget->recycled() == 5 * kMiB);

  a = make("u8[5242880]");
  CHECK(a.data() == pages);
  CHECK(std::all_of(a.bytes().begin(), a.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
  CHECK(budget->recycled() == 0);
  CHECK(budget->live() == 5 * kMiB);

  // Live and kept bytes together never pass the peak: another size pushes out what was kept.
  a = Literal();
  const Literal other = make("u8[4194304]", false);
  CHECK(budget->recycled() == 0);
  CHECK(budget->peak() == 5 * kMiB);
  {
    const Literal b = make("u8[5242880]", false), c = make("u8[5242880]", false);
    CHECK(budget->peak() == 14 * kMiB);
  }
  CHECK(budget->recycled() == 10 * kMiB);
  const Literal small = make("u8[1048576]", false);
  CHECK(budget->recycled() == 5 * kMiB);
  budget->StopRecycling();
  CHECK(budget->recycled() == 0);
  { const Literal last = make("u8[5242880]", false); }
  CHECK(budget->recycled() == 0);
  CHECK(budget->live() == 5 * kMiB);
  CHECK(budget->peak() == 14 * kMiB);
}

TEST_CASE("literal: an allocation that no machine has is a limit error", "[literal]") {
  for (bool zero : {true, false}) {
    const absl::Status status = Literal::Make(S("u8[9223372036854775807]"), nullptr, zero).status();
    CHECK(ExitCodeOf(status) == 5);
    CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  }
  auto budget = std::make_shared<MemoryBudget>(std::numeric_limits<int64_t>::max());
  CHECK_FALSE(Literal::Make(S("u8[9223372036854775800]"), budget).ok());
  CHECK(budget->live() == 0);
  CHECK(ExitCodeOf(Literal::Make(S("f32[?]")).status()) == 4);
}

TEST_CASE("literal: tuples hold their elements and give them back", "[literal]") {
  const Literal x = Ints(ElementType::kS32, {2}, {1, 2});
  Literal tuple = Literal::Tuple({x, Literal::Token(), Literal()});
  CHECK(tuple.shape().ToString() == "(s32[2], token[], ())");
  CHECK(tuple.tuple_size() == 3);
  CHECK(tuple.element(0).SharesStorageWith(x));
  Literal other = tuple;
  CHECK(std::move(other).TakeElements().size() == 3);
  CHECK(tuple.tuple_size() == 3);
  const std::vector<Literal> taken = std::move(tuple).TakeElements();
  CHECK(taken[0].SharesStorageWith(x));
  CHECK(tuple.shape().ToString() == "()");
  CHECK(Literal().TakeElements().empty());
}

TEST_CASE("literal: another shape of the same bytes shares the storage", "[literal]") {
  const Literal a = Ints(ElementType::kS32, {6}, {1, 2, 3, 4, 5, 6});
  const Literal b = a.WithShape(S("s32[2,3]"));
  CHECK(b.SharesStorageWith(a));
  CHECK(b.shape().ToString() == "s32[2,3]");
}

TEST_CASE("literal: run-time sizes travel with the value", "[literal]") {
  Literal a = Literal::Make(S("s32[<=4,3]")).value();
  CHECK(a.IsFullSize());
  CHECK(a.dynamic_size(0) == 4);
  a.set_dynamic_size(0, 2);
  CHECK_FALSE(a.IsFullSize());
  CHECK(a.runtime_sizes() == DimVector{2, 3});
  const Literal b = a;
  CHECK(b.dynamic_size(0) == 2);
  a.set_dynamic_size(0, 4);
  CHECK(a.IsFullSize());
  CHECK(b.WithShape(S("s32[<=12]")).dynamic_size(0) == 12);
}

TEST_CASE("literal: dead elements are cleared and no others", "[literal]") {
  Literal a = Ints(ElementType::kS8, {3, 2, 4}, std::vector<int64_t>(24, 1)).WithShape(S("s8[<=3,2,<=4]"));
  a.set_dynamic_size(0, 2);
  a.set_dynamic_size(2, 3);
  a.ClearDeadElements();
  const std::vector<int64_t> row = {1, 1, 1, 0}, dead = {0, 0, 0, 0};
  std::vector<int64_t> want;
  for (const auto& r : {row, row, row, row, dead, dead}) want.insert(want.end(), r.begin(), r.end());
  CHECK(Values(a) == want);
  a.set_dynamic_size(0, 0);
  a.ClearDeadElements();
  CHECK(Values(a) == std::vector<int64_t>(24, 0));
  Literal vector = Ints(ElementType::kS32, {3}, {1, 2, 3}).WithShape(S("s32[<=3]"));
  vector.set_dynamic_size(0, 1);
  vector.ClearDeadElements();
  CHECK(Values(vector) == std::vector<int64_t>{1, 0, 0});
}

TEST_CASE("literal: clearing dead elements leaves a shared value alone", "[literal]") {
  Literal a = Ints(ElementType::kS32, {3}, {1, 2, 3}).WithShape(S("s32[<=3]"));
  const Literal b = a;
  a.set_dynamic_size(0, 1);
  a.ClearDeadElements();
  CHECK(Values(b) == std::vector<int64_t>{1, 2, 3});
}

TEST_CASE("literal: values given to a type are rounded or wrapped", "[literal]") {
  CHECK(Literal::ScalarInt(ElementType::kU8, 300).GetInt(0) == 44);
  CHECK(Literal::ScalarInt(ElementType::kS4, 9).GetInt(0) == -7);
  CHECK(Literal::ScalarInt(ElementType::kPred, 5).GetInt(0) == 1);
  CHECK(Literal::ScalarInt(ElementType::kF32, 16777217).GetDouble(0) == 16777216.0);
  CHECK(Literal::ScalarDouble(ElementType::kF16, 65519.0).GetDouble(0) == 65504.0);
  CHECK(Literal::ScalarDouble(ElementType::kS32, -2.9).GetInt(0) == -2);
  CHECK(Literal::ScalarInt(ElementType::kU64, -1).GetInt(0) == -1);
  const double parts[2] = {1.5, 0};
  CHECK(std::memcmp(Literal::ScalarDouble(ElementType::kC128, 1.5).data(), parts, 16) == 0);
}

TEST_CASE("literal: bitwise equality sees types, sizes, bits and run-time sizes, not layouts", "[literal]") {
  const Literal a = Ints(ElementType::kS32, {2, 2}, {1, 2, 3, 4});
  CHECK(Literal::BitwiseEqual(a, Ints(ElementType::kS32, {2, 2}, {1, 2, 3, 4})));
  CHECK(Literal::BitwiseEqual(a, a.WithShape(S("s32[2,2]{0,1}"))));
  CHECK_FALSE(Literal::BitwiseEqual(a, Ints(ElementType::kS32, {2, 2}, {1, 2, 3, 5})));
  CHECK_FALSE(Literal::BitwiseEqual(a, Ints(ElementType::kU32, {2, 2}, {1, 2, 3, 4})));
  CHECK_FALSE(Literal::BitwiseEqual(a, Ints(ElementType::kS32, {4}, {1, 2, 3, 4})));
  CHECK_FALSE(Literal::BitwiseEqual(Literal::ScalarDouble(ElementType::kF32, 0.0),
                                    Literal::ScalarDouble(ElementType::kF32, -0.0)));
  Literal zeros = Literal::Make(S("s32[<=2]")).value();
  const Literal full = zeros;
  zeros.set_dynamic_size(0, 1);
  CHECK_FALSE(Literal::BitwiseEqual(zeros, full));
  CHECK(Literal::BitwiseEqual(Literal::Tuple({a, Literal::Token()}), Literal::Tuple({a, Literal::Token()})));
  CHECK_FALSE(Literal::BitwiseEqual(Literal::Tuple({a, full}), Literal::Tuple({a, zeros})));
}

TEST_CASE("literal: the deepest tuple is made and destroyed", "[literal]") {
  Literal literal;
  for (int i = 0; i < 512; ++i) literal = Literal::Tuple(std::vector<Literal>{literal});
  const Literal copy = literal;
  CHECK(Literal::BitwiseEqual(literal, copy));
  CHECK(Literal::Make(S(std::string(512, '(') + std::string(512, ')'))).ok());
}

}  // namespace
}  // namespace assay
