// What the rows of the op table promise to readers, writers and planners, for every row.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "evaluator/bounds/rules.h"
#include "evaluator/registry.h"
#include "hlo/op_syntax.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace assay {
namespace {

std::shared_ptr<const Shape> Floats(std::initializer_list<int64_t> sizes) {
  return std::make_shared<const Shape>(
      Shape::ArrayOrDie(ElementType::kF32, std::span<const int64_t>(sizes.begin(), sizes.size())));
}

// A word that no writer leaves out; by name, as several attributes have one.
Word SampleWord(Opcode opcode, Attr attr) {
  switch (attr) {
    case Attr::kAlgorithm:
      return {opcode == Opcode::kRngBitGenerator ? "rng_philox" : "dot_f32_f32_f32"};
    case Attr::kApiVersion:
      return {"API_VERSION_TYPED_FFI"};
    case Attr::kConvolutionKind:
      return {"fprop"};
    case Attr::kDirection:
      return {"GT"};
    case Attr::kDistribution:
      return {"rng_normal"};
    case Attr::kFftType:
      return {"IFFT"};
    case Attr::kKind:
      return {"kLoop"};
    case Attr::kMode:
      return {"cross_replica"};
    case Attr::kPaddingType:
      return {"PADDING_SAME"};
    case Attr::kSchedule:
      return {"SCHEDULE_LATEST"};
    case Attr::kTransposeA:
      return {"TRANSPOSE"};
    case Attr::kType:
      return {"TOTALORDER"};
    default:
      FAIL("no sample for " << Name(attr));
      return {};
  }
}

AttrValue SampleShared(Attr attr) {
  switch (FormOf(attr)) {
    case AttrForm::kShape:
      return Floats({2, 3});
    case AttrForm::kShapes:
      return ShapeList{*Floats({2, 3})};
    case AttrForm::kLiteral:
      return std::make_shared<const Literal>(Literal::FromDoubles(ElementType::kF32, {}, {{2.5}}));
    case AttrForm::kAliasing:
      return Aliasing{{{}, 0, {}}};
    case AttrForm::kReplicaGroups:
      return std::make_shared<const ReplicaGroups>(ReplicaGroups{{{0, 1}, {2, 3}}, ""});
    case AttrForm::kAccuracy:
      return ResultAccuracy{.mode = ResultAccuracy::Mode::kHighest};
    case AttrForm::kRaw:
      return RawText{"{kind=\"sharding\", entry={replicated}, exit={maximal device=1}}"};
    case AttrForm::kDimLabels:
      return std::make_shared<const ConvDimensionNumbers>(ConvDimensionNumbers{.input_spatial = {2},
                                                                               .kernel_output_feature = 1,
                                                                               .kernel_input_feature = 0,
                                                                               .kernel_spatial = {2},
                                                                               .output_batch = 0,
                                                                               .output_feature = 1,
                                                                               .output_spatial = {2}});
    default:
      FAIL("no sample for " << Name(attr));
      return {};
  }
}

// A legal value that differs from what reading supplies where the attribute is left out.
AttrValue Sample(Opcode opcode, Attr attr) {
  switch (FormOf(attr)) {
    case AttrForm::kBool:
      return !Has(opcode, Syntax::kShowsLargest) || attr != Attr::kLargest;
    case AttrForm::kInt:
      return attr == Attr::kIndex || attr == Attr::kIotaDimension || attr == Attr::kInferredDimension
                 ? int64_t{1}
                 : int64_t{2};
    case AttrForm::kFloat:
      return 0.25;
    case AttrForm::kString:
      return std::string("sample");
    case AttrForm::kWord:
      return SampleWord(opcode, attr);
    case AttrForm::kWords:
      return std::vector<Word>{{"highest"}, {"high"}};
    case AttrForm::kInts:
      return Ints{1};
    case AttrForm::kIntLists:
      return IntLists{{0, 1}, {1, 0}};
    case AttrForm::kIntsOrIntLists:
      return Has(opcode, Syntax::kOwnAsyncForm) || Name(opcode).ends_with("-start")
                 ? AttrValue(IntLists{{1, 2}})
                 : AttrValue(Ints{1, 2});
    case AttrForm::kWindow:
      return Window{{.size = 2, .stride = 3, .padding_low = 1}};
    case AttrForm::kPadding:
      return PaddingConfig{{1, 2, 3}, {0, 0, 0}};
    case AttrForm::kSlices:
      return SliceConfig{{0, 2, 1}, {0, 3, 2}};
    case AttrForm::kComputation:
      return ComputationId{0};
    case AttrForm::kComputations:
      return std::vector{ComputationId{0}};
    default:
      return SampleShared(attr);
  }
}

// Computation 0 is called; the entry has one instruction of the op,
// with the attributes that the op requires and `attr`.
Module ModuleWith(Opcode opcode, Attr attr) {
  Module module;
  module.name = "m";
  const auto add_parameter = [](Computation& computation, int64_t number) {
    Instruction parameter(Opcode::kParameter);
    parameter.parameter_number = number;
    parameter.name = "p" + std::to_string(computation.instructions.size()) + "." + computation.name;
    parameter.shape = Floats({2, 3});
    computation.parameters.push_back(static_cast<int32_t>(computation.instructions.size()));
    computation.instructions.push_back(std::move(parameter));
  };
  Computation& called = module.computations.emplace_back();
  called.name = "called";
  add_parameter(called, 0);
  called.root = 0;
  Computation entry;
  entry.name = "entry";
  const OpDef& op = DefinitionOf(opcode);
  Instruction instruction(opcode);
  instruction.name = "it";
  instruction.shape = Floats({2, 3});
  for (int k = 0; k < std::max(op.operands.min, 1); ++k) {
    add_parameter(entry, k);
    if (k < op.operands.min || op.operands.max != 0) instruction.operands.push_back(k);
  }
  for (const AttrSpec& spec : op.attributes) {
    if (spec.required || spec.attr == attr) instruction.attributes.Set(spec.attr, Sample(opcode, spec.attr));
  }
  if (attr == Attr::kTrueComputation || attr == Attr::kFalseComputation) {  // the two branches of a pred
    instruction.attributes.Set(Attr::kTrueComputation, ComputationId{0});
    instruction.attributes.Set(Attr::kFalseComputation, ComputationId{0});
    entry.instructions[0].shape = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kPred, {}));
  }
  entry.root = static_cast<int32_t>(entry.instructions.size());
  entry.instructions.push_back(std::move(instruction));
  module.computations.push_back(std::move(entry));
  module.entry = {1};
  return module;
}

