#include "find/reduce/shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "evaluator/verify.h"
#include "find/reduce/cost.h"
#include "find/reduce/edit.h"
#include "find/reduce/size_classes.h"
#include "literal/element_io.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// The leading elements of an array, in a smaller shape of the same rank.
absl::StatusOr<Literal> LeadingPart(const Literal& array, std::span<const int64_t> sizes) {
  const Shape& shape = array.shape();
  ASSAY_ASSIGN_OR_RETURN(const Shape small, Shape::Array(shape.element_type(), sizes));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (sizes[static_cast<size_t>(d)] > shape.size(d)) return InvalidProgram({}, "an array would grow");
  }
  ASSAY_ASSIGN_OR_RETURN(Literal part, Literal::Make(small));
  const size_t bytes = static_cast<size_t>(Bytes(shape.element_type()));
  const std::span<std::byte> to = part.MutableBytes();
  DimVector index(sizes.size(), 0);
  for (int64_t k = 0; k < small.num_elements(); ++k) {
    int64_t from = 0;
    for (int64_t d = 0; d < shape.rank(); ++d) from = from * shape.size(d) + index[static_cast<size_t>(d)];
    std::memcpy(to.data() + static_cast<size_t>(k) * bytes, array.data() + static_cast<size_t>(from) * bytes,
                bytes);
    for (size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
  return part;
}

// The value with leaves of the shape's sizes.
absl::StatusOr<Literal> LeadingParts(const Literal& value, const Shape& shape) {
  if (shape.IsArray()) {
    if (Shape::SameDimensions(value.shape(), shape)) return value;
    return LeadingPart(value, shape.sizes());
  }
  if (!shape.IsTuple()) return value;
  std::vector<Literal> elements;
  for (int64_t k = 0; k < value.tuple_size(); ++k) {
    ASSAY_ASSIGN_OR_RETURN(Literal element, LeadingParts(value.element(k), shape.element(k)));
    elements.push_back(std::move(element));
  }
  return Literal::Tuple(SharedShape(shape), std::move(elements));
}

// What a window, padding or slice says beyond its size; the default is 0 or 1.
enum class WindowDefault : uint8_t { kPadding, kBaseDilation, kWindowDilation, kStride, kInterior };
constexpr WindowDefault kWindowDefaults[] = {WindowDefault::kPadding, WindowDefault::kBaseDilation,
                                             WindowDefault::kWindowDilation, WindowDefault::kStride,
                                             WindowDefault::kInterior};

bool SetDefault(int64_t& value, int64_t wanted) { return std::exchange(value, wanted) != wanted; }

bool SetDefault(WindowDimension& dimension, WindowDefault what) {
  switch (what) {
    case WindowDefault::kPadding: {
      const bool low = SetDefault(dimension.padding_low, 0);
      return SetDefault(dimension.padding_high, 0) || low;
    }
    case WindowDefault::kBaseDilation:
      return SetDefault(dimension.base_dilation, 1);
    case WindowDefault::kWindowDilation:
      return SetDefault(dimension.window_dilation, 1);
    case WindowDefault::kStride:
      return SetDefault(dimension.stride, 1);
    case WindowDefault::kInterior:
      return false;
  }
  return false;
}

bool SetDefault(PaddingDimension& dimension, WindowDefault what) {
  if (what == WindowDefault::kInterior) return SetDefault(dimension.interior, 0);
  if (what != WindowDefault::kPadding) return false;
  const bool low = SetDefault(dimension.low, 0);
  return SetDefault(dimension.high, 0) || low;
}

bool SetDefault(SliceDimension& dimension, WindowDefault what) {
  return what == WindowDefault::kStride && SetDefault(dimension.stride, 1);
}

template <typename List>
bool SetDefaults(AttributeMap& attributes, Attr attr, WindowDefault what) {
  const AttrValue* const value = attributes.Find(attr);
  if (value == nullptr || !std::holds_alternative<List>(*value)) return false;
  List list = std::get<List>(*value);
  bool changes = false;
  for (auto& dimension : list) changes = SetDefault(dimension, what) || changes;
  if (changes) attributes.Set(attr, std::move(list));
  return changes;
}

// False: it says nothing of the kind.
bool SimplifyWindow(Instruction& instruction, WindowDefault what) {
  const bool window = SetDefaults<Window>(instruction.attributes, Attr::kWindow, what);
  const bool padding = SetDefaults<PaddingConfig>(instruction.attributes, Attr::kPadding, what);
  return SetDefaults<SliceConfig>(instruction.attributes, Attr::kSlice, what) || window || padding;
}

// The program with classes of other sizes. What follows from a change is found by inference: where the shape
// rule gives another size than the class has, the class is changed too, and all is written again.
class Resizer {
 public:
  explicit Resizer(const CheckedCase& from) : from_(from), classes_(from.module()) {}

  absl::StatusOr<TestCase> Resize(int64_t name, int64_t size) {
    new_sizes_ = {{name, size}};
    return Run();
  }
  // The place's instruction with defaults in its window, padding or slice.
  absl::StatusOr<TestCase> Simplify(const ReductionPlace& place) {
    simplified_ = &place;
    return Run();
  }

 private:
  absl::StatusOr<TestCase> Run() {
    constexpr int kMostRounds = 200;
    for (int round = 0; round < kMostRounds; ++round) {
      to_ = from_.Copy();
      follows_ = false;
      ASSAY_RETURN_IF_ERROR(WriteAll());
      if (!follows_) return WithArguments();
    }
    return InvalidProgram({}, "sizes that do not settle");
  }

  absl::Status WriteAll() {
    for (int32_t c = 0; c < static_cast<int32_t>(to_.module.computations.size()); ++c) {
      Computation& computation = to_.module.computations[static_cast<size_t>(c)];
      for (int32_t k = 0; k < static_cast<int32_t>(computation.instructions.size()); ++k) {
        ASSAY_RETURN_IF_ERROR(WriteInstruction(ComputationId{c}, k));
        if (follows_) return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  int64_t NewSize(ComputationId id, int32_t k, int64_t leaf, int64_t d, int64_t before) const {
    const auto it = new_sizes_.find(classes_.ClassOf(id, k, leaf, d));
    return it == new_sizes_.end() ? before : it->second;
  }

  absl::StatusOr<Shape> NewShape(const Shape& shape, ComputationId id, int32_t k, int64_t& leaf) const {
    if (shape.IsTuple()) {
      std::vector<Shape> elements;
      for (const Shape& element : shape.elements()) {
        ASSAY_ASSIGN_OR_RETURN(Shape now, NewShape(element, id, k, leaf));
        elements.push_back(std::move(now));
      }
      return Shape::Tuple(std::move(elements));
    }
    const int64_t at = leaf++;
    if (!shape.IsArray()) return shape;
    if (shape.HasDynamic()) return InvalidProgram({}, "a dynamic dimension");
    DimVector sizes;
    for (int64_t d = 0; d < shape.rank(); ++d) sizes.push_back(NewSize(id, k, at, d, shape.size(d)));
    ASSAY_ASSIGN_OR_RETURN(Shape now, Shape::Array(shape.element_type(), sizes));
    now.set_layout(shape.layout());
    return now;
  }

  // The class of a dimension must have this size. Error: it was changed to another one.
  absl::Status Demand(ComputationId id, int32_t k, int64_t leaf, int64_t d, int64_t size) {
    const auto [it, is_new] = new_sizes_.try_emplace(classes_.ClassOf(id, k, leaf, d), size);
    if (!is_new && it->second != size) return InvalidProgram({}, "a size that contradicts another one");
    follows_ = follows_ || is_new;
    return absl::OkStatus();
  }

  absl::Status WriteInstruction(ComputationId id, int32_t k) {
    Computation& computation = to_.module.computations[static_cast<size_t>(id.value)];
    Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
    const Shape before = *instruction.shape;
    int64_t leaf = 0;
    ASSAY_ASSIGN_OR_RETURN(Shape now, NewShape(before, id, k, leaf));
    if (instruction.extras != nullptr && instruction.extras->declared_shape != nullptr)
      return InvalidProgram({}, "a dynamic dimension");
    FixAttributes(id, k);
    if (simplified_ != nullptr && simplified_->computation == id.value && simplified_->instruction == k)
      SimplifyWindow(instruction, kWindowDefaults[simplified_->how]);
    if (instruction.opcode == Opcode::kConstant && instruction.literal != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(const Literal part, LeadingParts(*instruction.literal, now));
      instruction.literal =
          std::make_shared<const Literal>(part.shape().IsArray() ? part.WithShape(SharedShape(now)) : part);
    }
    if (instruction.opcode == Opcode::kReshape) ASSAY_RETURN_IF_ERROR(BalanceReshape(id, k, before, now));
    if (follows_) return absl::OkStatus();
    instruction.shape = nullptr;
    const absl::StatusOr<Shape> inferred = InferShape(to_.module, computation, instruction);
    instruction.shape = SharedShape(std::move(now));
    if (inferred.ok()) return FollowShape(id, k, *instruction.shape, *inferred);
    // Shapes that are declared, not inferred.
    return InferShape(to_.module, computation, instruction).status();
  }

  // What the shape rule says of the instruction as it was. Sizes that it got otherwise are the program's to
  // declare, as those of a broadcast.
  const absl::StatusOr<Shape>& InferredBefore(ComputationId id, int32_t k) {
    const auto [it, is_new] = inferred_before_.try_emplace({id.value, k}, absl::UnknownError(""));
    if (is_new) {
      const Computation& computation = from_.module().computation(id);
      Instruction instruction = computation.instructions[static_cast<size_t>(k)];
      instruction.shape = nullptr;
      it->second = InferShape(from_.module(), computation, instruction);
    }
    return it->second;
  }

  absl::Status FollowShape(ComputationId id, int32_t k, const Shape& now, const Shape& inferred) {
    if (!InferredBefore(id, k).ok()) return absl::OkStatus();
    const Shape& shape = *from_.module().computation(id).instructions[static_cast<size_t>(k)].shape;
    const std::vector<const Shape*> have = LeafShapes(now), want = LeafShapes(inferred);
    const std::vector<const Shape*> had = LeafShapes(shape), wanted = LeafShapes(*InferredBefore(id, k));
    if (have.size() != want.size() || had.size() != wanted.size()) return InvalidProgram({}, "another shape");
    for (size_t leaf = 0; leaf < have.size(); ++leaf) {
      if (!have[leaf]->IsArray() || have[leaf]->rank() != want[leaf]->rank()) continue;
      for (int64_t d = 0; d < have[leaf]->rank(); ++d) {
        if (had[leaf]->size(d) == wanted[leaf]->size(d) && have[leaf]->size(d) != want[leaf]->size(d))
          ASSAY_RETURN_IF_ERROR(Demand(id, k, static_cast<int64_t>(leaf), d, want[leaf]->size(d)));
      }
    }
    return absl::OkStatus();
  }

  // Both sides of each part of a reshape have as many elements: where one side has one dimension it takes the
  // product of the other's; where it is the one that was changed, a dimension of the other side gives way.
  absl::Status BalanceReshape(ComputationId id, int32_t k, const Shape& before, const Shape& now) {
    const Computation& computation = to_.module.computation(id);
    const int32_t operand = computation.instructions[static_cast<size_t>(k)].operands[0];
    const Shape& operand_before =
        *from_.module().computation(id).instructions[static_cast<size_t>(operand)].shape;
    const Shape& operand_now = *computation.instructions[static_cast<size_t>(operand)].shape;
    for (const ReshapeGroup& group : ReshapeGroups(operand_before, before)) {
      const int64_t a = Product(operand_now, group.a_begin, group.a_end);
      const int64_t b = Product(now, group.b_begin, group.b_end);
      if (a == b) continue;
      const bool a_changed = a != Product(operand_before, group.a_begin, group.a_end);
      const bool b_changed = b != Product(before, group.b_begin, group.b_end);
      if (a_changed && b_changed) return InvalidProgram({}, "a reshape of two changes");
      ASSAY_RETURN_IF_ERROR(a_changed ? GiveWay(id, k, now, group.b_begin, group.b_end, a)
                                      : GiveWay(id, operand, operand_now, group.a_begin, group.a_end, b));
    }
    return absl::OkStatus();
  }

  static int64_t Product(const Shape& shape, int64_t begin, int64_t end) {
    int64_t product = 1;
    for (int64_t d = begin; d < end; ++d) product *= shape.size(d);
    return product;
  }

  // One of the dimensions takes another size so that the product is `wanted`; the largest that can.
  absl::Status GiveWay(ComputationId id, int32_t k, const Shape& shape, int64_t begin, int64_t end,
                       int64_t wanted) {
    std::optional<int64_t> best;
    for (int64_t d = begin; d < end; ++d) {
      const int64_t others = Product(shape, begin, d) * Product(shape, d + 1, end);
      if (others == 0 || wanted % others != 0 || new_sizes_.contains(classes_.ClassOf(id, k, 0, d))) continue;
      if (!best || shape.size(d) > shape.size(*best)) best = d;
    }
    if (!best) return InvalidProgram({}, "a reshape that can't be balanced");
    const int64_t others = Product(shape, begin, *best) * Product(shape, *best + 1, end);
    return Demand(id, k, 0, *best, wanted / others);
  }

  // Sizes that stand in attributes.
  void FixAttributes(ComputationId id, int32_t k) {
    Computation& computation = to_.module.computations[static_cast<size_t>(id.value)];
    Instruction& instruction = computation.instructions[static_cast<size_t>(k)];
    if (instruction.operands.empty()) return;
    const auto& old_instructions = from_.module().computation(id).instructions;
    const size_t first = static_cast<size_t>(instruction.operands[0]);
    const Shape& before = *old_instructions[first].shape;
    const Shape& now = *computation.instructions[first].shape;
    if (!before.IsArray()) return;
    if (instruction.opcode == Opcode::kSlice) FixSlice(instruction, before, now);
    if (instruction.opcode == Opcode::kDynamicSlice)
      FixSizes(instruction, Attr::kDynamicSliceSizes, before, now);
    if (instruction.opcode == Opcode::kGather) FixSizes(instruction, Attr::kSliceSizes, before, now);
    if (instruction.opcode == Opcode::kConvolution) FixKernel(computation, instruction);
    if (instruction.opcode == Opcode::kReduceWindow) FixWindow(instruction, before, now);
  }

  static void FixSlice(Instruction& instruction, const Shape& before, const Shape& now) {
    SliceConfig config = std::get<SliceConfig>(*instruction.attributes.Find(Attr::kSlice));
    for (size_t d = 0; d < config.size(); ++d) {
      const int64_t size = now.size(static_cast<int64_t>(d)), old = before.size(static_cast<int64_t>(d));
      if (size == old) continue;
      SliceDimension& dimension = config[d];
      const bool is_at_end = dimension.limit == old;
      // A part keeps its share, and at least one element.
      dimension.start = std::min(dimension.start * size / old, size - 1);
      dimension.limit = is_at_end ? size : std::max(dimension.limit * size / old, dimension.start + 1);
      if (dimension.start < 0) dimension.start = 0;
    }
    instruction.attributes.Set(Attr::kSlice, std::move(config));
  }

  static void FixSizes(Instruction& instruction, Attr attr, const Shape& before, const Shape& now) {
    const AttrValue* const value = instruction.attributes.Find(attr);
    if (value == nullptr || !std::holds_alternative<Ints>(*value)) return;
    Ints sizes = std::get<Ints>(*value);
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t size = now.size(static_cast<int64_t>(d));
      sizes[d] = sizes[d] == before.size(static_cast<int64_t>(d)) ? size : std::min(sizes[d], size);
    }
    instruction.attributes.Set(attr, std::move(sizes));
  }

  static void FixKernel(const Computation& computation, Instruction& instruction) {
    const AttrValue* const labels = instruction.attributes.Find(Attr::kDimLabels);
    if (labels == nullptr || !instruction.attributes.Has(Attr::kWindow)) return;
    const ConvDimensionNumbers& numbers = *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*labels);
    const Shape& kernel = *computation.instructions[static_cast<size_t>(instruction.operands[1])].shape;
    Window window = instruction.attributes.WindowOf();
    for (size_t d = 0; d < window.size() && d < numbers.kernel_spatial.size(); ++d)
      window[d].size = kernel.size(numbers.kernel_spatial[d]);
    instruction.attributes.Set(Attr::kWindow, std::move(window));
  }

  static void FixWindow(Instruction& instruction, const Shape& before, const Shape& now) {
    Window window = instruction.attributes.WindowOf();
    for (size_t d = 0; d < window.size() && static_cast<int64_t>(d) < now.rank(); ++d) {
      const int64_t size = now.size(static_cast<int64_t>(d)), old = before.size(static_cast<int64_t>(d));
      if (size == old) continue;
      // Of a running sum the window and its padding are as long as the dimension.
      if (window[d].padding_low == old - 1) window[d].padding_low = size - 1;
      if (window[d].padding_high == old - 1) window[d].padding_high = size - 1;
      window[d].size = window[d].size == old ? size : std::min(window[d].size, size);
    }
    instruction.attributes.Set(Attr::kWindow, std::move(window));
  }

  absl::StatusOr<TestCase> WithArguments() {
    const Computation& entry = to_.module.entry_computation();
    for (size_t k = 0; k < to_.arguments.size(); ++k) {
      const Shape& shape = *entry.instructions[static_cast<size_t>(entry.parameters[k])].shape;
      ASSAY_ASSIGN_OR_RETURN(to_.arguments[k], LeadingParts(to_.arguments[k], shape));
    }
    ForgetSignature(to_.module);
    return std::move(to_);
  }

  const CheckedCase& from_;
  const SizeClasses classes_;
  std::map<int64_t, int64_t> new_sizes_;  // by class
  std::map<std::pair<int32_t, int32_t>, absl::StatusOr<Shape>> inferred_before_;
  TestCase to_;
  const ReductionPlace* simplified_ = nullptr;
  bool follows_ = false;  // a class was added: what was written so far has its old size
};

// --- Types ---

std::optional<ElementType> SimplerType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kS32:
    case ElementType::kPred:
    case ElementType::kC64:
      return std::nullopt;
    case ElementType::kC128:
      return ElementType::kC64;
    default:
      return KindOf(type) == ComputeKind::kReal ? ElementType::kF32 : ElementType::kS32;
  }
}

