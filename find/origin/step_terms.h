// Which elements of its operands an element of a step's result is made of, on the values that the step had.
#ifndef ASSAY_FIND_ORIGIN_STEP_TERMS_H_
#define ASSAY_FIND_ORIGIN_STEP_TERMS_H_

#include <optional>
#include <vector>

#include "find/origin/run_record.h"
#include "find/origin/value_source.h"
#include "run/executor.h"

namespace assay {

struct OperandElement {
  int32_t operand = 0;
  int64_t position = 0;
};

struct ElementTerms {
  std::vector<OperandElement> elements;
  // Operands of which any element may be part: of ops without a rule, and of dynamic shapes.
  std::vector<int32_t> whole;
};

// A select's element is made of the predicate's and the chosen operand's; that of a dynamic-slice of a start
// index for each dimension and the operand's. Elements that are sums have their terms in the op's order: of a
// dot or convolution the factors in turns, of a reduce its input, then the start value.
class StepTerms {
 public:
  // All outlive this. `run` evaluates moves of positions in place of elements.
  StepTerms(Executor& run, const Module& module, const Computation& computation,
            const Instruction& instruction, const RecordedStep& step)
      : run_(run), module_(module), computation_(computation), instruction_(instruction), step_(step) {}

  absl::StatusOr<ElementTerms> Of(const ShapeIndex& leaf, int64_t position);

 private:
  bool IsStatic() const;
  ElementTerms AllOperands() const;
  // Where operand k has one element for each of the result, or one for all.
  OperandElement Aligned(size_t k, int64_t position) const;
  ElementTerms OfSelect(int64_t position) const;
  ElementTerms OfSums(int64_t position) const;
  ElementTerms OfReduce(const ShapeIndex& leaf, int64_t position) const;
  ElementTerms OfReduceWindow(const ShapeIndex& leaf, int64_t position) const;
  ElementTerms OfSort(const ShapeIndex& leaf, int64_t position) const;
  ElementTerms OfBitcastConvert(int64_t position) const;
  ElementTerms OfScatter(const ShapeIndex& leaf, int64_t position) const;
  absl::StatusOr<ElementTerms> OfMove(int64_t position);
  // The op on positions: each element of the result is the number of an element of the moved operands,
  // counted through all of them.
  absl::Status MovePositions();

  Executor& run_;
  const Module& module_;
  const Computation& computation_;
  const Instruction& instruction_;
  const RecordedStep& step_;
  std::optional<bool> is_static_, is_elementwise_;  // once they were asked for
  std::optional<Literal> moved_;
};

// Whether each element of the array that the instruction gives is a function of those at its own index, or of
// the one of a scalar operand.
bool IsElementwise(const Instruction& instruction, const RecordedStep& step);
// The shape of a leaf of the instruction's result.
const Shape& LeafShape(const Instruction& instruction, const ShapeIndex& leaf);
// The index of a position.
std::vector<int64_t> IndexAt(const Shape& shape, int64_t position);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_STEP_TERMS_H_
