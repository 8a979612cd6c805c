#include "check/estimate/mover.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "literal/float_format.h"
#include "literal/literal.h"

namespace assay {
namespace {

// Of arrays with no more elements, positions are constants: loops of small arrays, as generated code, have no
// iota.
constexpr int64_t kFewPositions = 16;
// Multipliers of the parts of a hash: 2^32 over the golden ratio, and odd numbers of MurmurHash3 (A. Appleby,
// public domain), whose finalizer mixes them.
constexpr uint32_t kOfBits = 0x9e3779b1, kOfPosition = 0xcc9e2d51, kOfNumber = 0x1b873593;
constexpr uint32_t kMixFirst = 0x85ebca6b, kMixSecond = 0xc2b2ae35;

const FloatFormat& FormatOf(ElementType type) { return *Info(type).format; }

// Floats are moved as numbers of this type, which has all of theirs.
ElementType WideOf(ElementType type) {
  return type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
}

std::shared_ptr<const Shape> ShapeWith(const Shape& shape, ElementType type) {
  Shape result = shape;
  result.set_element_type(type);
  return std::make_shared<const Shape>(std::move(result));
}

}  // namespace

// The finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint32_t KeyOfSeed(uint64_t seed) {
  uint64_t x = seed + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return (static_cast<uint32_t>(x >> 32) & ~uint32_t{3}) | static_cast<uint32_t>(seed & 3);
}

Node Mover::Bitcast(Node value, ElementType type) {
  Instruction instruction(Opcode::kBitcastConvert);
  instruction.shape = ShapeWith(c_.ShapeOf(value), type);
  instruction.operands.push_back(value.id);
  return c_.Write(std::move(instruction));
}

Node Mover::ShiftedRight(Node a, int places) {
  return c_.Write(Opcode::kShiftRightLogical, {a, c_.Constant(places, a)});
}

// 32 bits of the number's.
Node Mover::Bits(Node value) {
  if (c_.ShapeOf(value).element_type() == ElementType::kF32) return Bitcast(value, ElementType::kU32);
  const Node bits = Bitcast(value, ElementType::kU64);
  return c_.ConvertTo(Xor(bits, ShiftedRight(bits, 32)), ElementType::kU32);
}

// `step` times the row-major position, modulo 2^32, in an array like this.
Node Mover::Positions(Node like, uint32_t step) {
  const Shape& shape = c_.ShapeOf(like);
  const int64_t n = shape.num_elements();
  Instruction made(n <= kFewPositions ? Opcode::kConstant : Opcode::kIota);
  made.shape = ShapeWith(shape, ElementType::kU32);
  if (n <= kFewPositions) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<uint32_t>(step * i));
    const std::vector<int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
    made.literal = std::make_shared<const Literal>(Literal::FromInts(ElementType::kU32, sizes, values));
    return c_.Write(std::move(made));
  }
  made.attributes.Set(Attr::kIotaDimension, int64_t{0});
  made.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kU32, {{n}}));
  Node position = c_.Write(std::move(made));
  if (shape.rank() != 1) {
    Instruction reshape(Opcode::kReshape);
    reshape.shape = ShapeWith(shape, ElementType::kU32);
    reshape.operands.push_back(position.id);
    position = c_.Write(std::move(reshape));
  }
  return c_.Times(position, step);
}

Node Mover::Hash(Node wide, int64_t number) {
  // All moves of arrays of one size have the first sum, so that a fusion computes it once.
  const Node position = Positions(wide, kOfPosition);
  Node x = c_.Plus(position, c_.Spread(key_, position));
  x = c_.Plus(x, c_.Constant(static_cast<uint32_t>(number) * kOfNumber, x));
  x = c_.Plus(x, c_.Times(Bits(wide), kOfBits));
  x = c_.Times(Xor(x, ShiftedRight(x, 16)), kMixFirst);
  return c_.Times(Xor(x, ShiftedRight(x, 13)), kMixSecond);
}

// The hash as a number in [-1, 1].
Node Mover::Signed(Node hash, Node wide) {
  const Node integer = Bitcast(hash, ElementType::kS32);
  return c_.Times(c_.ConvertTo(integer, c_.ShapeOf(wide).element_type()), 0x1p-31);
}

