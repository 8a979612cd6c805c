// The loops: blocks of packed rows and columns that fit in memory, tiles of results that fit in the cache, and
// behind each tile the elements whose bound left the rounding open (tile_repair.h).
#include "evaluator/native/matrix_product.h"

#include <algorithm>
#include <memory>

#include "evaluator/native/product_bounds.h"
#include "evaluator/native/tile_repair.h"
#include "evaluator/ops/loops.h"
#include "evaluator/parallel.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int64_t kPackedDoubles = 1 << 22;  // of one operand
constexpr int64_t kTileRows = 96, kTileColumns = 256;
constexpr int64_t kDepth = 256;                        // products added in registers before a tile is touched
constexpr int64_t kWorkBetweenCharges = 1 << 30;       // products
constexpr int64_t kWorkOfPart = 1 << 18;               // products worth a task
constexpr int64_t kElementsOfPart = int64_t{1} << 15;  // packed elements worth a task

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Working memory that is not initialized, 64-byte aligned and counted against the memory limit.
absl::StatusOr<Literal> Scratch(EvalContext& context, int64_t doubles) {
  return ReserveScratch(context, doubles, sizeof(double));
}

// The tile's sums of one thread, kept for its next tile.
double* ThreadTile() {
  static thread_local std::unique_ptr<double[]> tile(
      new double[(kTileRows + kMaxPanelWidth) * (kTileColumns + kMaxPanelWidth)]);
  return tile.get();
}

class Runner {
 public:
  Runner(EvalContext& context, const SumKernels& kernels, const MatrixProduct& product)
      : context_(context),
        kernels_(kernels),
        p_(product),
        rounding_(*Info(product.type).format),
        lhs_(*product.lhs, kernels.tile_rows),
        rhs_(*product.rhs, kernels.tile_columns),
        chain_(std::min(kDepth, product.length) + CeilDiv(product.length, kDepth)) {
    column_stride_ = p_.columns > 1 ? p_.column_at[1] - p_.column_at[0] : 1;
    for (int64_t j = 1; regular_columns_ && j < p_.columns; ++j)
      regular_columns_ = p_.column_at[j] - p_.column_at[j - 1] == column_stride_;
  }

