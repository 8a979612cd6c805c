// Loops, branches, tuples, tokens, barriers, asynchronous pairs and host streams:
// the inverse of import/control.cc.
//
// Of an asynchronous pair the start is written as the operation itself, which is what evaluating it does, and
// the done as nothing.
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

// Shapes are compatible whether a dimension is static or dynamic; types of StableHLO are not.
bool HaveSameDynamics(const Shape& a, const Shape& b) {
  if (a.IsTuple()) {
    return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(),
                      HaveSameDynamics);
  }
  for (int64_t d = 0; a.IsArray() && d < a.rank(); ++d) {
    if (a.is_dynamic(d) != b.is_dynamic(d)) return false;
  }
  return true;
}

void ExportWhile(OpExport& out) {
  const Module& module = out.exporter.module();
  const ComputationId condition = *out.attributes().Computation(Attr::kCondition);
  const ComputationId body = *out.attributes().Computation(Attr::kBody);
  const auto parameter = [&](ComputationId id) -> const Shape& {
    const Computation& computation = module.computation(id);
    return *computation.instructions[static_cast<size_t>(computation.parameters[0])].shape;
  };
  const Shape& state = *out.hlo.shape;
  for (const Shape* const other : {&out.OperandShape(0), &parameter(condition), &parameter(body),
                                   module.computation(body).root_instruction().shape.get()}) {
    if (!HaveSameDynamics(state, *other))
      return out.Refuse("a state with a size that is static in one place and dynamic in another");
  }
  out.UseOperands();
  out.Region(condition);
  out.Region(body);
  out.Emit("stablehlo.while");
}

// Branches take their operands from outside.
void ExportConditional(OpExport& out) {
  std::vector<ComputationId> branches;
  if (const auto yes = out.attributes().Computation(Attr::kTrueComputation)) {
    branches = {*yes, *out.attributes().Computation(Attr::kFalseComputation)};
  } else {
    const auto all = out.attributes().Computations(Attr::kBranchComputations);
    branches.assign(all.begin(), all.end());
  }
  out.UseLeaves(out.Operand(0));
  for (size_t i = 0; i < branches.size(); ++i) out.Branch(branches[i], out.Operand(i + 1));
  const bool is_if = out.OperandShape(0).element_type() == ElementType::kPred;
  out.Emit(is_if ? "stablehlo.if" : "stablehlo.case");
}

void ExportTuple(OpExport& out) {
  std::vector<NodeId> elements;
  for (size_t i = 0; i < out.num_operands(); ++i) elements.push_back(out.Operand(i));
  out.Bind(out.exporter.Tuple(*out.hlo.shape, std::move(elements)));
}

// Element i of the operand's tree.
NodeId Element(OpExport& out, size_t i) {
  const Node& tuple = out.exporter.node(out.Operand(0));
  if (tuple.kind == Node::Kind::kTuple && i < tuple.elements.size()) return tuple.elements[i];
  out.Refuse("an element of the state of a transfer");
  return -1;
}

void ExportGetTupleElement(OpExport& out) {
  if (out.OperandInstruction(0).opcode == Opcode::kCopyStart) return out.Refuse("a part of a copy under way");
  out.Bind(Element(out, static_cast<size_t>(out.attributes().Int(Attr::kIndex))));
}

void ExportOptBarrier(OpExport& out) {
  out.UseOperands();
  out.Emit("stablehlo.optimization_barrier");
}

void ExportAfterAll(OpExport& out) {
  out.UseOperands();
  if (out.num_operands() == 0) return out.Emit("stablehlo.create_token", {Syntax::Types::kResult, {}, {}});
  out.Emit("stablehlo.after_all", {Syntax::Types::kSame, {}, {}});
}

// add-dependency, domain, all-reduce-done, async-update: the first operand.
void ExportFirst(OpExport& out) { out.Bind(out.Operand(0)); }

template <size_t i>
void ExportElement(OpExport& out) {
  out.Bind(Element(out, i));
}

