// PTX text of one kernel: registers with widths, and a method for every instruction that is used
// (instructions.def). The kernel has a prologue, which runs once a thread, and a body, which is a loop's.
#ifndef ASSAY_GPU_PTX_WRITER_H_
#define ASSAY_GPU_PTX_WRITER_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash_map.h"

namespace assay::gpu {

enum class Width : uint8_t { kPred, k16, k32, k64 };

struct Register {
  Width width = Width::kPred;
  int32_t number = -1;
  bool known() const { return number >= 0; }
  friend bool operator==(const Register&, const Register&) = default;
};

struct Label {
  int32_t number = 0;
};

class PtxWriter {
 public:
#define PTX1(name, text, d, a) \
  Register name(Register x) { return Emit(text, Width::d, {{Width::a, x}}); }
#define PTX2(name, text, d, a, b) \
  Register name(Register x, Register y) { return Emit(text, Width::d, {{Width::a, x}, {Width::b, y}}); }
#define PTX3(name, text, d, a, b, c)                                            \
  Register name(Register x, Register y, Register z) {                           \
    return Emit(text, Width::d, {{Width::a, x}, {Width::b, y}, {Width::c, z}}); \
  }
#include "gpu/ptx/instructions.def"

  // Constants are made once, in the prologue.
  Register Constant32(uint32_t pattern);
  Register Constant64(uint64_t pattern);
  Register Single(float value);
  Register Double(double value);
  Register False();

  enum class Special : uint8_t { kThread, kThreads, kBlock, kBlocks };
  Register Read(Special index);  // of dimension x
  // The 64-bit word at this byte of the kernel's argument.
  Register Argument(int64_t offset);

  // Global memory; `what` of "u8", "s8", "u16", "s16", "b32" and "b64".
  Register Load(std::string_view what, Register address);
  void Store(std::string_view what, Register address, Register value);
  // The value before `count` was added.
  Register AtomicAdd(Register address, Register count);

  // The word of 32 bits that the lane of the warp has whose number is this one's xor `partner`. All lanes of
  // `members`, which are bits, come here together; their registers are of 32 bits.
  Register ShuffleXor(Register value, Register partner, Register members);

  // The address of a constant table, which is put into the module where it was not asked for before.
  Register Table(std::string_view name, std::span<const uint64_t> words);
  Register Table(std::string_view name, std::span<const uint32_t> words);
  Register Table(std::string_view name, std::span<const uint8_t> bytes);

  // Registers that change: of loops.
  Register Copy(Register value);
  void Assign(Register to, Register value);
  Label NewLabel() { return {labels_++}; }
  void Place(Label label);
  void Branch(Label to);
  void BranchIf(Register predicate, Label to);
  void BranchUnless(Register predicate, Label to);
  void Return();

  // What is written while it lives goes into the prologue.
  class InPrologue {
   public:
    explicit InPrologue(PtxWriter& writer) : writer_(writer), before_(writer.at_) {
      writer.at_ = &writer.prologue_;
    }
    ~InPrologue() { writer_.at_ = before_; }
    InPrologue(const InPrologue&) = delete;

   private:
    PtxWriter& writer_;
    std::string* const before_;
  };

  int64_t body_instructions() const { return body_instructions_; }

  // The module, whose kernel `name` has one parameter of so many bytes.
  std::string Finish(std::string_view name, int64_t argument_bytes) const;

 private:
  struct Operand {
    Width width;
    Register value;
  };
  Register New(Width width) { return {width, counts_[static_cast<size_t>(width)]++}; }
  static std::string Text(Register value);
  Register Emit(std::string_view text, Width result, std::initializer_list<Operand> operands);
  void Line(std::string_view line);
  Register Constant(Width width, uint64_t pattern);
  template <typename Word>
  Register TableOf(std::string_view name, std::string_view type, std::span<const Word> words);

  std::array<int32_t, 4> counts_ = {};
  int32_t labels_ = 0;
  int64_t body_instructions_ = 0;
  std::string prologue_, body_, tables_;
  std::string* at_ = &body_;
  HashMap<std::pair<Width, uint64_t>, Register> constants_;
  HashMap<std::string, Register> table_addresses_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_WRITER_H_
