// A proof by cases. The numbers of an element fall into classes: below zero, zeros, above zero. For each pair
// of classes that two elements a < b (or a > b) can be of, the comparator is evaluated on values
// that are known as far as this:
//
//   a number t that depends on one element: strictly monotone on its class, with the values at both ends of
//   the class. It is the element itself, its bits (of a class of one sign these are in order), or +-t + c of
//   such a number, without an overflow in between; so its two ends, and the type whose bits it is of, say
//   which function of the element it is. An element that is rounded to a type of the same range stands for
//   the number that it is rounded to, away from zero: two that are rounded to one are not different;
//   a truth value; or nothing.
//
// Two numbers whose ranges are apart compare by these; the same function of a and of b, on one class,
// by a < b.
#include "evaluator/bounds/comparator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "literal/element_io.h"

namespace assay::bound {
namespace {

constexpr size_t kMaxInstructions = 1000;
constexpr int kFirst = 1, kSecond = 2;  // elements; 0: a constant

struct Known {
  enum class Kind { kNothing, kTruth, kInteger, kFloat };
  Kind kind = Kind::kNothing;
  bool truth = false;
  int element = 0;
  ElementType type = ElementType::kPred;
  ElementType bits_of = ElementType::kPred;  // integers: bits of such floats; pred: they are none
  absl::int128 start = 0, end = 0;           // kInteger: at the ends of the class
  double from = 0, to = 0;                   // kFloat
};

Known Truth(bool truth) {
  Known known;
  known.kind = Known::Kind::kTruth;
  known.truth = truth;
  return known;
}

absl::int128 PowerOfTwo(int k) { return absl::int128(1) << k; }
absl::int128 SmallestOf(ElementType type) {
  return IsSignedIntegral(type) ? -PowerOfTwo(Bits(type) - 1) : absl::int128(0);
}

// The type's number that has the last bits of x; `turns`: how many times 2^bits was taken off.
absl::int128 Wrapped(absl::int128 x, ElementType type, absl::int128& turns) {
  const absl::int128 size = PowerOfTwo(Bits(type)), above = x - SmallestOf(type);
  turns = above / size - (above % size < 0 ? 1 : 0);
  return x - turns * size;
}

// The integer with these ends, where no number in between wraps otherwise than they do.
Known Integer(Known like, ElementType type, absl::int128 start, absl::int128 end) {
  absl::int128 turns_of_start, turns_of_end;
  like.kind = Known::Kind::kInteger;
  like.type = type;
  like.start = Wrapped(start, type, turns_of_start);
  like.end = Wrapped(end, type, turns_of_end);
  return turns_of_start == turns_of_end ? like : Known();
}

// The bits of a float as an integer of the type.
absl::int128 BitsAs(ElementType type, ElementType from, double value) {
  const Literal literal = Literal::ScalarDouble(from, value);
  const ScalarValue bits = LoadElement(type, literal.data());
  return bits.kind == ComputeKind::kInt64 ? absl::int128(bits.i) : absl::int128(bits.u);
}

struct Class {
  double from = 0, to = 0;          // of floats
  absl::int128 start = 0, end = 0;  // of integers
  bool is_one() const { return start == end && from == to; }
};

// In ascending order. The two zeros are equal numbers: they have the same place.
std::vector<Class> ClassesOf(ElementType type, std::vector<int>& places) {
  if (IsFloat(type)) {
    const FloatFormat& format = *Info(type).format;
    const double most =
        format.specials == FloatSpecials::kIeee ? std::numeric_limits<double>::infinity() : format.max_finite;
    places = {0, 1, 1, 2};
    return {{-most, -format.min_subnormal, 0, 0},
            {-0.0, -0.0, 0, 0},
            {0.0, 0.0, 0, 0},
            {format.min_subnormal, most, 0, 0}};
  }
  const absl::int128 least = SmallestOf(type), largest = least + PowerOfTwo(Bits(type)) - 1;
  const absl::int128 middle = IsSignedIntegral(type) ? absl::int128(0) : PowerOfTwo(Bits(type) - 1);
  places = {0, 1};
  return {{0, 0, least, middle - 1}, {0, 0, middle, largest}};
}

// The comparator's values for elements of two classes.
class Case {
 public:
  Case(const Computation& computation, FirstKey& rounding, const Class& first, const Class& second,
       bool first_is_smaller)
      : computation_(computation),
        rounding_(rounding),
        key_(rounding.operand),
        first_is_smaller_(first_is_smaller) {
    same_class_ = first.from == second.from && first.start == second.start &&
                  std::signbit(first.from) == std::signbit(second.from);
    for (const Instruction& instruction : computation.instructions)
      values_.push_back(ValueOf(instruction, first, second));
  }

