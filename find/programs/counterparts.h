// Which instruction of one module stands for which of another one, by what the text says of them.
#ifndef ASSAY_FIND_PROGRAMS_COUNTERPARTS_H_
#define ASSAY_FIND_PROGRAMS_COUNTERPARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/programs/value_trace.h"
#include "hlo/module.h"

namespace assay {

enum class MatchedBy : uint8_t {
  kName,       // and opcode and shape
  kStructure,  // opcode, shape, and those of all that the operands depend on
  kOpName,     // op_name of the metadata, and shape
  kNameAlone,  // and shape: another opcode
  kOperands,   // opcode, shape and values of the operands (first_difference.h)
  kOutput,     // they give the same output (first_difference.h)
};
std::string_view Name(MatchedBy by);

class ModuleMatcher {
 public:
  // The modules outlive the matcher.
  ModuleMatcher(const Module& first, const Module& second);

  struct Match {
    InstructionRef first;
    MatchedBy by;
  };
  // The counterpart in the first module of an instruction of the second one.
  std::optional<Match> FirstOf(const InstructionRef& second) const;

 private:
  // By structure: a hash of opcode, shape and the operands' hashes, without attributes and constants' values,
  // in which a wrong pass may have changed something.
  using Hashes = std::vector<std::vector<uint64_t>>;  // by computation and instruction
  static Hashes StructureOf(const Module& module);
  const InstructionRef* ByName(const InstructionRef& second, bool same_opcode) const;
  const InstructionRef* ByOpName(const Instruction& instruction) const;
  const InstructionRef* ByOpName(const Instruction& instruction, std::string_view op_name) const;

  const Module& first_;
  const Module& second_;
  const Hashes structure_of_second_;
  std::multimap<std::string, InstructionRef> by_name_, by_op_name_;
  std::map<uint64_t, std::vector<InstructionRef>> by_structure_;
  std::map<uint64_t, int64_t> structures_of_second_;  // how many instructions have it
};

}  // namespace assay

#endif  // ASSAY_FIND_PROGRAMS_COUNTERPARTS_H_
