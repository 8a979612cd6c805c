// Streams and channels: infeed, outfeed, send, recv. Spec: docs/spec/operations-control.md, "Streams" and
// "Channels".
//
// Infeed, outfeed and host transfers are queues of the process (ProcessState). A channel leads from one
// device to another, or, without pairs, from each to itself (DeviceLink): send puts a value on it and waits
// for nobody, recv-done takes it. The n-th send meets the n-th recv, whose number is in the recv's u32 until
// its recv-done; send-done waits for that recv to begin. Plans put a send before the recv-done that waits for
// it (plan/order.cc), so textual order does not matter; a cycle of waits is a deadlock.
#include <optional>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/ops/control/control.h"
#include "evaluator/replica_groups.h"
#include "fmt/format.h"

namespace assay {
namespace {

// A value of `wanted`'s structure whose arrays are zero.
absl::StatusOr<Literal> ZeroInput(EvalContext& context, const Shape& wanted) {
  return context.NewLiteral(std::make_shared<const Shape>(wanted), /*zero=*/true);
}

// infeed(token) = (next item of the infeed queue, token).
constexpr AttrSpec kInfeedAttrs[] = {Optional(Attr::kInfeedConfig)};

bool IsArrayOrFlatTuple(const Shape& shape) {
  if (shape.IsArray()) return true;
  return shape.IsTuple() && std::all_of(shape.elements().begin(), shape.elements().end(),
                                        [](const Shape& element) { return element.IsArray(); });
}

absl::StatusOr<Shape> InferInfeed(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 0, "Infeed-C1"));
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.Declared());
  if (!result.IsTuple() || result.elements().size() != 2 || !result.element(1).IsToken()) {
    return InvalidProgram({},
                          fmt::format("infeed: the result is {}, wanted (data, token[])", result.ToString()));
  }
  if (!IsArrayOrFlatTuple(result.element(0))) {
    return InvalidProgram({}, fmt::format("Infeed-C3: the data is {}, wanted an array or a tuple of arrays",
                                          result.element(0).ToString()));
  }
  return result;
}

// The next item of a queue that the host fills; without one, what ProcessState::when_empty gives.
absl::StatusOr<Literal> TakeItem(ProcessState& process, std::deque<StreamItem>& queue, const Shape& wanted,
                                 std::string_view what) {
  absl::StatusOr<Literal> value;
  if (!queue.empty()) {
    const StreamItem item = std::move(queue.front());
    queue.pop_front();
    value = item(wanted);
  } else if (process.when_empty != nullptr) {
    value = process.when_empty(wanted);
  } else {
    return EvalError({}, fmt::format("{} exhausted: {} is wanted", what, wanted.ToString()));
  }
  if (!value.ok()) return value.status();
  if (!Shape::Compatible(value->shape(), wanted)) {
    return BadInput(
        fmt::format("{}: the item is {}, {} is wanted", what, value->shape().ToString(), wanted.ToString()));
  }
  return value;
}

absl::StatusOr<Literal> EvalInfeed(EvalContext& context, std::span<Literal>) {
  const Shape& wanted = context.result_shape().element(0);
  Literal item;
  if (!wanted.IsTuple() || !wanted.elements().empty()) {  // of an empty tuple nothing is read
    ASSAY_ASSIGN_OR_RETURN(item, TakeItem(context.process(), context.process().infeed, wanted, "infeed"));
  }
  return Literal::Tuple(context.shared_result_shape(), {std::move(item), Literal::Token()});
}

// outfeed(x, token): appends x to the outfeed queue.
constexpr AttrSpec kOutfeedAttrs[] = {Optional(Attr::kOutfeedShape), Optional(Attr::kOutfeedConfig)};

absl::StatusOr<Shape> InferOutfeed(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 1, "Outfeed-C1"));
  const AttrValue* const declared = context.attributes().Find(Attr::kOutfeedShape);
  if (declared != nullptr) {
    const Shape& shape = *std::get<std::shared_ptr<const Shape>>(*declared);
    if (!Shape::Compatible(shape, context.operand(0))) {
      return InvalidProgram({}, fmt::format("Outfeed-C2: outfeed_shape is {}, the operand {}",
                                            shape.ToString(), context.operand(0).ToString()));
    }
  }
  return Shape::Token();
}

absl::StatusOr<Literal> EvalOutfeed(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(context.Keep(operands[0]));
  context.process().outfeed.push_back(std::move(operands[0]));
  return Literal::Token();
}