// Whether the bit of the key is set: a scalar.
Node Mover::KeyBit(uint32_t bit) {
  const Node one = c_.Write(Opcode::kAnd, {key_, c_.Constant(bit, key_)});
  return c_.Compare("NE", one, 0);
}

// The value, or where the sample flushes and it is small a zero of its sign. `magnitude` is nearly the
// value's.
Node Mover::Flushed(Node wide, Node magnitude, ElementType type) {
  if (!flushes_.Has(type)) return wide;
  const ElementType wide_type = c_.ShapeOf(wide).element_type();
  Node& limit = flush_limits_[type];
  if (!limit) {
    const Node least = c_.Scalar(wide_type, std::ldexp(1, FormatOf(type).min_exponent));
    limit = c_.Choose(KeyBit(1), least, c_.Scalar(wide_type, 0));
  }
  const Node is_small = c_.Compare("LT", magnitude, c_.Spread(limit, wide));
  return c_.Choose(is_small, c_.Write(Opcode::kMultiply, {wide, c_.Constant(0, wide)}), wide);
}

Node Mover::MovedBy(Node wide, Node radius, Node draw, ElementType type, bool in_unit) {
  const FloatFormat& format = FormatOf(type);
  const double smallest = std::max(format.min_subnormal, type == ElementType::kF64 ? 0x1p-1074 : 0x1p-149);
  const Node magnitude = c_.Write(Opcode::kAbs, {wide});
  const Node reach = c_.Plus(radius, c_.Times(magnitude, std::ldexp(1, -format.mantissa_bits - 1)));
  const Node moved = c_.Plus(wide, c_.Times(reach, draw));
  // False where the value or the radius is infinite or NaN.
  const Node is_within = c_.Compare("LE", c_.Write(Opcode::kAbs, {moved}), in_unit ? 1 : format.max_finite);
  const Node has_radius = c_.Compare("GT", radius, 256 * smallest);
  const Node result = c_.Choose(c_.Write(Opcode::kAnd, {is_within, has_radius}), moved, wide);
  return Flushed(result, magnitude, type);
}

Node Mover::Moved(Node value, Node radius, int64_t number, bool in_unit) {
  const ElementType type = c_.ShapeOf(value).element_type();
  if (IsComplex(type)) {
    // Parts are of the radius' type. The second part's hash is the first one's, mixed once more.
    const ElementType component = ComponentType(type);
    const Node real = c_.Write(Opcode::kReal, {value}), imaginary = c_.Write(Opcode::kImag, {value});
    const Node first = Hash(c_.Plus(real, c_.Times(imaginary, 3)), number);
    const Node second = c_.Times(Xor(first, ShiftedRight(first, 15)), kMixFirst);
    const Node part = c_.Times(radius, 0.7071067811865476);
    return c_.Write(Opcode::kComplex, {MovedBy(real, part, Signed(first, real), component, in_unit),
                                       MovedBy(imaginary, part, Signed(second, real), component, in_unit)});
  }
  const Node wide = c_.ConvertTo(value, WideOf(type));
  return c_.ConvertTo(MovedBy(wide, radius, Signed(Hash(wide, number), wide), type, in_unit), type);
}

Node Mover::Cut(Node value, double unit, int64_t number) {
  const ElementType type = c_.ShapeOf(value).element_type();
  const Node radius = c_.Times(c_.Magnitude(value), unit);
  if (IsComplex(type)) return Moved(value, radius, number);
  const Node wide = c_.ConvertTo(value, WideOf(type));
  const Node draw = Signed(Hash(wide, number), wide);
  const Node inwards =
      c_.Times(c_.Write(Opcode::kNegate, {c_.Write(Opcode::kSign, {wide})}), c_.Write(Opcode::kAbs, {draw}));
  if (!cuts_inwards_) cuts_inwards_ = KeyBit(2);
  const Node by = c_.Choose(c_.Spread(cuts_inwards_, draw), inwards, draw);
  return c_.ConvertTo(MovedBy(wide, radius, by, type, false), type);
}

