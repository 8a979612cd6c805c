// Element types that NumPy lacks: what an array says of them besides its descriptor.
#include <catch2/catch.hpp>

#include "literal/literal_text.h"
#include "literal/npz.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape TypedShape(std::string_view text) { return *ParseShape(text); }
template <class Result>
std::string RefusalOf(const Result& result) {
  if (result.ok()) return "no error";
  CHECK(ExitCodeOf(result.status()) == 5);
  return std::string(result.status().message());
}

}  // namespace

TEST_CASE("npy: an array of a type that is said is of no other", "[npz]") {
  NpyArray array{.descr = "|V1", .sizes = {1}, .data = "\x38"};
  array.type = ElementType::kF8E4M3FN;
  CHECK(LiteralToText(*DecodeNpyByDescr("a", array)) == "{1}");
  CHECK(LiteralToText(*DecodeNpy("a", array, TypedShape("f8e4m3fn[1]"))) == "{1}");
  CHECK(RefusalOf(DecodeNpy("a", array, TypedShape("f8e5m2[1]"))) ==
        "'a': found f8e4m3fn[1], wanted f8e5m2[1]");
  CHECK(RefusalOf(DecodeNpy("a", array, TypedShape("u8[1]"))) == "'a': found f8e4m3fn[1], wanted u8[1]");
  // Its bits may be stored as unsigned integers, not as other numbers.
  array.descr = "|u1";
  CHECK(MayHoldBitsOf(array, ElementType::kF8E4M3FN));
  CHECK(LiteralToText(*DecodeNpy("a", array, TypedShape("f8e4m3fn[1]"))) == "{1}");
  array.descr = "|i1";
  CHECK_FALSE(MayHoldBitsOf(array, ElementType::kF8E4M3FN));
  CHECK(MayHoldBitsOf(array, ElementType::kS8));
  CHECK(RefusalOf(DecodeNpy("a", array, TypedShape("f8e4m3fn[1]"))) ==
        "'a': found '|i1' [1], wanted '|V1' for f8e4m3fn[1]");
  CHECK_FALSE(MayHoldBitsOf({.descr = "|V1"}, ElementType::kBF16));
  CHECK_FALSE(MayHoldBitsOf({.descr = "<f2"}, ElementType::kBF16));
  CHECK(TypeOfNpy({.descr = "<u2"}) == ElementType::kU16);
  CHECK(TypeOfNpy({.descr = ">c8"}) == ElementType::kC64);
  CHECK(TypeOfNpy({.descr = "<V2"}) == std::nullopt);
}

TEST_CASE("npz: members of types that NumPy lacks have the type as their comment", "[npz]") {
  std::vector<std::pair<std::string, Literal>> arrays;
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    const int64_t size = 2;
    arrays.emplace_back(std::string(Name(type)), *Literal::Make(Shape::ArrayOrDie(type, {&size, 1})));
  }
  const absl::StatusOr<std::string> bytes = EncodeNpz(arrays);
  REQUIRE(bytes.ok());
  CHECK(*bytes == *EncodeNpz(arrays));
  const auto back = ParseNpz("x.npz", *bytes);
  REQUIRE(back.ok());
  for (const auto& [key, literal] : arrays) {
    INFO(key);
    const NpyArray& array = back->at(key);
    const ElementType type = literal.shape().element_type();
    CHECK(array.type == (IsRaw(array) ? std::optional(type) : std::nullopt));
    CHECK(TypeOfNpy(array) == type);
    CHECK(Literal::BitwiseEqual(*DecodeNpyByDescr(key, array), literal));
  }
}

}  // namespace assay
