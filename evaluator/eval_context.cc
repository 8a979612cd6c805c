#include "evaluator/eval_context.h"

namespace assay {
namespace {

// Counts at least the bytes of a Literal, its storage's head and its place in a queue,
// for each part of the value.
int64_t KeptBytes(const Literal& value) {
  constexpr int64_t kBytesEach = 320;
  int64_t bytes = kBytesEach;
  for (int64_t i = 0; i < value.tuple_size(); ++i) bytes += KeptBytes(value.element(i));
  return bytes;
}

}  // namespace

absl::StatusOr<Literal> EvalContext::NewResult(bool zero) { return NewLiteral(instruction_.shape, zero); }

absl::StatusOr<Literal> EvalContext::NewLiteral(std::shared_ptr<const Shape> shape, bool zero) {
  return Literal::Make(std::move(shape), run_.budget(), zero);
}

absl::Status EvalContext::Keep(const Literal& value) {
  ASSAY_RETURN_IF_ERROR(value.Fetch());  // the queue outlives the run
  MemoryBudget& budget = *run_.budget();
  const int64_t bytes = KeptBytes(value);
  if (budget.Reserve(bytes)) return absl::OkStatus();
  return budget.Refusal("one more value in a queue", bytes);
}

void EvalContext::Forget(const Literal& value) { run_.budget()->Release(KeptBytes(value)); }

absl::StatusOr<Literal> EvalContext::NewResultElement(int64_t i, bool zero) {
  // Shares the ownership of the tuple's shape: no copy.
  return NewLiteral(std::shared_ptr<const Shape>(instruction_.shape, &instruction_.shape->element(i)), zero);
}

absl::StatusOr<Literal> EvalContext::Call(ComputationId id, std::vector<Literal> arguments) {
  return run_.Call(id, std::move(arguments), depth_ + 1);
}

absl::StatusOr<ScalarFunction*> EvalContext::Scalar(ComputationId id) { return run_.Scalar(id, depth_ + 1); }

}  // namespace assay
