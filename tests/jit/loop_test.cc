// Generated loops against the op table, with each stream between two pages that must not be touched.
#include "jit/loop.h"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "fmt/format.h"
#include "tests/jit/loop_testing.h"

namespace assay::testing {
namespace {

constexpr int64_t kPage = 4096;

// `bytes` bytes right before (or, with `front`, right behind) a page that can't be touched.
class Guarded {
 public:
  Guarded(int64_t bytes, bool front) : pages_((bytes + kPage - 1) / kPage + 2) {
    base_ =
        static_cast<std::byte*>(mmap(nullptr, pages_ * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    if (pages_ > 2) REQUIRE(mprotect(base_ + kPage, (pages_ - 2) * kPage, PROT_READ | PROT_WRITE) == 0);
    data_ = front ? base_ + kPage : base_ + (pages_ - 1) * kPage - bytes;
  }
  Guarded(Guarded&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), data_(other.data_), pages_(other.pages_) {}
  ~Guarded() {
    if (base_ != nullptr) munmap(base_, pages_ * kPage);
  }
  std::byte* data() const { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  int64_t pages_;
};

std::string Describe(const jit::Segment& segment) {
  std::string text;
  for (size_t i = 0; i < segment.nodes.size(); ++i) {
    const jit::Node& node = segment.nodes[i];
    text += fmt::format("%{} = {} {}({}, {}, {}) a={} flag={}\n", i, Name(node.type), Name(node.opcode),
                        node.operands[0], node.operands[1], node.operands[2], node.a, node.flag);
  }
  return text;
}

// Every stored stream has the op table's bits, and nothing beside the streams is touched.
void Check(const jit::Segment& segment, Isa target, int64_t n, Random& random) {
  const absl::StatusOr<jit::Loop> loop = jit::Loop::Make(segment, target);
  INFO(Describe(segment) << loop.status().message() << " target " << static_cast<int>(target) << " n " << n);
  REQUIRE(loop.ok());
  std::vector<std::vector<std::byte>> inputs;
  std::vector<Guarded> memory;
  std::vector<void*> table;
  std::vector<bool> stored(segment.streams.size(), false);
  for (const jit::Store& store : segment.stores) stored[store.stream] = true;
  for (size_t k = 0; k < segment.streams.size(); ++k) {
    const jit::Stream& stream = segment.streams[k];
    inputs.push_back(HostileElements(stream.type, stream.repeated ? 1 : n, random));
    if (stream.repeated) {
      const std::vector<std::byte> one = inputs.back();
      inputs.back().clear();
      for (int64_t i = 0; i < jit::kMaxLanes; ++i)
        inputs.back().insert(inputs.back().end(), one.begin(), one.end());
    }
    const bool aligned = stream.streamed;
    memory.emplace_back(static_cast<int64_t>(inputs.back().size()), aligned || random() % 2 == 0);
    if (!stored[k]) std::copy(inputs.back().begin(), inputs.back().end(), memory.back().data());
    table.push_back(memory.back().data());
  }
  loop->Run(table, n);
  const auto wanted = Wanted(segment, inputs, n);
  for (size_t s = 0; s < segment.stores.size(); ++s) {
    const int stream = segment.stores[s].stream, bytes = Bytes(segment.streams[stream].type);
    const std::byte* const actual = memory[stream].data();
    for (int64_t i = 0; i < n; ++i) {
      if (std::memcmp(actual + i * bytes, wanted[s].data() + i * bytes, bytes) == 0) continue;
      uint64_t got = 0, want = 0;
      std::memcpy(&got, actual + i * bytes, bytes);
      std::memcpy(&want, wanted[s].data() + i * bytes, bytes);
      std::string operands;
      for (size_t k = 0; k < inputs.size(); ++k) {
        uint64_t bits = 0;
        const int width = Bytes(segment.streams[k].type);
        std::memcpy(&bits, inputs[k].data() + (segment.streams[k].repeated ? 0 : i) * width, width);
        operands += fmt::format(" {}:{:#x}", Name(segment.streams[k].type), bits);
      }
      FAIL("store " << s << " element " << i << fmt::format(" is {:#x}, wanted {:#x};", got, want)
                    << operands);
    }
  }
}

jit::Segment OneNode(jit::Node node, std::span<const ElementType> types) {
  jit::Segment segment;
  for (size_t k = 0; k < types.size(); ++k) {
    segment.streams.push_back({types[k]});
    segment.nodes.push_back({.opcode = Opcode::kParameter, .type = types[k], .a = static_cast<int64_t>(k)});
    node.operands[k] = static_cast<int16_t>(k);
  }
  segment.streams.push_back({node.type});
  segment.stores.push_back({static_cast<int16_t>(types.size()), static_cast<int16_t>(types.size())});
  segment.nodes.push_back(node);
  return segment;
}

struct Signature {
  jit::Node node;
  std::vector<ElementType> types;
};

// Every op with every type that can be generated.
std::vector<Signature> Signatures(Isa target) {
  std::vector<Signature> all;
  const auto add = [&](jit::Node node, std::vector<ElementType> types) {
    if (DefinitionOf(node.opcode).types.Has(types.back()) && jit::CanGenerate(node, types, target))
      all.push_back({node, std::move(types)});
  };
  constexpr Opcode kUnary[] = {Opcode::kAbs,
                               Opcode::kNegate,
                               Opcode::kSign,
                               Opcode::kNot,
                               Opcode::kCeil,
                               Opcode::kFloor,
                               Opcode::kSqrt,
                               Opcode::kRoundNearestAfz,
                               Opcode::kReal,
                               Opcode::kCopy,
                               Opcode::kRoundNearestEven};
  constexpr Opcode kBinary[] = {Opcode::kAdd,
                                Opcode::kSubtract,
                                Opcode::kMultiply,
                                Opcode::kDivide,
                                Opcode::kMaximum,
                                Opcode::kMinimum,
                                Opcode::kAnd,
                                Opcode::kOr,
                                Opcode::kXor,
                                Opcode::kShiftLeft,
                                Opcode::kShiftRightLogical,
                                Opcode::kShiftRightArithmetic};
  for (ElementType type : kKnownTypes) {
    for (Opcode opcode : kUnary) add({.opcode = opcode, .type = type}, {type});
    for (Opcode opcode : kBinary) add({.opcode = opcode, .type = type}, {type, type});
    add({.opcode = Opcode::kIsFinite, .type = ElementType::kPred}, {type});
    add({.opcode = Opcode::kClamp, .type = type}, {type, type, type});
    add({.opcode = Opcode::kSelect, .type = type}, {ElementType::kPred, type, type});
    for (int64_t order = 0; order < 6; ++order) {
      add({.opcode = Opcode::kCompare, .type = ElementType::kPred, .a = order}, {type, type});
      if (IsFloat(type))
        add({.opcode = Opcode::kCompare, .type = ElementType::kPred, .a = order, .flag = true}, {type, type});
    }
    for (ElementType result : kKnownTypes) {
      if (result == type) continue;
      add({.opcode = Opcode::kConvert, .type = result}, {type});
      add({.opcode = Opcode::kBitcastConvert, .type = result}, {type});
    }
  }
  return all;
}

TEST_CASE("jit: every op on every type has the op table's bits, on both instruction sets", "[jit]") {
  Random random(1);
  for (Isa target : MachineTargets()) {
    const auto signatures = Signatures(target);
    CHECK(signatures.size() > 450);
    for (const Signature& signature : signatures) {
      for (int64_t n : {1, 7, 64, 1000}) Check(OneNode(signature.node, signature.types), target, n, random);
    }
  }
}

TEST_CASE("jit: ops of one 16-bit operand are right on every value", "[jit]") {
  for (Isa target : MachineTargets()) {
    for (const Signature& signature : Signatures(target)) {
      if (signature.types.size() != 1 || Bits(signature.types[0]) != 16) continue;
      const jit::Segment segment = OneNode(signature.node, signature.types);
      INFO(Describe(segment));
      const absl::StatusOr<jit::Loop> loop = jit::Loop::Make(segment, target);
      REQUIRE(loop.ok());
      std::vector<std::byte> in(2 * 65536), out(static_cast<size_t>(65536 * Bytes(signature.node.type)));
      for (uint32_t i = 0; i < 65536; ++i) std::memcpy(in.data() + 2 * i, &i, 2);
      void* const table[] = {in.data(), out.data()};
      loop->Run(table, 65536);
      CHECK((out == Wanted(segment, {in, {}}, 65536)[0]));
    }
  }
}

// A node of a known signature for which the segment has operands.
void AddRandomNode(jit::Segment& segment, const std::vector<Signature>& signatures, Random& random) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const Signature& signature = signatures[random() % signatures.size()];
    jit::Node node = signature.node;
    bool complete = true;
    for (size_t k = 0; k < signature.types.size() && complete; ++k) {
      complete = false;
      for (int t = 0; t < 20 && !complete; ++t) {
        const size_t i = random() % segment.nodes.size();
        complete = segment.nodes[i].type == signature.types[k];
        node.operands[k] = static_cast<int16_t>(i);
      }
    }
    if (!complete) continue;
    segment.nodes.push_back(node);
    return;
  }
}

jit::Segment RandomSegment(const std::vector<Signature>& signatures, int nodes, Random& random) {
  jit::Segment segment;
  // Now and then 32-bit lanes alone.
  const bool narrow = random() % 2 == 0;
  std::vector<Signature> usable;
  for (const Signature& s : signatures) {
    bool wide = Bits(s.node.type) == 64;
    for (ElementType type : s.types) wide = wide || Bits(type) == 64;
    if (!narrow || !wide) usable.push_back(s);
  }
  const int inputs = 1 + static_cast<int>(random() % 12);
  for (int k = 0; k < inputs; ++k) {
    ElementType type;
    do type = kKnownTypes[random() % std::size(kKnownTypes)];
    while (narrow && Bits(type) == 64);
    segment.streams.push_back({type, random() % 4 == 0});
    segment.nodes.push_back({.opcode = Opcode::kParameter, .type = type, .a = k});
  }
  for (int i = 0; i < nodes; ++i) AddRandomNode(segment, usable, random);
  const int stores = 1 + static_cast<int>(random() % 3);
  for (int s = 0; s < stores; ++s) {
    const size_t node = s == 0 ? segment.nodes.size() - 1 : random() % segment.nodes.size();
    segment.stores.push_back({static_cast<int16_t>(node), static_cast<int16_t>(segment.streams.size())});
    segment.streams.push_back({segment.nodes[node].type});
  }
  return segment;
}

TEST_CASE("jit: random segments have the op table's bits", "[jit]") {
  Random random(2);
  for (Isa target : MachineTargets()) {
    const auto signatures = Signatures(target);
    for (int round = 0; round < 400; ++round) {
      const int nodes = 1 + static_cast<int>(random() % (round % 8 == 0 ? 120 : 20));  // more than registers
      jit::Segment segment = RandomSegment(signatures, nodes, random);
      for (const jit::Store& store : segment.stores)
        segment.streams[store.stream].streamed = random() % 2 == 0;
      constexpr int64_t kSizes[] = {1, 3, 7, 16, 63, 64, 65, 200};
      Check(segment, target, kSizes[random() % std::size(kSizes)], random);
    }
  }
}

// A random segment over again, with a counter and what its streams become; every stream holds one element.
struct RandomRecurrence {
  jit::Segment segment;
  int16_t condition = 0;
};
RandomRecurrence MakeRecurrence(const std::vector<Signature>& signatures, int nodes, Random& random) {
  RandomRecurrence r{.segment = RandomSegment(signatures, nodes, random)};
  jit::Segment& segment = r.segment;
  segment.streams.resize(segment.streams.size() - segment.stores.size());
  segment.stores.clear();
  for (size_t k = 0; k < segment.streams.size(); ++k) {
    segment.streams[k].repeated = true;
    std::vector<int16_t> nodes_of_type;
    for (size_t i = 0; i < segment.nodes.size(); ++i) {
      if (segment.nodes[i].type == segment.streams[k].type) nodes_of_type.push_back(static_cast<int16_t>(i));
    }
    if (random() % 4 != 0)
      segment.stores.push_back({nodes_of_type[random() % nodes_of_type.size()], static_cast<int16_t>(k)});
  }
  const auto streams = static_cast<int16_t>(segment.streams.size());
  const auto first = static_cast<int16_t>(segment.nodes.size());
  for (int16_t k = 0; k < 3; ++k) {  // the counter, one, the limit
    segment.streams.push_back({ElementType::kU8, true});
    segment.nodes.push_back({.opcode = Opcode::kParameter, .type = ElementType::kU8, .a = streams + k});
  }
  const auto node = [&](int k) { return static_cast<int16_t>(first + k); };
  segment.nodes.push_back(
      {.opcode = Opcode::kAdd, .type = ElementType::kU8, .operands = {node(0), node(1), -1}});
  segment.nodes.push_back({.opcode = Opcode::kCompare,
                           .type = ElementType::kPred,
                           .operands = {node(0), node(2), -1},
                           .a = static_cast<int64_t>(jit::Order::kLt)});
  segment.stores.push_back({node(3), streams});
  r.condition = node(4);
  return r;
}

TEST_CASE("jit: random recurrences have the op table's bits", "[jit]") {
  Random random(3);
  for (Isa target : MachineTargets()) {
    const auto signatures = Signatures(target);
    for (int round = 0; round < 300; ++round) {
      const int nodes = 1 + static_cast<int>(random() % (round % 8 == 0 ? 120 : 20));
      const auto [segment, condition] = MakeRecurrence(signatures, nodes, random);
      const auto recurrence = jit::Recurrence::Make(segment, condition, target);
      INFO(Describe(segment) << recurrence.status().message() << " target " << static_cast<int>(target));
      REQUIRE(recurrence.ok());
      const size_t count = segment.streams.size();
      std::vector<std::vector<std::byte>> state;
      for (const jit::Stream& stream : segment.streams)
        state.push_back(HostileElements(stream.type, 1, random));
      state[count - 3][0] = std::byte{0};
      state[count - 2][0] = std::byte{1};
      const auto limit = static_cast<int64_t>(1 + random() % 9),
                 wanted_times = static_cast<int64_t>(random() % 9);
      state[count - 1][0] = static_cast<std::byte>(wanted_times);

      std::vector<Guarded> memory;
      std::vector<void*> table;
      for (size_t k = 0; k < count; ++k) {
        const size_t bytes = state[k].size();
        memory.emplace_back(static_cast<int64_t>(bytes) * jit::kMaxLanes, random() % 2 == 0);
        for (int64_t i = 0; i < jit::kMaxLanes; ++i)
          std::copy(state[k].begin(), state[k].end(), memory.back().data() + i * static_cast<int64_t>(bytes));
        table.push_back(memory.back().data());
      }
      const int64_t times = recurrence->Run(table, limit);
      CHECK(times == std::min(limit, wanted_times));
      for (int64_t i = 0; i < times; ++i) {
        const auto next = Wanted(segment, state, 1);
        for (size_t s = 0; s < segment.stores.size(); ++s) state[segment.stores[s].stream] = next[s];
      }
      for (size_t k = 0; k < count; ++k) {
        INFO("stream " << k << ", " << Name(segment.streams[k].type) << ", after " << times);
        CHECK(std::memcmp(memory[k].data(), state[k].data(), state[k].size()) == 0);
      }
    }
  }
}

TEST_CASE("jit: a recurrence spreads one lane to all, of every type", "[jit]") {
  using enum ElementType;
  for (Isa target : MachineTargets()) {
    for (ElementType type : {kPred, kS8, kU16, kBF16, kF16, kS32, kF32, kU64, kF64}) {
      jit::Segment segment;
      segment.streams = {{type, true}, {kPred, true}};
      segment.nodes = {{.opcode = Opcode::kParameter, .type = type, .a = 0},
                       {.opcode = Opcode::kBroadcast, .type = type, .operands = {0, -1, -1}},
                       {.opcode = Opcode::kParameter, .type = kPred, .a = 1}};
      segment.stores = {{1, 0}};
      const int bytes = Bytes(type), most = jit::MaxLanes(segment, target);
      CHECK(absl::IsUnimplemented(jit::Recurrence::Make(segment, 2, target, most + 1).status()));
      for (int elements = 1; elements <= most; ++elements) {
        segment.nodes[1].a = elements - 1;
        const auto recurrence = jit::Recurrence::Make(segment, 2, target, elements);
        REQUIRE(recurrence.ok());
        // Small numbers: of each type another value, and none a NaN. In a pred they are 0 and 1.
        std::vector<std::byte> values(jit::kMaxLanes * bytes), yes(jit::kMaxLanes, std::byte{1});
        for (int i = 0; i < jit::kMaxLanes; ++i)
          values[i * bytes] = static_cast<std::byte>(type == kPred ? (i * 5 / 3) % 2 : i + 1);
        const std::vector<std::byte> before = values;
        const std::vector<void*> table = {values.data(), yes.data()};
        CHECK(recurrence->Run(table, 1) == 1);
        for (int i = 0; i < elements; ++i) {
          INFO(Name(type) << " lane " << elements - 1 << " to " << i);
          CHECK(std::memcmp(&values[i * bytes], &before[(elements - 1) * bytes], bytes) == 0);
        }
      }
    }
  }
}

TEST_CASE("jit: a result may overwrite an operand", "[jit]") {
  for (Isa target : MachineTargets()) {
    jit::Node node{.opcode = Opcode::kSubtract, .type = ElementType::kF32};
    const absl::StatusOr<jit::Loop> loop =
        jit::Loop::Make(OneNode(node, std::array{ElementType::kF32, ElementType::kF32}), target);
    REQUIRE(loop.ok());
    for (int64_t n : {0, 5, 16, 37}) {
      std::vector<float> x(static_cast<size_t>(n), 5), y(static_cast<size_t>(n), 3);
      void* const table[] = {x.data(), y.data(), y.data()};
      loop->Run(table, n);
      CHECK(y == std::vector<float>(static_cast<size_t>(n), 2));
    }
  }
}

// Address and rights of every mapping: "7f..-7f.. rwxp".
std::vector<std::string> Mappings() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> mappings;
  for (std::string line; std::getline(maps, line);) {
    const bool ours = line.find('/') == std::string::npos && line.find('[') == std::string::npos;
    mappings.push_back(line.substr(0, line.find(' ') + 5) + (ours ? "" : " file"));
  }
  return mappings;
}

TEST_CASE("jit: no mapping is ever writable and executable", "[jit]") {
  const auto targets = MachineTargets();
  if (targets.empty()) return;
  Random random(3);
  std::vector<jit::Loop> loops;
  // oneDNN's code, where a test used it, is not ours to protect.
  const std::vector<std::string> before = Mappings();
  for (int i = 0; i < 20; ++i) {
    const auto signatures = Signatures(targets.back());
    loops.push_back(*jit::Loop::Make(RandomSegment(signatures, 10, random), targets.back()));
    int executable = 0;
    for (const std::string& mapping : Mappings()) {
      executable += mapping.ends_with(" r-xp");
      if (std::find(before.begin(), before.end(), mapping) != before.end()) continue;
      INFO(mapping);
      REQUIRE(mapping.find(" rwx") == std::string::npos);
    }
    CHECK(executable >= 1);  // the code's own
  }
}

TEST_CASE("jit: a segment that is too large is declined", "[jit]") {
  const auto targets = MachineTargets();
  if (targets.empty()) return;
  jit::Segment segment =
      OneNode({.opcode = Opcode::kNegate, .type = ElementType::kF32}, std::array{ElementType::kF32});
  for (int16_t i = 1; i < 5000; ++i)
    segment.nodes.push_back({.opcode = Opcode::kNegate, .type = ElementType::kF32, .operands = {i, -1, -1}});
  CHECK(absl::IsUnimplemented(jit::Loop::Make(segment, targets[0]).status()));
}

}  // namespace
}  // namespace assay::testing