Shape WithType(const Shape& shape, ElementType from, ElementType to) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements()) elements.push_back(WithType(element, from, to));
    return Shape::Tuple(std::move(elements));
  }
  if (!shape.IsArray() || shape.element_type() != from) return shape;
  Shape now = Shape::ArrayOrDie(to, shape.sizes());
  Layout layout;
  layout.minor_to_major = shape.layout().minor_to_major;
  now.set_layout(std::move(layout));
  return now;
}

absl::StatusOr<Literal> Converted(const Literal& value, ElementType from, ElementType to) {
  if (value.shape().IsTuple()) {
    std::vector<Literal> elements;
    for (int64_t k = 0; k < value.tuple_size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(Literal element, Converted(value.element(k), from, to));
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(SharedShape(WithType(value.shape(), from, to)), std::move(elements));
  }
  if (!value.shape().IsArray() || value.shape().element_type() != from) return value;
  const int64_t count = value.shape().num_elements();
  const std::span<const int64_t> sizes = value.shape().sizes();
  if (KindOf(to) == ComputeKind::kReal) {
    std::vector<double> numbers;
    for (int64_t k = 0; k < count; ++k) numbers.push_back(value.GetDouble(k));
    return Literal::FromDoubles(to, sizes, numbers);
  }
  if (KindOf(to) == ComputeKind::kComplex) {
    ASSAY_ASSIGN_OR_RETURN(Literal result, Literal::Make(WithType(value.shape(), from, to)));
    std::byte* bytes = result.MutableBytes().data();
    for (int64_t k = 0; k < count; ++k) {
      ScalarValue element = LoadElement(from, value.data() + k * Bytes(from));
      element.c = {static_cast<float>(element.c.real()), static_cast<float>(element.c.imag())};
      StoreElement(to, element, bytes + k * Bytes(to));
    }
    return result;
  }
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < count; ++k) numbers.push_back(value.GetInt(k));
  return Literal::FromInts(to, sizes, numbers);
}

}  // namespace

