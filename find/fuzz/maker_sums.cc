// Instructions that combine elements, and those that call computations.
#include <algorithm>

#include "find/fuzz/maker.h"

namespace assay::fuzz {

void Maker::Reduce() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const ComputationId reducer = AnyReducer(shape.element_type());
  Add(Opcode::kReduce, {*x, ScalarOf(shape.element_type(), static_cast<double>(Below(3)))},
      {{Attr::kDimensions, SomeDims(shape)}, {Attr::kToApply, reducer}});
}

void Maker::ReduceWindow() {
  const auto x = AnyWindowed();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  Window window = AnyWindow(shape.rank(), true);
  // Now and then a window as long as the dimension: cumulative.
  if (shape.rank() > 0 && choices_.OneIn(3)) {
    const int64_t size = std::max<int64_t>(shape.size(0), 1);
    window[0] = {size, 1, size - 1, 0};
  }
  const ComputationId reducer = AnyReducer(shape.element_type());
  Add(Opcode::kReduceWindow, {*x, ScalarOf(shape.element_type(), static_cast<double>(Below(2)))},
      {{Attr::kWindow, window}, {Attr::kToApply, reducer}});
}

// Elements chosen by comparing them, and what another array has in their places.
void Maker::ReduceWindowOfTwo() {
  const auto x = AnyWindowed();
  if (!x || IsComplex(ShapeOf(*x).element_type())) return;
  const Shape shape = ShapeOf(*x);
  const ElementType type = shape.element_type(), other = AnyType();
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  const int32_t y = LikeThat(Shape::ArrayOrDie(other, sizes));
  open_.push_back(NewComputation());
  for (ElementType t : {type, other, type, other}) AddParameter(Shape::Scalar(t));
  const char* const direction = choices_.OneIn(2) ? "GE" : "LT";
  const int32_t keep = *Add(Opcode::kCompare, {0, 2}, {{Attr::kDirection, Word{direction}}});
  const int32_t kept = *Add(Opcode::kSelect, {keep, 0, 2});
  const int32_t with =
      choices_.OneIn(2) ? *Add(Opcode::kSelect, {keep, 1, 3}) : Add(Opcode::kSubtract, {3, 1}).value_or(3);
  const ComputationId reducer = Close(*Add(Opcode::kTuple, {kept, with}));
  const auto folded = Add(Opcode::kReduceWindow, {*x, y, ScalarOf(type, 0), ScalarOf(other, 1)},
                          {{Attr::kWindow, AnyWindow(shape.rank(), true)}, {Attr::kToApply, reducer}});
  if (folded) Add(Opcode::kGetTupleElement, {*folded}, {{Attr::kIndex, Below(2)}});
}

void Maker::SelectAndScatter() {
  const auto x = AnyWindowed();
  if (!x || ShapeOf(*x).rank() == 0 || IsComplex(ShapeOf(*x).element_type())) return;
  const Shape shape = ShapeOf(*x);
  const ElementType type = shape.element_type();
  const Window window = AnyWindow(shape.rank(), false);
  DimVector sizes;
  for (size_t d = 0; d < window.size(); ++d)
    sizes.push_back(WindowOutputSize(shape.size(static_cast<int64_t>(d)), window[d]).value_or(1));
  const int32_t source = LikeThat(Shape::ArrayOrDie(type, sizes));
  ComputationId select = Comparator(type, "GE", 1);
  if (choices_.OneIn(3)) select = AnyScalarBody({type, type}, ElementType::kPred).value_or(select);
  const ComputationId scatter = AnyReducer(type);
  Add(Opcode::kSelectAndScatter, {*x, source, ScalarOf(type, 0)},
      {{Attr::kWindow, window}, {Attr::kSelect, select}, {Attr::kScatter, scatter}});
}

void Maker::Scatter() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const int64_t count = 1 + Below(20);
  const int32_t indices = LikeThat(Shape::ArrayOrDie(ElementType::kS32, DimVector{count}));
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  sizes[0] = count;
  const int32_t updates = LikeThat(Shape::ArrayOrDie(shape.element_type(), sizes));
  Ints windows;
  for (int64_t d = 1; d < shape.rank(); ++d) windows.push_back(d);
  const ComputationId combine = AnyReducer(shape.element_type());
  Add(Opcode::kScatter, {*x, indices, updates},
      {{Attr::kUpdateWindowDims, windows},
       {Attr::kInsertedWindowDims, Ints{0}},
       {Attr::kScatterDimsToOperandDims, Ints{0}},
       {Attr::kIndexVectorDim, int64_t{1}},
       {Attr::kToApply, combine}});
}

