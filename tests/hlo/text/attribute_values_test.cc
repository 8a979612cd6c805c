// Values of attributes in every form of docs/spec/hlo-text.md sections 5 and 7. Expected values are worked by
// hand; canonical texts are what jaxlib 0.10.2 prints.
#include <catch2/catch.hpp>

#include "hlo/text/parser.h"

namespace assay {
namespace {

// The instruction with the given attributes, in a module that knows the computation f.
struct Parsed {
  Module module;
  const Instruction& instruction() const { return module.entry_computation().root_instruction(); }
  const AttributeMap& attributes() const { return instruction().attributes; }
};

Parsed With(const std::string& attributes, const std::string& shape = "f32[4]") {
  const std::string text =
      R"(HloModule m
f { a = f32[] parameter(0) }
g { a = f32[] parameter(0) }
ENTRY e { p = f32[4] parameter(0)
 ROOT r = )" +
      shape + " negate(p), " + attributes + " }";
  absl::StatusOr<Module> module = ParseHloText(text);
  INFO(text << "\n" << module.status().ToString());
  REQUIRE(module.ok());
  return {*std::move(module)};
}

template <typename T>
T Value(const std::string& attribute, Attr attr) {
  const Parsed parsed = With(attribute);
  const AttrValue* const value = parsed.attributes().Find(attr);
  REQUIRE(value != nullptr);
  REQUIRE(std::holds_alternative<T>(*value));
  return std::get<T>(*value);
}

TEST_CASE("attributes: numbers, booleans, strings and words", "[parser]") {
  CHECK(Value<int64_t>("index=-3", Attr::kIndex) == -3);
  CHECK(Value<int64_t>("delta=18446744073709551615", Attr::kDelta) == -1);
  CHECK(Value<bool>("lower=true", Attr::kLower));
  CHECK(!Value<bool>("lower=false", Attr::kLower));
  CHECK(Value<double>("epsilon=0.001", Attr::kEpsilon) == 0.001);
  CHECK(Value<double>("epsilon=-2", Attr::kEpsilon) == -2);
  CHECK(Value<double>("epsilon=1.e-3", Attr::kEpsilon) == 0.001);
  CHECK(Value<double>("epsilon=-inf", Attr::kEpsilon) == -std::numeric_limits<double>::infinity());
  CHECK(Value<double>("epsilon=1e400", Attr::kEpsilon) == std::numeric_limits<double>::infinity());
  CHECK(Value<double>("epsilon=1e-400", Attr::kEpsilon) == 0);
  CHECK(Value<std::string>("custom_call_target=\"a\\n\\x41\\\"\"", Attr::kCustomCallTarget) == "a\nA\"");
  CHECK(Value<std::string>("custom_call_target='it\"s'", Attr::kCustomCallTarget) == "it\"s");
  CHECK(Value<Word>("direction=GE", Attr::kDirection).text == "GE");
  CHECK(Value<Word>("algorithm=DOT_BF16_BF16_F32", Attr::kAlgorithm).text == "dot_bf16_bf16_f32");
  CHECK(Value<Word>("api_version=api_version_typed_ffi", Attr::kApiVersion).text == "API_VERSION_TYPED_FFI");
  CHECK(Value<std::vector<Word>>("operand_precision={HIGH,default}", Attr::kOperandPrecision) ==
        std::vector<Word>{{"high"}, {"default"}});
}

TEST_CASE("attributes: lists", "[parser]") {
  CHECK(Value<Ints>("dimensions={}", Attr::kDimensions).empty());
  CHECK(Value<Ints>("dimensions={ 1 , /* two */ 2}", Attr::kDimensions) == Ints{1, 2});
  CHECK(Value<IntLists>("source_target_pairs={{0,1},{1,0}}", Attr::kSourceTargetPairs) ==
        IntLists{{0, 1}, {1, 0}});
  CHECK(Value<Ints>("slice_sizes={1,2}", Attr::kSliceSizes) == Ints{1, 2});
  CHECK(Value<Ints>("slice_sizes={}", Attr::kSliceSizes).empty());
  CHECK(Value<IntLists>("slice_sizes={{1},{2,3}}", Attr::kSliceSizes) == IntLists{{1}, {2, 3}});
  const auto slices = Value<SliceConfig>("slice={[1:2], [0:10:3]}", Attr::kSlice);
  CHECK(slices == SliceConfig{{1, 2, 1}, {0, 10, 3}});
  CHECK(Value<PaddingConfig>("padding=0_1x-2_-3_4", Attr::kPadding) == PaddingConfig{{0, 1, 0}, {-2, -3, 4}});
  CHECK(Value<PaddingConfig>("padding=", Attr::kPadding).empty());
  CHECK(Value<Aliasing>("output_to_operand_aliasing={{}: (1, {0,2}), {1}: (0, {})}",
                        Attr::kOutputToOperandAliasing) == Aliasing{{{}, 1, {0, 2}}, {{1}, 0, {}}});
  CHECK(Value<ShapeList>("operand_layout_constraints={f32[2,3]{0,1}, s8[]}", Attr::kOperandLayoutConstraints)
            .size() == 2);
  CHECK(Value<std::vector<ComputationId>>("called_computations={f, %g}", Attr::kCalledComputations) ==
        std::vector<ComputationId>{{0}, {1}});
  CHECK(Value<ComputationId>("to_apply=%g", Attr::kToApply) == ComputationId{1});
}

TEST_CASE("attributes: windows", "[parser]") {
  CHECK(Value<Window>("window={}", Attr::kWindow).empty());
  const auto one = Value<Window>("window={size=3}", Attr::kWindow);
  CHECK(one == Window{{.size = 3}});
  const auto all = Value<Window>(
      "window={rhs_reversal=0x1 pad=1_2x-3_4 stride=2x3 size=5x6 lhs_dilate=7x8 rhs_dilate=9x10}",
      Attr::kWindow);
  CHECK(all == Window{{5, 2, 1, 2, 7, 9, false}, {6, 3, -3, 4, 8, 10, true}});
}

TEST_CASE("attributes: dimension labels", "[parser]") {
  using Numbers = std::shared_ptr<const ConvDimensionNumbers>;
  const auto plain = Value<Numbers>("dim_labels=bf01_oi01->bf01", Attr::kDimLabels);
  CHECK(*plain == ConvDimensionNumbers{0, 1, {2, 3}, 0, 1, {2, 3}, 0, 1, {2, 3}});
  const auto mixed = Value<Numbers>("dim_labels=1b0f_i1o0->f10b", Attr::kDimLabels);
  CHECK(*mixed == ConvDimensionNumbers{1, 3, {2, 0}, 2, 0, {3, 1}, 3, 0, {2, 1}});
  const auto unused = Value<Numbers>("dim_labels=b?f_i?o->?bf", Attr::kDimLabels);
  CHECK(*unused == ConvDimensionNumbers{0, 2, {}, 2, 0, {}, 1, 2, {}});
}

TEST_CASE("attributes: literals", "[parser]") {
  const auto array = Value<LiteralPtr>("literal=s32[2]{0} {1,2}", Attr::kLiteralValue);
  REQUIRE(array != nullptr);
  CHECK(array->GetInt(1) == 2);
  const auto tuple = Value<LiteralPtr>("literal=(s32[2]{0} {1,2}, (f32[] 3), ())", Attr::kLiteralValue);
  REQUIRE(tuple != nullptr);
  REQUIRE(tuple->tuple_size() == 3);
  CHECK(tuple->element(1).element(0).GetDouble(0) == 3);
  CHECK(tuple->element(2).tuple_size() == 0);
}

TEST_CASE("attributes: result accuracy", "[parser]") {
  CHECK(Value<ResultAccuracy>("result_accuracy={mode=highest}", Attr::kResultAccuracy).mode ==
        ResultAccuracy::Mode::kHighest);
  const auto tolerance =
      Value<ResultAccuracy>("result_accuracy={tolerance={ulps=2,atol=0.5}}", Attr::kResultAccuracy);
  CHECK(tolerance == ResultAccuracy{ResultAccuracy::Mode::kTolerance, 0.5, 0, 2});
}

TEST_CASE("attributes: what is kept as text is canonical", "[parser]") {
  CHECK(Value<RawText>("domain={kind=\"sharding\",entry={maximal device=0} ,  exit={maximal device=1}}",
                       Attr::kDomain)
            .text == "{kind=\"sharding\", entry={maximal device=0}, exit={maximal device=1}}");
  CHECK(
      Value<RawText>("sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}", Attr::kSparsityConfig)
          .text == "{lhs={sparsity=2x4 dimension=1 stride=1 idx=2}}");
}

// Extras.

InstructionExtras Extras(const std::string& attributes, const std::string& shape = "f32[4]") {
  const Parsed parsed = With(attributes, shape);
  REQUIRE(parsed.instruction().extras != nullptr);
  return *parsed.instruction().extras;
}

TEST_CASE("common attributes: metadata", "[parser]") {
  const OpMetadata metadata = Extras(
                                  "metadata={op_type=\"t\" op_name=\"n\", source_file=\"s\" "
                                  "source_line=1,source_end_line=2 source_column=3 "
                                  "source_end_column=4 profile_type={1,3} deduplicated_name=\"d\" "
                                  "scheduling_name=\"c\" stack_frame_id=5 "
                                  "metadata_payload=\"p\"}")
                                  .metadata;
  CHECK(metadata.op_type == "t");
  CHECK(metadata.op_name == "n");
  CHECK(metadata.source_file == "s");
  CHECK(metadata.source_line == 1);
  CHECK(metadata.source_end_line == 2);
  CHECK(metadata.source_column == 3);
  CHECK(metadata.source_end_column == 4);
  CHECK(metadata.profile_type == Ints{1, 3});
  CHECK(metadata.deduplicated_name == "d");
  CHECK(metadata.scheduling_name == "c");
  CHECK(metadata.stack_frame_id == 5);
  CHECK(metadata.metadata_payload == "p");
}

TEST_CASE("common attributes: configurations, statistics, origins", "[parser]") {
  CHECK(Extras("backend_config=\"a\\\"b\"").backend_config.text == "a\"b");
  CHECK(!Extras("backend_config=\"a\"").backend_config.is_json);
  const InstructionExtras json = Extras("backend_config={\"a\": \"}\",\n \"b\": {}}");
  CHECK(json.backend_config.is_json);
  CHECK(json.backend_config.text == "{\"a\": \"}\",\n \"b\": {}}");
  CHECK(Extras("statistics={visualizing_index=1, a=2.5}").statistics == "{visualizing_index=1,a=2.5}");
  CHECK(Extras("statistics={}").statistics.empty());
  CHECK(Extras("origin={{\"p\"   {0, 1} } }").origin == "{{\"p\" {0,1}}}");
  CHECK(Extras("origin={({\"p\"},{\"q\" {0}})}").origin == "{({\"p\"}, {\"q\" {0}})}");
  CHECK(Extras("origin={[synthetic_call]}").origin == "{[synthetic_call]}");
  CHECK(Extras("parameter_replication={true,false}").parameter_replication == std::vector<bool>{true, false});
}

TEST_CASE("common attributes: shardings are canonical", "[parser]") {
  const std::pair<const char*, const char*> pairs[] = {
      {"{ devices=[2,2]0,1,2,3   metadata={op_name=\"a\"} }",
       "{devices=[2,2]0,1,2,3 metadata={op_name=\"a\"}}"},
      {"{devices=[2,1,2]<=[2,1,2]T(2,1,0) last_tile_dim_replicate shard_as 3 metadata={{op_name=\"a\"},{}}}",
       "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate shard_as 3 metadata={{op_name=\"a\"}, {}}}"},
      {"{device=1 maximal}", "{maximal device=1}"},
      {"{unknown shard_like 1}", "{unknown shard_like 1}"},
      {"{mesh[\"a\"=2,\"b\"=2] [{\"a\"},{\"b\"}]}", "{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}"},
      {"{mesh[\"a\"=2,\"b\"=2], [{\"a\",?},{?}], replicated={\"b\"}}",
       "{mesh['a'=2,'b'=2], [{'a', ?}, {?}], replicated={'b'}}"},
      {"{mesh[\"a\"=2,\"b\"=2],device_ids=(3,2,1,0) replicated}",
       "{mesh['a'=2,'b'=2], device_ids=(3,2,1,0), replicated}"},
      {"{mesh[\"a\"=2,\"b\"=2], [{\"a\"},{}], manual={\"b\"}, metadata={op_name=\"x\"}}",
       "{mesh['a'=2,'b'=2], [{'a'}, {}], manual={'b'}, metadata={{op_name=\"x\"}}}"},
      {"{maximal_mesh[device_id=1]}", "{maximal_mesh[device_id=1]}"},
      {"{{maximal device=1},{replicated}}", "{{maximal device=1}, {replicated}}"},
      {"{ }", "{}"},
      {"{devices=[2,2,2]<=[8] last_tile_dims={unreduced}}",
       "{devices=[2,2,2]<=[8] last_tile_dims={unreduced}}"},
  };
  for (const auto& [written, canonical] : pairs) {
    CHECK(Extras(std::string("sharding=") + written).sharding == canonical);
  }
  CHECK(Extras("sharding={manual}", "(f32[], (f32[], f32[]), f32[], f32[], f32[])").sharding ==
        "{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{manual}}");
  CHECK(Extras("sharding={manual}", "()").sharding == "{{manual}}");
}

TEST_CASE("common attributes: a long sharding of a tuple stays as it was written", "[parser]") {
  const auto sharding = [](size_t size) {
    const std::string frame = "{manual metadata={op_name=\"\"}}";
    return frame.substr(0, frame.size() - 3) + std::string(size - frame.size(), 'x') + "\"}}";
  };
  const std::string half = sharding(1 << 15), longer = sharding((1 << 15) + 1);
  CHECK(Extras("sharding=" + half, "(f32[], f32[])").sharding == "{" + half + ", " + half + "}");
  CHECK(Extras("sharding=" + longer, "(f32[], f32[])").sharding == longer);
}

TEST_CASE("attributes: replica groups are listed out and keep their compact text", "[parser]") {
  struct Case {
    const char* written;
    IntLists groups;
    const char* compact;
  };
  const Case cases[] = {
      {"{}", {}, ""},
      {"{{0,1},{2,3}}", {{0, 1}, {2, 3}}, ""},
      {"[2,2]<=[4]", {{0, 1}, {2, 3}}, "[2,2]<=[4]"},
      {"[2,2]<=[2,2]T(1,0)", {{0, 2}, {1, 3}}, "[2,2]<=[2,2]T(1,0)"},
      // 0..7 as [2,2,2], dimension 2 first: 0 2 4 6 1 3 5 7; dimensions 0 and 1 stay neighbours.
      {"[2,4]<=[2,2,2]T(2,0,1)", {{0, 2, 4, 6}, {1, 3, 5, 7}}, "[2,4]<=[4,2]T(1,0)"},
      {"[4,2]<=[2,2,2]T(2,1,0)", {{0, 4}, {2, 6}, {1, 5}, {3, 7}}, "[4,2]<=[2,2,2]T(2,1,0)"},
      {"[2,2]<=[1,2,2,1]T(3,2,1,0)", {{0, 2}, {1, 3}}, "[2,2]<=[2,2]T(1,0)"},
      {"[1,1]<=[1,1]T(1,0)", {{0}}, "[1,1]<=[1]"},
      {"[2,4]<=[2,1,4]T(0,2,1)", {{0, 1, 2, 3}, {4, 5, 6, 7}}, "[2,4]<=[8]"},
      // Device numbers a * 4 + b.
      {"mesh[\"a\"=2,\"b\"=4] {\"b\"}", {{0, 1, 2, 3}, {4, 5, 6, 7}}, "mesh['a'=2,'b'=4] {'b'}"},
      {"mesh[\"a\"=2,\"b\"=4] {\"a\"}", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, "mesh['a'=2,'b'=4] {'a'}"},
      // b = b0 * 2 + b1: (1)2 is b0, (2)2 is b1.
      {"mesh[\"a\"=2,\"b\"=4] {\"b\":(1)2}",
       {{0, 2}, {1, 3}, {4, 6}, {5, 7}},
       "mesh['a'=2,'b'=4] {'b':(1)2}"},
      {"mesh[\"a\"=2,\"b\"=4], device_ids=([8]) {\"b\":(2)2}",
       {{0, 1}, {2, 3}, {4, 5}, {6, 7}},
       "mesh['a'=2,'b'=4] {'b':(2)2}"},
      {"mesh[\"a\"=2,\"b\"=4], {\"b\":(2)2,\"a\"}",
       {{0, 4, 1, 5}, {2, 6, 3, 7}},
       "mesh['a'=2,'b'=4] {'b':(2)2,'a'}"},
      {"mesh[\"a\"=2,\"b\"=2], device_ids=(3,1,2,0) {\"b\"}",
       {{3, 1}, {2, 0}},
       "mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'b'}"},
      // Position i * 2 + j of the mesh holds device j * 2 + i.
      {"mesh[\"a\"=2,\"b\"=2], device_ids=([2,2]T(1,0)) {\"b\"}",
       {{0, 2}, {1, 3}},
       "mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}"},
      {"mesh[\"a\"=2] {}", {{0}, {1}}, "mesh['a'=2] {}"},
      {"maximal_mesh[device_id=3] {}", {{3}}, "maximal_mesh[device_id=3] {}"},
  };
  for (const Case& c : cases) {
    INFO(c.written);
    const auto groups = Value<std::shared_ptr<const ReplicaGroups>>(
        std::string("replica_groups=") + c.written, Attr::kReplicaGroups);
    CHECK(groups->groups == c.groups);
    CHECK(groups->compact_text == c.compact);
  }
}

}  // namespace
}  // namespace assay
