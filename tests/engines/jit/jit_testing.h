// Plans whose steps the jit engine takes whatever their size, and random programs for it.
#ifndef ASSAY_TESTS_ENGINES_JIT_JIT_TESTING_H_
#define ASSAY_TESTS_ENGINES_JIT_JIT_TESTING_H_

#include <array>
#include <string>
#include <vector>

#include "engines/jit/jit_engine.h"
#include "engines/native/native_engine.h"
#include "fmt/format.h"
#include "shape/shape_text.h"
#include "tests/jit/loop_testing.h"
#include "tests/run/program_testing.h"

namespace assay::testing {

inline std::vector<Isa> JitIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= MachineIsa()) isas.push_back(isa);
  }
  return isas;
}

inline std::span<const Engine* const> EagerEngines(Isa isa) {
  static const std::array<const Engine*, 2> avx2 = {&jit::EagerJitEngine(Isa::kAvx2),
                                                    &native::NativeEngine(Isa::kAvx2)};
  static const std::array<const Engine*, 2> avx512 = {&jit::EagerJitEngine(Isa::kAvx512),
                                                      &native::NativeEngine(Isa::kAvx512)};
  return isa == Isa::kAvx2 ? avx2 : avx512;
}

inline int FusedSteps(const Plan& plan) {
  int count = 0;
  for (const ComputationPlan& computation : plan.computations) {
    for (const Step& step : computation.steps) count += step.fusion != nullptr;
  }
  return count;
}

// A program of elementwise instructions on arrays of n elements, and what stands between them.
class ProgramMaker {
 public:
  ProgramMaker(uint64_t seed, int64_t rows, int64_t columns, bool cheap)
      : random_(seed), rows_(rows), columns_(columns) {
    for (Opcode opcode : {Opcode::kAbs, Opcode::kNegate, Opcode::kSign, Opcode::kNot, Opcode::kCeil,
                          Opcode::kFloor, Opcode::kRoundNearestAfz, Opcode::kRoundNearestEven, Opcode::kSqrt,
                          Opcode::kPopulationCount, Opcode::kClz})
      unary_.push_back(opcode);
    if (!cheap) {
      for (Opcode opcode : {Opcode::kExp, Opcode::kTanh, Opcode::kLog, Opcode::kCbrt, Opcode::kLogistic,
                            Opcode::kErf, Opcode::kSin, Opcode::kRsqrt})
        unary_.push_back(opcode);
    }
    for (Opcode opcode :
         {Opcode::kAdd, Opcode::kSubtract, Opcode::kMultiply, Opcode::kDivide, Opcode::kMaximum,
          Opcode::kMinimum, Opcode::kAnd, Opcode::kOr, Opcode::kXor, Opcode::kShiftLeft,
          Opcode::kShiftRightLogical, Opcode::kShiftRightArithmetic, Opcode::kRemainder})
      binary_.push_back(opcode);
    if (!cheap) binary_.push_back(Opcode::kAtan2);
  }

  std::string Make(int instructions) {
    const int parameters = 2 + Below(4);
    for (int i = 0; i < parameters; ++i) Parameter(AnyType(), Below(5));
    for (int i = 0; i < instructions; ++i) Step();
    const Value root = values_.back();
    if (Below(3) == 0) {
      const Value& other = values_[Below(static_cast<int>(values_.size()))];
      body_ += fmt::format("ROOT root = ({}, {}) tuple({}, {})\n", Full(root.type), Full(other.type),
                           root.name, other.name);
    } else {
      body_ += fmt::format("ROOT root = {} copy({})\n", Full(root.type), root.name);
    }
    return R"(HloModule m
ENTRY e {
)" + body_ +
           "}\n";
  }

 private:
  struct Value {
    std::string name;
    ElementType type;
  };

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  ElementType AnyType() { return kKnownTypes[Below(std::size(kKnownTypes))]; }
  std::string Full(ElementType type) const { return fmt::format("{}[{},{}]", Name(type), rows_, columns_); }
  std::string NewName() { return fmt::format("v{}", count_++); }

  void Add(ElementType type, const std::string& text) {
    const std::string name = NewName();
    body_ += fmt::format("{} = {} {}\n", name, Full(type), text);
    values_.push_back({name, type});
  }

  int64_t AnyDivisor(int64_t n) {
    int64_t divisor = 1 + Below(static_cast<int>(std::min<int64_t>(n, 8)));
    while (n % divisor != 0) --divisor;
    return divisor;
  }

  // "START:LIMIT:STRIDE" of `size` elements, within 2 size + 1.
  std::string Part(int64_t size) {
    const int64_t start = Below(2), stride = 1 + Below(3) / 2;
    return fmt::format("{}:{}:{}", start, start + (size - 1) * stride + 1, stride);
  }

  // Of the full shape, a row, a column or a scalar, which are broadcast, or a larger array that is sliced.
  void Parameter(ElementType type, int form) {
    const std::string name = fmt::format("p{}", parameters_);
    if (form == 4) {
      body_ += fmt::format("{} = {}[{},{}] parameter({})\n", name, Name(type), 2 * rows_ + 1,
                           2 * columns_ + 1, parameters_++);
      return Add(type, fmt::format("slice({}), slice={{[{}], [{}]}}", name, Part(rows_), Part(columns_)));
    }
    const std::string sizes = form == 0   ? fmt::format("{},{}", rows_, columns_)
                              : form == 1 ? fmt::format("{}", columns_)
                              : form == 2 ? fmt::format("{}", rows_)
                                          : "";
    body_ += fmt::format("{} = {}[{}] parameter({})\n", name, Name(type), sizes, parameters_++);
    if (form == 0) return values_.push_back({name, type});
    Add(type, fmt::format("broadcast({}), dimensions={{{}}}", name, form == 1 ? "1" : form == 2 ? "0" : ""));
  }

