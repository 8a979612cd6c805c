#include "jit/loop.h"

#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "jit/assembler.h"
#include "jit/emit.h"
#include "jit/perf_map.h"

namespace assay::jit {
namespace {

constexpr int kNoCondition = -1, kSteps = -2;  // in the place of a condition
constexpr size_t kMaxStreams = 256;
constexpr size_t kMaxNodes = 4096;

bool HasWideLanes(const Segment& segment) {
  return std::any_of(segment.nodes.begin(), segment.nodes.end(),
                     [](const Node& node) { return LaneOf(node.type) == Lane::k64; });
}

// What the code does with the segment: all elements, the first ones over and over, or steps.
enum class Form { kLoop, kRecurrence, kSteps };

// Gives the values of a segment registers, in order. What has no register any more when it is needed again is
// loaded anew where it came from a stream, else from a slot of scratch memory. The one whose next use is
// farthest goes first.
//
// A recurrence keeps its state in pinned registers from one time to the next, as far as there are some, and
// stores it at the end: through memory, a value takes longer than most of what is done with it.
class Generator {
 public:
  Generator(const Segment& segment, Isa target, int lanes, Form form, int condition)
      : segment_(segment),
        form_(form),
        condition_(condition),
        assembler_(target, lanes),
        uses_(segment.nodes.size()),
        places_(segment.nodes.size()),
        held_(static_cast<size_t>(assembler_.num_vectors() - kTemporaries), -1),
        pinned_(segment.streams.size(), -1) {}

  absl::StatusOr<CodeMemory> Run() {
    FindUses();
    if (form_ == Form::kRecurrence) {
      PinState();
      assembler_.BeginRepetition(static_cast<int>(segment_.streams.size()) + 1, [this] { LoadState(); });
    } else {
      assembler_.Begin(static_cast<int>(segment_.streams.size()) + 1);
    }
    for (now_ = 0; now_ < static_cast<int>(segment_.nodes.size()); ++now_) Generate();
    if (condition_ >= 0) assembler_.LeaveUnless(Fetch(condition_, -1, -1));
    ++now_;
    for (const Store& store : segment_.stores) {
      const Vec v = Fetch(store.node, -1, -1);
      if (pinned_[store.stream] >= 0) {
        assembler_.Move({pinned_[store.stream]}, v);
      } else {
        assembler_.Store(v, store.stream, segment_.streams[store.stream], places_[store.node].exact);
      }
      ++now_;
    }
    switch (form_) {
      case Form::kRecurrence:
        return assembler_.EndOfRepetition([this] { StoreState(); });
      case Form::kSteps:
        return assembler_.EndOfSteps(static_cast<int>(segment_.streams.size()) + 1);
      default:
        return assembler_.End();
    }
  }

  int lanes() const { return assembler_.lanes(); }
  int slots() const { return slots_; }

 private:
  struct Place {
    int vec = -1;           // register, -1: none
    int slot = -1;          // scratch memory that also has it
    bool observed = false;  // somebody sees the bits of its NaN
    bool exact = false;     // it may be any NaN
  };

  // Finds at which steps a value is used: the nodes by their index, then the condition, then the stores.
  void FindUses() {
    const int count = static_cast<int>(segment_.nodes.size());
    for (int i = 0; i < count; ++i) {
      const Node& node = segment_.nodes[i];
      for (int k = 0; k < node.num_operands(); ++k) {
        uses_[node.operands[k]].push_back(i);
        if (!SeesNaNAlone(node)) places_[node.operands[k]].observed = true;
      }
    }
    if (condition_ >= 0) uses_[condition_].push_back(count);
    for (size_t s = 0; s < segment_.stores.size(); ++s) {
      uses_[segment_.stores[s].node].push_back(count + 1 + static_cast<int>(s));
      if (form_ != Form::kRecurrence) places_[segment_.stores[s].node].observed = true;
    }
    for (int i = 0; i < count; ++i) places_[i].exact = !IsFloatArithmetic(segment_.nodes[i]);
  }

