// Writes one computation of a derived program, instruction after instruction.
#ifndef ASSAY_CHECK_COMPUTATION_WRITER_H_
#define ASSAY_CHECK_COMPUTATION_WRITER_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "evaluator/bound.h"
#include "evaluator/bounds/linear_forms.h"
#include "hlo/module.h"

namespace assay {

// An array (or token) of the program and its radius, in the derived program.
struct BoundedLeaf {
  Node value, radius;
  Ends ends;                      // once they are written
  bool has_sharper_ends = false;  // a call, or its caller, gave them
  bound::LinearForm linear_form;  // in elementwise chains behind dots
  LoopForm loop_form;             // in loops with a small state
  int32_t producer =
      -1;  // the instruction of the computation that gave the radius, and knows the ends; -1: none
};

// Which leaves have a radius.
std::vector<bool> RadiiOf(const std::vector<BoundedLeaf>& leaves);

// Makes the instruction call copy(id) where it called id.
void RedirectCalls(Instruction& instruction, absl::FunctionRef<ComputationId(ComputationId)> copy);

class ComputationWriter {
 public:
  // Computations that are called are in `module`, which outlives the writer.
  // At the limit of instructions it is NotSupported.
  ComputationWriter(Module& module, std::string name, int64_t& instructions_left)
      : module_(module), left_(instructions_left) {
    computation_.name = std::move(name);
  }

  // Instructions get this name, and a number.
  void NameThem(std::string_view name) { name_ = name; }
  // Fills in the shape where it is left out. After an error every node is the first instruction,
  // and the error is kept.
  Node Write(Instruction instruction);
  Node Parameter(int64_t number, std::shared_ptr<const Shape> shape);
  Node Element(Node tuple, int64_t index);
  Node Tuple(std::span<const Node> elements);
  // Calls a computation of one tuple: its result's elements.
  std::vector<Node> Call(ComputationId callee, std::span<const Node> elements);
  Node Scalar(ElementType type, double value);
  // An array of one number with another's sizes.
  Node Filled(ElementType type, double value, const Shape& like);

  const Shape& ShapeOf(Node node) const {
    return *computation_.instructions[static_cast<size_t>(node.id)].shape;
  }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  // Adds the computation to the module, with this root.
  ComputationId Finish(Node root);

 private:
  Module& module_;
  int64_t& left_;
  Computation computation_;
  std::string name_ = "bound";
  absl::Status status_;
  std::map<std::pair<ElementType, uint64_t>, Node> scalars_;
  std::map<std::string, Node> filled_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_COMPUTATION_WRITER_H_