std::vector<ReductionPlace> SizePlaces(const CheckedCase& from) {
  const SizeClasses classes(from.module());
  std::vector<ReductionPlace> places;
  for (const int64_t name : classes.choices()) places.push_back({0, 0, name, 1});
  for (const int64_t name : classes.choices()) {
    const int64_t size = classes.SizeOf(name);
    if (size > 3) places.push_back({0, 0, name, size / 2});
    if (size > 2) places.push_back({0, 0, name, size - 1});
  }
  return places;
}

absl::StatusOr<TestCase> MakeSmaller(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return Resizer(from).Resize(places[0].which, places[0].how);
}

std::vector<ReductionPlace> WindowPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t k = 0; k < instructions.size(); ++k) {
      for (int64_t how = 0; how < std::ssize(kWindowDefaults); ++how) {
        Instruction copy = instructions[k];
        if (SimplifyWindow(copy, kWindowDefaults[how]))
          places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k), 0, how});
      }
    }
  }
  return places;
}

absl::StatusOr<TestCase> SimplifyWindows(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return Resizer(from).Simplify(places[0]);
}

int64_t CostOfWindows(const Module& module) {
  int64_t cost = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      for (const WindowDefault what : kWindowDefaults) {
        Instruction copy = instruction;
        cost += SimplifyWindow(copy, what) ? 1 : 0;
      }
    }
  }
  return cost;
}

