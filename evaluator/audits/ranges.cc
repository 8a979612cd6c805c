// What the text of a program says of the values of integers: constants, iotas,
// and what bounded values become.
#include <algorithm>

#include "evaluator/audits/rules.h"
#include "evaluator/registry.h"

namespace assay::audit {
namespace {

__extension__ typedef __int128 Int128;

constexpr int kDeepest = 32;
constexpr int64_t kMaxRead = 1 << 20;  // elements of a constant

class Ranges {
 public:
  explicit Ranges(const Computation& computation) : computation_(computation) {}

  IntegerRange Of(int32_t index, int depth = 0) const {
    const Instruction& instruction = computation_.instructions[static_cast<size_t>(index)];
    if (!instruction.shape->IsArray()) return {0, 0};
    const ElementType type = instruction.shape->element_type();
    if (!IsIntegral(type) && type != ElementType::kPred) return {0, 0};
    const IntegerRange all = IntegerRange::Of(type);
    if (depth > kDeepest) return all;
    const IntegerRange range = RangeOfInstruction(instruction, all, depth);
    // What leaves the type wraps round, to any value.
    return range.low < all.low || range.high > all.high ? all : range;
  }

 private:
  static IntegerRange Hull(const IntegerRange& a, const IntegerRange& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }

  static IntegerRange OfConstant(const Instruction& instruction, const IntegerRange& all) {
    const Literal* value = instruction.literal.get();
    if (value == nullptr || value->shape().num_elements() == 0 || value->shape().num_elements() > kMaxRead)
      return all;
    const bool is_wide = value->shape().element_type() == ElementType::kU64;
    const auto at = [&](int64_t i) -> absl::int128 {
      const int64_t element = value->GetInt(i);
      return is_wide ? absl::int128(static_cast<uint64_t>(element)) : absl::int128(element);
    };
    IntegerRange range{at(0), at(0)};
    for (int64_t i = 1; i < value->shape().num_elements(); ++i) range = Hull(range, {at(i), at(i)});
    return range;
  }

  ElementType TypeOf(int32_t array) const {
    return computation_.instructions[static_cast<size_t>(array)].shape->element_type();
  }
  bool IsInteger(const Instruction& instruction, size_t k) const {
    const ElementType type = TypeOf(instruction.operands[k]);
    return IsIntegral(type) || type == ElementType::kPred;
  }

  // Of unsigned factors of 64 bits each the product may leave int128;
  // what stands for it leaves their type, too.
  static absl::int128 Times(absl::int128 x, absl::int128 y) {
    Int128 product;
    if (!__builtin_mul_overflow(static_cast<Int128>(x), static_cast<Int128>(y), &product)) return product;
    return (x < 0) == (y < 0) ? absl::Int128Max() : absl::Int128Min();
  }

  IntegerRange Product(const IntegerRange& a, const IntegerRange& b) const {
    const absl::int128 corners[] = {Times(a.low, b.low), Times(a.low, b.high), Times(a.high, b.low),
                                    Times(a.high, b.high)};
    return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }

  IntegerRange Comparison(const Instruction& instruction, int depth) const {
    if (!IsInteger(instruction, 0)) return {0, 1};
    const IntegerRange a = Of(instruction.operands[0], depth + 1), b = Of(instruction.operands[1], depth + 1);
    const auto decided = [](bool always, bool never) -> IntegerRange {
      return always ? IntegerRange{1, 1} : never ? IntegerRange{0, 0} : IntegerRange{0, 1};
    };
    const std::string_view direction = instruction.attributes.Text(Attr::kDirection);
    if (direction == "LT") return decided(a.high < b.low, a.low >= b.high);
    if (direction == "LE") return decided(a.high <= b.low, a.low > b.high);
    if (direction == "GT") return decided(a.low > b.high, a.high <= b.low);
    if (direction == "GE") return decided(a.low >= b.high, a.high < b.low);
    return {0, 1};
  }

  IntegerRange Remainder(const IntegerRange& x, const IntegerRange& by, const IntegerRange& all) const {
    if (by.low <= 0) return all;
    const absl::int128 most = by.high - 1;
    return {x.low >= 0 ? absl::int128(0) : -most, x.low >= 0 ? std::min(x.high, most) : most};
  }

  IntegerRange RangeOfInstruction(const Instruction& instruction, const IntegerRange& all, int depth) const {
    const auto of = [&](size_t k) { return Of(instruction.operands[k], depth + 1); };
    if (const MoveDef& moves = DefinitionOf(instruction.opcode).moves; moves.any()) {
      IntegerRange range = moves.or_zero ? Hull(of(0), {0, 0}) : of(0);
      for (size_t k = 0; k < moves.count(instruction.operands.size()); ++k) {
        if (TypeOf(instruction.operands[k]) != instruction.shape->element_type()) return all;  // a bitcast
        range = Hull(range, of(k));
      }
      return range;
    }
    switch (instruction.opcode) {
      case Opcode::kConstant:
        return OfConstant(instruction, all);
      case Opcode::kIota:
        return {0, instruction.shape->size(instruction.attributes.Int(Attr::kIotaDimension)) - 1};
      case Opcode::kOptBarrier:
        return of(0);
      case Opcode::kConvert:
        return IsInteger(instruction, 0) ? of(0) : all;
      case Opcode::kCompare:
        return Comparison(instruction, depth);
      case Opcode::kSelect: {
        const IntegerRange chosen = of(0);
        if (chosen.low == 1) return of(1);
        return chosen.high == 0 ? of(2) : Hull(of(1), of(2));
      }
      case Opcode::kClamp: {
        const IntegerRange low = of(0), x = of(1), high = of(2);
        return {std::min(std::max(x.low, low.low), high.low),
                std::min(std::max(x.high, low.high), high.high)};
      }
      case Opcode::kMaximum: {
        const IntegerRange a = of(0), b = of(1);
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
      }
      case Opcode::kMinimum: {
        const IntegerRange a = of(0), b = of(1);
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      }
      case Opcode::kAnd: {
        const IntegerRange a = of(0), b = of(1);
        if (a.low < 0 && b.low < 0) return all;
        if (a.low < 0) return {0, b.high};
        return {0, b.low < 0 ? a.high : std::min(a.high, b.high)};
      }
      case Opcode::kRemainder:
        return Remainder(of(0), of(1), all);
      case Opcode::kAdd: {
        const IntegerRange a = of(0), b = of(1);
        return {a.low + b.low, a.high + b.high};
      }
      case Opcode::kSubtract: {
        const IntegerRange a = of(0), b = of(1);
        return {a.low - b.high, a.high - b.low};
      }
      case Opcode::kMultiply:
        return Product(of(0), of(1));
      default:
        return all;
    }
  }

  const Computation& computation_;
};

}  // namespace

IntegerRange RangeOf(const Computation& computation, int32_t instruction) {
  return Ranges(computation).Of(instruction);
}

}  // namespace assay::audit
