#include "engines/native/contraction/long_dot.h"

#include <algorithm>

#include "base/parallel.h"
#include "engines/native/sums/sum_terms.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

// The rows of one operand.
struct Operand {
  const DotArray& array;
  const RowLayout& layout;

  void Gather(const SumKernels& kernels, int64_t base, int64_t from, int64_t n, double* dst) const {
    const int64_t bytes = Bytes(array.type), size = layout.run_size, stride = layout.run_stride;
    for (int64_t run = from / size, skip = from % size; n > 0; ++run, skip = 0) {
      const int64_t count = std::min(n, size - skip);
      WidenRun(kernels, array.type, array.data + (base + layout.run_at[run] + skip * stride) * bytes,
               stride * bytes, count, dst);
      dst += count;
      n -= count;
    }
  }
};

class ProductTerms final : public SumTerms {
 public:
  ProductTerms(const SumKernels& kernels, const Operand& lhs, int64_t lhs_base, const Operand& rhs,
               int64_t rhs_base, const FloatFormat& format)
      : SumTerms(kernels, format, lhs.layout.length()),
        lhs_(lhs),
        rhs_(rhs),
        lhs_base_(lhs_base),
        rhs_base_(rhs_base) {}

  void Gather(int64_t /*base*/, int64_t from, int64_t n, double* dst) const override {
    constexpr int64_t kBlock = 8;
    double factors[kPart];
    lhs_.Gather(kernels_, lhs_base_, from, n, dst);
    rhs_.Gather(kernels_, rhs_base_, from, n, factors);
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      for (int64_t j = 0; j < kBlock; ++j) dst[i + j] *= factors[i + j];
    }
    for (; i < n; ++i) dst[i] *= factors[i];
  }

 private:
  const Operand& lhs_;
  const Operand& rhs_;
  const int64_t lhs_base_, rhs_base_;
};

}  // namespace

ExactDotElements::ExactDotElements(const SumKernels& kernels, const DotArray& lhs, const DotArray& rhs,
                                   const DotBox& box, ElementType type)
    : kernels_(kernels),
      lhs_(lhs),
      rhs_(rhs),
      left_(box.batch, box.rows, box.contracted[0].loops, 0),
      right_(box.batch, box.columns, box.contracted[0].loops, 1),
      format_(*Info(type).format) {}

double ExactDotElements::Rounded(Parallel& parallel, int64_t b, int64_t i, int64_t j,
                                 TierCounts& counts) const {
  const Operand left{lhs_, left_}, right{rhs_, right_};
  const ProductTerms terms(kernels_, left, left_.batch_at[b] + left_.row_at[i], right,
                           right_.batch_at[b] + right_.row_at[j], format_);
  return terms.RoundedSum(parallel, 0, 0.0, counts);
}

absl::Status RunLongDot(EvalContext& context, const SumKernels& kernels, const DotArray& lhs,
                        const DotArray& rhs, const DotBox& box, ElementType type, std::byte* result) {
  const ExactDotElements elements(kernels, lhs, rhs, box, type);
  const std::vector<int64_t> batch_at = OffsetsOf(box.batch, 2), row_at = OffsetsOf(box.rows, 2),
                             column_at = OffsetsOf(box.columns, 2);
  const int64_t bytes = Bytes(type), length = elements.length();
  const auto rows = static_cast<int64_t>(row_at.size()), columns = static_cast<int64_t>(column_at.size());
  const auto sums = static_cast<int64_t>(batch_at.size()) * rows * columns;
  const int64_t most = (int64_t{1} << 24) / length + 1;
  for (int64_t done = 0; done < sums; done += most) {
    const int64_t part = std::min(most, sums - done);
    context.parallel().For(part, 1, [&](int64_t begin, int64_t end) {
      TierCounts counts;
      for (int64_t s = done + begin; s < done + end; ++s) {
        const int64_t b = s / (rows * columns), i = s / columns % rows, j = s % columns;
        const double sum = elements.Rounded(context.parallel(), b, i, j, counts);
        StoreStrip(type, &sum, 1, result + (batch_at[b] + row_at[i] + column_at[j]) * bytes, bytes);
      }
      CountTiers(counts);
    });
    ASSAY_RETURN_IF_ERROR(context.Charge(part * length));
  }
  return absl::OkStatus();
}

}  // namespace assay::native