void Maker::Dot() {
  // Half of them of the types that engines have kernels of their own for.
  const std::optional<int32_t> x =
      choices_.OneIn(2) ? LikeThat(Shape::ArrayOrDie(TypeOfProducts(), AnySizes(3))) : AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  // The other operand's dimensions: batch ones first, then contracted ones in another order, then its own.
  Ints batch, contracted, rhs_batch, rhs_contracted;
  DimVector sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    switch (Below(4)) {
      case 0:
        rhs_batch.push_back(static_cast<int64_t>(sizes.size()));
        batch.push_back(d);
        sizes.push_back(shape.size(d));
        break;
      case 1:
        break;
      default:
        rhs_contracted.push_back(static_cast<int64_t>(sizes.size()));
        contracted.push_back(d);
        sizes.push_back(shape.size(d));
    }
  }
  // Pairs of dimensions may come in any order.
  const auto turn = [this](Ints& lhs, Ints& rhs) {
    if (!choices_.OneIn(3)) return;
    std::reverse(lhs.begin(), lhs.end());
    std::reverse(rhs.begin(), rhs.end());
  };
  turn(batch, rhs_batch);
  turn(contracted, rhs_contracted);
  for (int64_t i = Below(3); i > 0; --i) sizes.push_back(1 + Below(17));
  int64_t elements = 1;
  for (int64_t size : sizes) elements *= size;
  if (elements > options_.max_elements) return;
  ElementType type = shape.element_type();
  std::optional<Shape> declared;
  const int32_t y = LikeThat(Shape::ArrayOrDie(type, sizes));
  const std::vector<AttributeMap::Entry> attributes = {{Attr::kLhsBatchDims, batch},
                                                       {Attr::kRhsBatchDims, rhs_batch},
                                                       {Attr::kLhsContractingDims, contracted},
                                                       {Attr::kRhsContractingDims, rhs_contracted}};
  const auto result = Add(Opcode::kDot, {*x, y}, attributes);
  if (!result || !choices_.OneIn(2)) return;
  // The same to a wider type.
  declared = ShapeOf(*result);
  declared->set_element_type(type == ElementType::kS8 || type == ElementType::kS4 || type == ElementType::kU8
                                 ? ElementType::kS32
                             : IsFloat(type) ? ElementType::kF32
                                             : type);
  Add(Opcode::kDot, {*x, y}, attributes, declared);
}

void Maker::Convolution() {
  const int64_t spatial = 1 + Below(2), groups = 1 + Below(2), batch_groups = groups > 1 ? 1 : 1 + Below(2);
  const int64_t features = groups * (1 + Below(5)), outputs = groups * batch_groups * (1 + Below(5));
  const ElementType type = choices_.OneIn(2) ? TypeOfProducts() : AnyType();
  auto dn = std::make_shared<ConvDimensionNumbers>();
  // Either features last or features second.
  const bool last = choices_.OneIn(2);
  DimVector image = {batch_groups * (1 + Below(3))}, kernel;
  Window window = AnyWindow(spatial, true);
  for (WindowDimension& dimension : window) {
    image.push_back(1 + Below(9));
    kernel.push_back(dimension.size);
    dimension.reversal = choices_.OneIn(4);
  }
  dn->input_batch = dn->output_batch = 0;
  dn->input_feature = dn->output_feature = last ? spatial + 1 : 1;
  image.insert(last ? image.end() : image.begin() + 1, features);
  kernel.push_back(features / groups);
  kernel.push_back(outputs);
  dn->kernel_input_feature = spatial;
  dn->kernel_output_feature = spatial + 1;
  for (int64_t d = 0; d < spatial; ++d) {
    dn->input_spatial.push_back(d + (last ? 1 : 2));
    dn->kernel_spatial.push_back(d);
  }
  dn->output_spatial = dn->input_spatial;
  const int32_t x = LikeThat(Shape::ArrayOrDie(type, image)), w = LikeThat(Shape::ArrayOrDie(type, kernel));
  Add(Opcode::kConvolution, {x, w},
      {{Attr::kWindow, window},
       {Attr::kDimLabels, std::shared_ptr<const ConvDimensionNumbers>(dn)},
       {Attr::kFeatureGroupCount, groups},
       {Attr::kBatchGroupCount, batch_groups}});
}

