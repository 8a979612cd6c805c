// op(a) X = b or X op(a) = b: a is packed once, transposed for op and for the right side and with its
// unknowns in the order in which they are solved; panels of right-hand sides are solved on
// different threads (substitution.h).
#include "engines/native/linalg/triangular_solve.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/linalg/substitution.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"

namespace assay::native {
namespace {

constexpr int64_t kPackedDoubles = 1 << 22;       // of the matrices at work at the same time
constexpr int64_t kWorkOfPart = 1 << 18;          // products worth a task
constexpr int64_t kWorkBetweenCharges = 1 << 28;  // products

class SolveRun {
 public:
  SolveRun(EvalContext& context, const Literal& a, const Literal& b, std::byte* x, Isa isa)
      : context_(context),
        type_(a.shape().element_type()),
        bytes_(Bytes(type_)),
        substitution_(type_, isa),
        left_(context.attributes().Bool(Attr::kLeftSide)),
        lower_(context.attributes().Bool(Attr::kLower)),
        unit_(context.attributes().Bool(Attr::kUnitDiagonal)),
        conjugate_(context.attributes().Text(Attr::kTransposeA) == "ADJOINT"),
        transposed_((context.attributes().Text(Attr::kTransposeA) != "NO_TRANSPOSE") != !left_),
        forward_(lower_ != transposed_),
        a_(a.data()),
        b_(b.data()),
        x_(x) {
    const int64_t rank = a.shape().rank();
    n_ = a.shape().size(rank - 1);
    sides_ = b.shape().size(left_ ? rank - 1 : rank - 2);
    stride_ = left_ ? sides_ : 1;
    side_stride_ = left_ ? 1 : n_;
    batches_ = n_ == 0 || sides_ == 0 ? 0 : b.shape().num_elements() / (n_ * sides_);
    blocks_ = CeilDiv(n_, substitution_.block_rows());
    panels_ = CeilDiv(sides_, substitution_.panel_columns());
  }

  int64_t products() const { return batches_ * sides_ * n_ * (n_ + 1) / 2; }

  absl::Status Run() {
    const int64_t packed = BlockStart(blocks_), work = Parts() * Parts() * n_ * n_ * Width() / 2 + 1;
    const int64_t most = std::clamp<int64_t>(
        std::min(kPackedDoubles / packed, kWorkBetweenCharges / (work * panels_)), 1, batches_);
    ASSAY_ASSIGN_OR_RETURN(const Literal scratch, ReserveScratch(context_, most * packed, sizeof(double)));
    ASSAY_ASSIGN_OR_RETURN(
        const Literal panel_scratch,
        ReserveScratch(context_, context_.parallel().jobs() * Parts() * Parts() * n_ * Width(),
                       sizeof(double)));
    matrices_.resize(most);
    for (Matrix& matrix : matrices_) matrix.packed.resize(packed);
    for (int64_t first = 0; first < batches_; first += most) {
      const int64_t count = std::min(most, batches_ - first);
      context_.parallel().For(count, kWorkOfPart / (n_ * n_) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) Pack(first + i, matrices_[i]);
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(count * n_ * n_));
      const int64_t at_once = std::max<int64_t>(kWorkBetweenCharges / work, 1);
      for (int64_t done = 0; done < count * panels_; done += at_once) {
        const int64_t part = std::min(at_once, count * panels_ - done);
        context_.parallel().For(part, kWorkOfPart / work + 1, [&](int64_t begin, int64_t end) {
          TierCounts counts;
          for (int64_t i = done + begin; i < done + end; ++i)
            SolvePanel(first + i / panels_, matrices_[i / panels_], i % panels_, counts);
          CountTiers(counts);
        });
        ASSAY_RETURN_IF_ERROR(context_.Charge(part * work));
      }
    }
    return absl::OkStatus();
  }

 private:
  // -a below its diagonal in blocks of rows, and the diagonal.
  struct Matrix {
    std::vector<double> packed;
    std::vector<RowStatistics> statistics;  // of each block
    std::vector<Complex> diagonal;
  };

  int64_t Parts() const { return substitution_.parts(); }
  int64_t Rows() const { return substitution_.block_rows(); }
  int64_t Width() const { return substitution_.panel_columns(); }
  int64_t Order(int64_t i) const { return forward_ ? i : n_ - 1 - i; }
  // Block p has the elements before and inside its diagonal square, Parts() * (p + 1) * Rows() a row.
  int64_t BlockStart(int64_t p) const { return Parts() * Rows() * Rows() * p * (p + 1) / 2; }