  std::optional<bool> Root() const {
    const Known& root = values_[static_cast<size_t>(computation_.root)];
    return root.kind == Known::Kind::kTruth ? std::optional(root.truth) : std::nullopt;
  }

 private:
  const Known& Operand(const Instruction& of, size_t k) const {
    return values_[static_cast<size_t>(of.operands[k])];
  }

  Known ValueOf(const Instruction& instruction, const Class& first, const Class& second) const {
    const Shape& shape = *instruction.shape;
    if (!shape.IsScalar()) return Known();
    const ElementType type = shape.element_type();
    switch (instruction.opcode) {
      case Opcode::kParameter: {
        if (instruction.parameter_number / 2 != key_) return Known();
        const bool is_first = instruction.parameter_number % 2 == 0;
        const Class& of = is_first ? first : second;
        return Number(type, is_first ? kFirst : kSecond, of);
      }
      case Opcode::kConstant:
        return instruction.literal == nullptr ? Known() : ConstantOf(*instruction.literal);
      case Opcode::kCopy:
      case Opcode::kReshape:
      case Opcode::kBroadcast:
        return Operand(instruction, 0);
      case Opcode::kBitcast:
      case Opcode::kBitcastConvert:
        return BitsOf(Operand(instruction, 0), type);
      case Opcode::kConvert:
        return Converted(Operand(instruction, 0), type);
      case Opcode::kNegate:
      case Opcode::kNot:
        return Reversed(Operand(instruction, 0), instruction.opcode);
      case Opcode::kAdd:
      case Opcode::kSubtract:
        return Sum(Operand(instruction, 0), Operand(instruction, 1),
                   instruction.opcode == Opcode::kAdd ? 1 : -1);
      case Opcode::kAnd:
      case Opcode::kOr:
        return Joined(Operand(instruction, 0), Operand(instruction, 1), instruction.opcode == Opcode::kOr);
      case Opcode::kXor:
        return Xor(Operand(instruction, 0), Operand(instruction, 1));
      case Opcode::kSelect: {
        const Known& choice = Operand(instruction, 0);
        const Known &a = Operand(instruction, 1), &b = Operand(instruction, 2);
        if (choice.kind == Known::Kind::kTruth) return choice.truth ? a : b;
        return a.kind == Known::Kind::kTruth && b.kind == Known::Kind::kTruth && a.truth == b.truth ? a
                                                                                                    : Known();
      }
      case Opcode::kCompare:
        return Compared(instruction, Operand(instruction, 0), Operand(instruction, 1));
      default:
        return Known();
    }
  }

  static Known Number(ElementType type, int element, const Class& of) {
    Known known;
    known.kind = IsFloat(type) ? Known::Kind::kFloat : Known::Kind::kInteger;
    known.element = element;
    known.type = type;
    known.from = of.from, known.to = of.to;
    known.start = of.start, known.end = of.end;
    return IsFloat(type) || IsIntegral(type) ? known : Known();
  }

  static Known ConstantOf(const Literal& literal) {
    const ElementType type = literal.shape().element_type();
    const ScalarValue value = LoadElement(type, literal.data());
    if (type == ElementType::kPred) return Truth(value.b);
    Class of;
    if (IsFloat(type)) {
      of.from = of.to = literal.GetDouble(0);
      if (std::isnan(of.from)) return Known();
    } else if (IsIntegral(type)) {
      of.start = of.end = value.kind == ComputeKind::kInt64 ? absl::int128(value.i) : absl::int128(value.u);
    }
    return Number(type, 0, of);
  }

