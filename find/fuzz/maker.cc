#include "find/fuzz/maker.h"

#include <algorithm>

#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::fuzz {
namespace {

constexpr ElementType kTypes[] = {
    ElementType::kF32,  ElementType::kF32,      ElementType::kF64,    ElementType::kBF16, ElementType::kF16,
    ElementType::kS32,  ElementType::kS8,       ElementType::kS64,    ElementType::kU8,   ElementType::kU32,
    ElementType::kU64,  ElementType::kS16,      ElementType::kU16,    ElementType::kPred, ElementType::kC64,
    ElementType::kC128, ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kS4,   ElementType::kU4};
constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33, 64, 65, 100, 0};

// Whether a value may be a result of the program: not the state of what is under way,
// of which its end alone may know.
bool IsResult(const Instruction& instruction) {
  const std::string_view name = Name(instruction.opcode);
  return instruction.shape->IsArray() || (instruction.shape->IsTuple() && !name.ends_with("-start") &&
                                          name != "async-update" && name != "send" && name != "recv");
}

}  // namespace

Computation Maker::NewComputation() { return {}; }

std::optional<int32_t> Maker::Add(Opcode opcode, std::vector<int32_t> operands,
                                  std::vector<AttributeMap::Entry> attributes,
                                  std::optional<Shape> declared) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.operands.assign(operands.begin(), operands.end());
  for (AttributeMap::Entry& entry : attributes)
    instruction.attributes.Set(entry.attr, std::move(entry.value));
  if (declared) instruction.shape = std::make_shared<const Shape>(*std::move(declared));
  const absl::StatusOr<Shape> shape = InferShape(module_, current(), instruction);
  if (!shape.ok()) return std::nullopt;
  const bool grows = opcode != Opcode::kTuple && opcode != Opcode::kGetTupleElement;
  if (grows && shape->TotalBytes() > 16 * options_.max_elements) return std::nullopt;
  instruction.shape = std::make_shared<const Shape>(*shape);
  instruction.name = fmt::format("v{}", current().instructions.size());
  current().instructions.push_back(std::move(instruction));
  return static_cast<int32_t>(current().instructions.size()) - 1;
}

int32_t Maker::AddParameter(const Shape& shape) {
  Computation& computation = current();
  Instruction parameter;
  parameter.opcode = Opcode::kParameter;
  parameter.parameter_number = static_cast<int64_t>(computation.parameters.size());
  parameter.shape = std::make_shared<const Shape>(shape);
  parameter.name = fmt::format("p{}", parameter.parameter_number);
  const auto index = static_cast<int32_t>(computation.instructions.size());
  computation.parameters.push_back(index);
  computation.instructions.push_back(std::move(parameter));
  if (open_.size() == 1) arguments_.push_back(HostileLiteral(choices_, shape));
  return index;
}

int32_t Maker::AddConstant(Literal value) {
  Instruction constant;
  constant.opcode = Opcode::kConstant;
  constant.shape = value.shared_shape();
  constant.literal = std::make_shared<const Literal>(std::move(value));
  constant.name = fmt::format("c{}", current().instructions.size());
  current().instructions.push_back(std::move(constant));
  return static_cast<int32_t>(current().instructions.size()) - 1;
}

int32_t Maker::ScalarOf(ElementType type, double value) {
  if (IsFloat(type)) return AddConstant(Literal::ScalarDouble(type, value));
  if (!IsComplex(type)) return AddConstant(Literal::ScalarInt(type, static_cast<int64_t>(value)));
  const ElementType part = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  const int32_t real = AddConstant(Literal::ScalarDouble(part, value));
  return *Add(Opcode::kComplex, {real, real});
}

ComputationId Maker::Close(int32_t root) {
  Computation done = std::move(open_.back());
  open_.pop_back();
  done.root = root;
  done.name = fmt::format("f{}", module_.computations.size());
  module_.computations.push_back(std::move(done));
  return {static_cast<int32_t>(module_.computations.size()) - 1};
}

ComputationId Maker::Binary(Opcode opcode, ElementType type) {
  open_.push_back(NewComputation());
  const int32_t a = AddParameter(Shape::Scalar(type)), b = AddParameter(Shape::Scalar(type));
  const std::optional<int32_t> root = Add(opcode, {a, b});
  return Close(root ? *root : *Add(Opcode::kAdd, {a, b}));
}

ComputationId Maker::Comparator(ElementType type, const char* direction, int pairs) {
  open_.push_back(NewComputation());
  for (int i = 0; i < pairs; ++i) {
    AddParameter(Shape::Scalar(type));
    AddParameter(Shape::Scalar(type));
  }
  std::vector<AttributeMap::Entry> attributes = {{Attr::kDirection, Word{direction}}};
  if (IsFloat(type) && choices_.OneIn(2)) attributes.push_back({Attr::kType, Word{"TOTALORDER"}});
  return Close(*Add(Opcode::kCompare, {0, 1}, std::move(attributes)));
}

