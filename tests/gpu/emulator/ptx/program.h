// PTX as the interpreter runs it: registers are 64-bit slots of one array, mnemonics are functions.
#ifndef ASSAY_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_
#define ASSAY_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gpu/emulator/emulated_module.h"

namespace assay::emulated {

struct Op;
// slots[op.d] = what the operation makes of the slots of its operands.
using Compute = void (*)(uint64_t* slots, const Op& op);

struct Op {
  enum class Kind : uint8_t {
    kCompute,
    kConstant,
    kSpecial,
    kParameter,
    kLoad,
    kStore,
    kAtomicAdd,
    kBranch,
    kShuffle,
    kReturn
  };
  enum class Special : uint8_t { kThread, kThreads, kBlock, kBlocks };
  Kind kind = Kind::kCompute;
  int32_t guard = -1;  // a predicate's slot; -1: runs always
  bool guard_wants = true;
  int32_t d = 0, a = 0, b = 0, c = 0;  // of a shuffle: result, value, mask of the partner, members
  Compute compute = nullptr;
  uint64_t constant = 0;  // the value; an offset into the argument; a table's address
  Special special = Special::kThread;
  int bytes = 0;           // of a memory access
  bool is_signed = false;  // a load that extends the sign
  int32_t target = 0;      // of a branch: an index of ops
  int line = 0;
};

// A row of the table of operations that only compute. Operands are registers: one letter each of p
// (predicate), h, r, d (16, 32 and 64 bits), the result first.
struct Operation {
  std::string_view mnemonic;
  std::string_view signature;
  Compute compute;
};
const Operation* FindOperation(std::string_view mnemonic);

// A constant array of the module.
struct Table {
  std::string name;
  int64_t bytes = 0;
  std::vector<uint64_t> memory;  // whole words: 8-byte aligned
  bool Contains(uint64_t address, uint64_t size) const {
    const auto begin = reinterpret_cast<uint64_t>(memory.data());
    return address >= begin && size <= static_cast<uint64_t>(bytes) &&
           address - begin <= static_cast<uint64_t>(bytes) - size;
  }
};

struct Program {
  std::string entry;
  uint32_t argument_bytes = 0;
  int32_t num_slots = 0;
  std::vector<Op> ops;
  std::vector<std::unique_ptr<Table>> tables;
};

// False with the reason in `log`.
bool Parse(std::string_view text, Program& program, std::string& log);

std::string RunProgram(const Program& program, const Launch& launch, const Memory& memory);

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_PTX_PROGRAM_H_