// send(x, token), recv(token): (T, u32 request id, token); send-done(s): token; recv-done(r): (T, token).
constexpr std::string_view kPairsAttribute = "_xla_send_recv_source_target_pairs";
constexpr AttrSpec kChannelAttrs[] = {Optional(Attr::kChannelId), Optional(Attr::kIsHostTransfer)};

Shape TransferShape(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

bool IsHostTransfer(const Instruction& instruction) {
  return instruction.attributes.Bool(Attr::kIsHostTransfer);
}

// Which host queue a transfer uses: "CHANNEL", or "CHANNEL/handler" where the program names a handler.
std::string HostQueue(const Instruction& instruction) {
  const std::string* const handler = FrontendAttribute(instruction, "_xla_host_transfer_handler_name");
  const int64_t channel = instruction.attributes.Int(Attr::kChannelId);
  return handler == nullptr ? fmt::format("{}", channel) : fmt::format("{}/{}", channel, *handler);
}

// Device `id`'s pair of _xla_send_recv_source_target_pairs={{s,t},...} as a source or as a target; without
// the attribute the device talks to itself; nullopt: it takes no part.
absl::StatusOr<std::optional<Transfer>> TransferOf(EvalContext& context, const Instruction& instruction,
                                                   bool as_source) {
  DeviceLink& device = context.device();
  const int64_t channel = instruction.attributes.Int(Attr::kChannelId), id = device.id();
  ASSAY_ASSIGN_OR_RETURN(const IntLists pairs, TransferPairs(instruction));
  if (pairs.empty() && FrontendAttribute(instruction, kPairsAttribute) == nullptr)
    return std::optional<Transfer>({channel, id, id});
  for (const auto& [source, target] : PairsOf(device.grid(), pairs, TransferIdKind(device.grid()), id)) {
    if ((as_source ? source : target) == id) return std::optional<Transfer>({channel, source, target});
  }
  return std::optional<Transfer>();
}

absl::StatusOr<Shape> InferSend(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 1, "Send-C1"));
  return TransferShape(context.operand(0));
}

absl::StatusOr<Literal> EvalSend(EvalContext& context, std::span<Literal> operands) {
  const Instruction& instruction = context.instruction();
  ProcessState& process = context.process();
  if (IsHostTransfer(instruction)) {
    ASSAY_RETURN_IF_ERROR(context.Keep(operands[0]));
    process.device_to_host[HostQueue(instruction)].push_back(operands[0]);
  } else {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<Transfer> transfer,
                           TransferOf(context, instruction, /*as_source=*/true));
    if (transfer) {
      ASSAY_RETURN_IF_ERROR(context.Keep(operands[0]));
      ASSAY_RETURN_IF_ERROR(context.device().Send(*transfer, operands[0]));
    }
  }
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(operands[0]), Literal::ScalarInt(ElementType::kU32, 0), Literal::Token()});
}

absl::StatusOr<Shape> InferRecv(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 0, "Recv-C1"));
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.Declared());
  if (!result.IsTuple() || result.elements().size() != 3 ||
      !Shape::Compatible(result, TransferShape(result.element(0)))) {
    return InvalidProgram(
        {}, fmt::format("recv: the result is {}, wanted (data, u32[], token[])", result.ToString()));
  }
  return result;
}

absl::StatusOr<Literal> EvalRecv(EvalContext& context, std::span<Literal>) {
  int64_t number = 0;
  if (!IsHostTransfer(context.instruction())) {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<Transfer> transfer,
                           TransferOf(context, context.instruction(), /*as_source=*/false));
    if (transfer) {
      ASSAY_ASSIGN_OR_RETURN(number, context.device().BeginRecv(*transfer));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Literal data, context.NewResultElement(0, /*zero=*/true));
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(data), Literal::ScalarInt(ElementType::kU32, number), Literal::Token()});
}

