// Each elementwise op of each type as PTX, against the reference.
#include <set>

#include "evaluator/registry.h"
#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

constexpr int64_t kElements = 3001;  // no multiple of a block

struct Declined {
  Opcode opcode;
  ElementType type;
};

std::string Operation(Opcode opcode, ElementType type, int operands, std::string_view attributes = "") {
  constexpr std::string_view kNames[] = {"x", "x, y", "x, y, z"};
  std::string body;
  for (int k = 0; k < operands; ++k)
    body += fmt::format("{} = {}[{}] parameter({})\n", "xyz"[k], Name(type), kElements, k);
  return ProgramText(body + fmt::format("ROOT r = {}[{}] {}({}){}\n", Name(type), kElements, Name(opcode),
                                        kNames[operands - 1], attributes));
}

// What has no PTX, as "opcode type"; everything else must have.
class Sweep {
 public:
  void Check(Opcode opcode, ElementType type, int operands, std::string_view attributes = "") {
    if (!DefinitionOf(opcode).types.Has(type)) return;
    const std::string text = Operation(opcode, type, operands, attributes);
    const int64_t open = CheckPtx(text, random_);
    if (open < 0) declined_.insert(fmt::format("{} {}", Name(opcode), Name(type)));
    if (open > 0) open_ += open;
    ++count_;
  }
  const std::set<std::string>& declined() const { return declined_; }
  int64_t open() const { return open_; }

 private:
  Random random_{21};
  std::set<std::string> declined_;
  int64_t open_ = 0, count_ = 0;
};

TEST_CASE("PTX: unary ops have the reference's bits", "[gpu][ptx]") {
  Sweep sweep;
  for (ElementType type : RealTypes()) {
    for (Opcode opcode : {Opcode::kAbs, Opcode::kNegate, Opcode::kSign, Opcode::kNot, Opcode::kCeil,
                          Opcode::kFloor, Opcode::kRoundNearestAfz, Opcode::kRoundNearestEven, Opcode::kSqrt,
                          Opcode::kPopulationCount, Opcode::kClz, Opcode::kReal, Opcode::kImag})
      sweep.Check(opcode, type, 1);
  }
  CHECK(sweep.declined() == std::set<std::string>{});
}

TEST_CASE("PTX: binary ops have the reference's bits", "[gpu][ptx]") {
  Sweep sweep;
  for (ElementType type : RealTypes()) {
    for (Opcode opcode :
         {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide, Opcode::kRemainder,
          Opcode::kMaximum, Opcode::kMinimum, Opcode::kAnd, Opcode::kOr, Opcode::kXor, Opcode::kShiftLeft,
          Opcode::kShiftRightLogical, Opcode::kShiftRightArithmetic, Opcode::kMulhi})
      sweep.Check(opcode, type, 2);
    if (!IsFloat(type)) sweep.Check(Opcode::kPower, type, 2);
    sweep.Check(Opcode::kClamp, type, 3);
  }
  CHECK(sweep.declined() == std::set<std::string>{});
}

TEST_CASE("PTX: reduce-precision has the reference's bits", "[gpu][ptx]") {
  Sweep sweep;
  for (ElementType type : RealTypes()) {
    for (int exponent : {1, 2, 4, 5, 8, 11}) {
      for (int mantissa : {0, 1, 2, 3, 7, 10, 22, 23, 51, 52})
        sweep.Check(Opcode::kReducePrecision, type, 1,
                    fmt::format(", exponent_bits={}, mantissa_bits={}", exponent, mantissa));
    }
  }
  CHECK(sweep.declined() == std::set<std::string>{});
}

TEST_CASE("PTX: conversions between all types have the reference's bits", "[gpu][ptx]") {
  Random random(22);
  for (ElementType from : RealTypes()) {
    for (ElementType to : RealTypes()) {
      CHECK(CheckPtx(ProgramText(fmt::format("x = {0}[{2}] parameter(0)\nROOT r = {1}[{2}] convert(x)\n",
                                             Name(from), Name(to), kElements)),
                     random) == 0);
    }
  }
}

