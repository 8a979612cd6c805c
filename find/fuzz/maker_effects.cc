// Instructions with effects, and those around them: collectives of one device, channels, streams, random
// numbers, tokens, barriers; and sizes that are known when the program runs.
#include <algorithm>

#include "find/fuzz/maker.h"

namespace assay::fuzz {
namespace {

AttributeMap::Entry Groups(Choices& choices) {
  auto groups = std::make_shared<ReplicaGroups>();
  if (choices.OneIn(2)) groups->groups = {{0}};
  return {Attr::kReplicaGroups, std::shared_ptr<const ReplicaGroups>(std::move(groups))};
}

Shape TransferOf(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

}  // namespace

void Maker::Effect() {
  using Method = void (Maker::*)();
  static constexpr Method kEffects[] = {
      &Maker::Collective,   &Maker::Collective, &Maker::CollectiveStart, &Maker::Channel, &Maker::Channel,
      &Maker::HostTransfer, &Maker::Stream,     &Maker::Random,          &Maker::Random,  &Maker::Barrier};
  (this->*kEffects[Below(std::size(kEffects))])();
}

// What all collectives take; a channel chooses the mode of the groups.
std::vector<AttributeMap::Entry> Maker::CollectiveAttributes(bool global_ids) {
  std::vector<AttributeMap::Entry> attributes = {Groups(choices_)};
  if (choices_.OneIn(2)) {
    attributes.push_back({Attr::kChannelId, 1 + Below(3)});
    if (global_ids && choices_.OneIn(2)) attributes.push_back({Attr::kUseGlobalDeviceIds, true});
  }
  if (global_ids && choices_.OneIn(4)) attributes.push_back({Attr::kConstrainLayout, true});
  return attributes;
}

AttributeMap::Entry Maker::SelfPairs() {
  return {Attr::kSourceTargetPairs, choices_.OneIn(3) ? IntLists{} : IntLists{{0, 0}}};
}

void Maker::Collective() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  std::vector<int32_t> operands = {*x};
  if (choices_.OneIn(3)) operands.push_back(LikeThat(shape));
  const AttributeMap::Entry dimension = {Attr::kDimensions, Ints{Below(shape.rank())}};
  const int64_t kind = Below(6);
  std::vector<AttributeMap::Entry> attributes = CollectiveAttributes(kind < 3);
  switch (kind) {
    case 0:
      attributes.push_back(dimension);
      return TakeApart(Add(Opcode::kAllGather, operands, std::move(attributes)));
    case 1:
      attributes.push_back({Attr::kToApply, Binary(Opcode::kAdd, shape.element_type())});
      return TakeApart(Add(Opcode::kAllReduce, operands, std::move(attributes)));
    case 2:
      attributes.push_back(dimension);
      attributes.push_back({Attr::kToApply, Binary(Opcode::kMaximum, shape.element_type())});
      return TakeApart(Add(Opcode::kReduceScatter, operands, std::move(attributes)));
    case 3:
      if (choices_.OneIn(2)) attributes.push_back(dimension);
      return TakeApart(Add(Opcode::kAllToAll, {*x}, std::move(attributes)));
    case 4:
      return TakeApart(Add(Opcode::kCollectiveBroadcast, operands, std::move(attributes)));
    default:
      attributes[0] = SelfPairs();
      return TakeApart(Add(Opcode::kCollectivePermute, operands, std::move(attributes)));
  }
}

void Maker::CollectiveStart() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  std::vector<int32_t> operands = {*x};
  if (choices_.OneIn(3)) operands.push_back(LikeThat(shape));
  const int64_t kind = Below(3);
  std::vector<AttributeMap::Entry> attributes = CollectiveAttributes(kind < 2);
  std::optional<int32_t> start;
  if (kind == 0) {
    attributes.push_back({Attr::kDimensions, Ints{Below(shape.rank())}});
    start = Add(Opcode::kAllGatherStart, operands, std::move(attributes));
    if (start) TakeApart(Add(Opcode::kAllGatherDone, {*start}));
  } else if (kind == 1) {
    attributes.push_back({Attr::kToApply, Binary(Opcode::kAdd, shape.element_type())});
    start = Add(Opcode::kAllReduceStart, operands, std::move(attributes));
    if (start) TakeApart(Add(Opcode::kAllReduceDone, {*start}));
  } else {
    attributes[0] = SelfPairs();
    std::optional<Shape> declared;
    if (operands.size() == 1 && choices_.OneIn(2)) {
      const Shape word = Shape::Scalar(ElementType::kU32);
      declared = Shape::Tuple({shape, shape, word, word});
    }
    start = Add(Opcode::kCollectivePermuteStart, operands, std::move(attributes), std::move(declared));
    if (start) TakeApart(Add(Opcode::kCollectivePermuteDone, {*start}));
  }
}

int32_t Maker::AnyToken() {
  // Mostly a new one: a chain of tokens may make a cycle of waits, which is an error.
  const auto count = static_cast<int32_t>(current().instructions.size());
  for (int32_t i = count; choices_.OneIn(3) && i-- > 0;) {
    if (ShapeOf(i).IsToken()) return i;
  }
  return *Add(Opcode::kAfterAll, {});
}