// SendDone-C2, RecvDone-C2: a -done stands on its start, directly or through a tuple of a pipelined loop;
// same channel, same kind.
absl::Status CheckDone(const InferContext& context, Opcode start, std::string_view label) {
  const Shape& state = context.operand(0);
  if (!state.IsTuple() || state.elements().size() != 3 || !state.element(2).IsToken()) {
    return InvalidProgram(
        {}, fmt::format("{}: the operand is {}, wanted (data, u32[], token[])", label, state.ToString()));
  }
  if (context.computation == nullptr) return absl::OkStatus();
  const Instruction& operand = context.operand_instruction(0);
  if (operand.opcode == Opcode::kParameter || operand.opcode == Opcode::kGetTupleElement)
    return absl::OkStatus();
  if (operand.opcode != start) {
    return InvalidProgram(
        {}, fmt::format("{}: the operand is a {}, wanted {}", label, Name(operand.opcode), Name(start)));
  }
  if (operand.attributes.Int(Attr::kChannelId) != context.attributes().Int(Attr::kChannelId) ||
      IsHostTransfer(operand) != IsHostTransfer(context.instruction)) {
    return InvalidProgram({}, fmt::format("{}: channel_id is {}, the {} has {}", label,
                                          context.attributes().Int(Attr::kChannelId), Name(start),
                                          operand.attributes.Int(Attr::kChannelId)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferSendDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckDone(context, Opcode::kSend, "SendDone-C2"));
  return Shape::Token();
}

// The attributes of the pair: a pipelined -done stands in another computation than its start,
// and has them itself.
const Instruction& TransferBehind(EvalContext& context, Opcode start) {
  const Instruction& operand = context.operand_instruction(0);
  return operand.opcode == start ? operand : context.instruction();
}

absl::StatusOr<Literal> EvalSendDone(EvalContext& context, std::span<Literal>) {
  if (IsHostTransfer(context.instruction())) return Literal::Token();
  ASSAY_ASSIGN_OR_RETURN(const std::optional<Transfer> transfer,
                         TransferOf(context, TransferBehind(context, Opcode::kSend), /*as_source=*/true));
  if (transfer) ASSAY_RETURN_IF_ERROR(context.device().FinishSend(context.instruction(), *transfer));
  return Literal::Token();
}

absl::StatusOr<Shape> InferRecvDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckDone(context, Opcode::kRecv, "RecvDone-C2"));
  return Shape::Tuple({context.operand(0).element(0), Shape::Token()});
}

absl::StatusOr<Literal> EvalRecvDone(EvalContext& context, std::span<Literal> operands) {
  const Shape& wanted = context.result_shape().element(0);
  const Instruction& instruction = TransferBehind(context, Opcode::kRecv);
  ProcessState& process = context.process();
  Literal value;
  if (IsHostTransfer(context.instruction())) {
    const std::string queue = HostQueue(instruction);
    ASSAY_ASSIGN_OR_RETURN(value,
                           TakeItem(process, process.host_to_device[queue], wanted, "host_recv" + queue));
    return Literal::Tuple(context.shared_result_shape(), {std::move(value), Literal::Token()});
  }
  ASSAY_ASSIGN_OR_RETURN(const std::optional<Transfer> transfer,
                         TransferOf(context, instruction, /*as_source=*/false));
  if (transfer) {
    const int64_t number = operands[0].element(1).GetInt(0);
    ASSAY_ASSIGN_OR_RETURN(value, context.device().FinishRecv(context.instruction(), *transfer, number));
    context.Forget(value);
    if (!Shape::Compatible(value.shape(), wanted)) {
      return EvalError({}, fmt::format("Recv-C5: {} was sent on channel {}, {} is received",
                                       value.shape().ToString(), transfer->channel, wanted.ToString()));
    }
  } else {
    ASSAY_ASSIGN_OR_RETURN(value, ZeroInput(context, wanted));
  }
  return Literal::Tuple(context.shared_result_shape(), {std::move(value), Literal::Token()});
}

}  // namespace

constinit const OpDef ops::Infeed = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kInfeedAttrs,
    .infer = InferInfeed,
    .eval = EvalInfeed,
    .work = work::Stream,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .has_side_effect = true,
};
constinit const OpDef ops::Outfeed = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kOutfeedAttrs,
    .infer = InferOutfeed,
    .eval = EvalOutfeed,
    .work = work::Stream,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .has_side_effect = true,
};
constinit const OpDef ops::Send = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kChannelAttrs,
    .infer = InferSend,
    .eval = EvalSend,
    .work = work::Stream,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .channel = Channel::kTransfer,
    .partner_in_computation = true,
    .has_side_effect = true,
};
constinit const OpDef ops::SendDone = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kChannelAttrs,
    .infer = InferSendDone,
    .eval = EvalSendDone,
    .work = work::Stream,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .partner_in_computation = true,
    .has_side_effect = true,
};
constinit const OpDef ops::Recv = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kChannelAttrs,
    .infer = InferRecv,
    .eval = EvalRecv,
    .work = work::Stream,
    .bound = bound::Exact,
    .audit = audit::Nothing,
    .channel = Channel::kTransfer,
    .partner_in_computation = true,
    .has_side_effect = true,
};
constinit const OpDef ops::RecvDone = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .attributes = kChannelAttrs,
    .infer = InferRecvDone,
    .eval = EvalRecvDone,
    .work = work::Stream,
    .bound = bound::Received,
    .audit = audit::Nothing,
    .partner_in_computation = true,
    .has_side_effect = true,
};

}  // namespace assay
