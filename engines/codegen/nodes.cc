#include "engines/codegen/nodes.h"

#include <algorithm>

namespace assay::codegen {
namespace {

jit::Order OrderOf(std::string_view direction) {
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const auto* const name = std::find(std::begin(kNames), std::end(kNames), direction);
  return static_cast<jit::Order>(name - std::begin(kNames));
}

}  // namespace

jit::Node NodeOf(const Instruction& instruction, std::span<const ElementType> operands) {
  jit::Node node{.opcode = instruction.opcode, .type = instruction.shape->element_type()};
  if (node.opcode == Opcode::kCompare) {
    node.a = static_cast<int64_t>(OrderOf(instruction.attributes.Text(Attr::kDirection)));
    node.flag = IsFloat(operands[0]) && instruction.attributes.Text(Attr::kType) == "TOTALORDER";
  }
  if (node.opcode == Opcode::kConvert && operands[0] == node.type) node.opcode = Opcode::kCopy;
  return node;
}

}  // namespace assay::codegen
