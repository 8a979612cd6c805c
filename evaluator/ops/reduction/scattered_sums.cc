#include "evaluator/ops/reduction/scattered_sums.h"

#include <memory>
#include <utility>

#include "evaluator/heap_sort.h"
#include "evaluator/meter.h"
#include "evaluator/ops/reduction/element_sum.h"

namespace assay {

absl::StatusOr<ScatteredSums> ScatteredSums::Make(EvalContext& context, const Literal& source,
                                                  Literal& target) {
  const int64_t sizes[] = {source.shape().num_elements(), 2};
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(ElementType::kS64, sizes));
  ASSAY_ASSIGN_OR_RETURN(Literal terms, context.NewLiteral(std::make_shared<const Shape>(std::move(shape))));
  return ScatteredSums(context, source, target, std::move(terms));
}

void ScatteredSums::AddTerm(Index to, Index from) {
  Term* const terms = reinterpret_cast<Term*>(terms_.MutableBytes().data());
  terms[count_++] = {PositionOf(to, target_.shape().sizes()), PositionOf(from, source_.shape().sizes())};
}

absl::Status ScatteredSums::Store() {
  Term* const terms = reinterpret_cast<Term*>(terms_.MutableBytes().data());
  Meter meter(context_);
  ASSAY_RETURN_IF_ERROR(HeapSort(
      std::span(terms, static_cast<size_t>(count_)), [](const Term& a, const Term& b) { return a.to < b.to; },
      meter));
  const ElementType type = target_.shape().element_type();
  const int64_t bytes = Bytes(type);
  std::byte* const elements = target_.MutableBytes().data();
  ElementSum sum(type);
  for (int64_t i = 0; i < count_;) {
    const int64_t to = terms[i].to;
    sum.Clear();
    sum.Add(elements + to * bytes);
    for (; i < count_ && terms[i].to == to; ++i) {
      sum.Add(source_.data() + terms[i].from * bytes);
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
    sum.Store(elements + to * bytes);
  }
  return meter.Flush();
}

}  // namespace assay
