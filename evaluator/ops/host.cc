// Streams and channels: infeed, outfeed, send, recv. Spec: operations-control.md, "Streams" and "Channels".
//
// Infeed, outfeed and host transfers are queues of the process (ProcessState). A device channel of one
// process is a loop to itself: send puts a value on the channel, recv-done takes it. The n-th send meets the n-th recv,
// whose number is in the recv's u32 until its recv-done. Plans put a send before the recv-done that waits for it
// (plan/order.cc), so textual order does not matter; a cycle of waits is a deadlock.
#include <charconv>
#include <optional>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/ops/control.h"
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

// Whether process 0 is a source (side 0) or target (side 1) of
// _xla_send_recv_source_target_pairs={{s,t},...}; without the attribute the process talks to itself.
bool TakesPart(const Instruction& instruction, int side) {
  const std::string* const pairs = FrontendAttribute(instruction, "_xla_send_recv_source_target_pairs");
  if (pairs == nullptr) return true;
  int position = 0;
  for (size_t i = 0; i < pairs->size(); ++i) {
    const char c = (*pairs)[i];
    if (c < '0' || c > '9') continue;
    int64_t id = -1;
    const auto end = std::from_chars(pairs->data() + i, pairs->data() + pairs->size(), id).ptr;
    if (position % 2 == side && id == 0) return true;
    ++position;
    i = static_cast<size_t>(end - pairs->data()) - 1;
  }
  return false;
}

absl::StatusOr<Shape> InferSend(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(RequireToken(context, 1, "Send-C1"));
  return TransferShape(context.operand(0));
}

absl::StatusOr<Literal> EvalSend(EvalContext& context, std::span<Literal> operands) {
  const Instruction& instruction = context.instruction();
  ProcessState& process = context.process();
  if (IsHostTransfer(instruction) || TakesPart(instruction, 0))
    ASSAY_RETURN_IF_ERROR(context.Keep(operands[0]));
  if (IsHostTransfer(instruction)) {
    process.device_to_host[HostQueue(instruction)].push_back(operands[0]);
  } else if (TakesPart(instruction, 0)) {
    DeviceChannel& channel = process.channels[context.attributes().Int(Attr::kChannelId)];
    channel.values.emplace(channel.sends++, operands[0]);
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
  if (!IsHostTransfer(context.instruction()) && TakesPart(context.instruction(), 1))
    number = context.process().channels[context.attributes().Int(Attr::kChannelId)].recvs++;
  ASSAY_ASSIGN_OR_RETURN(Literal data, context.NewResultElement(0, /*zero=*/true));
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(data), Literal::ScalarInt(ElementType::kU32, number), Literal::Token()});
}

// C2: a -done stands on its start, directly or through a tuple of a pipelined loop; same channel, same kind.
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

absl::StatusOr<Literal> EvalSendDone(EvalContext&, std::span<Literal>) { return Literal::Token(); }

absl::StatusOr<Shape> InferRecvDone(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckDone(context, Opcode::kRecv, "RecvDone-C2"));
  return Shape::Tuple({context.operand(0).element(0), Shape::Token()});
}

absl::StatusOr<Literal> EvalRecvDone(EvalContext& context, std::span<Literal> operands) {
  const Shape& wanted = context.result_shape().element(0);
  // A pipelined recv-done stands in another computation than its recv; the attributes are the same.
  const Instruction& operand = context.operand_instruction(0);
  const Instruction& transfer = operand.opcode == Opcode::kRecv ? operand : context.instruction();
  ProcessState& process = context.process();
  Literal value;
  if (IsHostTransfer(context.instruction())) {
    const std::string queue = HostQueue(transfer);
    ASSAY_ASSIGN_OR_RETURN(value,
                           TakeItem(process, process.host_to_device[queue], wanted, "host_recv" + queue));
  } else if (!TakesPart(transfer, 1)) {
    ASSAY_ASSIGN_OR_RETURN(value, ZeroInput(context, wanted));
  } else {
    const int64_t channel = context.attributes().Int(Attr::kChannelId);
    std::map<int64_t, Literal>& values = process.channels[channel].values;
    const auto sent = values.find(operands[0].element(1).GetInt(0));
    if (sent == values.end()) {
      return EvalError(
          {}, fmt::format("deadlock: recv-done waits for channel {}, on which nothing was sent", channel));
    }
    value = std::move(sent->second);
    values.erase(sent);
    context.Forget(value);
    if (!Shape::Compatible(value.shape(), wanted)) {
      return EvalError({}, fmt::format("Recv-C5: {} was sent on channel {}, {} is received",
                                       value.shape().ToString(), channel, wanted.ToString()));
    }
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
    .has_side_effect = true,
};
constinit const OpDef ops::Outfeed = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kOutfeedAttrs,
    .infer = InferOutfeed,
    .eval = EvalOutfeed,
    .work = work::Stream,
    .has_side_effect = true,
};
constinit const OpDef ops::Send = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kChannelAttrs,
    .infer = InferSend,
    .eval = EvalSend,
    .work = work::Stream,
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
    .partner_in_computation = true,
    .has_side_effect = true,
};

}  // namespace assay
