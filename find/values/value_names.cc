#include "find/values/value_names.h"

#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"

namespace assay {

std::string CallName(const Instruction& caller, const CallPlace& place) {
  const std::string name = EscapeControls(caller.name);
  if (place.iteration < 0) return name + "/";
  return fmt::format("{}/{}{:04}/", name, place.is_condition ? "cond" : "it", place.iteration);
}

std::string LeafName(const Instruction& instruction, const ShapeIndex& leaf) {
  const std::string name = EscapeControls(instruction.name);
  return leaf.empty() ? name : fmt::format("{}{{{}}}", name, absl::StrJoin(leaf, ","));
}

bool IsRecorded(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kOptBarrier) return false;
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return false;
    default: {
      bool has_array = false;
      ForEachLeaf(*instruction.shape,
                  [&](const ShapeIndex&, const Shape& shape) { has_array |= shape.IsArray(); });
      return has_array;
    }
  }
}

}  // namespace assay
