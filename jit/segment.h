// A piece of elementwise work that one generated loop does: values computed element by element from streams,
// and streams that some of them are stored to. Plain data; loop.h makes code of it.
#ifndef ASSAY_JIT_SEGMENT_H_
#define ASSAY_JIT_SEGMENT_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/opcode.h"
#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::jit {

// Comparison directions.
enum class Order : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

// Elements in memory. A repeated stream holds one value, as often as kMaxLanes says, and does not advance.
struct Stream {
  ElementType type = ElementType::kPred;
  bool repeated = false;
  bool single = false;  // Steps: one element at a time is read and written, and other lanes are zero
  // Stores go past the caches, for large results: 64-byte aligned,
  // and other threads see them behind StreamFence alone.
  bool streamed = false;
};

// One value. Its operands are nodes before it.
struct Node {
  Opcode opcode = Opcode::kParameter;  // kParameter: the elements of stream `a`
  ElementType type = ElementType::kPred;
  std::array<int16_t, 3> operands = {-1, -1, -1};
  int64_t a = 0;      // compare: the Order. broadcast: the lane of the operand that every lane gets
  bool flag = false;  // compare: total order. convert: every operand is a value of the result's type already

  int num_operands() const { return (operands[0] >= 0) + (operands[1] >= 0) + (operands[2] >= 0); }
};

struct Store {
  int16_t node = 0;  // of the stream's element type
  int16_t stream = 0;
};

struct Segment {
  std::vector<Stream> streams;
  std::vector<Node> nodes;
  std::vector<Store> stores;  // written in this order, after all loads of the same elements
  // Names the instruction or computation that the code is first made for (perf_map.h); the code itself does
  // not depend on it. It is valid as long as the program is.
  std::string_view origin = {};
};

// The most elements that a loop computes at a time.
inline constexpr int64_t kMaxLanes = 16;
// The most that a loop of this segment computes at a time on the target.
int MaxLanes(const Segment& segment, Isa target);

// Element types that segments know.
bool IsKnown(ElementType type);
// The op on operands of these types can be a node. Bits are those of the op table (evaluator/ops).
bool CanGenerate(const Node& node, std::span<const ElementType> operands, Isa target);

}  // namespace assay::jit

#endif  // ASSAY_JIT_SEGMENT_H_