  // A value of the type, converted where there is none.
  std::string OfType(ElementType type) {
    for (int i = 0; i < 20; ++i) {
      const Value& value = values_[static_cast<size_t>(Below(static_cast<int>(values_.size())))];
      if (value.type == type) return value.name;
    }
    const std::string from = values_[static_cast<size_t>(Below(static_cast<int>(values_.size())))].name;
    Add(type, fmt::format("convert({})", from));
    return values_.back().name;
  }

  void Step() {
    const Value x = values_[static_cast<size_t>(Below(static_cast<int>(values_.size())))];
    switch (Below(15)) {
      case 14: {  // other rows first, through shapes of three dimensions
        const int64_t elements = rows_ * columns_, outer = AnyDivisor(elements),
                      middle = AnyDivisor(elements / outer);
        const int64_t inner = elements / outer / middle;
        const std::string whole = NewName(), moved = NewName();
        body_ +=
            fmt::format("{} = {}[{},{},{}] reshape({})\n", whole, Name(x.type), outer, middle, inner, x.name);
        body_ += fmt::format("{} = {}[{},{},{}] transpose({}), dimensions={{1,0,2}}\n", moved, Name(x.type),
                             middle, outer, inner, whole);
        return Add(x.type, fmt::format("reshape({})", moved));
      }
      case 13: {  // a slice of something made of it
        const std::string name = NewName();
        const int64_t first = Below(static_cast<int>(columns_) + 1);
        body_ += fmt::format("{} = {}[{},{}] concatenate({}, {}), dimensions={{1}}\n", name, Name(x.type),
                             rows_, 2 * columns_, x.name, OfType(x.type));
        return Add(x.type,
                   fmt::format("slice({}), slice={{[0:{}], [{}:{}]}}", name, rows_, first, first + columns_));
      }
      case 12:
        if (x.type != ElementType::kPred && !IsFloat(x.type) && Bits(x.type) != 32) return Step();
        return Add(Bits(x.type) == 32   ? (Below(2) == 0 ? ElementType::kU32 : ElementType::kF32)
                   : Bits(x.type) == 64 ? ElementType::kU64
                   : Bits(x.type) == 16 ? ElementType::kS16
                                        : ElementType::kPred,
                   fmt::format("{}({})", x.type == ElementType::kPred ? "copy" : "bitcast-convert", x.name));
      case 0:
        return Add(AnyType(), fmt::format("convert({})", x.name));
      case 1: {
        constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
        const bool total = IsFloat(x.type) && Below(2) == 0;
        return Add(ElementType::kPred, fmt::format("compare({}, {}), direction={}{}", x.name, OfType(x.type),
                                                   kDirections[Below(6)], total ? ", type=TOTALORDER" : ""));
      }
      case 2: {
        const std::string pred = OfType(ElementType::kPred);
        return Add(x.type, fmt::format("select({}, {}, {})", pred, x.name, OfType(x.type)));
      }
      case 3: {
        const std::string low = OfType(x.type);
        return Add(x.type, fmt::format("clamp({}, {}, {})", low, x.name, OfType(x.type)));
      }
      case 4: {  // through another shape
        const std::string name = NewName();
        body_ += fmt::format("{} = {}[{}] reshape({})\n", name, Name(x.type), rows_ * columns_, x.name);
        return Add(x.type, fmt::format("reshape({})", name));
      }
      case 5: {
        ElementType type = AnyType();
        if (type == ElementType::kPred) type = ElementType::kS32;
        return Add(type, fmt::format("iota(), iota_dimension={}", Below(2)));
      }
      case 6:
        if (IsFloat(x.type))
          return Add(x.type, fmt::format("reduce-precision({}), exponent_bits={}, mantissa_bits={}", x.name,
                                         2 + Below(9), Below(30)));
        [[fallthrough]];
      case 7:
      case 8: {
        const Opcode opcode = unary_[static_cast<size_t>(Below(static_cast<int>(unary_.size())))];
        if (!DefinitionOf(opcode).types.Has(x.type)) return Step();
        return Add(x.type, fmt::format("{}({})", Name(opcode), x.name));
      }
      default: {
        const Opcode opcode = binary_[static_cast<size_t>(Below(static_cast<int>(binary_.size())))];
        if (!DefinitionOf(opcode).types.Has(x.type)) return Step();
        return Add(x.type, fmt::format("{}({}, {})", Name(opcode), x.name, OfType(x.type)));
      }
    }
  }

  Random random_;
  const int64_t rows_, columns_;
  std::vector<Opcode> unary_, binary_;
  std::string body_;
  std::vector<Value> values_;
  int count_ = 0, parameters_ = 0;
};

inline std::vector<Literal> HostileArguments(const Plan& plan, Random& random) {
  const Computation& entry = plan.module->entry_computation();
  std::vector<Literal> arguments;
  for (int32_t parameter : entry.parameters) {
    const Shape& shape = *entry.instructions[parameter].shape;
    Literal value = *Literal::Make(shape);
    const auto elements = HostileElements(shape.element_type(), shape.num_elements(), random);
    std::copy(elements.begin(), elements.end(), value.MutableBytes().begin());
    arguments.push_back(std::move(value));
  }
  return arguments;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_JIT_JIT_TESTING_H_