  // Chooses what is pinned. Only what comes next sees the bits of a pinned NaN, until it is stored.
  void PinState() {
    constexpr size_t kOthers = 8;
    for (const Store& store : segment_.stores) {
      if (held_.size() > kOthers) {
        held_.pop_back();
        pinned_[store.stream] = static_cast<int>(held_.size());
      }
    }
    for (const Store& store : segment_.stores) {
      if (pinned_[store.stream] < 0 || IsObserved(store.stream)) places_[store.node].observed = true;
    }
  }
  // Whether a node sees the bits of a NaN of the stream.
  bool IsObserved(int stream) const {
    for (size_t i = 0; i < segment_.nodes.size(); ++i) {
      const Node& node = segment_.nodes[i];
      if (node.opcode == Opcode::kParameter && node.a == stream && places_[i].observed) return true;
    }
    return false;
  }
  void LoadState() {
    for (size_t k = 0; k < pinned_.size(); ++k) {
      if (pinned_[k] >= 0) assembler_.Load({pinned_[k]}, static_cast<int>(k), segment_.streams[k], true);
    }
  }
  void StoreState() {
    for (const Store& store : segment_.stores) {
      const Vec v = {pinned_[store.stream]};
      if (v.index < 0) continue;
      const Place& place = places_[store.node];
      const Stream& stream = segment_.streams[store.stream];
      if (!place.exact && !place.observed) MakeCanonical(assembler_, stream.type, v);
      assembler_.Store(v, store.stream, stream, place.exact);
    }
  }

  // The first use at or after now; none: very late.
  int NextUse(int node) const {
    const auto& uses = uses_[node];
    const auto next = std::lower_bound(uses.begin(), uses.end(), now_);
    return next == uses.end() ? 1 << 30 : *next;
  }

  bool IsLoad(int node) const { return segment_.nodes[node].opcode == Opcode::kParameter; }

  // A register for a value of this step, not those of `keep`.
  int TakeRegister(std::span<const int> keep) {
    int best = -1, best_use = -1;
    for (size_t r = 0; r < held_.size(); ++r) {
      if (held_[r] < 0) return static_cast<int>(r);
      if (std::find(keep.begin(), keep.end(), held_[r]) != keep.end()) continue;
      const int use = NextUse(held_[r]);
      if (use > best_use) best = static_cast<int>(r), best_use = use;
    }
    Place& place = places_[held_[best]];
    if (!IsLoad(held_[best]) && place.slot < 0 && best_use < (1 << 30)) {
      place.slot = slots_++;
      assembler_.SaveTo({best}, ScratchStream(), place.slot);
    }
    place.vec = -1;
    held_[best] = -1;
    return best;
  }

  void Hold(int node, int r) {
    held_[r] = node;
    places_[node].vec = r;
  }

  int ScratchStream() const { return static_cast<int>(segment_.streams.size()); }

  // The value in a register; operands a and b, where not -1, keep theirs.
  Vec Fetch(int node, int a, int b) {
    Place& place = places_[node];
    if (IsLoad(node)) {
      const int pinned = pinned_[static_cast<size_t>(segment_.nodes[node].a)];
      if (pinned >= 0) return {pinned};
    }
    if (place.vec < 0) {
      const std::array<int, 2> keep = {a, b};
      Hold(node, TakeRegister(keep));
      if (IsLoad(node)) {
        const int stream = static_cast<int>(segment_.nodes[node].a);
        assembler_.Load({place.vec}, stream, segment_.streams[stream], place.observed);
      } else {
        assembler_.RestoreFrom({place.vec}, ScratchStream(), place.slot);
      }
    }
    return {place.vec};
  }

  void Generate() {
    if (IsLoad(now_) || uses_[now_].empty()) return;  // loaded where it is used
    const Node& node = segment_.nodes[now_];
    Emitted what{.node = &node, .canonical = places_[now_].observed};
    std::array<int, 3> operands = {-1, -1, -1};
    for (int k = 0; k < node.num_operands(); ++k) {
      operands[k] = node.operands[k];
      what.operands[k] = Fetch(operands[k], operands[0], operands[1]);
      what.types[k] = segment_.nodes[operands[k]].type;
    }
    const int d = TakeRegister(operands);
    what.d = {d};
    Emit(assembler_, what);
    ++now_;  // uses of this step are past
    for (int operand : operands) {
      if (operand >= 0 && places_[operand].vec >= 0 && NextUse(operand) == 1 << 30) {
        held_[places_[operand].vec] = -1;
        places_[operand].vec = -1;
      }
    }
    --now_;
    Hold(now_, d);
  }

