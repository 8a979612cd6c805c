// fft (docs/spec/operations-linalg.md, Fft): the four kinds as one complex transform; exactness is
// evaluator/scalar/exact_dft.h.

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/exact_dft.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

// It goes over the last r = |fft_length| dimensions; L is the last length, N the product,
// w_n = e^(-2 pi i / n):
//   FFT    X[k] = sum_j x[j] prod_d w_(n_d)^(j_d k_d)
//   IFFT   x[j] = (1 / N) sum_k X[k] prod_d w_(n_d)^(-j_d k_d)
//   RFFT   FFT of the real input, last index 0 .. L div 2
//   IRFFT  over the half spectrum: real part of the IFFT sum where the terms with 1 <= k_last <= (L-1) div 2,
//          which stand for their conjugates too, count twice. This ignores the imaginary part of what is left
//          at k_last = 0 and L / 2 when the other axes are done.
// A line with an infinity or a NaN gives NaNs.
//
// Decision: fft-exact-components

enum class FftKind { kFft, kIfft, kRfft, kIrfft };

std::optional<FftKind> KindOf(const AttributeMap& attributes) {
  const std::string_view type = attributes.Text(Attr::kFftType);
  if (type == "FFT") return FftKind::kFft;
  if (type == "IFFT") return FftKind::kIfft;
  if (type == "RFFT") return FftKind::kRfft;
  if (type == "IRFFT") return FftKind::kIrfft;
  return std::nullopt;
}

absl::Status InvalidFft(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("Fft-C{}: {}", c, message));
}

// Fft-C4: the result's element type.
absl::StatusOr<ElementType> ResultType(const InferContext& context, FftKind kind) {
  const ElementType type = context.operand(0).element_type();
  const bool complex = IsComplex(type);
  const bool real = type == ElementType::kF32 || type == ElementType::kF64;
  if (kind == FftKind::kRfft ? !real : !complex) {
    return InvalidFft(context, 4,
                      fmt::format("{} of {} elements, wanted {}", context.attributes().Text(Attr::kFftType),
                                  Name(type), kind == FftKind::kRfft ? "f32 or f64" : "c64 or c128"));
  }
  if (kind == FftKind::kRfft) return type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  return kind == FftKind::kIrfft ? ComponentType(type) : type;
}

absl::StatusOr<Shape> InferFft(const InferContext& context) {
  const Shape& x = context.operand(0);
  const std::span<const int64_t> lengths = context.attributes().List(Attr::kFftLength);
  const int64_t r = static_cast<int64_t>(lengths.size());
  const std::optional<FftKind> kind = KindOf(context.attributes());
  if (!kind) {
    return InvalidFft(context, 4,
                      fmt::format("fft_type is {}, wanted FFT, IFFT, RFFT or IRFFT",
                                  context.attributes().Text(Attr::kFftType)));
  }
  if (r < 1 || r > 3)
    return InvalidFft(context, 1, fmt::format("fft_length has {}, wanted 1 to 3", Counted(r, "entry")));
  if (!x.IsArray() || x.rank() < r) {
    return InvalidFft(context, 2,
                      fmt::format("the operand is {}, wanted an array of rank at least {}", x.ToString(), r));
  }
  for (int64_t length : lengths) {
    if (length < 0)
      return InvalidFft(context, 3, fmt::format("fft_length has the entry {}, wanted at least 0", length));
  }
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, ResultType(context, *kind));
  const int64_t last = lengths[r - 1], half = last == 0 ? 0 : last / 2 + 1;
  DimVector sizes(x.sizes().begin(), x.sizes().end());
  for (int64_t i = 0; i < r; ++i) {
    const int64_t d = x.rank() - r + i;
    const int64_t wanted = i == r - 1 && *kind == FftKind::kIrfft ? half : lengths[i];
    if (sizes[d] != wanted) {
      return InvalidFft(context, 5,
                        fmt::format("dimension {} has size {}, wanted {} for fft_length {{{}}}", d, sizes[d],
                                    wanted, fmt::join(lengths, ",")));
    }
  }
  if (*kind == FftKind::kRfft) sizes.back() = half;
  if (*kind == FftKind::kIrfft) sizes.back() = last;
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
  for (int64_t d = 0; d < x.rank() - r; ++d) result.set_dynamic(d, x.is_dynamic(d));
  TakeLayout(x, result);
  return result;
}

// One transform: `leading` is the index of its line in the leading dimensions.
class FftRun {
 public:
  FftRun(EvalContext& context, FftKind kind, std::span<const int64_t> lengths, const Literal& x,
         Literal& result)
      : context_(context),
        kind_(kind),
        last_(lengths.back()),
        in_sizes_(lengths.begin(), lengths.end()),
        out_sizes_(in_sizes_),
        full_sizes_(in_sizes_),
        x_(x),
        out_(result),
        type_(x.shape().element_type()),
        result_type_(result.shape().element_type()),
        dft_({lengths.begin(), lengths.end()}, kind == FftKind::kIfft || kind == FftKind::kIrfft,
             *Info(type_).format) {
    if (kind == FftKind::kIrfft) in_sizes_.back() = last_ / 2 + 1;
    if (kind == FftKind::kRfft) out_sizes_.back() = last_ / 2 + 1;
    for (int64_t n : lengths) size_ *= n;
  }

