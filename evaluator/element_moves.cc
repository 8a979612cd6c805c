#include "evaluator/element_moves.h"

#include <cstring>

#include "evaluator/meter.h"

namespace assay {

absl::Status TakeElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& operand,
                          absl::FunctionRef<void(Index i, DimVector& j)> from, Literal& result) {
  const ArrayView source(operand);
  const MutableArrayView destination(result);
  DimVector j(source.rank(), 0);
  Meter meter(context);
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    from(i.index(), j);
    std::memcpy(destination.At(i.index()), source.At(j), source.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

absl::Status PutElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& operand,
                         absl::FunctionRef<bool(Index j, DimVector& i)> to, Literal& result) {
  const ArrayView source(operand);
  const MutableArrayView destination(result);
  DimVector i(destination.rank(), 0);
  Meter meter(context);
  for (IndexWalk j(sizes); !j.done(); j.Next()) {
    if (to(j.index(), i)) std::memcpy(destination.At(i), source.At(j.index()), source.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

absl::Status FillElements(EvalContext& context, std::span<const int64_t> sizes, const Literal& value,
                          Literal& result) {
  return TakeElements(
      context, sizes, value, [](Index, DimVector&) {}, result);
}

}  // namespace assay
