// Loops, branches, tuples, tokens, barriers and host streams (docs/spec/stablehlo-text.md section 6).
//
// HLO's loops and branches take one value: what a region uses from outside joins the loop's tuple, or is the
// branch's operand.
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

// The values as one: the only one itself, otherwise a tuple.
int32_t Packed(OpImport& in, absl::Span<const int32_t> values) {
  if (values.size() == 1) return values[0];
  std::vector<Shape> shapes;
  shapes.reserve(values.size());
  for (int32_t value : values) shapes.push_back(*in.scope.computation.instructions[value].shape);
  return in.Add(Opcode::kTuple, in.importer.Share(Shape::Tuple(std::move(shapes))), values);
}

// The instructions of captured values, with those of constants built here.
std::vector<int32_t> UseAll(OpImport& in, std::span<Value* const> values) {
  std::vector<int32_t> used;
  for (Value* value : values) {
    const absl::StatusOr<int32_t> instruction = in.importer.Use(in.scope, *value);
    if (instruction.ok()) {
      used.push_back(*instruction);
    } else {
      in.Fail(instruction.status());
    }
  }
  return used;
}

void ImportWhile(OpImport& in) {
  if (!in.Regions(2)) return;
  const std::vector<Value*> passed = in.importer.Passed(in.op.regions);
  std::vector<int32_t> state(in.operands.begin(), in.operands.end());
  for (int32_t value : UseAll(in, passed)) state.push_back(value);
  for (const Region& region : in.op.regions) {
    if (region.arguments.size() != in.num_operands() || in.num_results() != in.num_operands()) {
      return in.Invalid(fmt::format("found {}, {} region arguments and {}, want as many of each",
                                    Counted(in.num_operands(), "operand"), region.arguments.size(),
                                    Counted(in.num_results(), "result")));
    }
  }
  if (!in.ok()) return;
  const auto build = [&](size_t i, bool keeps) {
    return in.importer.RegionComputation(in.op.regions[i], Importer::Arguments::kState, passed, keeps, in.op);
  };
  const absl::StatusOr<ComputationId> condition = build(0, false);
  if (!condition.ok()) return in.Fail(condition.status());
  const absl::StatusOr<ComputationId> body = build(1, true);
  if (!body.ok()) return in.Fail(body.status());
  const int32_t init = Packed(in, state);
  const SharedShape shape = in.scope.computation.instructions[init].shape;
  const int32_t loop =
      in.Add(Opcode::kWhile, shape, {init}, in.Map({{Attr::kCondition, *condition}, {Attr::kBody, *body}}));
  if (state.size() == 1 && in.num_results() == 1) return in.BindResult(0, loop);
  for (size_t i = 0; i < in.num_results(); ++i) {
    SharedShape result = in.ResultShape(i);
    if (!in.ok()) return;
    in.BindResult(i, in.TupleElement(loop, std::move(result), i));
  }
}

// A branch for each region; `operand_index` is pred or s32 as `attributes` want.
void EmitConditional(OpImport& in, bool is_if) {
  std::vector<int32_t> inputs(in.operands.begin(), in.operands.end());
  std::vector<ComputationId> branches;
  for (const Region& region : in.op.regions) {
    const std::vector<Value*> passed = in.importer.Passed({&region, 1});
    const std::vector<int32_t> values = UseAll(in, passed);
    if (!region.arguments.empty()) return in.Invalid("found arguments of a branch, want none");
    if (!in.ok()) return;
    inputs.push_back(Packed(in, values));
    const absl::StatusOr<ComputationId> branch =
        in.importer.RegionComputation(region, Importer::Arguments::kBranch, passed, false, in.op);
    if (!branch.ok()) return in.Fail(branch.status());
    branches.push_back(*branch);
  }
  if (is_if) {
    in.Emit(Opcode::kConditional, inputs,
            in.Map({{Attr::kTrueComputation, branches[0]}, {Attr::kFalseComputation, branches[1]}}));
  } else {
    in.Emit(Opcode::kConditional, inputs, in.Map({{Attr::kBranchComputations, std::move(branches)}}));
  }
}

void ImportIf(OpImport& in) {
  if (in.num_operands() != 1)
    return in.Invalid(fmt::format("found {}, want 1", Counted(in.num_operands(), "operand")));
  if (in.Regions(2)) EmitConditional(in, true);
}

void ImportCase(OpImport& in) {
  if (in.num_operands() != 1)
    return in.Invalid(fmt::format("found {}, want 1", Counted(in.num_operands(), "operand")));
  if (in.op.regions.empty()) return in.Invalid("found no branch");
  EmitConditional(in, false);
}

void ImportTuple(OpImport& in) { in.Emit(Opcode::kTuple, in.operands); }

void ImportGetTupleElement(OpImport& in) {
  if (in.Arity(1)) in.Emit(Opcode::kGetTupleElement, in.operands, in.Map({{Attr::kIndex, in.Int("index")}}));
}

// Several operands pass the barrier as a tuple; one as itself.
void ImportOptimizationBarrier(OpImport& in) {
  if (!in.Arity(in.num_operands(), in.num_operands())) return;
  in.Emit(Opcode::kOptBarrier, {Packed(in, in.operands)});
}

void ImportAfterAll(OpImport& in) { in.Emit(Opcode::kAfterAll, in.operands); }

