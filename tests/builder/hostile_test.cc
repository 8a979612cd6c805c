// Nonsense given to the builder is an error in it, never a crash: wrong ranks, huge and negative numbers,
// null computations, tuples and tokens where arrays belong.
#include <catch2/catch.hpp>
#include <limits>

#include "builder/builder.h"
#include "shape/shape_text.h"

namespace assay::builder {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

// Each operation on operands of any kind, with numbers that fit nothing.
using Call1 = std::function<void(XlaBuilder*, XlaOp, int64_t)>;
const std::vector<Call1>& Calls() {
  static const auto* const kCalls = new std::vector<Call1>{
      [](XlaBuilder*, XlaOp x, int64_t n) { Broadcast(x, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        BroadcastInDim(x, {n, n, n}, {0, n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        BroadcastInDim(x, {n, n}, {0, 1});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { Add(x, x, {n}); },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        Add(x, ConstantR1<float>(b, {1, 2}), {n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        Collapse(x, {n, n + (n < kMax)});
      },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        ConcatInDim(b, {x, x}, n);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { DynamicSlice(x, {x}, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { DynamicReshape(x, {x}, {n}, {true}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { GetDimensionSize(x, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { SetDimensionSize(x, x, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { RemoveDynamicDimension(x, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        Pad(x, x, {{n, n, n}});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { PadInDim(x, x, n, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        Reshape(x, {n, n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { ReshapeWithInferredDimension(x, {2}, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Rev(x, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Slice(x, {n}, {n}, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { SliceInDim(x, n, n, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { TopK(x, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Transpose(x, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { GetTupleElement(x, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { ReducePrecision(x, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Fft(x, FftType::kIrfft, {n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Cholesky(x, n > 0); },
      [](XlaBuilder*, XlaOp x, int64_t n) { BatchNormTraining(x, x, x, 1, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { BatchNormGrad(x, x, x, x, x, 1, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Sort({x}, XlaComputation(), n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Reduce(x, x, XlaComputation(), {n}); },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        Reduce(b, {x}, {}, *CreateScalarAddComputation(ElementType::kF32), {n});
      },
      [](XlaBuilder*, XlaOp x, int64_t) { ReduceAll(x, x, *CreateScalarAddComputation(ElementType::kF32)); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        ReduceWindow(x, x, *CreateScalarAddComputation(ElementType::kF32), {n}, {n}, Padding::kSame);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        ReduceWindowWithGeneralPadding(x, x, *CreateScalarAddComputation(ElementType::kF32), {n}, {n}, {n},
                                       {n}, {{n, n}});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        const XlaComputation f = *CreateScalarAddComputation(ElementType::kF32);
        SelectAndScatter(x, f, {n}, {n}, Padding::kSame, x, x, f);
      },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        Scan(b, {x}, {x}, *CreateScalarAddComputation(ElementType::kF32), n);
      },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        Map(b, {x}, *CreateScalarAddComputation(ElementType::kF32), {n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { Conv(x, x, {n}, Padding::kSame, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        ConvDimensionNumbers d;
        d.input_spatial = d.kernel_spatial = d.output_spatial = {n};
        d.input_batch = d.kernel_input_feature = n;
        ConvGeneralDilated(x, x, {n}, {{n, n}}, {n}, {n}, d, n, n, nullptr, ElementType::kF32, {true});
        ConvWithGeneralDimensions(x, x, {n}, Padding::kSame, d);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        DotDimensionNumbers d;
        d.lhs_contracting_dimensions = d.rhs_batch_dimensions = {n};
        DotGeneral(x, x, d, nullptr, ElementType::kF64);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        GatherDimensionNumbers d;
        d.offset_dims = d.collapsed_slice_dims = d.start_index_map = d.operand_batching_dims = {n};
        d.index_vector_dim = n;
        Gather(x, x, d, {n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        ScatterDimensionNumbers d;
        d.update_window_dims = d.inserted_window_dims = d.scatter_dims_to_operand_dims = {n};
        d.index_vector_dim = n;
        Scatter(x, x, x, *CreateScalarAddComputation(ElementType::kF32), d);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { AllGather(x, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        AllGatherTuple({x, x}, n, n);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { AllGatherStart(x, n, n, {}, ChannelHandle{n}); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        AllReduce(x, XlaComputation(), {{{n, n}}}, ChannelHandle{n});
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { CrossReplicaSum(x, {{{n}}}); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        ReduceScatter(x, *CreateScalarAddComputation(ElementType::kF32), n, n);
      },
      [](XlaBuilder*, XlaOp x, int64_t n) { AllToAll(x, n, n, n); },
      [](XlaBuilder*, XlaOp x, int64_t n) { AllToAll(x, 0, 0, n, {{{n}}}); },
      [](XlaBuilder*, XlaOp x, int64_t n) { AllToAllTuple({x}, {{{n}}}); },
      [](XlaBuilder*, XlaOp x, int64_t n) {
        CollectivePermute(x, {{n, n}});
      },
      [](XlaBuilder*, XlaOp x, int64_t) { CollectivePermuteDone(x); },
      [](XlaBuilder*, XlaOp x, int64_t) { AllGatherDone(x); },
      [](XlaBuilder*, XlaOp x, int64_t n) { Send(x, {n}); },
      [](XlaBuilder* b, XlaOp x, int64_t n) {
        RecvWithToken(x, Shape::Token(), {n});
        Recv(b, Shape::Token(), {n});
      },
      [](XlaBuilder*, XlaOp x, int64_t) { AsyncDone(x); },
      [](XlaBuilder*, XlaOp x, int64_t) { AsyncUpdate(x); },
      [](XlaBuilder*, XlaOp x, int64_t) { CopyDone(x); },
      [](XlaBuilder* b, XlaOp x, int64_t) {
        AsyncStart(b, {x}, *CreateScalarAddComputation(ElementType::kF32));
      },
      [](XlaBuilder* b, XlaOp x, int64_t) { Call(b, *CreateScalarAddComputation(ElementType::kF32), {x}); },
      [](XlaBuilder* b, XlaOp x, int64_t) { Fusion(b, FusionKind::kLoop, XlaComputation(), {x}); },
      [](XlaBuilder*, XlaOp x, int64_t) { While(XlaComputation(), XlaComputation(), x); },
      [](XlaBuilder*, XlaOp x, int64_t) { Conditional(x, {nullptr}, {x}); },
      [](XlaBuilder*, XlaOp x, int64_t) { Conditional(x, x, XlaComputation(), x, XlaComputation()); },
      [](XlaBuilder*, XlaOp x, int64_t) { Select(x, x, x); },
      [](XlaBuilder*, XlaOp x, int64_t) { AddDependency(x, x); },
      [](XlaBuilder* b, XlaOp x, int64_t) { AfterAll(b, {x}); },
      [](XlaBuilder*, XlaOp x, int64_t) { InfeedWithToken(x, Shape::Token()); },
      [](XlaBuilder*, XlaOp x, int64_t) { Outfeed(x, Shape::Token()); },
      [](XlaBuilder* b, XlaOp x, int64_t) { CompositeCall(b, XlaComputation(), {x}, "", "", -1); },
      [](XlaBuilder* b, XlaOp x, int64_t) { CustomCall(b, "", {x}, Shape::Token()); },
      [](XlaBuilder*, XlaOp x, int64_t) { RngBitGenerator(RandomAlgorithm::kPhilox, x, Shape::Token()); },
      [](XlaBuilder*, XlaOp x, int64_t) { RngUniform(x, x, Shape::Token()); },
      [](XlaBuilder* b, XlaOp, int64_t n) { RngGetAndUpdateState(b, n); },
      [](XlaBuilder* b, XlaOp, int64_t n) { Iota(b, ElementType::kF32, n); },
      [](XlaBuilder* b, XlaOp, int64_t n) { Iota(b, Shape::Token(), n); },
      [](XlaBuilder* b, XlaOp, int64_t n) { Parameter(b, n, Shape::Token(), ""); },
      [](XlaBuilder* b, XlaOp, int64_t n) { ConstantR1<float>(b, n, 1); },
      [](XlaBuilder* b, XlaOp, int64_t n) {
        ConstantR0WithType(b, ElementType::kS8, static_cast<double>(n) * 4);
      },
      [](XlaBuilder* b, XlaOp, int64_t) { Zeros(b, Shape::Token()); },
      [](XlaBuilder*, XlaOp x, int64_t) { BitcastConvertType(x, ElementType::kF64); },
      [](XlaBuilder*, XlaOp x, int64_t) { ConvertElementType(x, ElementType::kF8E8M0FNU); },
      [](XlaBuilder*, XlaOp x, int64_t) { StochasticConvertType(x, x, ElementType::kPred); },
      [](XlaBuilder*, XlaOp x, int64_t) { Conj(x); },
      [](XlaBuilder*, XlaOp x, int64_t) { Clamp(x, XlaOp(), x); },
      [](XlaBuilder*, XlaOp x, int64_t) {
        TriangularSolve(x, x, true, true, true, TriangularSolveTranspose::kAdjoint);
      },
      [](XlaBuilder* b, XlaOp x, int64_t) {
        if (b != nullptr) b->AddControlPredecessor(x, x);
      },
  };
  return *kCalls;
}

TEST_CASE("builder: nonsense is an error and nothing worse", "[builder]") {
  const std::vector<std::string> shapes = {"f32[]",       "f32[2]",  "f32[2,3]",          "s32[0]",
                                           "pred[1,1,1]", "token[]", "(f32[2], token[])", "()",
                                           "f32[<=2]",    "f32[?]",  "c64[2,2]"};
  int calls = 0;
  for (const std::string& text : shapes) {
    const absl::StatusOr<Shape> shape = ParseShape(text);
    REQUIRE(shape.ok());
    for (const int64_t n : {kMin, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}, int64_t{64}, kMax}) {
      for (const Call1& call : Calls()) {
        XlaBuilder b("hostile");
        call(&b, Parameter(&b, 0, *shape, "x"), n);
        const absl::StatusOr<XlaComputation> built = b.Build();
        if (built.ok()) CHECK_FALSE(built->ToText().empty());
        call(nullptr, XlaOp(), n);
        ++calls;
      }
    }
  }
  CHECK(calls > 5000);
}

}  // namespace
}  // namespace assay::builder