NodeId Absent(OpExport& out) { return out.exporter.Add(Node()); }

// Evaluating a copy that ends twice fails.
void ExportCopyDone(OpExport& out) {
  if (!out.exporter.End(out.Operand(0))) return out.Refuse("the second end of a copy");
  out.Bind(Element(out, 0));
}

// (result, source, context)
void ExportCopyStart(OpExport& out) {
  out.Bind(out.exporter.Tuple(*out.hlo.shape, {out.Operand(0), out.Operand(0), Absent(out)}));
}

// ((operands...), result, contexts...)
void ExportAsyncStart(OpExport& out) {
  const ComputationId callee = *out.attributes().Computation(Attr::kCalls);
  const Computation& computation = out.exporter.module().computation(callee);
  if (computation.parameters.size() != out.num_operands()) {
    return out.Refuse("a start without all operands, which an update brings later");
  }
  out.UseOperands();
  const Shape& shape = *out.hlo.shape;
  const NodeId result = out.Call(callee, *computation.root_instruction().shape);
  std::vector<NodeId> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i) elements.push_back(i == 1 ? result : Absent(out));
  out.Bind(out.exporter.Tuple(shape, std::move(elements)));
}

// The items that stand in a queue: StableHLO's are always tuples.
bool IsFlatTuple(const Shape& data) {
  if (!data.IsTuple()) return false;
  for (const Shape& element : data.elements()) {
    if (!element.IsArray()) return false;
  }
  return true;
}

void ExportInfeed(OpExport& out) {
  if (!IsFlatTuple(out.hlo.shape->element(0))) return out.Refuse("an item that is not a tuple of arrays");
  out.UseOperands();
  out.Text("infeed_config", out.attributes().Text(Attr::kInfeedConfig));
  out.Emit("stablehlo.infeed");
}

void ExportOutfeed(OpExport& out) {
  if (!IsFlatTuple(out.OperandShape(0))) return out.Refuse("an item that is not a tuple of arrays");
  out.UseOperands();
  out.Text("outfeed_config", out.attributes().Text(Attr::kOutfeedConfig));
  out.Emit("stablehlo.outfeed");
}

// A single value is sent as itself, several as a tuple.
bool IsPacked(const Shape& data) {
  return data.IsArray() || (IsFlatTuple(data) && data.elements().size() != 1);
}

// Channel types: 1 between devices, 2 to the host, 3 from it.
void SetHostChannel(OpExport& out, int host_type) {
  const bool is_host = out.attributes().Bool(Attr::kIsHostTransfer);
  out.Property("channel_handle",
               fmt::format("#stablehlo.channel_handle<handle = {}, type = {}>",
                           out.attributes().Int(Attr::kChannelId), is_host ? host_type : 1));
  out.Flag("is_host_transfer", is_host);
}

// A send-done reads the send, or something else does that may be one.
bool IsFinished(OpExport& out) {
  const std::vector<Instruction>& all = out.block.computation->instructions;
  return std::any_of(all.begin(), all.end(), [&](const Instruction& user) {
    return std::any_of(user.operands.begin(), user.operands.end(),
                       [&](int32_t operand) { return &all[static_cast<size_t>(operand)] == &out.hlo; });
  });
}

// send: (data, context, token), of which StableHLO gives the token, and so does send-done.
void ExportSend(OpExport& out) {
  if (!IsPacked(out.OperandShape(0)))
    return out.Refuse("data that is neither an array nor a tuple of arrays");
  if (!out.attributes().Bool(Attr::kIsHostTransfer) && !IsFinished(out))
    return out.Refuse("no send-done waits for it: StableHLO's send is both");
  out.UseOperands();
  SetHostChannel(out, 2);
  const Shape& shape = *out.hlo.shape;
  const NodeId token = out.Make("stablehlo.send", shape.element(2));
  out.Bind(out.exporter.Tuple(shape, {Absent(out), Absent(out), token}));
}

