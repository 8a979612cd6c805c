// The elementwise members of a fusion as PTX: one element of each, at a row-major position that all of them
// share.
#ifndef ASSAY_GPU_PTX_BODY_H_
#define ASSAY_GPU_PTX_BODY_H_

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_map.h"
#include "engines/engine.h"
#include "gpu/ptx/elementwise.h"
#include "shape/index.h"

namespace assay::gpu {

// How many elements a thread makes at a time, by the instructions of one, so that enough of its reads are
// under way at once: more of small bodies, of which the registers hold several.
constexpr int ElementsAtOnce(int64_t instructions) {
  return instructions <= 100 ? 4 : instructions <= 200 ? 2 : 1;
}

class FusionBody {
 public:
  static constexpr int64_t kMaxMembers = 256;

  // `members`: those of the step that are made here, of as many elements as `shape`. The address of the
  // step's operand k is the argument's word at operands + 8 k.
  FusionBody(PtxWriter& writer, const FusionView& step, std::span<const int32_t> members, const Shape& shape,
             int64_t operands, bool approximate);

  // Makes the members at the position in the register.
  absl::Status Make(Register position);
  // The element of a member or an operand there.
  absl::StatusOr<Element*> ValueOf(int32_t instruction);
  // A predicate: some member is open there; unknown where none can be.
  Register open() const { return emitter_.open; }

  // Words of the argument: a list of positions of 8 bytes each, for how many there is room, and how many
  // there are, which is counted beyond the room too.
  struct OpenList {
    int64_t list, room, count;
  };
  // Notes the position where the predicate holds.
  void NoteOpen(Register open, Register position, const OpenList& to);

  Elements& elements() { return elements_; }
  // A word of the argument.
  Register InPrologue(int64_t offset);

  // By operand of the step: whether its address must be valid, and whether each element is read by the thread
  // that makes the members at its position.
  const std::vector<bool>& is_read() const { return is_read_; }
  const std::vector<bool>& reads_in_place() const { return reads_in_place_; }

 private:
  struct Dimension {
    int64_t size, stride;
  };

  const Instruction& At(int32_t i) const { return step_.computation.instructions[static_cast<size_t>(i)]; }
  Element* Add(int32_t i, Element element);
  absl::Status AddMember(int32_t i);
  absl::StatusOr<int64_t> OperandOf(int32_t i);
  absl::Status AddMoved(int32_t i, const AffineMap& source);
  absl::Status AddIota(int32_t i);
  Register PositionIn(const Shape& shape, const AffineMap& source, Width width);
  static std::vector<Dimension> Merged(const Shape& shape, std::span<const int64_t> strides);

  PtxWriter& writer_;
  const FusionView& step_;
  const std::span<const int32_t> members_;
  const Shape& shape_;
  const int64_t operands_;
  Elements elements_;
  std::vector<bool> is_read_, reads_in_place_;
  HashMap<int64_t, Register> arguments_;
  HashMap<int32_t, Element> scalars_;  // by instruction: read in the prologue
  std::deque<Element> owned_;
  // Of the position that is made.
  Emitter emitter_;
  Register position_;
  HashMap<int32_t, Element*> values_;  // by instruction
};

// A constant of one element.
Element ImmediateElement(PtxWriter& writer, Elements& elements, const Literal& literal);

// How an instruction that only moves elements reads its operand, or none:
// a source is where a thread's element is found.
std::optional<AffineMap> SourceOf(const Computation& computation, const Instruction& instruction);
// Whether that is at its own row-major position.
bool ReadsInPlace(const AffineMap& source, const Shape& operand, const Shape& result);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_BODY_H_
