// Which instruction computed a value: behind tuples, parameters of bodies and results of calls.
#ifndef ASSAY_FIND_ORIGIN_VALUE_SOURCE_H_
#define ASSAY_FIND_ORIGIN_VALUE_SOURCE_H_

#include <compare>
#include <optional>
#include <vector>

#include "find/origin/run_record.h"

namespace assay {

// A leaf of what an instruction gave in a call.
struct ValuePlace {
  RecordedCall* call = nullptr;
  int32_t instruction = -1;
  ShapeIndex leaf;

  bool operator==(const ValuePlace&) const = default;
  auto operator<=>(const ValuePlace& other) const {
    return std::tie(call, instruction, leaf) <=> std::tie(other.call, other.instruction, other.leaf);
  }
};

const Instruction& InstructionAt(const Module& module, const ValuePlace& place);
// The place whose instruction computed this leaf: it is a parameter of the entry computation, a constant, or
// an instruction that calls nothing. It ends at a call where nothing tells what it ran.
ValuePlace SourceOf(const Module& module, ValuePlace place);
// The leaf that a SourceOf place gave; nullopt where it was not recorded.
std::optional<Literal> RecordedValue(const Module& module, const RecordedDevice& device,
                                     const ValuePlace& place);
// The part of a value at a path.
const Literal& LeafAt(const Literal& value, const ShapeIndex& leaf);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_VALUE_SOURCE_H_
