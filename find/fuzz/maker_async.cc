// Asynchronous chains, fusions and calls of whole computations, with effects in them or without.
#include <algorithm>

#include "find/fuzz/maker.h"

namespace assay::fuzz {

Maker::Body Maker::AnyBody(int64_t parameters, bool one_instruction, bool with_effects) {
  Body body;
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < parameters; ++i) {
    const auto like = AnyArray();
    shapes.push_back(like ? ShapeOf(*like) : Shape::Scalar(ElementType::kF32));
  }
  open_.push_back(NewComputation());
  for (const Shape& shape : shapes) AddParameter(shape);
  // One instruction that uses every parameter in its place: text then has a short form for the chain.
  if (one_instruction) {
    Elementwise();
  } else {
    for (int64_t steps = Below(4); steps > 0; --steps) Elementwise();
    if (with_effects && !options_.pure) Effect();
    if (choices_.OneIn(2)) Elementwise();
  }
  if (!AnyArray()) ScalarOf(ElementType::kF32, 1);
  const auto last = static_cast<int32_t>(current().instructions.size()) - 1;
  int32_t root = ShapeOf(last).IsArray() ? last : *AnyArray();
  if (!one_instruction && choices_.OneIn(4)) root = *Add(Opcode::kTuple, {root, *AnyArray()});
  const Shape result = ShapeOf(root);
  for (const int32_t parameter : current().parameters) body.parameters.push_back(ShapeOf(parameter));
  body.id = Close(root);
  body.result = result;
  for (const Shape& shape : body.parameters) {
    const auto operand = JustLike(shape);
    body.operands.push_back(operand ? *operand : AddParameter(shape));
  }
  return body;
}

void Maker::TakeApart(std::optional<int32_t> value) {
  if (!value) return;
  const Shape shape = ShapeOf(*value);
  if (!shape.IsTuple() || shape.elements().empty()) return;
  const int64_t i = Below(static_cast<int64_t>(shape.elements().size()));
  if (shape.element(i).IsArray()) Add(Opcode::kGetTupleElement, {*value}, {{Attr::kIndex, i}});
}

// start binds some of the parameters, updates none or more, done the rest.
void Maker::Async() {
  const Body body = AnyBody(1 + Below(3), choices_.OneIn(2), choices_.OneIn(3));
  const std::string thread = choices_.OneIn(4) ? "side" : "";
  module_.computations[static_cast<size_t>(body.id.value)].execution_thread = thread;
  std::vector<AttributeMap::Entry> attributes = {{Attr::kCalls, body.id}};
  if (!thread.empty()) attributes.push_back({Attr::kAsyncExecutionThread, thread});
  std::vector<Shape> context;
  constexpr ElementType kContexts[] = {ElementType::kU32, ElementType::kS32, ElementType::kF32};
  for (int64_t i = Below(3); i > 0; --i) context.push_back(Shape::Scalar(kContexts[Below(3)]));
  const auto all = static_cast<int64_t>(body.operands.size());
  int64_t bound = choices_.OneIn(2) ? all : Below(all + 1);
  const auto state = [&] {
    std::vector<Shape> elements = {Shape::Tuple({body.parameters.begin(), body.parameters.begin() + bound}),
                                   body.result};
    elements.insert(elements.end(), context.begin(), context.end());
    return Shape::Tuple(std::move(elements));
  };
  std::vector<int32_t> operands(body.operands.begin(), body.operands.begin() + bound);
  auto last = Add(Opcode::kAsyncStart, operands, attributes, state());
  for (int64_t updates = Below(4); last && updates > 0; --updates) {
    const int64_t more = choices_.OneIn(2) ? Below(all - bound + 1) : 0;
    operands = {*last};
    operands.insert(operands.end(), body.operands.begin() + bound, body.operands.begin() + bound + more);
    bound += more;
    last = Add(Opcode::kAsyncUpdate, operands,
               choices_.OneIn(2) ? attributes : std::vector<AttributeMap::Entry>{}, state());
  }
  if (!last) return;
  operands = {*last};
  operands.insert(operands.end(), body.operands.begin() + bound, body.operands.end());
  TakeApart(Add(Opcode::kAsyncDone, operands));
}

void Maker::CopyStart() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x);
  Shape copied = shape;
  if (choices_.OneIn(3)) copied = AnyLayout(shape);
  const auto start =
      Add(Opcode::kCopyStart, {*x}, {}, Shape::Tuple({copied, shape, Shape::Scalar(ElementType::kU32)}));
  if (start) Add(Opcode::kCopyDone, {*start});
}