Shape TupleOf(OpImport& in, size_t count) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < count; ++i) shapes.push_back(*in.ResultShape(i));
  return Shape::Tuple(std::move(shapes));
}

// infeed: (data..., token) from HLO's ((data...), token).
void ImportInfeed(OpImport& in) {
  if (in.num_operands() != 1 || in.num_results() == 0)
    return in.Invalid("want a token and results that end with one");
  const size_t count = in.num_results() - 1;
  const auto data = std::make_shared<const Shape>(TupleOf(in, count));
  const SharedShape token = in.ResultShape(count);
  if (!in.ok()) return;
  AttributeMap attributes;
  if (const std::string_view config = in.Text("infeed_config"); !config.empty())
    attributes.Set(Attr::kInfeedConfig, std::string(config));
  const int32_t infeed = in.Add(Opcode::kInfeed, std::make_shared<const Shape>(Shape::Tuple({*data, *token})),
                                in.operands, std::move(attributes));
  const int32_t whole = in.TupleElement(infeed, data, 0);
  for (size_t i = 0; i < count && in.ok(); ++i) {
    in.BindResult(i, in.TupleElement(whole, in.ResultShape(i), i));
  }
  in.BindResult(count, in.TupleElement(infeed, token, 1));
}

// outfeed: the data as a tuple, and a token.
void ImportOutfeed(OpImport& in) {
  if (in.num_operands() == 0) return in.Invalid("want a token");
  const std::vector<int32_t> data(in.operands.begin(), in.operands.end() - 1);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < data.size(); ++i) shapes.push_back(in.OperandShape(i));
  const auto shape = std::make_shared<const Shape>(Shape::Tuple(std::move(shapes)));
  const int32_t tuple = in.Add(Opcode::kTuple, shape, data);
  AttributeMap attributes = in.Map({{Attr::kOutfeedShape, shape}});
  if (const std::string_view config = in.Text("outfeed_config"); !config.empty())
    attributes.Set(Attr::kOutfeedConfig, std::string(config));
  in.Emit(Opcode::kOutfeed, {tuple, in.operands.back()}, std::move(attributes));
}

// channel_handle = #stablehlo.channel_handle<handle, type>, or channel_id in bytecode.
AttributeMap Channel(OpImport& in) {
  AttributeMap attributes;
  const int64_t handle =
      in.Find("channel_id") != nullptr ? in.Int("channel_id") : in.Int("handle", 0, "channel_handle");
  attributes.Set(Attr::kChannelId, handle);
  if (in.Bool("is_host_transfer")) attributes.Set(Attr::kIsHostTransfer, true);
  if (const size_t pairs = in.IntRows("source_target_pairs", 2).size(); pairs > 0)
    in.Unsupported(fmt::format("found {}, want none", Counted(pairs, "source_target_pair")));
  return attributes;
}

SharedShape WithContext(const Shape& data) {
  return std::make_shared<const Shape>(
      Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()}));
}

void ImportSend(OpImport& in) {
  if (in.num_operands() == 0) return in.Invalid("want a token");
  const std::vector<int32_t> values(in.operands.begin(), in.operands.end() - 1);
  const int32_t data = Packed(in, values);
  const SharedShape shape = in.scope.computation.instructions[data].shape;
  AttributeMap attributes = Channel(in);
  if (!in.ok()) return;
  const int32_t send =
      in.Add(Opcode::kSend, WithContext(*shape), {data, in.operands.back()}, AttributeMap(attributes));
  in.Emit(Opcode::kSendDone, {send}, std::move(attributes));
}

void ImportRecv(OpImport& in) {
  if (in.num_operands() != 1 || in.num_results() == 0)
    return in.Invalid("want a token and results that end with one");
  const size_t count = in.num_results() - 1;
  const auto data = count == 1 ? in.ResultShape(0) : std::make_shared<const Shape>(TupleOf(in, count));
  const SharedShape token = in.ResultShape(count);
  AttributeMap attributes = Channel(in);
  if (!in.ok()) return;
  const int32_t recv = in.Add(Opcode::kRecv, WithContext(*data), in.operands, AttributeMap(attributes));
  const int32_t done = in.Add(Opcode::kRecvDone, std::make_shared<const Shape>(Shape::Tuple({*data, *token})),
                              {recv}, std::move(attributes));
  const int32_t whole = in.TupleElement(done, data, 0);
  for (size_t i = 0; i < count && in.ok(); ++i) {
    in.BindResult(i, count == 1 ? whole : in.TupleElement(whole, in.ResultShape(i), i));
  }
  in.BindResult(count, in.TupleElement(done, token, 1));
}

constexpr ImportRow kControlRows[] = {
    {"stablehlo.while", ImportWhile},
    {"stablehlo.if", ImportIf},
    {"stablehlo.case", ImportCase},
    {"stablehlo.tuple", ImportTuple},
    {"stablehlo.get_tuple_element", ImportGetTupleElement},
    {"stablehlo.optimization_barrier", ImportOptimizationBarrier},
    {"stablehlo.after_all", ImportAfterAll},
    {"stablehlo.create_token", ImportAfterAll},
    {"stablehlo.infeed", ImportInfeed},
    {"stablehlo.outfeed", ImportOutfeed},
    {"stablehlo.send", ImportSend},
    {"stablehlo.recv", ImportRecv},
};

}  // namespace

std::span<const ImportRow> ControlRows() { return kControlRows; }

}  // namespace assay::mlir
