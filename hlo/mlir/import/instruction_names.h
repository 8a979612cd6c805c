// Names of instructions that a file does not name: "opcode.N", with N = 1, 2, 3, ... over the module.
#ifndef ASSAY_HLO_MLIR_IMPORT_INSTRUCTION_NAMES_H_
#define ASSAY_HLO_MLIR_IMPORT_INSTRUCTION_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "hlo/opcode.h"

namespace assay::mlir {

class InstructionNames {
 public:
  // The next number is used + 1.
  explicit InstructionNames(uint64_t used = 0);
  // Appends the next name to `name`.
  void Next(Opcode opcode, std::string* name);

 private:
  void Write();

  // The number as text is counted up, which is quicker than to write each number anew: its digits, the first
  // one in the lowest byte, as long as there are at most eight.
  uint64_t number_;
  uint64_t digits_ = 0;
  size_t num_digits_ = 0;
  uint64_t one_ = 0;       // in the byte of the last digit
  uint64_t next_ten_ = 0;  // the number at which more than the last digit changes
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_IMPORT_INSTRUCTION_NAMES_H_