// The number in two parts of half its bits: the leading ones, and the rest.
Mover::Split Mover::SplitOf(Node value) {
  const ElementType type = c_.ShapeOf(value).element_type();
  const bool is_double = type == ElementType::kF64;
  const Node bits = Bitcast(value, is_double ? ElementType::kU64 : ElementType::kU32);
  const Node places = c_.Constant(is_double ? 27 : 12, bits);
  const Node kept = c_.Write(Opcode::kShiftRightLogical, {bits, places});
  const Node high = Bitcast(c_.Write(Opcode::kShiftLeft, {kept, places}), type);
  return {high, c_.Minus(value, high)};
}

// Sums by two-sum (Knuth), products by Dekker's. Formats narrower than f32 have exact products in it, and
// sums whose errors f32 has nearly.
Mover::Exact Mover::Rounded(Opcode op, Node a, Node b, ElementType type) {
  const Node first = c_.ConvertTo(a, WideOf(type)), second = c_.ConvertTo(b, WideOf(type));
  const Node value = c_.Write(op, {first, second});
  if (type != WideOf(type)) {
    const Node rounded = c_.ConvertTo(c_.ConvertTo(value, type), WideOf(type));
    return {rounded, c_.Minus(value, rounded)};
  }
  if (op == Opcode::kMultiply) {
    const Split x = SplitOf(first), y = SplitOf(second);
    Node error = c_.Minus(c_.Times(x.high, y.high), value);
    error = c_.Plus(c_.Plus(error, c_.Times(x.high, y.low)), c_.Times(x.low, y.high));
    return {value, c_.Plus(error, c_.Times(x.low, y.low))};
  }
  const Node addend = op == Opcode::kAdd ? second : c_.Write(Opcode::kNegate, {second});
  const Node part = c_.Minus(value, first);
  return {value, c_.Plus(c_.Minus(first, c_.Minus(value, part)), c_.Minus(addend, part))};
}

Node Mover::RoundedEitherWay(Opcode op, Node a, Node b, int64_t number) {
  const ElementType type = c_.ShapeOf(a).element_type(), wide = WideOf(type);
  const FloatFormat& format = FormatOf(type);
  const auto [value, error] = Rounded(op, a, b, type);
  const Node draw = c_.ConvertTo(Bitcast(ShiftedRight(Hash(value, number), 8), ElementType::kS32), wide);
  // The power of two below the number: its exponent's bits alone. Of subnormal numbers of f32 and f64 it is
  // 0, and these are not moved.
  const bool is_double = wide == ElementType::kF64;
  const double mask = is_double ? 0x7ff0000000000000 : 0x7f800000;
  const Node bits = Bitcast(value, is_double ? ElementType::kU64 : ElementType::kU32);
  Node power = Bitcast(c_.Write(Opcode::kAnd, {bits, c_.Constant(mask, bits)}), wide);
  if (type != wide) power = c_.Max(power, c_.Constant(std::ldexp(1, format.min_exponent), power));
  const double ulp = std::ldexp(1, -format.mantissa_bits);  // of a power of 1
  const Node distance = c_.Write(Opcode::kAbs, {error});
  // The draw is of 24 bits.
  const Node far = c_.Compare("GT", distance, c_.Times(c_.Times(draw, ulp * 0x1p-24), power));
  // Five eighths of an ulp, with the error's sign, lead to the neighbour; below a power of two as well, where
  // it is half as far.
  const ElementType integer = c_.ShapeOf(bits).element_type();
  const Node sign = Xor(Bitcast(error, integer), Bitcast(distance, integer));
  const Node step_bits = c_.Write(Opcode::kOr, {sign, Bitcast(c_.Times(power, 0.625 * ulp), integer)});
  const Node moved = c_.Plus(value, Bitcast(step_bits, wide));
  const Node magnitude = c_.Write(Opcode::kAbs, {moved});
  const Node is_finite = c_.Compare("LE", magnitude, format.max_finite);
  const Node result = c_.Choose(c_.Write(Opcode::kAnd, {far, is_finite}), moved, value);
  return c_.ConvertTo(Flushed(result, magnitude, type), type);
}

}  // namespace assay
