// Row i of L solves the triangular system conj(L) x = a_i of the rows above it, so that L comes out by
// substitution (substitution.h): blocks of rows of conj(L) one after the other, in each first the panels of
// columns that hold its own diagonal, one unknown at a time because each needs the pivot,
// then the panels beyond on all threads.
#include "engines/native/linalg/cholesky.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/linalg/substitution.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/real.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr int64_t kCholeskyWorkOfPart = 1 << 18;          // products worth a task
constexpr int64_t kCholeskyWorkBetweenCharges = 1 << 28;  // products

// One matrix after another of the same size.
class Factorization {
 public:
  Factorization(ElementType type, int64_t n, bool lower, Isa isa)
      : bytes_(Bytes(type)),
        format_(*Info(IsComplex(type) ? ComponentType(type) : type).format),
        substitution_(type, isa),
        lower_(lower),
        n_(n),
        width_(substitution_.panel_columns()),
        rows_(substitution_.block_rows()),
        parts_(substitution_.parts()),
        panels_(CeilDiv(n, width_)) {}

  static int64_t Doubles(ElementType type, int64_t n) {
    const int64_t parts = IsComplex(type) ? 2 : 1;
    return parts * parts * n * (n + kMaxPanelWidth) + parts * n * kMaxPanelWidth;
  }

  // `charge` is told of the work and may end it. The other triangle of `result` is zero already.
  template <class Charge>
  absl::Status Factor(const std::byte* a, std::byte* result, Parallel& parallel, Charge charge) {
    a_ = a;
    block_.assign(parts_ * n_ * rows_, 0.0);
    pivots_.resize(n_);
    columns_.resize(panels_);
    for (RowStatistics& statistics : columns_) ClearStatistics(statistics);
    unknowns_.resize(parts_ * parts_ * n_ * width_ * panels_);
    bool good = true;
    for (int64_t start = 0; good && start < n_; start += rows_) {
      TakeBlock(start);
      good = FactorDiagonal(start);
      const int64_t end = std::min(start + rows_, n_), first = CeilDiv(end, width_);
      // The panel that holds the last diagonal element may have columns beyond it: it is done.
      const int64_t work = parts_ * parts_ * (end * rows_ * width_);
      parallel.For(good ? panels_ - first : 0, kCholeskyWorkOfPart / work + 1, [&](int64_t from, int64_t to) {
        TierCounts counts;
        for (int64_t q = first + from; q < first + to; ++q) SolvePanel(start, q, counts);
        CountTiers(counts);
      });
      ASSAY_RETURN_IF_ERROR(charge(work * (panels_ - first + 1)));
    }
    good ? Store(result) : StoreNaNs(result);
    return absl::OkStatus();
  }

 private:
  SystemPanel Panel(int64_t q, int64_t first_column) {
    const int64_t size = parts_ * n_ * width_;
    return {unknowns_.data() + q * parts_ * size, size, &columns_[q],
            static_cast<int>(std::max<int64_t>(first_column - q * width_, 0)),
            static_cast<int>(std::min(width_, n_ - q * width_))};
  }
  // Element l of column i.
  double& Unknown(int64_t l, int64_t i, int part = 0) {
    return unknowns_[((i / width_ * parts_ + part) * parts_ * n_ + l) * width_ + i % width_];
  }

  // Rows start .. of -conj(L), as far as they are known.
  void TakeBlock(int64_t start) {
    const int64_t end = std::min(start + rows_, n_);
    for (int64_t i = start; i < end; ++i) {
      for (int64_t l = 0; l < parts_ * start; ++l) block_[l * rows_ + i - start] = -Unknown(l, i);
    }
  }

  // Row j of the right-hand sides: a_ij (conjugated: a_ji) for the columns i of a panel.
  void LoadRow(int64_t j, int64_t q, const SystemPanel& panel, PanelRow& b) const {
    const int64_t column = q * width_ + panel.first, count = panel.last - panel.first;
    PanelRow loaded;
    const std::byte* const src = a_ + (lower_ ? column * n_ + j : j * n_ + column) * bytes_;
    substitution_.Load(src, (lower_ ? n_ : 1) * bytes_, static_cast<int>(count), loaded);
    std::fill_n(b, 2 * kMaxPanelWidth, 0.0);
    std::copy_n(loaded, count, b + panel.first);
    for (int64_t i = 0; parts_ == 2 && i < count; ++i) {
      const double imaginary = loaded[kMaxPanelWidth + i];
      b[kMaxPanelWidth + panel.first + i] = lower_ ? imaginary : -imaginary;
    }
  }