  // Classes of floats have one sign: their bits are in the order of their magnitudes.
  static Known BitsOf(const Known& x, ElementType type) {
    if (x.kind == Known::Kind::kNothing || x.kind == Known::Kind::kTruth) return Known();
    if (x.type == type) return x;
    if (Bits(type) != Bits(x.type) || !IsIntegral(type)) return Known();
    if (x.kind == Known::Kind::kInteger) return Integer(x, type, x.start, x.end);
    if (std::signbit(x.from) != std::signbit(x.to)) return Known();
    Known bits = x;
    bits.bits_of = x.type;
    return Integer(bits, type, BitsAs(type, x.type, x.from), BitsAs(type, x.type, x.to));
  }

  Known Converted(const Known& x, ElementType type) const {
    if (x.kind == Known::Kind::kInteger && IsIntegral(type)) return Integer(x, type, x.start, x.end);
    if (x.kind != Known::Kind::kFloat || !IsFloat(type)) return Known();
    Known other = x;
    other.type = type;
    if (Contains(x.type, type)) return other;
    const FloatFormat &from = *Info(x.type).format, &to = *Info(type).format;
    if (from.max_exponent != to.max_exponent || to.specials != from.specials) return Known();
    for (double* const end : {&other.from, &other.to}) {
      const double size = std::fabs(*end);
      if (size != 0 && size < to.min_subnormal) *end = std::copysign(to.min_subnormal, *end);
      if (std::isfinite(*end) && Literal::ScalarDouble(type, *end).GetDouble(0) != *end) return Known();
    }
    rounding_.relative = std::max(rounding_.relative, UlpOf(type) / 2);
    rounding_.absolute = std::max(rounding_.absolute, to.min_subnormal);
    return other;
  }

  static Known Reversed(const Known& x, Opcode op) {
    if (x.kind == Known::Kind::kTruth) return op == Opcode::kNot ? Truth(!x.truth) : Known();
    if (x.kind == Known::Kind::kInteger) {
      const absl::int128 c = op == Opcode::kNot ? -1 : 0;  // ~x = -1 - x
      return Integer(x, x.type, c - x.start, c - x.end);
    }
    Known negative = x;
    negative.from = -x.from, negative.to = -x.to;
    return op == Opcode::kNegate ? negative : Known();
  }

  // a + sign b, one of which is a constant.
  static Known Sum(const Known& a, const Known& b, int sign) {
    if (a.kind != Known::Kind::kInteger || b.kind != Known::Kind::kInteger ||
        (a.element != 0 && b.element != 0))
      return Known();
    return Integer(a.element != 0 ? a : b, a.type, a.start + sign * b.start, a.end + sign * b.end);
  }

  static Known Joined(const Known& a, const Known& b, bool decisive) {
    const bool a_known = a.kind == Known::Kind::kTruth, b_known = b.kind == Known::Kind::kTruth;
    if ((a_known && a.truth == decisive) || (b_known && b.truth == decisive)) return Truth(decisive);
    return a_known && b_known ? Truth(!decisive) : Known();
  }

  // With all ones: ~x. With the sign bit s: x + s, wrapped. With all ones below it: s - 1 - x where the sign
  // bit is not set, else -1 - s - x of signed numbers, 3 s - 1 - x of others,
  // which is the same when it is wrapped.
  static Known Xor(const Known& a, const Known& b) {
    if (a.kind == Known::Kind::kTruth && b.kind == Known::Kind::kTruth) return Truth(a.truth != b.truth);
    if (a.kind != Known::Kind::kInteger || b.kind != Known::Kind::kInteger ||
        (a.element != 0 && b.element != 0))
      return Known();
    const Known &x = a.element != 0 ? a : b, &mask = a.element != 0 ? b : a;
    const absl::int128 sign = PowerOfTwo(Bits(x.type) - 1);
    const absl::int128 ones = mask.start < 0 ? mask.start + 2 * sign : mask.start;
    const auto is_set = [&](absl::int128 v) { return IsSignedIntegral(x.type) ? v < 0 : v >= sign; };
    if (is_set(x.start) != is_set(x.end)) return Known();
    if (ones == 0) return x;
    if (ones == 2 * sign - 1) return Reversed(x, Opcode::kNot);
    if (ones == sign) return Integer(x, x.type, x.start + sign, x.end + sign);
    if (ones != sign - 1) return Known();
    const absl::int128 c = is_set(x.start) ? -1 - sign : sign - 1;
    return Integer(x, x.type, c - x.start, c - x.end);
  }