  const Segment& segment_;
  const Form form_;
  const int condition_;
  Assembler assembler_;
  std::vector<absl::InlinedVector<int, 4>> uses_;
  std::vector<Place> places_;
  std::vector<int> held_;    // by register: the value in it, or -1
  std::vector<int> pinned_;  // by stream: the register of a state, or -1
  int now_ = 0;
  int slots_ = 0;
};

absl::Status CheckSize(const Segment& segment) {
  if (segment.nodes.size() <= kMaxNodes && segment.streams.size() <= kMaxStreams) return absl::OkStatus();
  return NotSupported({}, fmt::format("{} on {} arrays are too many for one loop",
                                      Counted(segment.nodes.size(), "instruction"), segment.streams.size()));
}

// What is loaded anew must not have been stored over: stored values are no loads.
void CopyStoredLoads(Segment& segment) {
  for (Store& store : segment.stores) {
    const Node node = segment.nodes[static_cast<size_t>(store.node)];
    if (node.opcode != Opcode::kParameter) continue;
    segment.nodes.push_back({.opcode = Opcode::kCopy, .type = node.type, .operands = {store.node, -1, -1}});
    store.node = static_cast<int16_t>(segment.nodes.size() - 1);
  }
}

// "assay_fused_multiply_add/r": what the code computes, its first ops by name, and for whom.
std::string NameOfCode(const Segment& segment, Form form) {
  constexpr int kNamed = 8;
  std::string name = form == Form::kLoop         ? "assay_fused"
                     : form == Form::kRecurrence ? "assay_while"
                                                 : "assay_scalar";
  int ops = 0;
  for (const Node& node : segment.nodes) {
    if (node.opcode != Opcode::kParameter && ++ops <= kNamed) name += fmt::format("_{}", Name(node.opcode));
  }
  if (ops > kNamed) name += fmt::format("_and_{}_more", ops - kNamed);
  return fmt::format("{}/{}", name, segment.origin);
}

// The segment's code, from the cache if it is there.
absl::StatusOr<std::shared_ptr<const GeneratedCode>> CodeFor(const Segment& segment, Isa target, int lanes,
                                                             Form form = Form::kLoop,
                                                             int condition = kNoCondition) {
  const auto make = [&]() -> absl::StatusOr<GeneratedCode> {
    try {
      Generator generator(segment, target, lanes, form, condition);
      GeneratedCode code;
      ASSAY_ASSIGN_OR_RETURN(code.memory, generator.Run());
      code.lanes = generator.lanes();
      code.slots = generator.slots();
      if (PerfMapIsOn()) AddToPerfMap(code.memory.entry(), code.memory.size(), NameOfCode(segment, form));
      return code;
    } catch (const std::exception& error) {  // of xbyak
      return NotSupported({}, fmt::format("no code was generated: {}", error.what()));
    }
  };
  return CodeCache::OfProcess().Get(KeyOf(segment, target, lanes, form == Form::kSteps ? kSteps : condition),
                                    make);
}

// Memory for the values that no register was left for.
struct alignas(kSlotBytes) Scratch {
  std::byte bytes[kSlotBytes];
};

}  // namespace

void StreamFence() { _mm_sfence(); }

int MaxLanes(const Segment& segment, Isa target) {
  return (target == Isa::kAvx512 ? 16 : 8) / (HasWideLanes(segment) ? 2 : 1);
}

absl::StatusOr<Loop> Loop::Make(const Segment& segment, Isa target) {
  ASSAY_RETURN_IF_ERROR(CheckSize(segment));
  Loop loop;
  loop.streams_ = segment.streams;
  loop.stored_.assign(segment.streams.size(), false);
  for (const Store& store : segment.stores) loop.stored_[store.stream] = true;
  ASSAY_ASSIGN_OR_RETURN(loop.code_, CodeFor(segment, target, MaxLanes(segment, target)));
  return loop;
}

void Loop::Run(std::span<void* const> streams, int64_t n) const {
  using Code = void (*)(void* const* streams, int64_t elements);
  ASSAY_CHECK(streams.size() == streams_.size());
  absl::InlinedVector<Scratch, 8> scratch(static_cast<size_t>(code_->slots));
  const int64_t whole = n / lanes() * lanes();
  if (whole > 0) {
    absl::InlinedVector<void*, 16> table(streams.begin(), streams.end());
    table.push_back(scratch.data());
    reinterpret_cast<Code>(const_cast<void*>(code_->memory.entry()))(table.data(), whole);
  }
  if (whole < n) RunTail(streams, whole, n - whole, scratch.data());
}

// The last elements, fewer than the lanes: one step on copies that are as long as the lanes.
void Loop::RunTail(std::span<void* const> streams, int64_t begin, int64_t n, void* scratch) const {
  using Code = void (*)(void* const* streams, int64_t elements);
  struct alignas(64) Lanes {
    std::byte bytes[kMaxLanes * 8];
  };
  constexpr size_t kFew = 12;
  std::array<Lanes, kFew> few;  // not cleared
  std::unique_ptr<Lanes[]> many;
  Lanes* copies = few.data();
  if (streams.size() > kFew) {
    many.reset(new Lanes[streams.size()]);
    copies = many.get();
  }
  absl::InlinedVector<void*, 16> table;
  for (size_t k = 0; k < streams.size(); ++k) {
    table.push_back(streams_[k].repeated ? streams[k] : copies[k].bytes);
    if (streams_[k].repeated || stored_[k]) continue;
    const int bytes = Bytes(streams_[k].type);
    std::memset(copies[k].bytes, 0, static_cast<size_t>(lanes()) * bytes);
    std::memcpy(copies[k].bytes, static_cast<const std::byte*>(streams[k]) + begin * bytes, n * bytes);
  }
  table.push_back(scratch);
  reinterpret_cast<Code>(const_cast<void*>(code_->memory.entry()))(table.data(), lanes());
  for (size_t k = 0; k < streams.size(); ++k) {
    if (!stored_[k]) continue;
    const int bytes = Bytes(streams_[k].type);
    std::memcpy(static_cast<std::byte*>(streams[k]) + begin * bytes, copies[k].bytes, n * bytes);
  }
}

absl::StatusOr<Recurrence> Recurrence::Make(Segment segment, int16_t condition, Isa target,
                                            int64_t elements) {
  ASSAY_RETURN_IF_ERROR(CheckSize(segment));
  CopyStoredLoads(segment);
  Recurrence result;
  result.num_streams_ = segment.streams.size();
  const int fewest = target == Isa::kAvx512 ? 8 : 4, most = MaxLanes(segment, target);
  if (elements > most)
    return NotSupported({}, fmt::format("{} in {} lanes", Counted(elements, "element"), most));
  const int lanes = elements > fewest ? most : fewest;
  ASSAY_ASSIGN_OR_RETURN(result.code_, CodeFor(segment, target, lanes, Form::kRecurrence, condition));
  return result;
}

int64_t Recurrence::Run(std::span<void* const> streams, int64_t limit) const {
  using Code = int64_t (*)(void* const* streams, int64_t times);
  ASSAY_CHECK(streams.size() == num_streams_ && limit > 0);
  absl::InlinedVector<Scratch, 8> scratch(static_cast<size_t>(code_->slots));
  absl::InlinedVector<void*, 16> table(streams.begin(), streams.end());
  table.push_back(scratch.data());
  return limit - reinterpret_cast<Code>(const_cast<void*>(code_->memory.entry()))(table.data(), limit);
}

absl::StatusOr<Steps> Steps::Make(Segment segment, Isa target, bool single) {
  ASSAY_RETURN_IF_ERROR(CheckSize(segment));
  CopyStoredLoads(segment);
  for (Stream& stream : segment.streams) stream.repeated = true, stream.single = single;
  Steps result;
  result.num_streams_ = segment.streams.size();
  const int fewest = target == Isa::kAvx512 ? 8 : 4;
  const int lanes = single ? fewest : MaxLanes(segment, target);
  ASSAY_ASSIGN_OR_RETURN(result.code_, CodeFor(segment, target, lanes, Form::kSteps));
  result.lanes_ = single ? 1 : lanes;
  return result;
}

Steps::Frame::Frame(const Steps& steps)
    : entry_(steps.code_->memory.entry()),
      streams_(steps.num_streams_),
      memory_(new std::byte[static_cast<size_t>((steps.code_->slots + 1) * kSlotBytes)]),
      table_(2 * streams_ + 1) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.get()) + kSlotBytes - 1;
  table_[streams_] = reinterpret_cast<void*>(address / kSlotBytes * kSlotBytes);
}

}  // namespace assay::jit