void Maker::Sort() {
  const auto x =
      ArrayThat([](const Shape& shape) { return shape.rank() > 0 && !IsComplex(shape.element_type()); });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const bool pair = choices_.OneIn(2);
  const ComputationId comparator =
      Comparator(shape.element_type(), choices_.OneIn(2) ? "LT" : "GT", pair ? 2 : 1);
  std::vector<int32_t> operands = {*x};
  if (pair) operands.push_back(LikeThat(shape));
  const auto sorted = Add(Opcode::kSort, operands,
                          {{Attr::kDimensions, Ints{Below(shape.rank())}},
                           {Attr::kIsStable, choices_.OneIn(2)},
                           {Attr::kToApply, comparator}});
  if (sorted && pair) Add(Opcode::kGetTupleElement, {*sorted}, {{Attr::kIndex, Below(2)}});
}

void Maker::TopK() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const auto top =
      Add(Opcode::kTopK, {*x},
          {{Attr::kK, Below(shape.size(shape.rank() - 1) + 1)}, {Attr::kLargest, choices_.OneIn(2)}});
  if (top) Add(Opcode::kGetTupleElement, {*top}, {{Attr::kIndex, Below(2)}});
}

void Maker::Fft() {
  const bool real = choices_.OneIn(2), wide = choices_.OneIn(2);
  const ElementType type =
      real ? (wide ? ElementType::kF64 : ElementType::kF32) : (wide ? ElementType::kC128 : ElementType::kC64);
  const int64_t n = 1 + Below(40);
  const int32_t x = LikeThat(Shape::ArrayOrDie(type, DimVector{1 + Below(3), n}));
  Add(Opcode::kFft, {x},
      {{Attr::kFftType, Word{real                ? "RFFT"
                             : choices_.OneIn(2) ? "FFT"
                                                 : "IFFT"}},
       {Attr::kFftLength, Ints{n}}});
}

// Of a square matrix: whether the number of the row is EQ, GE or LE to that of the column.
std::optional<int32_t> Maker::RowAgainstColumn(Shape matrix, const char* direction) {
  matrix.set_element_type(ElementType::kS32);
  const auto row = Add(Opcode::kIota, {}, {{Attr::kIotaDimension, int64_t{0}}}, matrix);
  const auto column = Add(Opcode::kIota, {}, {{Attr::kIotaDimension, int64_t{1}}}, matrix);
  if (!row || !column) return std::nullopt;
  return Add(Opcode::kCompare, {*row, *column}, {{Attr::kDirection, Word{direction}}});
}

// a a^T + 1, of a square matrix of floats, whose elements are cut off at 2: squares of larger ones overflow.
std::optional<int32_t> Maker::PositiveDefinite(int32_t matrix) {
  const Shape shape = ShapeOf(matrix);
  const ElementType type = shape.element_type();
  const int32_t least = ScalarOf(type, -2), most = ScalarOf(type, 2);
  const auto a = Add(Opcode::kClamp, {least, matrix, most});
  if (!a) return std::nullopt;
  const auto product = Add(Opcode::kDot, {*a, *a},
                           {{Attr::kLhsContractingDims, Ints{1}}, {Attr::kRhsContractingDims, Ints{1}}});
  const auto diagonal = RowAgainstColumn(shape, "EQ");
  const auto identity = diagonal ? Add(Opcode::kConvert, {*diagonal}, {}, shape) : std::nullopt;
  return product && identity ? Add(Opcode::kAdd, {*product, *identity}) : std::nullopt;
}

void Maker::Cholesky(int32_t a) {
  const Shape shape = ShapeOf(a);
  const int32_t matrix = options_.pure ? PositiveDefinite(a).value_or(a) : a;
  const bool is_lower = choices_.OneIn(2);
  const auto factor = Add(Opcode::kCholesky, {matrix}, {{Attr::kLower, is_lower}});
  if (!factor || !options_.pure) return;
  // What the factor's other triangle has is open.
  const auto is_inside = RowAgainstColumn(shape, is_lower ? "GE" : "LE");
  const auto zeros =
      Add(Opcode::kBroadcast, {ScalarOf(shape.element_type(), 0)}, {{Attr::kDimensions, Ints{}}}, shape);
  if (is_inside && zeros) Add(Opcode::kSelect, {*is_inside, *factor, *zeros});
}