ComputationId Maker::AnyReducer(ElementType type) {
  constexpr Opcode kCombiners[] = {Opcode::kAdd,      Opcode::kAdd,      Opcode::kMaximum,
                                   Opcode::kMinimum,  Opcode::kMultiply, Opcode::kOr,
                                   Opcode::kSubtract, Opcode::kAnd,      Opcode::kXor};
  if (choices_.OneIn(4)) {
    if (const auto body = AnyScalarBody({type, type}, type)) return *body;
  }
  if (type == ElementType::kPred) return Binary(choices_.OneIn(2) ? Opcode::kAnd : Opcode::kOr, type);
  return Binary(kCombiners[Below(std::size(kCombiners))], type);
}

std::optional<ComputationId> Maker::AnyScalarBody(const std::vector<ElementType>& parameters,
                                                  ElementType result) {
  open_.push_back(NewComputation());
  for (ElementType type : parameters) AddParameter(Shape::Scalar(type));
  for (int64_t steps = 1 + Below(4); steps > 0; --steps) {
    if (choices_.OneIn(3)) ScalarOf(AnyType(), static_cast<double>(Below(3)));
    Elementwise();
  }
  // The last one that fits.
  for (auto i = static_cast<int32_t>(current().instructions.size()); i-- > 0;) {
    if (ShapeOf(i).IsScalar(result) && current().parameters.size() == parameters.size()) return Close(i);
  }
  open_.pop_back();
  return std::nullopt;
}

ElementType Maker::AnyType() { return kTypes[Below(std::size(kTypes))]; }

ElementType Maker::AnyFloat() {
  constexpr ElementType kFloats[] = {ElementType::kF32, ElementType::kF64, ElementType::kBF16,
                                     ElementType::kF16};
  return kFloats[Below(std::size(kFloats))];
}

ElementType Maker::TypeOfProducts() {
  constexpr ElementType kProducts[] = {ElementType::kF32, ElementType::kBF16, ElementType::kS8};
  return kProducts[Below(std::size(kProducts))];
}

DimVector Maker::AnySizes(int64_t max_rank) {
  DimVector sizes;
  int64_t elements = 1;
  const int64_t rank = Below(max_rank + 1);
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = kSizes[Below(std::size(kSizes))];
    if (options_.max_elements > 10000 && choices_.OneIn(2)) size *= 40;
    size = std::min(size, options_.max_elements / std::max<int64_t>(elements, 1));
    elements *= std::max<int64_t>(size, 1);
    sizes.push_back(size);
  }
  return sizes;
}

Shape Maker::AnyShape() { return Shape::ArrayOrDie(AnyType(), AnySizes(4)); }

std::optional<int32_t> Maker::ArrayThat(const std::function<bool(const Shape&)>& wanted) {
  std::vector<int32_t> fitting;
  for (size_t i = 0; i < current().instructions.size(); ++i) {
    const Shape& shape = *current().instructions[i].shape;
    if (shape.IsArray() && wanted(shape)) fitting.push_back(static_cast<int32_t>(i));
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[static_cast<size_t>(Below(static_cast<int64_t>(fitting.size())))];
}

std::optional<int32_t> Maker::AnyArray() {
  return ArrayThat([](const Shape&) { return true; });
}

int32_t Maker::LikeThat(const Shape& shape) {
  if (open_.size() == 1 && choices_.OneIn(3)) return AddParameter(shape);
  const auto found = ArrayThat([&](const Shape& other) { return Shape::Compatible(shape, other); });
  return found ? *found : AddParameter(shape);
}

std::optional<int32_t> Maker::JustLike(const Shape& shape) {
  return ArrayThat([&](const Shape& other) {
    if (!Shape::Compatible(shape, other)) return false;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.is_dynamic(d) != other.is_dynamic(d)) return false;
    }
    return true;
  });
}

Ints Maker::SomeDims(const Shape& shape, bool all_but_one) {
  Ints dims;
  // In any order now and then.
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (choices_.OneIn(2)) dims.insert(choices_.OneIn(3) ? dims.begin() : dims.end(), d);
  }
  if (all_but_one && static_cast<int64_t>(dims.size()) == shape.rank() && !dims.empty()) dims.pop_back();
  return dims;
}

Window Maker::AnyWindow(int64_t rank, bool dilated) {
  Window window;
  for (int64_t d = 0; d < rank; ++d) {
    WindowDimension dimension;
    dimension.size = 1 + Below(4);
    dimension.stride = 1 + Below(3);
    dimension.padding_low = Below(4) - 1;
    dimension.padding_high = Below(4) - 1;
    if (dilated && choices_.OneIn(3)) dimension.base_dilation = 1 + Below(3);
    if (dilated && choices_.OneIn(3)) dimension.window_dilation = 1 + Below(3);
    window.push_back(dimension);
  }
  return window;
}