  void Pack(int64_t batch, Matrix& matrix) const {
    const std::byte* const a = a_ + batch * n_ * n_ * bytes_;
    matrix.statistics.resize(blocks_);
    matrix.diagonal.assign(n_, 1.0);
    std::fill(matrix.packed.begin(), matrix.packed.end(), 0.0);
    std::vector<double> row(n_);
    // These lead from unknown i to the next one in the array: along a row of op(a), and down the diagonal.
    const int64_t step = (forward_ ? 1 : -1) * (transposed_ ? n_ : 1) * bytes_;
    const int64_t down = (forward_ ? 1 : -1) * (transposed_ ? 1 : n_) * bytes_;
    const std::byte* const first = a + (forward_ ? 0 : n_ * n_ - 1) * bytes_;
    const ElementType component = substitution_.component();
    for (int64_t i = 0; i < n_; ++i) {
      double* const packed = matrix.packed.data() + BlockStart(i / Rows()) + i % Rows();
      double diagonal[2] = {1, 0};
      for (int64_t part = 0; part < Parts(); ++part) {
        const std::byte* const src = first + i * down + part * Bytes(component);
        const bool negate = part == 0 || conjugate_;
        WidenRun(substitution_.sums(), component, src, step, i, row.data());
        for (int64_t k = 0; k < i; ++k) packed[(k * Parts() + part) * Rows()] = negate ? -row[k] : row[k];
        if (!unit_) WidenRun(substitution_.sums(), component, src + i * step, step, 1, diagonal + part);
      }
      matrix.diagonal[i] = {diagonal[0], conjugate_ ? -diagonal[1] : diagonal[1]};
    }
    for (int64_t p = 0; p < blocks_; ++p) {
      substitution_.sums().statistics(Parts() * (p + 1) * Rows(), matrix.packed.data() + BlockStart(p),
                                      static_cast<int>(Rows()), &matrix.statistics[p]);
    }
  }

  void SolvePanel(int64_t batch, const Matrix& matrix, int64_t number, TierCounts& counts) const {
    const int64_t at = batch * n_ * sides_ + number * Width() * side_stride_;
    const int columns = static_cast<int>(std::min(Width(), sides_ - number * Width()));
    std::vector<double> unknowns(Parts() * Parts() * n_ * Width());
    RowStatistics statistics;
    ClearStatistics(statistics);
    const SystemPanel panel{unknowns.data(), Parts() * n_ * Width(), &statistics, 0, columns};
    alignas(64) double sums[2][kMaxPanelWidth * kMaxPanelWidth];
    alignas(64) PanelRow b, s, x;
    for (int64_t i = 0; i < n_; ++i) {
      const int64_t block = i / Rows(), r = i % Rows(), done = Parts() * block * Rows();
      const double* const packed = matrix.packed.data() + BlockStart(block);
      double* const all[2] = {sums[0], sums[1]};
      if (r == 0 && substitution_.sums_in_blocks()) substitution_.SumBlock(packed, done, panel, all);
      const int64_t position = (at + Order(i) * stride_) * bytes_;
      substitution_.Load(b_ + position, side_stride_ * bytes_, columns, b);
      double* const row_sums[2] = {sums[0] + r * Width(), sums[1] + r * Width()};
      const SystemRow row{packed + r, Parts() * i, &matrix.statistics[block], static_cast<int>(r)};
      substitution_.RoundSums(row, panel, static_cast<int>(Parts()), done, row_sums, b, s, counts);
      if (!unit_ && Parts() == 2) {
        substitution_.DivideComplex(matrix.diagonal[i], panel, s, x);
      } else if (!unit_) {
        substitution_.Divide(matrix.diagonal[i].real(), panel, s, x);
      }
      const PanelRow& result = unit_ ? s : x;
      substitution_.Put(i, result, panel);
      substitution_.Store(result, 0, columns, x_ + position, side_stride_ * bytes_);
    }
  }

  EvalContext& context_;
  const ElementType type_;
  const int64_t bytes_;
  const Substitution substitution_;
  const bool left_, lower_, unit_, conjugate_, transposed_, forward_;
  const std::byte* const a_;
  const std::byte* const b_;
  std::byte* const x_;
  int64_t n_, sides_, stride_, side_stride_, batches_, blocks_, panels_;
  std::vector<Matrix> matrices_;
};

std::string_view WhyNotTriangularSolve(const Shape& a, const Shape& b) {
  return WhyNotSubstitute(a, b, a.sizes().back() * b.num_elements() / 2);
}

class TriangularSolveKernel final : public Kernel {
 public:
  explicit TriangularSolveKernel(Isa isa) : isa_(isa) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunTriangularSolve(context, operands, isa_);
  }

 private:
  const Isa isa_;
};

}  // namespace

absl::StatusOr<Literal> RunTriangularSolve(EvalContext& context, std::span<Literal> operands, Isa isa) {
  const Literal& a = operands[0];
  const Literal& b = operands[1];
  if (const std::string_view why = WhyNotTriangularSolve(a.shape(), b.shape()); !why.empty())
    return Fallback(why);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  SolveRun run(context, a, b, result.MutableBytes().data(), isa);
  ASSAY_RETURN_IF_ERROR(run.Run());
  return result;
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareTriangularSolve(const StepView& step, Isa isa) {
  if (const std::string_view why = WhyNotTriangularSolve(step.operand_shape(0), step.operand_shape(1));
      !why.empty())
    return NotSupported({}, why);
  return std::make_shared<TriangularSolveKernel>(isa);
}

}  // namespace assay::native