void Maker::Solve() {
  const int64_t n = 1 + Below(9);
  const ElementType type = AnyFloat();
  const int32_t a = LikeThat(Shape::ArrayOrDie(type, DimVector{n, n}));
  if (choices_.OneIn(2)) return Cholesky(a);
  const int32_t b = LikeThat(Shape::ArrayOrDie(type, DimVector{n, n}));
  Add(Opcode::kTriangularSolve, {a, b},
      {{Attr::kLeftSide, choices_.OneIn(2)},
       {Attr::kLower, choices_.OneIn(2)},
       {Attr::kUnitDiagonal, choices_.OneIn(2)},
       {Attr::kTransposeA, Word{choices_.OneIn(2) ? "TRANSPOSE" : "NO_TRANSPOSE"}}});
}

void Maker::BatchNorm() {
  const auto x =
      ArrayThat([](const Shape& shape) { return shape.rank() > 0 && IsFloat(shape.element_type()); });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const int64_t feature = Below(shape.rank());
  const Shape features = Shape::ArrayOrDie(shape.element_type(), DimVector{shape.size(feature)});
  const std::vector<AttributeMap::Entry> attributes = {{Attr::kEpsilon, 0.001},
                                                       {Attr::kFeatureIndex, feature}};
  const int32_t scale = LikeThat(features), offset = LikeThat(features);
  if (choices_.OneIn(2)) {
    Add(Opcode::kBatchNormInference, {*x, scale, offset, LikeThat(features), LikeThat(features)}, attributes);
    return;
  }
  const auto trained = Add(Opcode::kBatchNormTraining, {*x, scale, offset}, attributes);
  if (trained) Add(Opcode::kGetTupleElement, {*trained}, {{Attr::kIndex, Below(3)}});
}

void Maker::Map() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const ElementType type = shape.element_type();
  const int32_t y = LikeThat(shape);
  const ComputationId body =
      AnyScalarBody({type, type}, choices_.OneIn(2) ? type : AnyType()).value_or(AnyReducer(type));
  Ints dims;
  for (int64_t d = 0; d < shape.rank(); ++d) dims.push_back(d);
  Add(Opcode::kMap, {*x, y}, {{Attr::kDimensions, dims}, {Attr::kToApply, body}});
}

// A counter and a value on which a few elementwise instructions work in every iteration.
void Maker::While() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x), state = Shape::Tuple({Shape::Scalar(ElementType::kS32), shape});
  const int64_t iterations = Below(6);
  const ComputationId condition = CountsTo(state, iterations);
  open_.push_back(NewComputation());
  AddParameter(state);
  const int32_t counter = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{0}}});
  const int32_t value = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{1}}});
  for (int64_t steps = 1 + Below(4); steps > 0; --steps) Elementwise();
  const auto next = JustLike(shape);
  const int32_t more = *Add(Opcode::kAdd, {counter, ScalarOf(ElementType::kS32, 1)});
  const ComputationId body = Close(*Add(Opcode::kTuple, {more, next.value_or(value)}));
  const int32_t zero = ScalarOf(ElementType::kS32, 0);
  const auto loop = Add(Opcode::kWhile, {*Add(Opcode::kTuple, {zero, *x})},
                        {{Attr::kCondition, condition}, {Attr::kBody, body}});
  if (loop) Add(Opcode::kGetTupleElement, {*loop}, {{Attr::kIndex, int64_t{1}}});
}

void Maker::Conditional() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  std::vector<ComputationId> branches;
  for (int64_t i = 2 + Below(2); i > 0; --i) {
    open_.push_back(NewComputation());
    AddParameter(shape);
    for (int64_t steps = Below(4); steps > 0; --steps) Elementwise();
    branches.push_back(Close(*JustLike(shape)));
  }
  std::vector<int32_t> operands = {LikeThat(Shape::Scalar(ElementType::kS32))};
  operands.resize(branches.size() + 1, *x);
  Add(Opcode::kConditional, operands, {{Attr::kBranchComputations, branches}});
}

}  // namespace assay::fuzz