std::optional<int32_t> Maker::AnyWindowed() {
  if (options_.cheap || open_.size() > 1 || !choices_.OneIn(2)) return AnyArray();
  const int64_t n = 4 * options_.max_elements;
  const int64_t rows = 1 + Below(9), columns = 1 + Below(9);
  const DimVector sizes[] = {
      {n}, {rows, n / rows}, {n / columns, columns}, {rows, n / rows / columns, columns}};
  return AddParameter(Shape::ArrayOrDie(AnyType(), sizes[Below(std::size(sizes))]));
}

void Maker::Step() {
  using Method = void (Maker::*)();
  // Elementwise steps more often: fusions are made of them.
  static constexpr Method kMethods[] = {&Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Elementwise,
                                        &Maker::Broadcast,
                                        &Maker::Broadcast,
                                        &Maker::Reshape,
                                        &Maker::Transpose,
                                        &Maker::Reverse,
                                        &Maker::Slice,
                                        &Maker::Pad,
                                        &Maker::Concatenate,
                                        &Maker::Iota,
                                        &Maker::DynamicSlice,
                                        &Maker::DynamicUpdate,
                                        &Maker::Gather,
                                        &Maker::Reduce,
                                        &Maker::Reduce,
                                        &Maker::ReduceWindow,
                                        &Maker::ReduceWindowOfTwo,
                                        &Maker::SelectAndScatter,
                                        &Maker::Scatter,
                                        &Maker::Dot,
                                        &Maker::Dot,
                                        &Maker::Convolution,
                                        &Maker::Sort,
                                        &Maker::TopK,
                                        &Maker::Fft,
                                        &Maker::Solve,
                                        &Maker::BatchNorm,
                                        &Maker::Map,
                                        &Maker::While,
                                        &Maker::Conditional,
                                        &Maker::Async,
                                        &Maker::Async,
                                        &Maker::CopyStart,
                                        &Maker::Fusion,
                                        &Maker::Fusion,
                                        &Maker::Call,
                                        &Maker::Buffers,
                                        &Maker::EffectfulLoop,
                                        &Maker::Effect,
                                        &Maker::Effect,
                                        &Maker::Effect,
                                        &Maker::Dynamic};
  static constexpr Method kImpure[] = {&Maker::Async,         &Maker::CopyStart, &Maker::Buffers,
                                       &Maker::EffectfulLoop, &Maker::Effect,    &Maker::Dynamic};
  Method method = kMethods[Below(std::size(kMethods))];
  while (options_.pure && std::find(std::begin(kImpure), std::end(kImpure), method) != std::end(kImpure))
    method = kMethods[Below(std::size(kMethods))];
  (this->*method)();
}

void Maker::LeaveOutShapes() {
  std::vector<Instruction*> forgotten;
  for (Computation& computation : module_.computations) {
    for (Instruction& instruction : computation.instructions) {
      const bool needs_shape =
          instruction.opcode == Opcode::kParameter || instruction.opcode == Opcode::kConstant;
      if (needs_shape || !choices_.OneIn(3)) continue;
      Instruction bare = instruction;
      bare.shape = nullptr;
      const absl::StatusOr<Shape> shape = InferShape(module_, computation, bare);
      if (!shape.ok()) continue;
      // The layout may be another.
      Shape inferred = *shape;
      if (inferred.IsArray() && instruction.shape->IsArray())
        inferred.set_layout(instruction.shape->layout());
      if (Shape::Equal(inferred, *instruction.shape)) forgotten.push_back(&instruction);
    }
  }
  for (Instruction* instruction : forgotten) instruction->shape = nullptr;
}

GeneratedProgram Maker::Make() {
  module_.name = "generated";
  for (int64_t i = 2 + Below(3); i > 0; --i) {
    const Shape shape = AnyShape();
    AddParameter(choices_.OneIn(4) ? AnyLayout(shape) : shape);
  }
  for (int i = 0; i < options_.instructions && choices_.any_left(); ++i) Step();
  // The last values, of which nobody may know which others need.
  std::vector<int32_t> results;
  const auto count = static_cast<int32_t>(current().instructions.size());
  for (int32_t i = count - 1; i >= 0 && results.size() < 3; --i) {
    if (IsResult(current().instructions[static_cast<size_t>(i)]) && (results.empty() || choices_.OneIn(2)))
      results.push_back(i);
  }
  Instruction root;
  root.opcode = Opcode::kTuple;
  root.operands.assign(results.begin(), results.end());
  root.shape = std::make_shared<const Shape>(*InferShape(module_, current(), root));
  root.name = "root";
  current().instructions.push_back(std::move(root));
  module_.entry = Close(count);
  module_.computations.back().name = "main";
  if (choices_.OneIn(2)) LeaveOutShapes();
  return {std::move(module_), std::move(arguments_)};
}

}  // namespace assay::fuzz
