// Elementwise instructions, and those that move elements.
#include <algorithm>

#include "evaluator/registry.h"
#include "find/fuzz/maker.h"

namespace assay::fuzz {
namespace {

bool IsCheap(Opcode opcode) {
  constexpr Opcode kDear[] = {
      Opcode::kAcos, Opcode::kAcosh, Opcode::kAsin, Opcode::kAsinh, Opcode::kAtanh, Opcode::kAtan2,
      Opcode::kCbrt, Opcode::kCos,   Opcode::kCosh, Opcode::kErf,   Opcode::kExp,   Opcode::kExpm1,
      Opcode::kLog,  Opcode::kLog1p, Opcode::kSin,  Opcode::kSinh,  Opcode::kRsqrt, Opcode::kLogistic,
      Opcode::kTan,  Opcode::kTanh,  Opcode::kPower};
  return std::find(std::begin(kDear), std::end(kDear), opcode) == std::end(kDear);
}

std::vector<Opcode> ElementwiseOpcodes() {
  std::vector<Opcode> opcodes;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (DefinitionOf(opcode).strip != nullptr) opcodes.push_back(opcode);
  }
  return opcodes;
}

}  // namespace

void Maker::Elementwise() {
  static const std::vector<Opcode> opcodes = ElementwiseOpcodes();
  static constexpr const char* kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const Opcode opcode = opcodes[static_cast<size_t>(Below(static_cast<int64_t>(opcodes.size())))];
  if (options_.cheap && !IsCheap(opcode)) return;
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  std::vector<int32_t> operands = {*x};
  std::vector<AttributeMap::Entry> attributes;
  std::optional<Shape> declared;
  while (static_cast<int>(operands.size()) < DefinitionOf(opcode).operands.min)
    operands.push_back(LikeThat(shape));
  switch (opcode) {
    case Opcode::kCompare:
      attributes.push_back({Attr::kDirection, Word{kDirections[Below(6)]}});
      if (IsFloat(shape.element_type()) && choices_.OneIn(4))
        attributes.push_back({Attr::kType, Word{"TOTALORDER"}});
      break;
    case Opcode::kSelect: {
      const auto predicate =
          Add(Opcode::kCompare, {operands[0], operands[1]}, {{Attr::kDirection, Word{"LT"}}});
      if (!predicate) return;
      operands[0] = *predicate;
      break;
    }
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
      if (options_.pure && choices_.OneIn(2)) operands[1] = BelowWidth(operands[1]).value_or(operands[1]);
      break;
    case Opcode::kReducePrecision:
      attributes = {{Attr::kExponentBits, 1 + Below(11)}, {Attr::kMantissaBits, Below(53)}};
      break;
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
      declared = shape;
      declared->set_element_type(AnyType());
      break;
    default:
      break;
  }
  Chain(opcode, Add(opcode, operands, std::move(attributes), std::move(declared)));
}

// One more of an operation that may be grouped otherwise, now and then.
void Maker::Chain(Opcode opcode, std::optional<int32_t> first) {
  constexpr Opcode kChained[] = {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum,
                                 Opcode::kAnd, Opcode::kOr,       Opcode::kXor};
  if (!options_.pure || !first || std::ranges::find(kChained, opcode) == std::end(kChained)) return;
  if (!choices_.OneIn(2)) return;
  const int32_t other = LikeThat(ShapeOf(*first));
  Add(opcode, choices_.OneIn(2) ? std::vector{*first, other} : std::vector{other, *first});
}

// The integers modulo the number of their bits: shifts by more are open.
std::optional<int32_t> Maker::BelowWidth(int32_t amount) {
  const Shape shape = ShapeOf(amount);
  const ElementType type = shape.element_type();
  if (!IsIntegral(type) || shape.HasDynamic()) return std::nullopt;
  const int32_t mask = ScalarOf(type, Bits(type) - 1);
  const auto all =
      Add(Opcode::kBroadcast, {mask}, {{Attr::kDimensions, Ints{}}}, Shape::ArrayOrDie(type, shape.sizes()));
  return all ? Add(Opcode::kAnd, {amount, *all}) : std::nullopt;
}