  // The unknowns of a block's rows j in the panels with its diagonal. False: a pivot is negative or NaN.
  bool FactorDiagonal(int64_t start) {
    const int64_t end = std::min(start + rows_, n_), done = parts_ * start;
    const int64_t first = start / width_, last = (end - 1) / width_;
    std::vector<double> sums((last - first + 1) * 2 * rows_ * width_);
    const auto part_sums = [&](int64_t q, int part) {
      return sums.data() + ((q - first) * 2 + part) * rows_ * width_;
    };
    for (int64_t q = first; q <= last && substitution_.sums_in_blocks(); ++q) {
      double* const c[2] = {part_sums(q, 0), part_sums(q, 1)};
      substitution_.SumBlock(block_.data(), done, Panel(q, start), c);
    }
    TierCounts counts;
    bool good = true;
    for (int64_t j = start; good && j < end; ++j) {
      for (int64_t q = j / width_; good && q <= last; ++q) {
        const int64_t r = j - start;
        double* const c[2] = {part_sums(q, 0) + r * width_, part_sums(q, 1) + r * width_};
        // The row's statistics are those of column j so far, whose panel is the first to be done.
        if (q == j / width_) TakeStatistics(j, r);
        good = SolveRow(j, r, done, q, c, counts);
        const SystemPanel panel = Panel(q, j);
        for (int64_t i = std::max(j + 1, q * width_); i < std::min(end, q * width_ + panel.last); ++i) {
          for (int64_t l = parts_ * j; l < parts_ * (j + 1); ++l)
            block_[l * rows_ + i - start] = -Unknown(l, i);
        }
      }
    }
    CountTiers(counts);
    return good;
  }

  void TakeStatistics(int64_t j, int64_t r) {
    const RowStatistics& columns = columns_[j / width_];
    const int64_t slot = j % width_;
    statistics_.squares[r] = columns.squares[slot];
    statistics_.smallest[r] = columns.smallest[slot];
    statistics_.largest[r] = columns.largest[slot];
    statistics_.bits[r] = columns.bits[slot];
  }

  // Unknown j of the columns from j on in panel q.
  bool SolveRow(int64_t j, int64_t r, int64_t done, int64_t q, double* const c[2], TierCounts& counts) {
    const SystemPanel panel = Panel(q, j);
    alignas(64) PanelRow b, s, x;
    LoadRow(j, q, panel, b);
    const int64_t pivot = j - q * width_;  // of column j, if it is in this panel
    const bool diagonal = pivot >= 0;
    const SystemRow row{block_.data() + r, parts_ * j, &statistics_, static_cast<int>(r)};
    SystemPanel beyond = panel;
    if (diagonal) beyond.first = static_cast<int>(pivot) + 1;
    substitution_.RoundSums(row, beyond, static_cast<int>(parts_), done, c, b, s, counts);
    if (diagonal) {
      // The imaginary part is not asked for: it is an exact zero.
      SystemPanel here = panel;
      here.last = here.first + 1;
      substitution_.RoundSums(row, here, 1, row.length, c, b, x, counts);
      if (!(x[pivot] >= 0)) return false;
      pivots_[j] = RealSqrt(x[pivot], format_);
    }
    substitution_.Divide(pivots_[j], panel, s, x);
    if (diagonal) {
      x[pivot] = pivots_[j];
      x[kMaxPanelWidth + pivot] = 0;
    }
    substitution_.Put(j, x, panel);
    return true;
  }

  // All of a block's rows in a panel beyond its diagonal.
  void SolvePanel(int64_t start, int64_t q, TierCounts& counts) {
    const int64_t end = std::min(start + rows_, n_), done = parts_ * start;
    const SystemPanel panel = Panel(q, end);
    alignas(64) double sums[2][kMaxPanelWidth * kMaxPanelWidth];
    double* const all[2] = {sums[0], sums[1]};
    if (substitution_.sums_in_blocks()) substitution_.SumBlock(block_.data(), done, panel, all);
    alignas(64) PanelRow b, s, x;
    for (int64_t j = start; j < end; ++j) {
      const int64_t r = j - start;
      LoadRow(j, q, panel, b);
      double* const c[2] = {sums[0] + r * width_, sums[1] + r * width_};
      const SystemRow row{block_.data() + r, parts_ * j, &statistics_, static_cast<int>(r)};
      substitution_.RoundSums(row, panel, static_cast<int>(parts_), done, c, b, s, counts);
      substitution_.Divide(pivots_[j], panel, s, x);
      substitution_.Put(j, x, panel);
    }
  }

