// The instructions that generated loops are made of, on vectors of a fixed number of lanes. What differs
// between AVX2 and AVX-512 is settled here, and nothing else knows of xbyak.
//
// Register forms. Every value has as many lanes as every other:
//   32-bit lanes: f32; bf16 and f16 widened to f32; integers of 8, 16 and 32 bits, sign- or zero-extended;
//                 pred as 0 or ~0
//   64-bit lanes: f64, s64, u64
// so a vector of 64-bit lanes is twice as long as one of 32-bit lanes. 32-bit lanes alone: 16 of them with
// AVX-512, 8 with AVX2; with 64-bit ones among them half as many.
//
// Roles of registers: rdi the stream table, rsi the number of elements, rax the position, rcx a stream's
// address; rdx, r8 to r11 the addresses of the first streams. The assembler keeps the last two vector
// registers and k1 for itself.
#ifndef ASSAY_JIT_ASSEMBLER_H_
#define ASSAY_JIT_ASSEMBLER_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "jit/code_memory.h"
#include "jit/segment.h"

namespace assay::jit {

inline constexpr int kSlotBytes = 64;  // of a spilled vector of any set

enum class Lane : uint8_t { k32, k64 };

struct Vec {
  int index = -1;
};

// d = a op b. Shifts take any amount: what is shifted out is gone, signed ones then leave the sign.
enum class VecOp : uint8_t {
  kAddF,
  kSubF,
  kMulF,
  kDivF,
  kMinF,  // b where either is NaN or both are zeros, as the machine does
  kMaxF,
  kAddI,
  kSubI,
  kMulI,
  kAnd,
  kAndNot,  // ~a & b
  kOr,
  kXor,
  kMinS,
  kMaxS,
  kMinU,
  kMaxU,
  kShiftLeft,
  kShiftRight,
  kShiftRightSigned,
};

enum class Rounding : uint8_t { kNearestEven, kDown, kUp, kTowardZero };

// Names say the lanes: S and U are signed and unsigned integers.
enum class Conversion : uint8_t {
  kF32ToF64,
  kF64ToF32,  // one rounding
  kF32ToF16,  // one rounding, and back to f32
  kS32ToF32,  // one rounding
  kS32ToF64,
  kF32ToS32,  // toward zero; 2^31 where that is no s32
  kF64ToS32,  // the same
  kS32ToS64,
  kU32ToU64,
  kTruncate,  // the low 32 bits of 64
  // AVX-512 alone:
  kU32ToF32,
  kU32ToF64,
  kF32ToU32,  // 2^32 - 1 where that is no u32
  kS64ToF32,
  kU64ToF32,
  kS64ToF64,
  kU64ToF64,
  kF64ToS64,
  kF64ToU64,
};

// Errors of the assembler (too much code) are exceptions, which loop.cc catches.
class Assembler {
 public:
  Assembler(Isa target, int lanes);
  ~Assembler();
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  Isa target() const { return target_; }
  int lanes() const { return lanes_; }
  int num_vectors() const { return target_ == Isa::kAvx512 ? 30 : 14; }

  // void loop(void* const* streams, int64_t elements): the code between Begin and End for each `lanes`
  // elements; their number is a positive multiple of that.
  void Begin(int streams);
  absl::StatusOr<CodeMemory> End();
  // int64_t loop(void* const* streams, int64_t times): the code between BeginRepetition and EndOfRepetition
  // over and over, on the first elements of the streams, until it leaves or was run that many times, one at
  // least. Returns how many times are left, the one that left included: 0 if none left. The code of `before`
  // is run once before that, and the code of `behind` once after it, unless the first time left.
  void BeginRepetition(int streams, absl::FunctionRef<void()> before);
  absl::StatusOr<CodeMemory> EndOfRepetition(absl::FunctionRef<void()> behind);
  void LeaveUnless(Vec mask);  // by the mask's first lane
  // void loop(void** streams, int64_t times): the code between Begin and EndOfSteps that many times, on the
  // first elements of the streams. Behind it, every stream but the last, which is scratch memory, moves by a
  // number of bytes that stands behind all addresses. The addresses may be written over.
  absl::StatusOr<CodeMemory> EndOfSteps(int streams);

  // `exact_nans`: the payloads of f16 NaNs count; else they only stay NaN.
  void Load(Vec d, int stream, const Stream& what, bool exact_nans);
  void Store(Vec v, int stream, const Stream& what, bool exact_nans);
  // A slot of 64 bytes in a stream that is scratch memory.
  void SaveTo(Vec v, int stream, int slot);
  void RestoreFrom(Vec d, int stream, int slot);

  void Constant(Lane lane, Vec d, uint64_t bits);
  void Move(Vec d, Vec a);
  void Spread(Lane lane, Vec d, Vec a, int from);  // a's lane `from` to every lane
  void Do(VecOp op, Lane lane, Vec d, Vec a, Vec b);
  // kShiftLeft, kShiftRight; kShiftRightSigned for 32-bit lanes.
  void Shift(VecOp op, Lane lane, Vec d, Vec a, int places);
  void SignMask(Lane lane, Vec d, Vec a);  // ~0 where a < 0 as a signed integer, else 0
  void Sqrt(Lane lane, Vec d, Vec a);
  void Round(Lane lane, Vec d, Vec a, Rounding rounding);
  void Convert(Conversion conversion, Vec d, Vec a);

  // Masks are 32-bit lanes of 0 or ~0. Comparisons with NaN are false, but kNe is true.
  void CompareF(Order order, Lane lane, Vec mask, Vec a, Vec b);
  void CompareS(Order order, Lane lane, Vec mask, Vec a, Vec b);
  void CompareU(Order order, Lane lane, Vec mask, Vec a, Vec b);
  void IsNaN(Lane lane, Vec mask, Vec a);
  // d = mask ? a : b; d may be b.
  void Blend(Lane lane, Vec d, Vec mask, Vec a, Vec b);
  // d = a or b is NaN ? bits : d
  void SetWhereNaN(Lane lane, Vec d, Vec a, Vec b, uint64_t bits);

 private:
  struct Code;
  void LoadSingle(Vec d, int stream, ElementType type);
  void StoreIntegers(Vec v, int stream, const Stream& what, bool is_signed);
  void StorePacked(Vec v, int stream, const Stream& what);

  const Isa target_;
  const int lanes_;
  std::unique_ptr<Code> code_;
};

}  // namespace assay::jit

#endif  // ASSAY_JIT_ASSEMBLER_H_
