// Module -> VerifiedModule. Verify separates untrusted from well-formed programs: code after it does not
// check shapes again, code before it assumes nothing.
#ifndef ASSAY_EVALUATOR_VERIFY_H_
#define ASSAY_EVALUATOR_VERIFY_H_

#include <memory>

#include "base/error.h"
#include "hlo/module.h"

namespace assay {

class VerifiedModule {
 public:
  const Module& module() const { return *module_; }
  // Shared, so that plans and runs may keep it.
  const std::shared_ptr<const Module>& shared_module() const { return module_; }

 private:
  friend absl::StatusOr<VerifiedModule> Verify(Module module);
  explicit VerifiedModule(Module module) : module_(std::make_shared<const Module>(std::move(module))) {}
  std::shared_ptr<const Module> module_;
};

// Checks operand counts, attributes (known to the op, required ones present, forms right), operand indices,
// the call graph, parameters, and every numbered constraint of the specification through the op's shape rule;
// fills in shapes that the text left out. Errors: InvalidProgram with the position of the instruction,
// "OPCODE NAME: Label-Cn: what was found, what is wanted".
absl::StatusOr<VerifiedModule> Verify(Module module);

// The result shape of one instruction whose operands have shapes, without the rest of the module (for the
// builder). `instruction.shape` is the declared shape, if any.
absl::StatusOr<Shape> InferShape(const Module& module, const Computation& computation,
                                 const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_VERIFY_H_