  void Store(std::byte* result) {
    std::vector<double> values(n_);
    const ElementType component = substitution_.component();
    const int64_t stride = (lower_ ? 1 : n_) * bytes_;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t part = 0; part < parts_; ++part) {
        const bool negate = part == 1 && !lower_;
        for (int64_t k = 0; k <= i; ++k) {
          const double value = Unknown(k * parts_ + part, i);
          values[k] = negate && k < i ? -value : value;
        }
        std::byte* const dst = result + (lower_ ? i * n_ : i) * bytes_ + part * Bytes(component);
        StoreStrip(component, values.data(), i + 1, dst, stride);
      }
    }
  }

  void StoreNaNs(std::byte* result) const {
    const double nan = CanonicalNaN(format_);
    const int64_t bytes = Bytes(substitution_.component());
    StoreStrip(substitution_.component(), &nan, 1, result, bytes);
    for (int64_t i = 1; i < n_ * n_ * parts_; ++i) std::copy_n(result, bytes, result + i * bytes);
  }

  const int64_t bytes_;
  const FloatFormat& format_;
  const Substitution substitution_;
  const bool lower_;
  const int64_t n_, width_, rows_, parts_, panels_;
  const std::byte* a_ = nullptr;
  std::vector<double> unknowns_;        // [panel][part][element][column]: column i is row i of L
  std::vector<RowStatistics> columns_;  // of each panel
  std::vector<double> block_;           // rows of -conj(L)
  RowStatistics statistics_;            // of these rows
  std::vector<double> pivots_;
};

absl::Status FactorAll(EvalContext& context, const Literal& a, std::byte* result, Isa isa) {
  const ElementType type = a.shape().element_type();
  const int64_t n = a.shape().sizes().back(), bytes = n * n * Bytes(type);
  const int64_t matrices = a.shape().num_elements() / (n * n);
  const bool lower = context.attributes().Bool(Attr::kLower);
  Parallel& parallel = context.parallel();
  const int64_t work = (IsComplex(type) ? 4 : 1) * n * n * n / 6 + n * n;
  // Threads share a matrix where it is large or alone.
  const bool shared = matrices == 1 || work > 16 * kCholeskyWorkOfPart;
  const int64_t at_work = shared ? 1 : std::min<int64_t>(parallel.jobs(), matrices);
  ASSAY_ASSIGN_OR_RETURN(const Literal scratch,
                         ReserveScratch(context, at_work * Factorization::Doubles(type, n), sizeof(double)));
  if (shared) {
    Factorization factorization(type, n, lower, isa);
    for (int64_t m = 0; m < matrices; ++m) {
      ASSAY_RETURN_IF_ERROR(
          factorization.Factor(a.data() + m * bytes, result + m * bytes, parallel,
                               [&context](int64_t products) { return context.Charge(products); }));
    }
    return absl::OkStatus();
  }
  const int64_t at_once = kCholeskyWorkBetweenCharges / work + 1;
  for (int64_t done = 0; done < matrices; done += at_once) {
    const int64_t count = std::min(at_once, matrices - done);
    parallel.For(count, kCholeskyWorkOfPart / work + 1, [&](int64_t begin, int64_t end) {
      Factorization factorization(type, n, lower, isa);
      Parallel alone(1);
      for (int64_t m = done + begin; m < done + end; ++m) {
        factorization
            .Factor(a.data() + m * bytes, result + m * bytes, alone, [](int64_t) { return absl::OkStatus(); })
            .IgnoreError();
      }
    });
    ASSAY_RETURN_IF_ERROR(context.Charge(count * work));
  }
  return absl::OkStatus();
}

std::string_view WhyNotCholesky(const Shape& a) {
  return WhyNotSubstitute(a, a, a.sizes().back() * a.num_elements() / 6);
}

class CholeskyKernel final : public Kernel {
 public:
  explicit CholeskyKernel(Isa isa) : isa_(isa) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunCholesky(context, operands, isa_);
  }

 private:
  const Isa isa_;
};

}  // namespace

absl::StatusOr<Literal> RunCholesky(EvalContext& context, std::span<Literal> operands, Isa isa) {
  const Literal& a = operands[0];
  if (const std::string_view why = WhyNotCholesky(a.shape()); !why.empty()) return Fallback(why);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(/*zero=*/true));
  ASSAY_RETURN_IF_ERROR(FactorAll(context, a, result.MutableBytes().data(), isa));
  return result;
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCholesky(const StepView& step, Isa isa) {
  if (const std::string_view why = WhyNotCholesky(step.operand_shape(0)); !why.empty())
    return NotSupported({}, why);
  return std::make_shared<CholeskyKernel>(isa);
}

}  // namespace assay::native
