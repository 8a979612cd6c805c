// compare, select, clamp, is-finite.
#include <catch2/catch.hpp>

#include "tests/run/run_text.h"

namespace assay {
namespace {

TEST_CASE("compare: FLOAT is IEEE, TOTALORDER orders bits", "[compare]") {
  CHECK(Gives("compare", {"f32[3] {nan, -0.0, inf}", "f32[3] {nan, 0, inf}"}, "pred[3] {0, 1, 1}",
              ", direction=EQ"));
  CHECK(Gives("compare", {"f32[2] {nan, 1}", "f32[2] {1, nan}"}, "pred[2] {1, 1}", ", direction=NE"));
  CHECK(Gives("compare", {"f32[6] {-nan, -0.0, nan, 1, inf, -inf}", "f32[6] {-inf, 0, inf, nan, nan, -nan}"},
              "pred[6] {1, 1, 0, 1, 1, 0}", ", direction=LT, type=TOTALORDER"));
  // NaNs are ordered by payload, in the narrow format as in the wide one.
  CHECK(Gives("compare", {"f16[3] {nan(0x1), nan, -nan}", "f16[3] {nan, nan(0x201), -nan(0x1)}"},
              "pred[3] {1, 1, 1}", ", direction=LT, type=TOTALORDER"));
  CHECK(Gives("compare", {"f8e4m3fnuz[2] {nan, 240}", "f8e4m3fnuz[2] {-240, nan}"}, "pred[2] {0, 1}",
              ", direction=LT, type=TOTALORDER"));
}

TEST_CASE("compare: unsigned values above the signed range, pred, complex", "[compare]") {
  CHECK(Gives("compare", {"u64[2] {18446744073709551615, 1}", "u64[2] {1, 2}"}, "pred[2] {1, 0}",
              ", direction=GT"));
  CHECK(Gives("compare", {"pred[2] {0, 1}", "pred[2] {1, 0}"}, "pred[2] {1, 0}", ", direction=LT"));
  CHECK(Gives("compare", {"c64[2] {(1, 2), (1, 2)}", "c64[2] {(1, 2), (1, 3)}"}, "pred[2] {1, 0}",
              ", direction=EQ"));
}

TEST_CASE("compare: type must fit the element type, complex has no order", "[Compare-C2][Compare-C3]") {
  CHECK(Refusal("compare", {"s8[2]", "s8[2]"}, "pred[2]", ", direction=EQ, type=FLOAT").find("Compare-C2") !=
        std::string::npos);
  CHECK(Refusal("compare", {"c64[2]", "c64[2]"}, "pred[2]", ", direction=LT").find("Compare-C3") !=
        std::string::npos);
  // Each type has the comparison types that XLA's verifier admits.
  for (const auto& [element, fitting] :
       std::vector<std::pair<std::string, std::string>>{{"s8", "SIGNED"},
                                                        {"s4", "SIGNED"},
                                                        {"u32", "UNSIGNED"},
                                                        {"u2", "UNSIGNED"},
                                                        {"pred", "UNSIGNED"},
                                                        {"f32", "FLOAT TOTALORDER"},
                                                        {"bf16", "FLOAT TOTALORDER"},
                                                        {"f8e5m2", "FLOAT TOTALORDER"},
                                                        {"c64", "FLOAT"}}) {
    for (const std::string type : {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}) {
      INFO(element << " " << type);
      const std::string operand = element + "[2]";
      const std::string refusal =
          Refusal("compare", {operand, operand}, "pred[2]", ", direction=EQ, type=" + type);
      const std::string words = " " + fitting + " ";
      CHECK((refusal.find("Compare-C2") == std::string::npos) ==
            (words.find(" " + type + " ") != std::string::npos));
    }
  }
}

TEST_CASE("select: elements are moved bit for bit", "[select]") {
  CHECK(Gives("select", {"pred[4] {1, 0, 0, 1}", "s32[4] {1, 2, 3, 4}", "s32[4] {100, 200, 300, 400}"},
              "s32[4] {1, 200, 300, 4}"));
  CHECK(Gives("select", {"pred[3] {1, 0, 1}", "f32[3] {nan(0x1), 0, -nan}", "f32[3] {0, nan(0x7), 0}"},
              "f32[3] {nan(0x1), nan(0x7), -nan}"));
  CHECK(Gives("select", {"pred[] 0", "bf16[2] {1, 2}", "bf16[2] {3, nan(0x3)}"}, "bf16[2] {3, nan(0x3)}"));
  CHECK(Gives("select", {"pred[] 1", "c128[] (1, nan)", "c128[] (3, 4)"}, "c128[] (1, nan)"));
}

TEST_CASE("select: pred, equal shapes, dimensions", "[Select-C1][Select-C2][Select-C3]") {
  CHECK(Refusal("select", {"s8[2]", "f32[2]", "f32[2]"}, "f32[2]").find("Select-C1") != std::string::npos);
  CHECK(Refusal("select", {"pred[2]", "f32[2]", "f64[2]"}, "f32[2]").find("Select-C2") != std::string::npos);
  CHECK(Refusal("select", {"pred[3]", "f32[2]", "f32[2]"}, "f32[2]").find("Select-C3") != std::string::npos);
}

TEST_CASE("clamp: bounds may be scalars; NaN anywhere gives NaN; min over max gives max", "[clamp]") {
  CHECK(Gives("clamp", {"s32[] 0", "s32[3] {-1, 5, 9}", "s32[] 6"}, "s32[3] {0, 5, 6}"));
  CHECK(Gives("clamp", {"s32[] 6", "s32[3] {-1, 5, 9}", "s32[] 0"}, "s32[3] {0, 0, 0}"));
  CHECK(Gives("clamp", {"f32[3] {nan, 0, 0}", "f32[3] {1, -nan, 1}", "f32[3] {2, 2, nan}"},
              "f32[3] {nan, nan, nan}"));
  CHECK(Gives("clamp", {"f32[] -0.0", "f32[2] {-1, 0}", "f32[] 0"}, "f32[2] {-0.0, 0}"));
  CHECK(Refusal("clamp", {"c64[]", "c64[]", "c64[]"}, "c64[]").find("Clamp-C3") != std::string::npos);
}

TEST_CASE("is-finite: formats without infinities are finite but for NaN", "[is-finite]") {
  CHECK(Gives("is-finite", {"f32[4] {inf, -inf, nan, 3e38}"}, "pred[4] {0, 0, 0, 1}"));
  CHECK(Gives("is-finite", {"f8e8m0fnu[2] {nan, 1}"}, "pred[2] {0, 1}"));
}

}  // namespace
}  // namespace assay
