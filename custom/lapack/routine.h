// What a custom call that stands for a routine of LAPACK looks like, and a call that was held against it. The
// conventions are those of jaxlib's targets: a batch of matrices in the leading dimensions, results that take
// over operands, `info` as a result.
#ifndef ASSAY_CUSTOM_LAPACK_ROUTINE_H_
#define ASSAY_CUSTOM_LAPACK_ROUTINE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "custom/linalg/work.h"
#include "evaluator/custom_op.h"
#include "evaluator/instruction_view.h"
#include "evaluator/op.h"
#include "hlo/module.h"
#include "shape/shape.h"

namespace assay::custom {

// The element type of an array, said by the type T of the call's matrices: T, its real type,
// its complex type, s32.
enum class ArrayType : uint8_t { kElement, kReal, kComplex, kS32 };

// An operand or a result: an array for each matrix of the batch, whose sizes are named by letters
// ("mn"; "": one number).
struct ArrayRule {
  ArrayType type = ArrayType::kElement;
  std::string_view sizes;
  int from = -1;  // of a result: the operand that it starts as
};

struct AttributeRule {
  enum class Kind : uint8_t { kLetter, kBool, kS32 };
  std::string_view name;
  Kind kind = Kind::kLetter;
  std::string_view letters = {};  // that it may be the code of
};

inline constexpr size_t kMaxAttributes = 2, kMaxOperands = 4, kMaxResults = 6;

// A call that fits its routine.
struct LapackCall {
  ElementType type = ElementType::kF64;  // T
  std::array<int64_t, 26> sizes;         // by letter; -1: it has none
  int64_t matrices = 1;
  std::array<int64_t, kMaxAttributes> attributes = {};

  bool is_complex() const { return IsComplex(type); }
  int64_t& size(char letter) { return sizes[letter - 'a']; }
  int64_t size(char letter) const { return sizes[letter - 'a']; }
  int64_t Elements(const ArrayRule& rule) const;  // of one matrix
  ElementType TypeOf(const ArrayRule& rule) const;
};

// Memory that a routine works in: elements of T, real numbers, integers.
struct Workspace {
  int64_t elements = 0, reals = 0, ints = 0;
};

// One matrix of a call as its routine sees it: arrays in column-major order, `in` those of operands that no
// result takes over.
struct LapackArguments {
  const LapackCall& call;
  void* routine;
  std::array<void*, kMaxOperands> in = {};
  std::array<void*, kMaxResults> out = {};
  void* work = nullptr;
  void* reals = nullptr;
  int* ints = nullptr;
  // Lengths of the three.
  int num_work = 0, num_reals = 0, num_ints = 0;

  int size(char letter) const { return static_cast<int>(call.size(letter)); }
  // The distance of columns of so many rows.
  int lead(char letter) const { return std::max(1, size(letter)); }
  char letter(int attribute) const { return static_cast<char>(call.attributes[attribute]); }
};

// A routine by wide numbers (exact_routines.h).
using ExactRoutine = absl::StatusOr<bool>(const LapackArguments& arguments, int limbs, linalg::Work& work);

struct Routine {
  std::string_view name;   // without the letter of the type
  std::string_view types;  // the letters that it has: s, d, c, z
  std::span<const ArrayRule> operands, results;
  std::span<const AttributeRule> attributes = {};
  // What sizes and attributes must be besides, and sizes that operands don't say; null: nothing.
  absl::Status (*check)(const InferContext& context, LapackCall& call) = nullptr;
  // The least that the routine asks for; null: nothing.
  Workspace (*workspace)(const LapackCall& call) = nullptr;
  // Calls the routine and returns its info. With num_work = -1 it only writes how many elements it would like
  // to work[0].
  int (*invoke)(const LapackArguments& arguments) = nullptr;
  // The same results rounded once; null: `invoke` asks no library.
  ExactRoutine* exact = nullptr;
  // The last result is info.
  bool has_info = true;
  // A kernel of Assay's own in the library's place; null: there is none.
  std::shared_ptr<const CustomKernel> (*own)(const LapackCall& call, KernelRole role) = nullptr;
  // The rule of its bounds; null: there is none.
  void (*bound)(BoundContext& context) = nullptr;
  // Position among the routine's arguments of a matrix in which it may not find a NaN or an infinity; 0:
  // it may.
  int finite = 0;
};

// What the errors of a call start with.
std::string CallName(const InferContext& context);

// Holds a call against the routine. InvalidProgram; NotSupported for dimensions without a fixed size.
absl::StatusOr<LapackCall> BindLapackCall(const Routine& routine, ElementType type,
                                          const InferContext& context);
// The shape of the call's result.
absl::StatusOr<Shape> ResultOf(const Routine& routine, const LapackCall& call, const InferContext& context);
// What a call that fits counts for --max-steps (evaluator/steps.h).
double ElementsOfCall(const Routine& routine, const InstructionView& call);
// NotSupported where a size or, where a library is asked, the length of a workspace does not fit LAPACK's
// integers of 32 bits.
absl::Status CheckFitsIntegers(const Routine& routine, const LapackCall& call, bool by_library);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_ROUTINE_H_
