// The builder's control flow, custom calls, streams and collectives; the rest: operations_test.cc.
#include <catch2/catch.hpp>

#include "builder/builder.h"
#include "builder/testing.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "literal/literal_text.h"
#include "run/executor.h"
#include "shape/shape_text.h"
#include "tests/builder/built_program.h"

namespace assay::builder {
namespace {

XlaComputation Add32() { return Must(CreateScalarAddComputation(ElementType::kF32)); }

// f(x) = x op constant, over s32[].
XlaComputation Plus(int32_t n) {
  XlaBuilder b("plus");
  Add(Parameter(&b, 0, ShapeOf("s32[]"), "x"), ConstantR0<int32_t>(&b, n));
  return Must(b.Build());
}

TEST_CASE("builder control: calls, branches, loops", "[builder]") {
  const XlaComputation one = Plus(1), ten = Plus(10);
  CHECK(Of([&](XlaBuilder* b) { Call(b, one, {Value(b, "s32[] 5")}); }) == "s32[] 6");
  CHECK(TextOf("call",
               [&](XlaBuilder* b) {
                 CompositeCall(b, one, {Parameter(b, 0, ShapeOf("s32[]"), "x")}, "acme.inc", "{n = 1 : i32}",
                               2);
               }) ==
        "ROOT %call = s32[] call(%x), to_apply=%plus, is_composite=true, "
        "frontend_attributes={composite.attributes={n = 1 "
        ": i32},composite.name=\"acme.inc\",composite.version=\"2\"}");
  CHECK(Of([&](XlaBuilder* b) {
          Conditional(Value(b, "pred[] 0"), Value(b, "s32[] 5"), one, Value(b, "s32[] 6"), ten);
        }) == "s32[] 16");
  CHECK(Of([&](XlaBuilder* b) {
          const XlaOp x = Value(b, "s32[] 5");
          Conditional(Value(b, "s32[] -1"), {&one, &one, &ten}, {x, x, x});
        }) == "s32[] 15");
  XlaBuilder c("condition");
  Lt(Parameter(&c, 0, ShapeOf("s32[]"), "x"), ConstantR0<int32_t>(&c, 100));
  const XlaComputation condition = Must(c.Build());
  CHECK(Of([&](XlaBuilder* b) { While(condition, ten, Value(b, "s32[] 5")); }) == "s32[] 105");
  CHECK(Of([&](XlaBuilder* b) { Fusion(b, FusionKind::kLoop, ten, {Value(b, "s32[] 5")}); }) == "s32[] 15");
}

TEST_CASE("builder control: tuples, tokens, barriers", "[builder]") {
  CHECK(Of([](XlaBuilder* b) {
          GetTupleElement(Tuple(b, {Value(b, "s32[] 5"), Value(b, "f32[] 6")}), 1);
        }) == "f32[] 6");
  CHECK(Of([](XlaBuilder* b) { Tuple(b, {}); }) == "() (  )");
  CHECK(Of([](XlaBuilder* b) {
          AddDependency(Value(b, "s32[] 5"), AfterAll(b, {CreateToken(b), CreateToken(b)}));
        }) == "s32[] 5");
  CHECK(Of([](XlaBuilder* b) { OptimizationBarrier(Value(b, "s32[] 5")); }) == "s32[] 5");
  CHECK(TextOf("domain",
               [](XlaBuilder* b) {
                 Domain(Parameter(b, 0, ShapeOf("f32[2]"), "x"), "{maximal device=0}", "{maximal device=1}");
               }) ==
        "ROOT %domain = f32[2]{0} domain(%x), domain={kind=\"sharding\", entry={maximal device=0}, "
        "exit={maximal "
        "device=1}}");
}

TEST_CASE("builder control: asynchronous pairs", "[builder]") {
  CHECK(Of([](XlaBuilder* b) {
          AsyncDone(AsyncUpdate(AsyncStart(b, {Value(b, "s32[] 5")}, Plus(1), "other")));
        }) == "s32[] 6");
  CHECK(Of([](XlaBuilder* b) { CopyDone(CopyStart(Value(b, "s32[2] {1,2}"))); }) == "s32[2] {1, 2}");
}

TEST_CASE("builder control: custom calls", "[builder]") {
  const Shape shape = ShapeOf("f32[2]");
  const XlaComputation f = Plus(1);
  const auto text = [](auto make) { return TextOf("custom-call", make); };
  CHECK(text([&](XlaBuilder* b) {
          const XlaOp x = Parameter(b, 0, shape, "x");
          const Literal literal = Literal::ScalarInt(ElementType::kS32, 7);
          const std::vector<OutputOperandAlias> aliasing = {{{}, 0, {}}};
          CustomCall(b, "foo", {x}, shape, "{a = 1}", true, aliasing, &literal, CustomCallSchedule::kLatest,
                     CustomCallApiVersion::kTypedFfi);
        }) ==
        "ROOT %custom-call = f32[2]{0} custom-call(%x), custom_call_target=\"foo\", "
        "custom_call_has_side_effect=true, "
        "literal=s32[] 7, output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST, "
        "api_version=API_VERSION_TYPED_FFI, backend_config={a = 1}");
  CHECK(
      text([&](XlaBuilder* b) { CustomCallWithComputation(b, "foo", {}, f, shape); }) ==
      "ROOT %custom-call = f32[2]{0} custom-call(), custom_call_target=\"foo\", called_computations={%plus}");
  CHECK(text([&](XlaBuilder* b) {
          CustomCallWithComputations(b, "foo", {}, {&f, &f}, shape);
        }) ==
        "ROOT %custom-call = f32[2]{0} custom-call(), custom_call_target=\"foo\", "
        "called_computations={%plus, %plus}");
  CHECK(text([&](XlaBuilder* b) {
          CustomCallWithLayout(b, "foo", {Parameter(b, 0, shape, "x")}, shape, {shape}, "opaque");
        }) ==
        "ROOT %custom-call = f32[2]{0} custom-call(%x), custom_call_target=\"foo\", "
        "operand_layout_constraints={f32[2]{0}}, backend_config=\"opaque\"");
  CHECK(text([&](XlaBuilder* b) {
          Window window(1);
          window[0].size = 3;
          CustomCallWithConvDnums(b, "foo", {}, shape, "", window, CreateDefaultConvDimensionNumbers(1));
        }) ==
        "ROOT %custom-call = f32[2]{0} custom-call(), window={size=3}, dim_labels=bf0_oi0->bf0, "
        "custom_call_target=\"foo\"");
}

TEST_CASE("builder streams: infeed and outfeed without tokens are chained", "[builder]") {
  XlaBuilder b("streams");
  const XlaOp x = Infeed(&b, ShapeOf("f32[2]"), "first");
  const XlaOp y = Infeed(&b, ShapeOf("f32[2]"));
  Outfeed(x, ShapeOf("f32[2]"), "cfg");
  Outfeed(y, ShapeOf("f32[2]"));
  const std::string text = Built(&b).ToText();
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  INFO(text);
  CHECK(has("%infeed = (f32[2]{0}, token[]) infeed(%after-all), infeed_config=\"first\"\n"));
  CHECK(has("%get-tuple-element.1 = token[] get-tuple-element(%infeed), index=1\n"));
  CHECK(has("%infeed.1 = (f32[2]{0}, token[]) infeed(%get-tuple-element.1)\n"));
  CHECK(
      has("%outfeed = token[] outfeed(%get-tuple-element, %after-all.1), outfeed_shape=f32[2]{0}, "
          "outfeed_config=\"cfg\"\n"));
  CHECK(has("outfeed(%get-tuple-element.2, %outfeed), outfeed_shape=f32[2]{0}\n"));
}

TEST_CASE("builder streams: with tokens", "[builder]") {
  CHECK(TextOf("infeed", [](XlaBuilder* b) { InfeedWithToken(CreateToken(b), ShapeOf("s32[]"), "c"); }) ==
        "ROOT %infeed = (s32[], token[]) infeed(%after-all), infeed_config=\"c\"");
  CHECK(TextOf("outfeed", [](XlaBuilder* b) {
          OutfeedWithToken(Value(b, "s32[] 1"), CreateToken(b), ShapeOf("s32[]"));
        }) == "ROOT %outfeed = token[] outfeed(%constant, %after-all), outfeed_shape=s32[]");
}

TEST_CASE("builder channels: send and receive", "[builder]") {
  CHECK(Of([](XlaBuilder* b) {
          Send(Value(b, "s32[] 5"), {1});
          Recv(b, ShapeOf("s32[]"), {1});
        }) == "s32[] 5");
  const ChannelHandle to_host{2, ChannelHandle::Type::kDeviceToHost},
      from_host{3, ChannelHandle::Type::kHostToDevice};
  CHECK(TextOf("send",
               [&](XlaBuilder* b) {
                 SendToHost(Value(b, "s32[] 1"), CreateToken(b), ShapeOf("s32[]"), to_host);
               }) ==
        "%send = (s32[], u32[], token[]) send(%constant, %after-all), channel_id=2, is_host_transfer=true");
  CHECK(TextOf("recv-done", [&](XlaBuilder* b) {
          RecvFromHost(CreateToken(b), ShapeOf("s32[]"), from_host);
        }) == "ROOT %recv-done = (s32[], token[]) recv-done(%recv), channel_id=3, is_host_transfer=true");
  XlaBuilder b("bad");
  SendWithToken(Value(&b, "s32[] 1"), CreateToken(&b), to_host);
  CHECK(std::string(b.first_error().message()).find("Send-C3") != std::string::npos);
}

TEST_CASE("builder collectives: every call verifies", "[builder]") {
  const std::vector<ReplicaGroup> pair = {{{0, 1}}};
  const Channel channel = ChannelHandle{7};
  const XlaComputation add = Add32();
  const auto text = [](const std::string& opcode, auto make) {
    return TextOf(opcode, [&](XlaBuilder* b) {
      b->SetReplicaCount(2);
      make(b, Parameter(b, 0, ShapeOf("f32[4]"), "x"));
    });
  };
  CHECK(text("all-gather", [&](XlaBuilder*, XlaOp x) { AllGather(x, 0, 2, pair); }) ==
        "ROOT %all-gather = f32[8]{0} all-gather(%x), replica_groups={{0,1}}, dimensions={0}");
  CHECK(text("all-gather",
             [&](XlaBuilder*, XlaOp x) { AllGather(x, 0, 2, pair, channel, Layout::RowMajor(1), true); }) ==
        "ROOT %all-gather = f32[8]{0} all-gather(%x), channel_id=7, replica_groups={{0,1}}, "
        "constrain_layout=true, "
        "dimensions={0}, use_global_device_ids=true");
  CHECK(
      text("all-gather",
           [&](XlaBuilder*, XlaOp x) {
             AllGatherTuple({x, x}, 0, 2, pair);
           }) ==
      "ROOT %all-gather = (f32[8]{0}, f32[8]{0}) all-gather(%x, %x), replica_groups={{0,1}}, dimensions={0}");
  CHECK(text("all-gather-done", [&](XlaBuilder*, XlaOp x) {
          AllGatherDone(AllGatherStart(x, 0, 2, pair));
        }) == "ROOT %all-gather-done = f32[8]{0} all-gather-done(%all-gather-start)");
  CHECK(text("all-reduce", [&](XlaBuilder*, XlaOp x) { AllReduce(x, add); }) ==
        "ROOT %all-reduce = f32[4]{0} all-reduce(%x), replica_groups={}, to_apply=%add_f32");
  CHECK(
      text("all-reduce",
           [&](XlaBuilder* b, XlaOp x) {
             AllReduce(Tuple(b, {x, x}), add);
           })
          .find(
              "all-reduce(%get-tuple-element, %get-tuple-element.1), replica_groups={}, to_apply=%add_f32") !=
      std::string::npos);
  CHECK(text("all-reduce",
             [&](XlaBuilder*, XlaOp x) {
               AllReduceTuple({x, x}, add, pair);
             }) ==
        "ROOT %all-reduce = (f32[4]{0}, f32[4]{0}) all-reduce(%x, %x), replica_groups={{0,1}}, "
        "to_apply=%add_f32");
  CHECK(text("all-reduce-done", [&](XlaBuilder*, XlaOp x) { AllReduceDone(AllReduceStart(x, add)); }) ==
        "ROOT %all-reduce-done = f32[4]{0} all-reduce-done(%all-reduce-start)");
  CHECK(text("all-reduce", [&](XlaBuilder*, XlaOp x) { CrossReplicaSum(x); }) ==
        "ROOT %all-reduce = f32[4]{0} all-reduce(%x), replica_groups={}, to_apply=%add_f32");
  CHECK(text("reduce-scatter", [&](XlaBuilder*, XlaOp x) { ReduceScatter(x, add, 0, 2, pair); }) ==
        "ROOT %reduce-scatter = f32[2]{0} reduce-scatter(%x), replica_groups={{0,1}}, dimensions={0}, "
        "to_apply=%add_f32");
  CHECK(text("all-to-all", [&](XlaBuilder*, XlaOp x) { AllToAll(x, 0, 0, 2, pair); }) ==
        "ROOT %all-to-all = f32[4]{0} all-to-all(%x), replica_groups={{0,1}}, dimensions={0}");
  CHECK(text("all-to-all", [&](XlaBuilder*, XlaOp x) {
          AllToAllTuple({x, x}, pair);
        }) == "ROOT %all-to-all = (f32[4]{0}, f32[4]{0}) all-to-all(%x, %x), replica_groups={{0,1}}");
  CHECK(text("ragged-all-to-all",
             [&](XlaBuilder* b, XlaOp x) {
               const XlaOp n = Value(b, "s32[2] {0,0}");
               RaggedAllToAll(x, n, n, x, n, n, pair);
             }) ==
        "ROOT %ragged-all-to-all = f32[4]{0} ragged-all-to-all(%x, %x, %constant, %constant, %constant, "
        "/*index=5*/%constant), replica_groups={{0,1}}");
  CHECK(text("collective-broadcast", [&](XlaBuilder*, XlaOp x) { CollectiveBroadcast(x, pair); }) ==
        "ROOT %collective-broadcast = f32[4]{0} collective-broadcast(%x), replica_groups={{0,1}}");
  CHECK(
      text("collective-permute", [&](XlaBuilder*, XlaOp x) {
        CollectivePermute(x, {{0, 1}, {1, 0}});
      }) == "ROOT %collective-permute = f32[4]{0} collective-permute(%x), source_target_pairs={{0,1},{1,0}}");
  CHECK(text("collective-permute",
             [&](XlaBuilder*, XlaOp x) {
               MultiCollectivePermute({x, x}, {{0, 1}});
             }) ==
        "ROOT %collective-permute = (f32[4]{0}, f32[4]{0}) collective-permute(%x, %x), "
        "source_target_pairs={{0,1}}");
  CHECK(text("collective-permute-done", [&](XlaBuilder*, XlaOp x) {
          CollectivePermuteDone(CollectivePermuteStart(x, {{0, 1}}));
        }) == "ROOT %collective-permute-done = f32[4]{0} collective-permute-done(%collective-permute-start)");
  CHECK(text("replica-id", [&](XlaBuilder* b, XlaOp) { ReplicaId(b); }) ==
        "ROOT %replica-id = u32[] replica-id()");
  CHECK(text("partition-id", [&](XlaBuilder* b, XlaOp) { PartitionId(b); }) ==
        "ROOT %partition-id = u32[] partition-id()");
}

// The blocks' dimension goes in front of the concatenated one: seed example 1, f32[4,16] to f32[16,4].
TEST_CASE("builder collectives: all-to-all moves blocks from one dimension to another", "[builder]") {
  XlaBuilder b("test");
  b.SetReplicaCount(4);
  const std::vector<ReplicaGroup> all = {{{0, 1, 2, 3}}};
  AllToAll(Parameter(&b, 0, ShapeOf("f32[4,16]"), "x"), 1, 0, 4, all);
  const XlaComputation computation = Built(&b);
  CHECK(computation.GetProgramShape().result.ToString() == "f32[16,4]");
  const std::string text = computation.ToText();
  CHECK(text.find("%reshape = f32[4,4,4]{2,1,0} reshape(%all-to-all)\n") != std::string::npos);
  CHECK(text.find("dimensions={1,0,2}\n") != std::string::npos);
}

}  // namespace
}  // namespace assay::builder