  // a < b: -1, 0, 1; none where it is not known.
  template <class T>
  static std::optional<int> Apart(T a, T a_end, T b, T b_end) {
    if (std::max(a, a_end) < std::min(b, b_end)) return -1;
    if (std::min(a, a_end) > std::max(b, b_end)) return 1;
    return a == a_end && b == b_end && a == b ? std::optional(0) : std::nullopt;
  }

  std::optional<int> Order(const Known& a, const Known& b, bool total) const {
    const bool is_float = a.kind == Known::Kind::kFloat;
    const std::optional<int> apart =
        is_float ? Apart(a.from, a.to, b.from, b.to) : Apart(a.start, a.end, b.start, b.end);
    if (apart && *apart != 0) return apart;
    if (apart && (!is_float || std::signbit(a.from) == std::signbit(b.from))) return apart;
    if (apart) return !total ? 0 : std::signbit(a.from) ? -1 : 1;
    const bool same_function = a.bits_of == b.bits_of && a.start == b.start && a.end == b.end &&
                               a.from == b.from && a.to == b.to && a.element != 0 && b.element != 0;
    if (!same_function) return std::nullopt;
    if (a.element == b.element) return 0;
    if (!same_class_) return std::nullopt;
    const bool rises = is_float ? a.from < a.to : a.start < a.end;
    return (a.element == kFirst) == (first_is_smaller_ == rises) ? -1 : 1;
  }

  Known Compared(const Instruction& instruction, const Known& a, const Known& b) const {
    if (a.kind != b.kind || (a.kind != Known::Kind::kInteger && a.kind != Known::Kind::kFloat))
      return Known();
    const std::optional<int> order = Order(a, b, instruction.attributes.Text(Attr::kType) == "TOTALORDER");
    if (!order) return Known();
    const std::string_view direction = instruction.attributes.Text(Attr::kDirection);
    if (direction == "EQ" || direction == "NE") return Truth((*order == 0) == (direction == "EQ"));
    if (direction == "LE" || direction == "GE") return Truth(direction == "LE" ? *order <= 0 : *order >= 0);
    return Truth(direction == "LT" ? *order < 0 : *order > 0);
  }

  const Computation& computation_;
  FirstKey& rounding_;
  const int64_t key_;
  const bool first_is_smaller_;
  bool same_class_ = false;
  std::vector<Known> values_;
};

// What the comparator says of all pairs of different numbers of one operand of which the first is
// the smaller (or larger) one.
std::optional<bool> AnswerFor(const Computation& computation, FirstKey& key, bool first_is_smaller) {
  const int32_t parameter = computation.parameters[static_cast<size_t>(2 * key.operand)];
  const ElementType type = computation.instructions[static_cast<size_t>(parameter)].shape->element_type();
  if (!IsFloat(type) && !IsIntegral(type)) return std::nullopt;
  std::vector<int> places;
  const std::vector<Class> classes = ClassesOf(type, places);
  std::optional<bool> answer;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (size_t j = 0; j < classes.size(); ++j) {
      const bool in_one = i == j && !classes[i].is_one();
      const bool in_order = first_is_smaller ? places[i] < places[j] : places[i] > places[j];
      if (!in_one && !in_order) continue;
      const std::optional<bool> found =
          Case(computation, key, classes[i], classes[j], first_is_smaller).Root();
      if (!found || (answer && *answer != *found)) return std::nullopt;
      answer = found;
    }
  }
  return answer;
}

}  // namespace

std::optional<FirstKey> FirstKeyOf(const Module& module, ComputationId comparator) {
  const Computation& computation = module.computation(comparator);
  if (computation.instructions.size() > kMaxInstructions) return std::nullopt;
  for (int64_t k = 0; 2 * k + 1 < static_cast<int64_t>(computation.parameters.size()); ++k) {
    FirstKey key{.operand = k};
    const std::optional<bool> smaller = AnswerFor(computation, key, true);
    if (!smaller) continue;
    const std::optional<bool> larger = AnswerFor(computation, key, false);
    if (larger && *larger != *smaller) return key;
  }
  return std::nullopt;
}

}  // namespace assay::bound