// Leaves out what the body's result does not need, parameters and their operands included.
void Maker::LeaveOutUnused(Body& body) {
  Computation& before = module_.computations[static_cast<size_t>(body.id.value)];
  const size_t count = before.instructions.size();
  std::vector<bool> is_needed(count);
  is_needed[static_cast<size_t>(before.root)] = true;
  for (size_t k = count; k-- > 0;) {
    for (const int32_t operand : before.instructions[k].operands)
      is_needed[static_cast<size_t>(operand)] = is_needed[static_cast<size_t>(operand)] || is_needed[k];
  }
  Computation after;
  after.name = before.name;
  std::vector<int32_t> operands, became(count);
  for (size_t k = 0; k < count; ++k) {
    if (!is_needed[k]) continue;
    Instruction instruction = std::move(before.instructions[k]);
    for (int32_t& operand : instruction.operands) operand = became[static_cast<size_t>(operand)];
    became[k] = static_cast<int32_t>(after.instructions.size());
    if (instruction.opcode == Opcode::kParameter) {
      operands.push_back(body.operands[static_cast<size_t>(instruction.parameter_number)]);
      instruction.parameter_number = static_cast<int64_t>(after.parameters.size());
      after.parameters.push_back(became[k]);
    }
    after.instructions.push_back(std::move(instruction));
  }
  after.root = became[static_cast<size_t>(before.root)];
  before = std::move(after);
  body.operands = std::move(operands);
}

void Maker::Fusion() {
  constexpr const char* kKinds[] = {"kLoop", "kInput", "kOutput", "kCustom"};
  Body body = AnyBody(1 + Below(3), false, choices_.OneIn(2));
  const char* kind = kKinds[Below(4)];
  // Compilers refuse fusions of parameters that nobody reads, and those of kinds whose form is their own.
  if (options_.pure) {
    LeaveOutUnused(body);
    kind = kKinds[0];
  }
  TakeApart(Add(Opcode::kFusion, body.operands, {{Attr::kKind, Word{kind}}, {Attr::kCalls, body.id}}));
}

void Maker::Call() {
  const Body body = AnyBody(Below(3), false, choices_.OneIn(2));
  TakeApart(Add(Opcode::kCall, body.operands, {{Attr::kToApply, body.id}}));
}

// An array as a buffer and back, now and then through a loop that carries it; and buffers of zeros.
void Maker::Buffers() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x), buffer = Shape::Buffer(shape);
  const auto target = [](const char* name) {
    return AttributeMap::Entry{Attr::kCustomCallTarget, std::string(name)};
  };
  const AttributeMap::Entry alias = {Attr::kOutputToOperandAliasing, Aliasing{OutputOperandAlias{}}};
  auto pinned = choices_.OneIn(4) ? Add(Opcode::kCustomCall, {}, {target("CreateBuffer")}, buffer)
                                  : Add(Opcode::kCustomCall, {*x}, {target("Pin"), alias}, buffer);
  if (pinned && choices_.OneIn(3)) {
    const Shape state = Shape::Tuple({Shape::Scalar(ElementType::kS32), buffer});
    const ComputationId condition = CountsTo(state, Below(4));
    open_.push_back(NewComputation());
    AddParameter(state);
    const int32_t counter = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{0}}});
    const int32_t carried = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{1}}});
    const int32_t more = *Add(Opcode::kAdd, {counter, ScalarOf(ElementType::kS32, 1)});
    const ComputationId iteration = Close(*Add(Opcode::kTuple, {more, carried}));
    const int32_t zero = ScalarOf(ElementType::kS32, 0);
    const auto loop = Add(Opcode::kWhile, {*Add(Opcode::kTuple, {zero, *pinned})},
                          {{Attr::kCondition, condition}, {Attr::kBody, iteration}});
    pinned = loop ? Add(Opcode::kGetTupleElement, {*loop}, {{Attr::kIndex, int64_t{1}}}) : std::nullopt;
  }
  if (pinned) Add(Opcode::kCustomCall, {*pinned}, {target("Unpin"), alias}, shape);
}

// A loop whose iterations have effects: a channel, a stream, a collective or random numbers, again and again.
void Maker::EffectfulLoop() {
  const auto x = AnyArray();
  if (!x) return;
  const Shape shape = ShapeOf(*x), state = Shape::Tuple({Shape::Scalar(ElementType::kS32), shape});
  const ComputationId condition = CountsTo(state, Below(5));
  open_.push_back(NewComputation());
  AddParameter(state);
  const int32_t counter = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{0}}});
  const int32_t value = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{1}}});
  Effect();
  Elementwise();
  const auto next = JustLike(shape);
  const int32_t more = *Add(Opcode::kAdd, {counter, ScalarOf(ElementType::kS32, 1)});
  const ComputationId iteration = Close(*Add(Opcode::kTuple, {more, next.value_or(value)}));
  const int32_t zero = ScalarOf(ElementType::kS32, 0);
  TakeApart(Add(Opcode::kWhile, {*Add(Opcode::kTuple, {zero, *x})},
                {{Attr::kCondition, condition}, {Attr::kBody, iteration}}));
}

ComputationId Maker::CountsTo(const Shape& state, int64_t iterations) {
  open_.push_back(NewComputation());
  AddParameter(state);
  const int32_t i = *Add(Opcode::kGetTupleElement, {0}, {{Attr::kIndex, int64_t{0}}});
  const int32_t limit = ScalarOf(ElementType::kS32, static_cast<double>(iterations));
  return Close(*Add(Opcode::kCompare, {i, limit}, {{Attr::kDirection, Word{"LT"}}}));
}

}  // namespace assay::fuzz