// Attributes that text or proto leaves out on purpose.
bool IsLeftOut(Opcode opcode, Attr attr) {
  if (attr == Attr::kMode) return true;                   // says nothing that another attribute does not
  if (attr == Attr::kSparsityConfig) return true;         // refused by the exporter
  if (Has(opcode, Syntax::kContinuesAsync)) return true;  // what its start says
  return (attr == Attr::kDimensions && Has(opcode, Syntax::kHidesDimensions)) ||
         (attr == Attr::kIsStable && Has(opcode, Syntax::kHidesIsStable));
}

TEST_CASE("op table: every attribute of every op survives text to proto to text", "[op_table][proto]") {
  int count = 0;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    for (const AttrSpec& spec : DefinitionOf(opcode).attributes) {
      if (IsLeftOut(opcode, spec.attr)) continue;
      INFO(Name(opcode) << " " << Name(spec.attr));
      const std::string text = ModuleToText(ModuleWith(opcode, spec.attr));
      INFO(text);
      const bool by_list = spec.attr == Attr::kToApply && Has(opcode, Syntax::kCallsAsList);
      const std::string_view shown = Name(by_list ? Attr::kCalledComputations : spec.attr);
      CHECK(text.find(std::string(shown) + "=") != std::string::npos);
      const absl::StatusOr<Module> parsed = ParseHloText(text);
      INFO(parsed.status().ToString());
      REQUIRE(parsed.ok());
      CHECK(ModuleToText(*parsed) == text);
      const absl::StatusOr<std::string> bytes = ExportProto(*parsed);
      INFO(bytes.status().ToString());
      REQUIRE(bytes.ok());
      const absl::StatusOr<Module> imported = ImportProto(*bytes);
      INFO(imported.status().ToString());
      REQUIRE(imported.ok());
      CHECK(ModuleToText(*imported) == text);
      ++count;
    }
  }
  CHECK(count > 150);
}

TEST_CASE("op table: facts of a row agree with each other", "[op_table]") {
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    INFO(Name(opcode));
    const OpDef& op = DefinitionOf(opcode);
    const WorkFn work = op.work;
    // Elementwise ops count an operation for each element; a move counts none.
    CHECK((op.strip != nullptr) == (work == work::Elementwise ||
                                    (work == work::Function && op.operands.max > 0 && !op.has_side_effect)));
    // What moves elements says so once, and counts no operation. A bitcast may change what its bits mean; a
    // copy's radii are the operand's own.
    if (op.source != nullptr) CHECK(op.moves.operands == 1);
    if (opcode != Opcode::kBitcast && opcode != Opcode::kCopy)
      CHECK(op.moves.any() == (op.bound == BoundFn(bound::Moved)));
    if (op.moves.any() && opcode != Opcode::kDynamicUpdateSlice)
      CHECK((work == work::None || work == work::Move || work == work::Part));
    // The demand on parts of a concatenation goes to single operands.
    if (op.moves.any()) CHECK((op.pass_demand == nullptr) == (opcode != Opcode::kConcatenate));
    if (op.is_identity && !op.moves.any()) CHECK(op.pass_demand != nullptr);
    CHECK((op.sum.of == SumDef::Of::kNothing) == (op.sum.add_terms == nullptr));
    CHECK((op.sum.of == SumDef::Of::kNothing) == (op.sum.most_terms == nullptr));
    // Ids of channels stand on ops that have the attribute.
    const bool has_channel = std::any_of(op.attributes.begin(), op.attributes.end(),
                                         [](const AttrSpec& spec) { return spec.attr == Attr::kChannelId; });
    if (op.channel != Channel::kNone) CHECK(has_channel);
    if (has_channel && op.channel == Channel::kNone) CHECK(op.partner_in_computation);
    // What has an effect is printed in the order of the program, but for collectives.
    CHECK(Has(opcode, Syntax::kKeepsOrder) == (op.has_side_effect && op.channel != Channel::kCollective));
  }
}

}  // namespace
}  // namespace assay