  absl::Status Run() {
    const int64_t length = std::max<int64_t>(p_.length, 1);
    const int64_t most_rows = BlockOf(p_.rows, lhs_.width, length);
    const int64_t most_columns = BlockOf(p_.columns, rhs_.width, length);
    int64_t most_batches = 1;
    if (most_rows >= p_.rows && most_columns >= p_.columns) {
      const int64_t packed = std::max(most_rows, most_columns) * length;
      const int64_t work = most_rows * most_columns * length;
      most_batches =
          std::clamp<int64_t>(std::min(kPackedDoubles / packed, kWorkBetweenCharges / work), 1, p_.batches);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal lhs_scratch, Scratch(context_, most_batches * most_rows * length));
    ASSAY_ASSIGN_OR_RETURN(Literal rhs_scratch, Scratch(context_, most_batches * most_columns * length));
    lhs_.packed = reinterpret_cast<double*>(lhs_scratch.MutableBytes().data());
    rhs_.packed = reinterpret_cast<double*>(rhs_scratch.MutableBytes().data());
    for (int64_t b = 0; b < p_.batches; b += most_batches) {
      const int64_t batches = std::min(most_batches, p_.batches - b);
      for (int64_t column = 0; column < p_.columns; column += most_columns) {
        Pack(rhs_, b, batches, column, std::min(most_columns, p_.columns - column));
        for (int64_t row = 0; row < p_.rows; row += most_rows) {
          Pack(lhs_, b, batches, row, std::min(most_rows, p_.rows - row));
          ASSAY_RETURN_IF_ERROR(MultiplyBlocks(b, batches));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  // One operand's block in packed form: the panels of each of its batches.
  struct Side {
    Side(const RowSource<double>& rows, int panel_width) : source(rows), width(panel_width) {}
    const RowSource<double>& source;
    const int width;
    double* packed = nullptr;
    int64_t first = 0, count = 0, panels = 0;
    std::vector<RowScale> scales;  // [batch][panel][slot]
    std::vector<double> norms, ratios;
  };

  int64_t BlockOf(int64_t rows, int width, int64_t length) const {
    const int64_t fitting = std::max<int64_t>(kPackedDoubles / length / width, 1) * width;
    return std::min(fitting, CeilDiv(std::max<int64_t>(rows, 1), width) * width);
  }

  void Pack(Side& side, int64_t first_batch, int64_t batches, int64_t first, int64_t count) {
    side.first = first;
    side.count = count;
    side.panels = CeilDiv(count, side.width);
    const int64_t panels = side.panels * batches;
    side.scales.resize(panels * side.width);
    side.norms.resize(side.scales.size());
    side.ratios.resize(side.scales.size());
    const int64_t grain = kElementsOfPart / (p_.length * side.width + 1) + 1;
    context_.parallel().For(panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) PackPanel(side, first_batch, panel);
    });
  }

  void PackPanel(Side& side, int64_t first_batch, int64_t panel) const {
    const int64_t at = panel % side.panels * side.width;
    double* const packed = side.packed + panel * side.width * p_.length;
    side.source.Pack(first_batch + panel / side.panels, side.first + at,
                     std::min<int64_t>(side.width, side.count - at), side.width, packed);
    RowStatistics statistics;
    kernels_.statistics(p_.length, packed, side.width, &statistics);
    for (int r = 0; r < side.width; ++r) {
      const int64_t slot = panel * side.width + r;
      side.scales[slot] = ScaleOf(statistics, r);
      side.norms[slot] = side.scales[slot].norm;
      side.ratios[slot] = side.scales[slot].ratio;
    }
  }

  absl::Status MultiplyBlocks(int64_t first_batch, int64_t batches) {
    const int64_t tile_rows = TileSize(kTileRows, lhs_), tile_columns = TileSize(kTileColumns, rhs_);
    const int64_t down = CeilDiv(lhs_.count, tile_rows), across = CeilDiv(rhs_.count, tile_columns);
    const int64_t tiles = batches * down * across;
    const int64_t work = tile_rows * tile_columns * std::max<int64_t>(p_.length, 1);
    const int64_t grain = kWorkOfPart / work + 1;
    const int64_t most = std::max<int64_t>(kWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < tiles; done += most) {
      const int64_t part = std::min(most, tiles - done);
      context_.parallel().For(part, grain, [&](int64_t begin, int64_t end) {
        TierCounts counts;
        for (int64_t t = done + begin; t < done + end; ++t) {
          const int64_t batch = t / (down * across), tile = t % (down * across);
          MultiplyTile(first_batch, batch, tile / across * tile_rows, tile % across * tile_columns, tile_rows,
                       tile_columns, counts);
        }
        CountTiers(counts);
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(part * work));
    }
    return absl::OkStatus();
  }

  // A whole number of panels, fewer where there are few tiles to share out.
  int64_t TileSize(int64_t most, const Side& side) const {
    const int64_t panels = std::max<int64_t>(std::min(most / side.width, CeilDiv(side.panels, 2)), 1);
    return panels * side.width;
  }

  // Results [row, row + tile_rows) x [column, column + tile_columns) of the block, cut at its end.
  void MultiplyTile(int64_t first_batch, int64_t batch, int64_t row, int64_t column, int64_t tile_rows,
                    int64_t tile_columns, TierCounts& counts) const {
    const int64_t rows = std::min(tile_rows, lhs_.count - row);
    const int64_t columns = std::min(tile_columns, rhs_.count - column);
    const int64_t padded_columns = CeilDiv(columns, rhs_.width) * rhs_.width;
    const double* const a = lhs_.packed + (batch * lhs_.panels * lhs_.width + row) * p_.length;
    const double* const b = rhs_.packed + (batch * rhs_.panels * rhs_.width + column) * p_.length;
    double* const sums = ThreadTile();
    if (!p_.two_products) AddProducts(a, b, rows, padded_columns, sums);
    const int64_t row_slot = batch * lhs_.panels * lhs_.width + row;
    const int64_t column_slot = batch * rhs_.panels * rhs_.width + column;
    TileRepair repair(kernels_, p_, first_batch + batch);
    counts.sums += rows * columns;
    alignas(64) double out[kTileColumns + kMaxPanelWidth];
    alignas(64) int64_t failed[kTileColumns + kMaxPanelWidth];
    for (int64_t r = 0; r < rows; ++r) {
      const RowScale& scale = lhs_.scales[row_slot + r];
      double* const row_sums = sums + r * padded_columns;
      const PackedRow packed{a + r / lhs_.width * lhs_.width * p_.length + r % lhs_.width,
                             lhs_.first + row + r, &scale};
      bool any = p_.two_products;
      if (any) {
        std::fill_n(failed, padded_columns, -1);
      } else {
        const RowBounds bounds{scale.norm, scale.ratio, DoublesFactor(chain_),
                               rhs_.norms.data() + column_slot, rhs_.ratios.data() + column_slot};
        any = kernels_.round_row(padded_columns, row_sums, bounds, rounding_, out, failed);
      }
      if (any) {
        repair.Row(packed, {b, rhs_.first + column, columns, rhs_.scales.data() + column_slot}, row_sums,
                   failed, out, counts);
      }
      StoreRow(first_batch + batch, lhs_.first + row + r, rhs_.first + column, columns, out);
    }
  }

  // sums[r * padded_columns + j] = the sum of products in doubles.
  void AddProducts(const double* a, const double* b, int64_t rows, int64_t padded_columns,
                   double* sums) const {
    const int64_t padded_rows = CeilDiv(rows, lhs_.width) * lhs_.width;
    std::fill_n(sums, padded_rows * padded_columns, 0.0);
    for (int64_t k = 0; k < p_.length; k += kDepth) {
      const int64_t depth = std::min(kDepth, p_.length - k);
      for (int64_t j = 0; j < padded_columns; j += rhs_.width) {
        for (int64_t i = 0; i < padded_rows; i += lhs_.width) {
          kernels_.tile(depth, a + i * p_.length + k * lhs_.width, b + j * p_.length + k * rhs_.width,
                        sums + i * padded_columns + j, padded_columns);
        }
      }
    }
  }

  void StoreRow(int64_t batch, int64_t row, int64_t column, int64_t columns, const double* out) const {
    const int64_t bytes = Bytes(p_.type);
    std::byte* const dst = p_.result + (p_.batch_at[batch] + p_.row_at[row]) * bytes;
    if (regular_columns_) {
      StoreStrip(p_.type, out, columns, dst + p_.column_at[column] * bytes, column_stride_ * bytes);
      return;
    }
    for (int64_t j = 0; j < columns; ++j)
      StoreStrip(p_.type, out + j, 1, dst + p_.column_at[column + j] * bytes, bytes);
  }

  EvalContext& context_;
  const SumKernels& kernels_;
  const MatrixProduct& p_;
  const NarrowRounding rounding_;
  Side lhs_, rhs_;
  const int64_t chain_;
  bool regular_columns_ = true;
  int64_t column_stride_ = 1;
};

}  // namespace

absl::Status RunMatrixProduct(EvalContext& context, const SumKernels& kernels, const MatrixProduct& product) {
  if (product.batches == 0 || product.rows == 0 || product.columns == 0) return absl::OkStatus();
  return Runner(context, kernels, product).Run();
}

}  // namespace assay::native