// A unit beside midpoints, which an f64 on the way would round away.
TEST_CASE("PTX: integers of 64 bits next to midpoints are rounded once", "[gpu][ptx]") {
  Random random(26);
  for (ElementType from : {ElementType::kS64, ElementType::kU64}) {
    Literal value = *Literal::Make(*Shape::Array(from, std::vector<int64_t>{kElements}));
    for (int64_t i = 0; i < kElements; ++i) {
      const int64_t midpoint = ((int64_t{1} << (2 + random() % 24)) | 1) << (54 - random() % 20) >> 1;
      const int64_t beside = (midpoint + static_cast<int64_t>(random() % 3) - 1) & (~uint64_t{0} >> 1);
      std::memcpy(value.MutableBytes().data() + 8 * i, &beside, 8);
    }
    for (ElementType to : RealTypes()) {
      if (!IsFloat(to)) continue;
      CHECK(CheckPtx(ProgramText(fmt::format("x = {0}[{2}] parameter(0)\nROOT r = {1}[{2}] convert(x)\n",
                                             Name(from), Name(to), kElements)),
                     random, {value}) == 0);
    }
  }
}

TEST_CASE("PTX: bitcast-convert has the reference's bits", "[gpu][ptx]") {
  Random random(23);
  for (ElementType from : RealTypes()) {
    for (ElementType to : RealTypes()) {
      const bool of_pred = from == ElementType::kPred;
      if ((of_pred ? 8 : Bits(from)) != Bits(to) || to == ElementType::kPred) continue;
      CHECK(CheckPtx(
                ProgramText(fmt::format("x = {0}[{2}] parameter(0)\nROOT r = {1}[{2}] bitcast-convert(x)\n",
                                        Name(from), Name(to), kElements)),
                random) == 0);
    }
  }
}

TEST_CASE("PTX: comparisons and choices have the reference's bits", "[gpu][ptx]") {
  Random random(24);
  for (ElementType type : RealTypes()) {
    const std::string operands =
        fmt::format("x = {0}[{1}] parameter(0)\ny = {0}[{1}] parameter(1)\n", Name(type), kElements);
    for (std::string_view order : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      for (std::string_view kind : {"", ", type=TOTALORDER"}) {
        if (!kind.empty() && !IsFloat(type)) continue;  // Compare-C2
        CHECK(CheckPtx(ProgramText(operands + fmt::format("ROOT r = pred[{}] compare(x, y), direction={}{}\n",
                                                          kElements, order, kind)),
                       random) == 0);
      }
    }
    CHECK(CheckPtx(ProgramText(operands + fmt::format("p = pred[{0}] parameter(2)\n"
                                                      "ROOT r = {1}[{0}] select(p, x, y)\n",
                                                      kElements, Name(type))),
                   random) == 0);
    if (IsFloat(type)) {
      CHECK(CheckPtx(ProgramText(operands + fmt::format("ROOT r = pred[{}] is-finite(x)\n", kElements)),
                     random) == 0);
      // Of what was computed, not loaded.
      CHECK(
          CheckPtx(ProgramText(operands + fmt::format("a = {1}[{0}] add(x, y)\nb = {1}[{0}] multiply(x, y)\n"
                                                      "p = pred[{0}] compare(a, b), direction=LT\n"
                                                      "s = {1}[{0}] select(p, a, b)\n"
                                                      "ROOT r = {1}[{0}] maximum(s, x)\n",
                                                      kElements, Name(type))),
                   random) == 0);
    }
  }
}

// All values of two narrow floats.
TEST_CASE("PTX: arithmetic of 8-bit floats on all pairs", "[gpu][ptx]") {
  Random random(25);
  for (ElementType type : RealTypes()) {
    if (!IsFloat(type) || Bits(type) > 8) continue;
    const int64_t n = int64_t{1} << Bits(type);
    for (std::string_view op : {"add", "multiply", "divide", "remainder", "maximum"}) {
      const std::string text = ProgramText(
          fmt::format("x = {0}[{1}] parameter(0)\ny = {0}[{1}] parameter(1)\nROOT r = {0}[{1}] {2}(x, y)\n",
                      Name(type), n * n, op));
      std::vector<Literal> arguments;
      for (int k = 0; k < 2; ++k) {
        Literal value = *Literal::Make(*Shape::Array(type, std::vector<int64_t>{n * n}));
        for (int64_t i = 0; i < n * n; ++i)
          value.MutableBytes()[static_cast<size_t>(i)] = static_cast<std::byte>(k == 0 ? i % n : i / n);
        arguments.push_back(std::move(value));
      }
      CHECK(CheckPtx(text, random, std::move(arguments)) == 0);
    }
  }
}

}  // namespace
}  // namespace assay::testing
