// The loops: blocks of packed rows and columns that fit in memory, tiles of results that fit in the cache,
// and behind each tile the elements whose bound left the rounding open (tile_repair.h). Tiles of which many
// are left open, and those of f64, are summed in split form (split_tile.h).
#include "engines/native/contraction/matrix_product.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/contraction/split_tile.h"
#include "engines/native/contraction/tile_repair.h"
#include "engines/native/sums/charge_part.h"
#include "engines/native/sums/product_bounds.h"
#include "evaluator/runtime_sizes.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int64_t kPackedDoubles = 1 << 22;  // of one operand
constexpr int64_t kTileRows = 96, kTileColumns = 256;
constexpr int64_t kDepth = 128;                        // products added in registers before a tile is touched
constexpr int64_t kWorkBetweenCharges = 1 << 30;       // products
constexpr int64_t kWorkOfPart = 1 << 18;               // products worth a task
constexpr int64_t kElementsOfPart = int64_t{1} << 15;  // packed elements worth a task

// Split sums cost as much as the repair of one element in kHostileShare.
constexpr int64_t kHostileShare = 20, kFewOpen = 64;
constexpr int kTilesBetweenTrials = 8;

// Working memory that is not initialized, 64-byte aligned and counted against the memory limit.
absl::StatusOr<Literal> Scratch(EvalContext& context, int64_t doubles) {
  return ReserveScratch(context, doubles, sizeof(double));
}

// Rows that a task packs for itself, a multiple of every tile_rows, and their greatest length.
constexpr int64_t kStreamRows = 96, kStreamLength = 1280;

// Each thread keeps these for its next tile.
struct TileBuffers {
  alignas(64) double sums[(kTileRows + kMaxPanelWidth) * (kTileColumns + kMaxPanelWidth)];
  alignas(64) double rows[kStreamRows * kStreamLength];
};
TileBuffers& ThreadTileBuffers() {
  static thread_local std::unique_ptr<TileBuffers> buffers(new TileBuffers);
  return *buffers;
}

class MatrixProductRun {
 public:
  MatrixProductRun(EvalContext& context, const MatrixProduct& product)
      : context_(context),
        kernels_(*product.kernels),
        splits_(*product.splits),
        p_(product),
        rounding_(*Info(product.type).format),
        lhs_(*product.lhs, kernels_.tile_rows),
        rhs_(*product.rhs, kernels_.tile_columns),
        chain_(std::min(kDepth, product.length) + CeilDiv(product.length, kDepth)) {
    column_stride_ = p_.columns > 1 ? p_.column_at[1] - p_.column_at[0] : 1;
    for (int64_t j = 1; regular_columns_ && j < p_.columns; ++j)
      regular_columns_ = p_.column_at[j] - p_.column_at[j - 1] == column_stride_;
  }