// What this process sends to itself, on one of a few channels, so that channels are used again; the value
// that is received is found whatever the order of what follows.
void Maker::Channel() {
  std::vector<std::pair<int32_t, Shape>> received;
  const int64_t channel = 1 + Below(3);
  const AttributeMap::Entry id = {Attr::kChannelId, channel};
  std::vector<int32_t> sends;
  for (int64_t pairs = 1 + Below(2); pairs > 0; --pairs) {
    const auto x = AnyArray();
    if (!x) return;
    const Shape shape = ShapeOf(*x);
    const int32_t token = AnyToken();
    const bool recv_first = choices_.OneIn(2);
    std::optional<int32_t> recv;
    if (recv_first) recv = Add(Opcode::kRecv, {token}, {id}, TransferOf(shape));
    const auto send = Add(Opcode::kSend, {*x, token}, {id});
    if (!recv_first) recv = Add(Opcode::kRecv, {token}, {id}, TransferOf(shape));
    if (!send || !recv) return;
    sends.push_back(*send);
    received.push_back({*recv, shape});
  }
  if (choices_.OneIn(2)) std::reverse(received.begin(), received.end());
  for (const int32_t send : sends) Add(Opcode::kSendDone, {send}, {id});
  for (const auto& [recv, shape] : received) {
    const auto done = Add(Opcode::kRecvDone, {recv}, {id});
    if (done) Add(Opcode::kGetTupleElement, {*done}, {{Attr::kIndex, int64_t{0}}});
  }
}

void Maker::HostTransfer() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const std::vector<AttributeMap::Entry> attributes = {{Attr::kChannelId, 4 + Below(2)},
                                                       {Attr::kIsHostTransfer, true}};
  const int32_t token = AnyToken();
  if (choices_.OneIn(2)) {
    const auto send = Add(Opcode::kSend, {*x, token}, attributes);
    if (!send) return;
    const auto done = Add(Opcode::kSendDone, {*send}, attributes);
    if (done && choices_.OneIn(2)) Add(Opcode::kAddDependency, {*x, *done});
    return;
  }
  const auto recv = Add(Opcode::kRecv, {token}, attributes, TransferOf(shape));
  if (!recv) return;
  const auto done = Add(Opcode::kRecvDone, {*recv}, attributes);
  if (done) Add(Opcode::kGetTupleElement, {*done}, {{Attr::kIndex, int64_t{0}}});
}

void Maker::Stream() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const int32_t token = AnyToken();
  if (choices_.OneIn(2)) {
    Add(Opcode::kOutfeed, {*x, token}, {{Attr::kOutfeedShape, std::make_shared<const Shape>(shape)}});
    return;
  }
  const Shape data = choices_.OneIn(3) ? Shape::Tuple({shape, Shape::Scalar(ElementType::kS32)}) : shape;
  const auto infeed = Add(Opcode::kInfeed, {token}, {}, Shape::Tuple({data, Shape::Token()}));
  if (!infeed) return;
  const auto item = Add(Opcode::kGetTupleElement, {*infeed}, {{Attr::kIndex, int64_t{0}}});
  if (data.IsTuple()) TakeApart(item);
}

void Maker::Random() {
  const Shape shape = AnyShape();
  switch (Below(3)) {
    case 0: {
      constexpr const char* kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
      const int32_t state = LikeThat(Shape::ArrayOrDie(ElementType::kU64, DimVector{2}));
      Shape bits = shape;
      bits.set_element_type(choices_.OneIn(2) ? ElementType::kU32 : ElementType::kU64);
      return TakeApart(Add(Opcode::kRngBitGenerator, {state},
                           {{Attr::kAlgorithm, Word{kAlgorithms[Below(3)]}}},
                           Shape::Tuple({ShapeOf(state), bits})));
    }
    case 1:
      Add(Opcode::kRngGetAndUpdateState, {}, {{Attr::kDelta, Below(100)}});
      return;
    default: {
      const ElementType type = shape.element_type();
      if (IsComplex(type)) return;
      const int32_t low = ScalarOf(type, 0), high = ScalarOf(type, 1);
      const bool normal = IsFloat(type) && !options_.cheap && choices_.OneIn(3);
      Add(Opcode::kRng, {low, high}, {{Attr::kDistribution, Word{normal ? "rng_normal" : "rng_uniform"}}},
          shape);
    }
  }
}

// A value as it is, by way of a token, a barrier, a tuple or a copy in another layout.
void Maker::Barrier() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  switch (Below(5)) {
    case 0:
      Add(Opcode::kAddDependency, {*x, AnyToken()});
      return;
    case 1:
      Add(Opcode::kOptBarrier, {*x});
      return;
    case 2: {
      const auto tuple = Add(Opcode::kTuple, {*x, *AnyArray(), *x});
      return TakeApart(choices_.OneIn(2) ? tuple : Add(Opcode::kOptBarrier, {*tuple}));
    }
    case 3:
      Add(Opcode::kDomain, {*x},
          {{Attr::kDomain, RawText{"{kind=\"sharding\", entry={replicated}, exit={maximal device=0}}"}}});
      return;
    default:
      Add(Opcode::kCopy, {*x}, {}, AnyLayout(shape));
  }
}

// A dimension with the size that a number has when the program runs.
void Maker::Dynamic() {
  const auto x = ArrayThat([](const Shape& shape) { return shape.rank() > 0; });
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  const int64_t d = Below(shape.rank());
  const int32_t size = ScalarOf(ElementType::kS32, static_cast<double>(Below(shape.size(d) + 1)));
  const auto sized = Add(Opcode::kSetDimensionSize, {*x, size}, {{Attr::kDimensions, Ints{d}}});
  if (sized && choices_.OneIn(3)) Add(Opcode::kGetDimensionSize, {*sized}, {{Attr::kDimensions, Ints{d}}});
}

Shape Maker::AnyLayout(const Shape& array) {
  Layout layout;
  for (int64_t d = 0; d < array.rank(); ++d) {
    layout.minor_to_major.insert(layout.minor_to_major.begin() + Below(d + 1), d);
  }
  Shape shape = array;
  shape.set_layout(std::move(layout));
  return shape;
}

}  // namespace assay::fuzz
