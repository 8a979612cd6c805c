// Changes of programs that keep what every Module is: operands before users, callees before callers.
#ifndef ASSAY_FIND_REDUCE_EDIT_H_
#define ASSAY_FIND_REDUCE_EDIT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "find/reduce/test_case.h"
#include "hlo/module.h"

namespace assay {

// A computation written anew, instruction after instruction, in place of the one that it was. The module must
// not change meanwhile otherwise.
class ComputationEdit {
 public:
  ComputationEdit(Module& module, ComputationId id);

  const Computation& before() const { return before_; }
  const Instruction& before(int32_t k) const { return before_.instructions[static_cast<size_t>(k)]; }
  int32_t size() const { return static_cast<int32_t>(before_.instructions.size()); }

  // Writes instruction k as it was, on what its operands became.
  int32_t Keep(int32_t k);
  // Instruction k became the new instruction `to`.
  void Become(int32_t k, int32_t to) { became_[static_cast<size_t>(k)] = to; }
  int32_t At(int32_t k) const { return became_[static_cast<size_t>(k)]; }

  // Operands are new instructions. The shape is inferred where it is null; -1 where it can't be, and Finish
  // gives the error.
  int32_t Add(Instruction instruction);
  int32_t AddConstant(Literal value);
  int32_t AddElement(int32_t tuple, int64_t index);
  int32_t AddTuple(std::span<const int32_t> elements);  // a tuple that is there already is not written again
  // An array filled with one number; scalars are a constant.
  int32_t AddFilled(const std::shared_ptr<const Shape>& shape, int64_t number);
  // The instructions of another computation, on these arguments: the value of its root.
  int32_t Inline(ComputationId callee, std::span<const int32_t> arguments);
  const Instruction& at(int32_t index) const { return after_.instructions[static_cast<size_t>(index)]; }

  void SetRoot(int32_t index) { root_ = index; }  // else what the root became
  // Error: InvalidProgram where an instruction could not be written.
  absl::Status Finish();

 private:
  int32_t WholeTuple(std::span<const int32_t> elements) const;

  Module& module_;
  const ComputationId id_;
  const Computation before_;
  Computation after_;
  std::vector<int32_t> became_;
  int32_t root_ = -1;
  absl::Status status_;
};

// Removes instructions that nobody needs and that have no side effect, but for parameters; computations that
// nobody calls; and what a module says of instructions, parameters and results that are no longer there.
void RemoveDead(Module& module);
// Removes parameters of the entry computation that nobody uses and that `drops` says true of, with their
// arguments.
void DropParameters(TestCase& test_case, absl::FunctionRef<bool(int64_t number)> drops);
// Drops what the module says of the entry computation's parameters and result as a whole: to be called where
// these change.
void ForgetSignature(Module& module);
// Whether anything else reads the instruction.
std::vector<int32_t> NumUsers(const Computation& computation);
// Names that are taken once in their computation, and computations' in the module.
void NameApart(Module& module);

int64_t NumInstructions(const Module& module);
// The elements of all arrays that instructions give.
int64_t NumElements(const Module& module);
std::shared_ptr<const Shape> SharedShape(Shape shape);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_EDIT_H_