std::vector<ReductionPlace> TypePlaces(const CheckedCase& from) {
  std::set<ElementType> types;
  for (const Computation& computation : from.module().computations) {
    for (const Instruction& instruction : computation.instructions) {
      ForEachLeaf(*instruction.shape, [&](const ShapeIndex&, const Shape& leaf) {
        if (leaf.IsArray()) types.insert(leaf.element_type());
      });
    }
  }
  std::vector<ReductionPlace> places;
  for (const ElementType type : types) {
    if (const std::optional<ElementType> simpler = SimplerType(type))
      places.push_back({0, 0, static_cast<int64_t>(type), static_cast<int64_t>(*simpler)});
  }
  return places;
}

absl::StatusOr<TestCase> SimplifyType(const CheckedCase& from, std::span<const ReductionPlace> places) {
  const ElementType before = static_cast<ElementType>(places[0].which);
  const ElementType now = static_cast<ElementType>(places[0].how);
  TestCase to = from.Copy();
  for (Computation& computation : to.module.computations) {
    for (Instruction& instruction : computation.instructions) {
      if (instruction.extras != nullptr && instruction.extras->declared_shape != nullptr)
        return InvalidProgram({}, "a dynamic dimension");
      instruction.shape = SharedShape(WithType(*instruction.shape, before, now));
      if (instruction.literal == nullptr) continue;
      ASSAY_ASSIGN_OR_RETURN(Literal value, Converted(*instruction.literal, before, now));
      instruction.literal = std::make_shared<const Literal>(std::move(value));
    }
  }
  for (Literal& argument : to.arguments) {
    ASSAY_ASSIGN_OR_RETURN(argument, Converted(argument, before, now));
  }
  ForgetSignature(to.module);
  return to;
}

}  // namespace assay
