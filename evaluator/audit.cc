#include "evaluator/audit.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay {

std::string_view Name(AuditPoint point) {
  static constexpr std::string_view kNames[] = {
#define POINT(id, name) name,
#include "evaluator/audit_points.def"
#undef POINT
  };
  return kNames[static_cast<size_t>(point)];
}

IntegerRange IntegerRange::Of(ElementType type) {
  if (type == ElementType::kPred) return {0, 1};
  const absl::int128 values = absl::int128(1) << Bits(type);
  return IsSignedIntegral(type) ? IntegerRange{-values / 2, values / 2 - 1} : IntegerRange{0, values - 1};
}

std::string IndexText(int64_t position, std::span<const int64_t> sizes) {
  DimVector index(sizes.size());
  IndexOfPosition(position, sizes, index);
  return fmt::format("[{}]", fmt::join(index, ","));
}

bool AuditContext::Charge(int64_t elements) {
  if (run() == nullptr) return true;
  const absl::Status status = run()->Charge(elements);
  if (!status.ok()) Fail(status);
  return status.ok();
}

void AuditContext::Count(AuditPoint point, const Literal& array,
                         absl::FunctionRef<bool(int64_t position)> depends,
                         std::initializer_list<const Literal*> shown) {
  constexpr int64_t kBetweenCharges = 1 << 14;
  const std::span<const int64_t> sizes = array.shape().sizes();
  const DimVector live_sizes = array.runtime_sizes();
  const bool is_full = array.IsFullSize();
  DimVector index(sizes.size());
  const auto is_live = [&](int64_t position) {
    if (is_full) return true;
    IndexOfPosition(position, sizes, index);
    return std::equal(index.begin(), index.end(), live_sizes.begin(), std::less<>());
  };
  Dependence found;
  int64_t first = -1;
  const int64_t n = array.shape().num_elements();
  for (int64_t begin = 0; begin < n; begin += kBetweenCharges) {
    const int64_t end = std::min(n, begin + kBetweenCharges);
    if (!Charge(end - begin)) return;
    for (int64_t i = begin; i < end; ++i) {
      if (!depends(i) || !is_live(i)) continue;
      if (first < 0) first = i;
      ++found.count;
      RecordElement(point, array, i);
    }
  }
  found.of = n;
  if (first >= 0) {
    found.first = IndexText(first, sizes) + ":";
    for (const Literal* one : shown) {
      const ElementType type = one->shape().element_type();
      // A scalar stands for each element.
      const int64_t position = one->shape().num_elements() == 1 ? 0 : first;
      found.first += fmt::format("{} {}", found.first.back() == ':' ? "" : ",",
                                 ElementToText(type, one->data() + position * Bytes(type)));
    }
  }
  RecordFound(point, found);
}

}  // namespace assay
