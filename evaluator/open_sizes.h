// Open dimensions: dynamic dimensions whose run-time size is not known yet. broadcast, iota and rng may
// declare a dynamic dimension that comes from no dynamic dimension of an operand. It is open
// (Literal::is_open), and takes the size of the value that it meets in an op. Where an op needs the size and
// no operand has it, that is an error, and so is an open dimension of the program's result.
//
// Decision: open-size. What an op does with open dimensions is its OpDef::open_sizes, a rule in the words of
// this header. Rules run before the op. Then an operand is open only in dimensions on whose size no element
// of the result depends; the op sees the bound as their size. Kernels of all engines need to know
// nothing of open dimensions.
#ifndef ASSAY_EVALUATOR_OPEN_SIZES_H_
#define ASSAY_EVALUATOR_OPEN_SIZES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"

namespace assay {

struct OperandDimension {
  int64_t operand, dimension;
};
// `element` of a result that is a tuple, else 0.
struct ResultDimension {
  int64_t element, dimension;
};

class OpenSizes {
 public:
  // The operands are those of the instruction; they outlive it.
  OpenSizes(EvalContext& context, std::span<Literal> operands) : context_(context), operands_(operands) {}

  // Applies the op's rule: operands get the sizes that they meet. Error: a size is needed that nobody says.
  absl::Status Settle();
  // Opens the dimensions of the result that stay without a size.
  void MarkResult(Literal& result) const;

  // What rules see and say.
  const EvalContext& context() const { return context_; }
  int64_t num_operands() const { return static_cast<int64_t>(operands_.size()); }
  const Shape& shape(int64_t k) const { return operands_[k].shape(); }
  bool IsOpen(int64_t k, int64_t d) const { return shape(k).IsArray() && operands_[k].is_open(d); }
  // These dimensions have one size at run time: those that are open take it from one that is not. Returns
  // true where all are open.
  bool Meet(std::span<const OperandDimension> dimensions);
  bool Meet(std::initializer_list<OperandDimension> dimensions) {
    return Meet(std::span(dimensions.begin(), dimensions.size()));
  }
  // Gives the dimension this size, if it is open.
  void Take(OperandDimension at, int64_t size);
  int64_t RuntimeSize(int64_t k, int64_t d) const { return operands_[k].dynamic_size(d); }
  // The error that the op needs the size, if the dimension is open. Needs(k): if any dimension of the operand
  // is, or of an element of a tuple.
  absl::Status Needs(int64_t k, int64_t d) const;
  absl::Status Needs(int64_t k) const;
  absl::Status NeedsAll() const;
  // Dimension d of the result, or of element `element` of a tuple, is open, unless it is static.
  void Open(int64_t d, int64_t element = 0) { opened_.push_back({element, d}); }
  // The result's open dimensions come with its value: of ops that hand on values, or call computations.
  void Pass() { passes_ = true; }

 private:
  absl::Status Needed(int64_t k, int64_t d, const Shape& array) const;

  EvalContext& context_;
  const std::span<Literal> operands_;
  std::vector<ResultDimension> opened_;
  std::vector<int64_t> settled_;  // operands that got a size
  bool passes_ = false;
};

// The op's evaluation with OpenSizes around it.
absl::StatusOr<Literal> EvalSettled(EvalContext& context, const OpDef& op, std::span<Literal> operands);

// A value, of the full size in dimensions that are static in `shape`, as one of that shape: these dimensions
// are no longer open or dynamic.
Literal WithDeclaredShape(Literal value, std::shared_ptr<const Shape> shape);
// EvalError where a dimension is open that is dynamic in `wanted`. `what` names the value in the message.
absl::Status CheckNotOpen(const Shape& wanted, const Literal& value, std::string_view what);

// Rules that several ops share.
namespace open {
// Every operand, a repeated scalar apart, has the result's dimensions (DYN-4).
absl::Status Elementwise(OpenSizes& sizes);
// Values are handed on as they are.
absl::Status Passed(OpenSizes& sizes);
// No operand says any size of the result, an array or a tuple of arrays.
absl::Status Declared(OpenSizes& sizes);
}  // namespace open

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPEN_SIZES_H_