void Maker::Broadcast() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  // The operand's dimensions, now and then in another order, with new ones before, between and behind.
  Ints order;
  for (int64_t d = 0; d < shape.rank(); ++d)
    order.insert(choices_.OneIn(4) ? order.begin() + Below(d + 1) : order.end(), d);
  Ints dims(sizes.size());
  DimVector result;
  for (size_t k = 0; k <= order.size(); ++k) {
    if (choices_.OneIn(2)) result.push_back(1 + Below(9));
    if (k == order.size()) break;
    dims[static_cast<size_t>(order[k])] = static_cast<int64_t>(result.size());
    result.push_back(sizes[static_cast<size_t>(order[k])]);
  }
  Add(Opcode::kBroadcast, {*x}, {{Attr::kDimensions, dims}}, Shape::ArrayOrDie(shape.element_type(), result));
}

void Maker::Reshape() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  DimVector sizes;
  int64_t left = shape.num_elements();
  for (int64_t f : {2, 3, 5, 7}) {
    if (left > 0 && left % f == 0 && choices_.OneIn(2)) sizes.push_back(f), left /= f;
  }
  sizes.insert(sizes.begin() + Below(static_cast<int64_t>(sizes.size()) + 1), left);
  Add(choices_.OneIn(3) ? Opcode::kBitcast : Opcode::kReshape, {*x}, {},
      Shape::ArrayOrDie(shape.element_type(), sizes));
}

void Maker::Transpose() {
  const auto x = AnyArray();
  if (!x) return;
  Ints dims;
  for (int64_t d = 0; d < ShapeOf(*x).rank(); ++d) dims.insert(dims.begin() + Below(d + 1), d);
  Add(Opcode::kTranspose, {*x}, {{Attr::kDimensions, dims}});
}

void Maker::Reverse() {
  const auto x = AnyArray();
  if (x) Add(Opcode::kReverse, {*x}, {{Attr::kDimensions, SomeDims(ShapeOf(*x))}});
}

void Maker::Slice() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  SliceConfig slices;
  for (int64_t size : shape.sizes()) {
    const int64_t start = Below(size / 2 + 1);
    slices.push_back({start, start + Below(size - start + 1), 1 + Below(3)});
  }
  Add(Opcode::kSlice, {*x}, {{Attr::kSlice, slices}});
}

void Maker::Pad() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  PaddingConfig padding;
  for (int64_t d = 0; d < shape.rank(); ++d) padding.push_back({Below(4) - 1, Below(4) - 1, Below(3)});
  Add(Opcode::kPad, {*x, ScalarOf(shape.element_type(), 3)}, {{Attr::kPadding, padding}});
}

void Maker::Concatenate() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  Add(Opcode::kConcatenate, {*x, LikeThat(shape), *x}, {{Attr::kDimensions, Ints{Below(shape.rank())}}});
}

void Maker::Iota() {
  const Shape shape = AnyShape();
  if (shape.rank() > 0) Add(Opcode::kIota, {}, {{Attr::kIotaDimension, Below(shape.rank())}}, shape);
}

void Maker::DynamicSlice() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  std::vector<int32_t> operands = {*x};
  Ints sizes;
  for (int64_t size : shape.sizes()) {
    sizes.push_back(Below(size + 1));
    operands.push_back(LikeThat(Shape::Scalar(ElementType::kS32)));
  }
  Add(Opcode::kDynamicSlice, operands, {{Attr::kDynamicSliceSizes, sizes}});
}

void Maker::DynamicUpdate() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  DimVector sizes;
  for (int64_t size : shape.sizes()) sizes.push_back(Below(size + 1));
  std::vector<int32_t> operands = {*x, LikeThat(Shape::ArrayOrDie(shape.element_type(), sizes))};
  for (int64_t d = 0; d < shape.rank(); ++d) operands.push_back(LikeThat(Shape::Scalar(ElementType::kS32)));
  Add(Opcode::kDynamicUpdateSlice, operands);
}

void Maker::Gather() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  // Rows of dimension d, one for each index.
  const int64_t d = Below(shape.rank()), count = 1 + Below(20);
  const int32_t indices = LikeThat(Shape::ArrayOrDie(ElementType::kS32, DimVector{count}));
  Ints sizes(shape.sizes().begin(), shape.sizes().end()), offsets;
  sizes[static_cast<size_t>(d)] = 1;
  for (int64_t o = 1; o < shape.rank(); ++o) offsets.push_back(o);
  Add(Opcode::kGather, {*x, indices},
      {{Attr::kOffsetDims, offsets},
       {Attr::kCollapsedSliceDims, Ints{d}},
       {Attr::kStartIndexMap, Ints{d}},
       {Attr::kIndexVectorDim, int64_t{1}},
       {Attr::kSliceSizes, sizes}});
}

}  // namespace assay::fuzz