// recv posts a slot, which nothing shows; recv-done, which waits, is the operation.
void ExportRecv(OpExport& out) {
  if (!IsPacked(out.hlo.shape->element(0)))
    return out.Refuse("data that is neither an array nor a tuple of arrays");
  out.Bind(out.exporter.Tuple(*out.hlo.shape, {Absent(out), Absent(out), Absent(out)}));
}

void ExportRecvDone(OpExport& out) {
  const Instruction& recv = out.OperandInstruction(0);
  if (recv.opcode != Opcode::kRecv) return out.Refuse("its recv stands in another computation");
  OpExport at(out.exporter, out.block, out.hlo.operands[0]);
  if (!recv.attributes.Bool(Attr::kIsHostTransfer)) {
    // StableHLO's recv stands where the recv-done does, and the n-th send meets the n-th recv.
    int32_t& last = out.block.last_recv.try_emplace(recv.attributes.Int(Attr::kChannelId), -1).first->second;
    if (out.hlo.operands[0] < last)
      return out.Refuse("a recv-done before that of an earlier recv on its channel");
    last = out.hlo.operands[0];
  }
  at.UseOperands();
  SetHostChannel(at, 3);
  const NodeId received = at.Make("stablehlo.recv", *out.hlo.shape);
  out.status = at.status;
  out.Bind(received);
}

// chlo.scan: inputs and carries, outputs and final carries, each in two segments.
void ExportScan(OpExport& out) {
  const int64_t carries = out.attributes().Int(Attr::kNumCarries);
  const int64_t inputs = static_cast<int64_t>(out.num_operands()) - carries;
  const Shape& shape = *out.hlo.shape;
  const int64_t results = shape.IsTuple() ? static_cast<int64_t>(shape.elements().size()) : 1;
  out.UseOperands();
  out.Int("dimension", out.attributes().List(Attr::kDimensions)[0]);
  if (out.attributes().Has(Attr::kIsAssociative))
    out.Flag("is_associative", out.attributes().Bool(Attr::kIsAssociative));
  if (out.attributes().Bool(Attr::kIsReverse)) out.Flag("is_reverse", true);
  out.Property("operandSegmentSizes", fmt::format("array<i32: {}, {}>", inputs, carries));
  out.Property("resultSegmentSizes", fmt::format("array<i32: {}, {}>", results - carries, carries));
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("chlo.scan");
}

constexpr ExportRow kControlExports[] = {
    {Opcode::kAddDependency, ExportFirst},
    {Opcode::kAfterAll, ExportAfterAll},
    {Opcode::kConditional, ExportConditional},
    {Opcode::kCopyDone, ExportCopyDone},
    {Opcode::kCopyStart, ExportCopyStart},
    {Opcode::kDomain, ExportFirst},
    {Opcode::kGetTupleElement, ExportGetTupleElement},
    {Opcode::kOptBarrier, ExportOptBarrier},
    {Opcode::kScan, ExportScan},
    {Opcode::kTuple, ExportTuple},
    {Opcode::kWhile, ExportWhile},
    {Opcode::kAsyncDone, ExportElement<1>},
    {Opcode::kAsyncStart, ExportAsyncStart},
    {Opcode::kAsyncUpdate, ExportFirst},
    {Opcode::kInfeed, ExportInfeed},
    {Opcode::kOutfeed, ExportOutfeed},
    {Opcode::kRecv, ExportRecv},
    {Opcode::kRecvDone, ExportRecvDone},
    {Opcode::kSend, ExportSend},
    {Opcode::kSendDone, ExportElement<2>},
    {Opcode::kAllReduceDone, ExportFirst},
    {Opcode::kAllGatherDone, ExportElement<1>},
    {Opcode::kCollectivePermuteDone, ExportElement<1>},
};

}  // namespace

std::span<const ExportRow> ControlExports() { return kControlExports; }

}  // namespace assay::mlir