  absl::Status Line(Index leading) {
    const auto charge = [this](int64_t work) { return context_.Charge(work); };
    if (!Load(leading)) {
      output_.re.assign(size_, CanonicalNaN(*Info(type_).format));
      output_.im = output_.re;
    } else {
      ASSAY_RETURN_IF_ERROR(
          dft_.Transform(line_, out_sizes_.back(), IsComplex(result_type_), output_, charge));
    }
    Store(leading);
    return context_.Charge(size_);
  }

 private:
  // (leading, j)
  static DimVector Join(Index leading, Index j) {
    DimVector index(leading.begin(), leading.end());
    index.insert(index.end(), j.begin(), j.end());
    return index;
  }

  // Fills line_; false if an element is not finite.
  bool Load(Index leading) {
    const bool complex = IsComplex(type_);
    line_.re.assign(size_, 0);
    line_.im.assign(complex ? size_ : 0, 0);
    if (kind_ == FftKind::kIrfft) line_.doubled.assign(size_, 0);
    bool finite = true;
    for (IndexWalk j(in_sizes_); !j.done(); j.Next()) {
      double parts[2] = {0, 0};
      LoadStrip(type_, x_.At(Join(leading, j.index())), 0, 1, parts);
      const int64_t at = PositionOf(j.index(), full_sizes_), last = j.index().back();
      line_.re[at] = parts[0];
      if (complex) line_.im[at] = parts[1];
      if (kind_ == FftKind::kIrfft) line_.doubled[at] = last >= 1 && last <= (last_ - 1) / 2;
      finite = finite && std::isfinite(parts[0]) && std::isfinite(parts[1]);
    }
    return finite;
  }

  void Store(Index leading) const {
    for (IndexWalk k(out_sizes_); !k.done(); k.Next()) {
      const int64_t at = PositionOf(k.index(), full_sizes_);
      const double parts[2] = {output_.re[at], IsComplex(result_type_) ? output_.im[at] : 0};
      StoreStrip(result_type_, parts, 1, out_.At(Join(leading, k.index())), 0);
    }
  }

  EvalContext& context_;
  const FftKind kind_;
  const int64_t last_;
  DimVector in_sizes_, out_sizes_;  // of a line: one of the last is half where the kind says so
  const DimVector full_sizes_;      // as line_ and output_ have them
  const ArrayView x_;
  const MutableArrayView out_;
  const ElementType type_, result_type_;
  ExactDft dft_;
  int64_t size_ = 1;  // of a whole line
  ExactDft::Line line_;
  ExactDft::Output output_;
};

absl::StatusOr<Literal> EvalFft(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const std::span<const int64_t> lengths = context.attributes().List(Attr::kFftLength);
  const int64_t leading = x.shape().rank() - static_cast<int64_t>(lengths.size());
  for (int64_t d = leading; d < x.shape().rank(); ++d) {
    if (x.dynamic_size(d) == x.shape().size(d)) continue;
    return EvalError(context.instruction().position,
                     fmt::format("DYN-3: fft: dimension {} has run-time size {}, wanted {}", d,
                                 x.dynamic_size(d), x.shape().size(d)));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(HasDynamicDimension(context.result_shape())));
  const DimVector sizes = x.runtime_sizes();
  if (result.shape().num_elements() > 0) {
    int64_t count = 1;
    for (int64_t n : lengths) count *= n;
    // An element of a line takes its terms, two fixed-point copies, roots, input and output.
    ASSAY_ASSIGN_OR_RETURN(const Literal scratch, ReserveScratch(context, count, 256));
    FftRun run(context, *KindOf(context.attributes()), lengths, x, result);
    for (IndexWalk line({sizes.data(), static_cast<size_t>(leading)}); !line.done(); line.Next()) {
      ASSAY_RETURN_IF_ERROR(run.Line(line.index()));
    }
  }
  // A dimension of the transform that is declared dynamic has the whole size.
  DimVector result_sizes(result.shape().sizes().begin(), result.shape().sizes().end());
  std::copy_n(sizes.begin(), leading, result_sizes.begin());
  SetRuntimeSizes(result, result_sizes);
  return result;
}

constexpr AttrSpec kFftAttributes[] = {Required(Attr::kFftType), Required(Attr::kFftLength)};

// n log2 n elements of the longer side are looked at; each takes 8 operations.
Work WorkOfFft(const InstructionView& view) {
  Work work = work::Move(view);
  double logs = 0;
  for (int64_t length : view.attributes().List(Attr::kFftLength)) logs += work::CeilLog2(length);
  work.elements = work::Largest(view) * std::max(logs, 1.0);
  work.flops = 8 * work::Largest(view) * logs;
  return work;
}

absl::Status OpenSizesOfFft(OpenSizes& sizes) {
  const int64_t rank = sizes.shape(0).rank();
  const int64_t leading = rank - std::ssize(sizes.context().attributes().List(Attr::kFftLength));
  for (int64_t d = 0; d < rank; ++d) {
    if (d >= leading) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::Fft = {
    .operands = Exactly(1),
    .types = TypeSet::Of(ElementType::kF32) | TypeSet::Of(ElementType::kF64) | kComplexTypes,
    .attributes = kFftAttributes,
    .infer = InferFft,
    .eval = EvalFft,
    .work = WorkOfFft,
    .bound = bound::Fft,
    .audit = audit::Computes,
    .open_sizes = OpenSizesOfFft,
};

}  // namespace assay
