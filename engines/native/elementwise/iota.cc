// The counts of one line are made once a run; what lies inside of the dimension repeats each of them, what
// lies outside of it repeats the line.
#include "engines/native/elementwise/iota.h"

#include <algorithm>
#include <cstring>

#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "evaluator/static_shape.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kBetweenCharges = 1 << 20;  // elements

// dst[i] = first + i as the element type: integers wrap, floats round once, complex numbers are (x, 0).
void StoreCounts(ElementType type, int64_t first, int64_t n, std::byte* dst) {
  alignas(64) double values[2 * kStrip];
  int64_t counts[kStrip];
  for (int64_t done = 0; done < n; done += kStrip) {
    const int64_t part = std::min(kStrip, n - done);
    std::byte* const to = dst + done * Bytes(type);
    if (!IsFloat(type) && !IsComplex(type)) {
      for (int64_t i = 0; i < part; ++i) counts[i] = first + done + i;
      StoreStrip(type, counts, part, to, Bytes(type));
      continue;
    }
    const int parts = IsComplex(type) ? 2 : 1;
    for (int64_t i = 0; i < part; ++i) {
      values[parts * i] = RoundToFormat(static_cast<double>(first + done + i), *Info(type).format);
      if (parts == 2) values[2 * i + 1] = 0;
    }
    StoreStrip(type, values, part, to, Bytes(type));
  }
}

class IotaKernel final : public Kernel {
 public:
  IotaKernel(const Shape& shape, int64_t dimension)
      : type_(shape.element_type()), line_(shape.size(dimension)) {
    for (int64_t d = 0; d < dimension; ++d) outer_ *= shape.size(d);
    for (int64_t d = dimension + 1; d < shape.rank(); ++d) inner_ *= shape.size(d);
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal>) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    std::byte* const out = result.MutableBytes().data();
    const int bytes = Bytes(type_);
    const int64_t block = line_ * inner_ * bytes;
    for (int64_t i = 0; i < line_; i += kStrip) {
      const int64_t count = std::min(kStrip, line_ - i);
      alignas(64) std::byte elements[kStripBytes];
      StoreCounts(type_, i, count, elements);
      if (inner_ == 1) {
        std::memcpy(out + i * bytes, elements, static_cast<size_t>(count * bytes));
      } else {
        for (int64_t k = 0; k < count; ++k) {
          FillElements(bytes, elements + k * bytes, out + (i + k) * inner_ * bytes, inner_);
          if (inner_ >= kBetweenCharges) ASSAY_RETURN_IF_ERROR(context.Charge(inner_));
        }
      }
      if (inner_ < kBetweenCharges) ASSAY_RETURN_IF_ERROR(context.Charge(count * inner_));
    }
    for (int64_t o = 1; o < outer_; ++o) {
      std::memcpy(out + o * block, out, static_cast<size_t>(block));
      ASSAY_RETURN_IF_ERROR(context.Charge(line_ * inner_));
    }
    return result;
  }

 private:
  const ElementType type_;
  const int64_t line_;
  int64_t outer_ = 1, inner_ = 1;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareIota(const StepView& step, Isa) {
  const Shape& shape = step.result_shape();
  if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return NotSupported({}, why);
  if (shape.num_elements() == 0) return NotSupported({}, "no elements");
  return std::make_shared<IotaKernel>(shape, step.instruction.attributes.Int(Attr::kIotaDimension));
}

}  // namespace assay::native