  absl::Status Run() {
    const int64_t length = std::max<int64_t>(p_.length, 1);
    const bool streams = Streams();
    const int64_t most_rows = streams ? p_.rows : BlockOf(p_.rows, lhs_.width, length);
    const int64_t most_columns = BlockOf(p_.columns, rhs_.width, length);
    int64_t most_batches = 1;
    if (most_rows >= p_.rows && most_columns >= p_.columns) {
      const int64_t packed = std::max(streams ? 0 : most_rows, most_columns) * length;
      const int64_t work = most_rows * most_columns * length;
      most_batches =
          std::clamp<int64_t>(std::min(kPackedDoubles / packed, kWorkBetweenCharges / work), 1, p_.batches);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal lhs_scratch,
                           Scratch(context_, streams ? 0 : most_batches * most_rows * length));
    ASSAY_ASSIGN_OR_RETURN(Literal rhs_scratch, Scratch(context_, most_batches * most_columns * length));
    lhs_.packed = reinterpret_cast<double*>(lhs_scratch.MutableBytes().data());
    rhs_.packed = reinterpret_cast<double*>(rhs_scratch.MutableBytes().data());
    for (int64_t b = 0; b < p_.batches; b += most_batches) {
      const int64_t batches = std::min(most_batches, p_.batches - b);
      for (int64_t column = 0; column < p_.columns; column += most_columns) {
        Pack(rhs_, b, batches, column, std::min(most_columns, p_.columns - column));
        if (streams) {
          ASSAY_RETURN_IF_ERROR(MultiplyStream(b, batches));
          continue;
        }
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
    std::vector<double> low_norms, units, high_units, split_norms;
  };

  int64_t BlockOf(int64_t rows, int width, int64_t length) const {
    const int64_t fitting = std::max<int64_t>(kPackedDoubles / length / width, 1) * width;
    return std::min(fitting, CeilDiv(std::max<int64_t>(rows, 1), width) * width);
  }

  // Where there are many rows, each task packs those of its tile for itself, so that they stay in its cache.
  bool Streams() const {
    constexpr int64_t kTilesOfThread = 8;
    const int64_t tiles = p_.rows / kStreamRows * p_.batches;
    return p_.length <= kStreamLength && tiles >= kTilesOfThread * context_.parallel().jobs();
  }

  // Room for the rows [first, first + count) of each of these batches.
  static void Reserve(Side& side, int64_t batches, int64_t first, int64_t count) {
    side.first = first;
    side.count = count;
    side.panels = CeilDiv(count, side.width);
    side.scales.resize(side.panels * batches * side.width);
    for (auto* const values :
         {&side.norms, &side.ratios, &side.split_norms, &side.low_norms, &side.units, &side.high_units})
      values->resize(side.scales.size());
  }

  void Pack(Side& side, int64_t first_batch, int64_t batches, int64_t first, int64_t count) {
    Reserve(side, batches, first, count);
    const int64_t panels = side.panels * batches;
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
    if (p_.rounding == SumRounding::kEveryTerm) return;
    RowStatistics statistics;
    kernels_.statistics(p_.length, packed, side.width, &statistics);
    for (int r = 0; r < side.width; ++r) {
      const int64_t slot = panel * side.width + r;
      side.scales[slot] = ScaleOf(statistics, r);
      side.norms[slot] = side.scales[slot].norm;
      side.ratios[slot] = side.scales[slot].ratio;
      const SplitScale split = SplitScaleOf(side.scales[slot], p_.length);
      side.split_norms[slot] = split.norm;
      side.low_norms[slot] = split.low_norm;
      side.units[slot] = split.unit;
      side.high_units[slot] = split.high_unit;
    }
    if (p_.two_products) TightenLowNorms(side, panel * side.width, packed);
  }

  // Where all tiles are split, their bounds are worth another look at the elements: the low norm is often
  // little more than half of what it may be.
  void TightenLowNorms(Side& side, int64_t first_slot, const double* packed) const {
    double squares[kMaxPanelWidth];
    splits_.low_squares(p_.length, packed, side.width, side.high_units.data() + first_slot, squares);
    for (int r = 0; r < side.width; ++r) {
      const int64_t slot = first_slot + r;
      if (side.scales[slot].products_in_range)
        side.low_norms[slot] = std::min(side.low_norms[slot], LowNormOf(squares[r]));
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
          MultiplyTile(lhs_, batch, first_batch, batch, tile / across * tile_rows,
                       tile % across * tile_columns, tile_rows, tile_columns, counts);
        }
        CountTiers(counts);
      });
      ASSAY_RETURN_IF_ERROR(
          ChargePart(context_, batches * lhs_.count * rhs_.count, p_.length, done, part, tiles));
    }
    return absl::OkStatus();
  }

  absl::Status MultiplyStream(int64_t first_batch, int64_t batches) {
    const int64_t tile_columns = TileSize(kTileColumns, rhs_), down = CeilDiv(p_.rows, kStreamRows);
    const int64_t work = kStreamRows * rhs_.count * std::max<int64_t>(p_.length, 1);
    const int64_t grain = kWorkOfPart / work + 1, most = std::max<int64_t>(kWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < batches * down; done += most) {
      const int64_t part = std::min(most, batches * down - done);
      context_.parallel().For(part, grain, [&](int64_t begin, int64_t end) {
        TierCounts counts;
        Side rows(*p_.lhs, kernels_.tile_rows);
        rows.packed = ThreadTileBuffers().rows;
        for (int64_t t = done + begin; t < done + end; ++t) {
          const int64_t batch = t / down, first = t % down * kStreamRows;
          Reserve(rows, 1, first, std::min(kStreamRows, p_.rows - first));
          for (int64_t panel = 0; panel < rows.panels; ++panel) PackPanel(rows, first_batch + batch, panel);
          for (int64_t column = 0; column < rhs_.count; column += tile_columns)
            MultiplyTile(rows, 0, first_batch, batch, 0, column, kStreamRows, tile_columns, counts);
        }
        CountTiers(counts);
      });
      ASSAY_RETURN_IF_ERROR(
          ChargePart(context_, batches * p_.rows * rhs_.count, p_.length, done, part, batches * down));
    }
    return absl::OkStatus();
  }

  // A whole number of panels, fewer where there are few tiles to share out.
  int64_t TileSize(int64_t most, const Side& side) const {
    const int64_t panels = std::max<int64_t>(std::min(most / side.width, CeilDiv(side.panels, 2)), 1);
    return panels * side.width;
  }

  // Results [row, row + rows) x [column, column + columns) of a block.
  struct Tile {
    const Side& lhs;
    int64_t batch, row, rows, column, columns;
    int64_t row_slot, column_slot, padded_columns;
    const double *a, *b;  // their panels
  };

  // Multiplies a tile of batch `batch` of the right block and `lhs_batch` of the left one,
  // cut at the blocks' ends.
  void MultiplyTile(const Side& lhs, int64_t lhs_batch, int64_t first_batch, int64_t batch, int64_t row,
                    int64_t column, int64_t tile_rows, int64_t tile_columns, TierCounts& counts) const {
    Tile t{lhs,    first_batch + batch,
           row,    std::min(tile_rows, lhs.count - row),
           column, std::min(tile_columns, rhs_.count - column)};
    t.padded_columns = CeilDiv(t.columns, rhs_.width) * rhs_.width;
    t.row_slot = lhs_batch * lhs.panels * lhs.width + row;
    t.column_slot = batch * rhs_.panels * rhs_.width + column;
    t.a = lhs.packed + t.row_slot * p_.length;
    t.b = rhs_.packed + t.column_slot * p_.length;
    if (p_.rounding == SumRounding::kEveryTerm) return MultiplyRounded(t);
    counts.sums += t.rows * t.columns;
    TileRepair repair(kernels_, p_, t.batch);
    const bool skips_doubles =
        p_.two_products || (hostile_.load(std::memory_order_relaxed) > 0 && HasProductsInRange(t));
    const int64_t done = skips_doubles ? 0 : MultiplyInDoubles(t, repair, counts);
    if (done < t.rows) MultiplySplit(t, done, repair, counts);
  }

  void MultiplyRounded(const Tile& t) const {
    double* const sums = ThreadTileBuffers().sums;
    AddProducts(t.a, t.b, t.rows, t.padded_columns, sums);
    for (int64_t r = 0; r < t.rows; ++r) StoreRow(t, r, sums + r * t.padded_columns);
  }

  bool HasProductsInRange(const Tile& t) const {
    const auto in_range = [](const RowScale& scale) { return scale.products_in_range; };
    return std::all_of(&t.lhs.scales[t.row_slot], &t.lhs.scales[t.row_slot] + t.rows, in_range) &&
           std::all_of(&rhs_.scales[t.column_slot], &rhs_.scales[t.column_slot] + t.columns, in_range);
  }

  // Returns the rows done, not all where the bound leaves so many elements open that split sums are quicker.
  int64_t MultiplyInDoubles(const Tile& t, TileRepair& repair, TierCounts& counts) const {
    double* const sums = ThreadTileBuffers().sums;
    AddProducts(t.a, t.b, t.rows, t.padded_columns, sums);
    alignas(64) double out[kTileColumns + kMaxPanelWidth];
    alignas(64) int64_t failed[kTileColumns + kMaxPanelWidth];
    int64_t open = 0;
    bool may_split = true;
    for (int64_t r = 0; r < t.rows; ++r) {
      const RowScale& scale = t.lhs.scales[t.row_slot + r];
      double* const row_sums = sums + r * t.padded_columns;
      const RowBounds bounds{scale.norm, scale.ratio, DoublesFactor(chain_),
                             rhs_.norms.data() + t.column_slot, rhs_.ratios.data() + t.column_slot};
      if (kernels_.round_row(t.padded_columns, row_sums, bounds, rounding_, out, failed)) {
        open += std::count(failed, failed + t.columns, -1);
        if (may_split && open * kHostileShare > (r + 1) * t.columns + kHostileShare * kFewOpen) {
          may_split = HasProductsInRange(t);
          if (may_split) {
            hostile_.store(kTilesBetweenTrials, std::memory_order_relaxed);
            return r;
          }
        }
        Repair(t, r, repair, row_sums, failed, out, counts);
      }
      StoreRow(t, r, out);
    }
    return t.rows;
  }

  void MultiplySplit(const Tile& t, int64_t first_row, TileRepair& repair, TierCounts& counts) const {
    // Where products are no doubles, exact sums are rare enough to leave them to the repair.
    const bool with_low = !p_.two_products;
    if (with_low) {
      hostile_.fetch_sub(1, std::memory_order_relaxed);
      counts.pairs += (t.rows - first_row) * t.columns;
    }
    SplitTile tile(kernels_, splits_);
    const int64_t padded_rows = CeilDiv(t.rows, t.lhs.width) * t.lhs.width;
    tile.Multiply(p_.length, {t.a, padded_rows, t.lhs.high_units.data() + t.row_slot},
                  {t.b, t.padded_columns, rhs_.high_units.data() + t.column_slot}, with_low);
    const double factor = DoublesFactor(SplitTile::Chain(p_.length));
    const SplitScales columns{rhs_.split_norms.data() + t.column_slot, rhs_.low_norms.data() + t.column_slot,
                              rhs_.units.data() + t.column_slot, rhs_.high_units.data() + t.column_slot};
    alignas(64) double out[kTileColumns + kMaxPanelWidth];
    alignas(64) int64_t failed[kTileColumns + kMaxPanelWidth];
    for (int64_t r = first_row; r < t.rows; ++r) {
      const int64_t slot = t.row_slot + r;
      const SplitScale row{t.lhs.split_norms[slot], t.lhs.low_norms[slot], t.lhs.units[slot],
                           t.lhs.high_units[slot]};
      if (splits_.round(t.padded_columns, tile.Row(r), row, columns, factor, rounding_, out, failed))
        Repair(t, r, repair, nullptr, failed, out, counts);
      StoreRow(t, r, out);
    }
  }

  void Repair(const Tile& t, int64_t r, TileRepair& repair, const double* sums, const int64_t* failed,
              double* out, TierCounts& counts) const {
    const PackedRow row{t.a + r / t.lhs.width * t.lhs.width * p_.length + r % t.lhs.width,
                        t.lhs.first + t.row + r, &t.lhs.scales[t.row_slot + r]};
    repair.Row(row, {t.b, rhs_.first + t.column, t.columns, rhs_.scales.data() + t.column_slot}, sums, failed,
               out, counts);
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

  void StoreRow(const Tile& t, int64_t r, const double* out) const {
    const int64_t bytes = Bytes(p_.type), column = rhs_.first + t.column;
    std::byte* const dst = p_.result + (p_.batch_at[t.batch] + p_.row_at[t.lhs.first + t.row + r]) * bytes;
    if (regular_columns_) {
      StoreStrip(p_.type, out, t.columns, dst + p_.column_at[column] * bytes, column_stride_ * bytes);
      return;
    }
    for (int64_t j = 0; j < t.columns; ++j)
      StoreStrip(p_.type, out + j, 1, dst + p_.column_at[column + j] * bytes, bytes);
  }

  EvalContext& context_;
  const SumKernels& kernels_;
  const SplitKernels& splits_;
  const MatrixProduct& p_;
  const NarrowRounding rounding_;
  Side lhs_, rhs_;
  const int64_t chain_;
  bool regular_columns_ = true;
  int64_t column_stride_ = 1;
  // Tiles still to be summed in split form at once, because one was hostile. Decides about time alone.
  mutable std::atomic<int> hostile_ = 0;
};

}  // namespace

absl::Status RunMatrixProduct(EvalContext& context, const MatrixProduct& product) {
  if (product.batches == 0 || product.rows == 0 || product.columns == 0) return absl::OkStatus();
  return MatrixProductRun(context, product).Run();
}

}  // namespace assay::native
