// The loops: blocks of packed rows and columns that fit in memory, tiles of panels that fit in the cache.
#include "engines/native/contraction/digit_product.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "base/parallel.h"
#include "evaluator/runtime_sizes.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int kWidth = kDigitRows;
constexpr int64_t kPackedElements = 1 << 22;                   // of one operand
constexpr int64_t kTileRowPanels = 8, kTileColumnPanels = 16;  // panels
constexpr int64_t kDigitWorkOfPart = 1 << 22;                  // products worth a task
constexpr int64_t kDigitElementsOfPart = int64_t{1} << 15;     // packed elements worth a task
constexpr int64_t kFewestProducts = 1 << 18;
// With more remainders than one element in that many, sums in doubles are quicker.
constexpr int64_t kRemaindersShare = 500;
// An exact element costs about as much as this many others by doubles.
constexpr int64_t kOpenShare = 1024, kFewOpenSums = 64;

int64_t RoundUp(int64_t a, int64_t unit) { return CeilDiv(a, unit) * unit; }

class DigitProductRun {
 public:
  DigitProductRun(EvalContext& context, const DigitProduct& product, ExactElementFn exact)
      : context_(context),
        p_(product),
        digits_(*product.digits),
        exact_(exact),
        rounding_(*Info(product.type).format),
        padded_(RoundUp(product.length, kDigitLine)),
        most_remainders_(product.length * kWidth / kRemaindersShare + 4),
        most_open_(product.batches * product.rows * product.columns / kOpenShare + kFewOpenSums),
        lhs_{*product.lhs, true},
        rhs_{*product.rhs, false} {}

  absl::StatusOr<bool> Run() {
    const int64_t most_rows = BlockOf(p_.rows), most_columns = BlockOf(p_.columns);
    int64_t most_batches = 1;
    if (most_rows >= p_.rows && most_columns >= p_.columns) {
      const int64_t elements = std::max(most_rows, most_columns) * p_.length;
      most_batches = std::clamp<int64_t>(kPackedElements / elements, 1, p_.batches);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal lhs,
                           ReserveScratch(context_, CeilDiv(most_rows, kWidth) * most_batches, PanelBytes()));
    ASSAY_ASSIGN_OR_RETURN(
        Literal rhs, ReserveScratch(context_, CeilDiv(most_columns, kWidth) * most_batches, PanelBytes()));
    lhs_.packed = lhs.MutableBytes().data();
    rhs_.packed = rhs.MutableBytes().data();
    for (int64_t b = 0; b < p_.batches; b += most_batches) {
      const int64_t batches = std::min(most_batches, p_.batches - b);
      for (int64_t column = 0; column < p_.columns; column += most_columns) {
        Pack(rhs_, b, batches, column, std::min(most_columns, p_.columns - column));
        for (int64_t row = 0; row < p_.rows && !gives_up_; row += most_rows) {
          Pack(lhs_, b, batches, row, std::min(most_rows, p_.rows - row));
          if (!gives_up_) Multiply(b, batches);
          ASSAY_RETURN_IF_ERROR(context_.Charge(0));
        }
        if (gives_up_) return false;
      }
    }
    const int64_t results = p_.batches * p_.rows * p_.columns;
    ASSAY_RETURN_IF_ERROR(context_.Charge(results * p_.length));
    CountTiers({results - open_, pairs_, slices_});
    return true;
  }

 private:
  // One operand's block: the panels of each of its batches.
  struct Side {
    const RowSource<float>& source;
    const bool left;
    std::byte* packed = nullptr;
    int64_t first = 0, count = 0, panels = 0;
    std::vector<DigitScales> scales;  // [batch][panel]
  };

  int64_t BlockOf(int64_t rows) const {
    const int64_t fitting = std::max<int64_t>(kPackedElements / p_.length / kWidth, 1) * kWidth;
    return std::min(fitting, RoundUp(rows, kWidth));
  }

  int64_t PanelBytes() const { return DigitPanelBytes(p_.length, most_remainders_); }
  DigitPanel PanelOf(const Side& side, int64_t panel) const {
    return DigitPanelAt(side.packed + panel * PanelBytes(), p_.length, most_remainders_, &side.scales[panel]);
  }

  void Pack(Side& side, int64_t first_batch, int64_t batches, int64_t first, int64_t count) {
    side.first = first;
    side.count = count;
    side.panels = CeilDiv(count, kWidth);
    side.scales.resize(side.panels * batches);
    const int64_t grain = kDigitElementsOfPart / (p_.length * kWidth) + 1;
    context_.parallel().For(side.panels * batches, grain, [&](int64_t begin, int64_t end) {
      std::vector<float> rows(p_.length * kWidth);
      for (int64_t panel = begin; panel < end && !gives_up_.load(std::memory_order_relaxed); ++panel) {
        const int64_t row = panel % side.panels * kWidth;
        const DigitPanel packed = PanelOf(side, panel);
        side.source.Pack(first_batch + panel / side.panels, first + row,
                         std::min<int64_t>(kWidth, count - row), kWidth, rows.data());
        if (!digits_.pack(p_.length, rows.data(), side.left, most_remainders_, packed, &side.scales[panel]))
          gives_up_ = true;
      }
    });
  }

  void Multiply(int64_t first_batch, int64_t batches) {
    const int64_t tile_rows = TileSize(kTileRowPanels, lhs_.panels),
                  tile_columns = TileSize(kTileColumnPanels, rhs_.panels);
    const int64_t down = CeilDiv(lhs_.panels, tile_rows), across = CeilDiv(rhs_.panels, tile_columns);
    const int64_t grain = kDigitWorkOfPart / (tile_rows * tile_columns * kWidth * kWidth * p_.length) + 1;
    context_.parallel().For(batches * down * across, grain, [&](int64_t begin, int64_t end) {
      digits_.begin();
      for (int64_t t = begin; t < end && !gives_up_.load(std::memory_order_relaxed); ++t) {
        const int64_t batch = t / (down * across), tile = t % (down * across);
        const int64_t row = tile / across * tile_rows, column = tile % across * tile_columns;
        MultiplyTile(first_batch, batch, row, std::min(row + tile_rows, lhs_.panels), column,
                     std::min(column + tile_columns, rhs_.panels));
      }
      digits_.end();
    });
  }

  // Panels, fewer where there are few tiles to share out.
  static int64_t TileSize(int64_t most, int64_t panels) {
    return std::max<int64_t>(std::min(most, CeilDiv(panels, 2)), 1);
  }

  void MultiplyTile(int64_t first_batch, int64_t batch, int64_t row, int64_t row_end, int64_t column,
                    int64_t column_end) {
    DigitBlock block;
    for (int64_t j = column; j < column_end; ++j) {
      const DigitPanel right = PanelOf(rhs_, batch * rhs_.panels + j);
      for (int64_t i = row; i < row_end; ++i) {
        const DigitPanel left = PanelOf(lhs_, batch * lhs_.panels + i);
        digits_.multiply(padded_, left, right, &block);
        StoreBlock(block, {first_batch + batch, lhs_.first + i * kWidth,
                           std::min<int64_t>(kWidth, lhs_.count - i * kWidth), rhs_.first + j * kWidth,
                           std::min<int64_t>(kWidth, rhs_.count - j * kWidth)});
      }
    }
  }

  // Which results a block is.
  struct Place {
    int64_t batch, row, rows, column, columns;
  };
  void StoreBlock(const DigitBlock& block, const Place& place) {
    uint16_t open[kWidth];
    const bool is_f32 = p_.type == ElementType::kF32 && IsEven(place);
    if (is_f32) {
      digits_.round_f32(block, place.rows, place.columns, reinterpret_cast<float*>(ResultAt(place, 0)),
                        place.rows > 1 ? p_.row_at[place.row + 1] - p_.row_at[place.row] : 0, open);
    } else {
      for (int64_t r = 0; r < place.rows; ++r) RoundRow(block, r, place, &open[r]);
    }
    for (int64_t r = 0; r < place.rows; ++r) {
      if (open[r] != 0) Repair(place, r, open[r]);
    }
  }

  bool IsEven(const Place& place) const {
    const int64_t* const at = &p_.row_at[place.row];
    for (int64_t r = 2; r < place.rows; ++r) {
      if (at[r] - at[r - 1] != at[1] - at[0]) return false;
    }
    return true;
  }

  void RoundRow(const DigitBlock& block, int64_t r, const Place& place, uint16_t* open) const {
    static constexpr double kZeros[kWidth] = {};
    const double *const sums = block.sums + r * kWidth, *const bounds =
                                                            block.exact ? kZeros : block.bounds + r * kWidth;
    alignas(64) double out[kWidth];
    alignas(64) int64_t failed[kWidth] = {};
    *open = 0;
    // Ratios that say nothing of exactness: the bounds do.
    static constexpr double kRatios[kWidth] = {0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60,
                                               0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60,
                                               0x1p60, 0x1p60, 0x1p60, 0x1p60};
    if (p_.sums->round_row(kWidth, sums, {1, 1, 1, bounds, kRatios}, rounding_, out, failed)) {
      for (int64_t j = 0; j < place.columns; ++j) {
        if (failed[j] == 0) continue;
        if (sums[j] == 0 && bounds[j] == 0) {
          out[j] = 0;
        } else {
          *open |= 1u << j;
        }
      }
    }
    StoreStrip(p_.type, out, place.columns, ResultAt(place, r), Bytes(p_.type));
  }

  void Repair(const Place& place, int64_t r, unsigned open) {
    open_ += std::popcount(open);
    for (; open != 0; open &= open - 1) {
      if (open_ > most_open_) {
        gives_up_ = true;
        return;
      }
      const int j = std::countr_zero(open);
      TierCounts counts;
      const double value = exact_(place.batch, place.row + r, place.column + j, counts);
      pairs_ += counts.pairs;
      slices_ += counts.slices;
      StoreStrip(p_.type, &value, 1, ResultAt(place, r) + j * Bytes(p_.type), Bytes(p_.type));
    }
  }

  std::byte* ResultAt(const Place& place, int64_t r) const {
    return p_.result + (p_.batch_at[place.batch] + p_.row_at[place.row + r] + place.column) * Bytes(p_.type);
  }

  EvalContext& context_;
  const DigitProduct& p_;
  const DigitKernels& digits_;
  const ExactElementFn exact_;
  const NarrowRounding rounding_;
  const int64_t padded_, most_remainders_, most_open_;
  Side lhs_, rhs_;
  // Once it is set the whole result is computed by other means, so its time does not show in a bit.
  std::atomic<bool> gives_up_ = false;
  std::atomic<int64_t> open_ = 0, pairs_ = 0, slices_ = 0;
};

// Significant bits.
int PrecisionOf(ElementType type) { return Info(type).format->mantissa_bits + 1; }

}  // namespace

int64_t DigitPanelBytes(int64_t n, int64_t most) {
  return kDigits * kWidth * RoundUp(n, kDigitLine) +
         RoundUp(most * static_cast<int64_t>(sizeof(DigitRemainder)), kDigitLine);
}

DigitPanel DigitPanelAt(std::byte* memory, int64_t n, int64_t most, const DigitScales* scales) {
  DigitPanel panel;
  panel.remainders = reinterpret_cast<DigitRemainder*>(memory);
  memory += RoundUp(most * static_cast<int64_t>(sizeof(DigitRemainder)), kDigitLine);
  for (std::byte*& digits : panel.digits)
    digits = std::exchange(memory, memory + kWidth * RoundUp(n, kDigitLine));
  panel.scales = scales;
  return panel;
}

bool HasDigits(ElementType lhs, ElementType rhs, ElementType result) {
  if (!IsFloat(lhs) || !IsFloat(rhs)) return false;
  if (result != ElementType::kF32 && result != ElementType::kBF16 && result != ElementType::kF16)
    return false;
  return std::max(PrecisionOf(lhs), PrecisionOf(rhs)) <= 11;
}

bool IsWorthDigits(int64_t batches, int64_t rows, int64_t columns, int64_t length) {
  if (length > kLongestDigitRow || batches * rows * columns * length < kFewestProducts) return false;
  // Panels are padded.
  const int64_t padded = RoundUp(rows, kWidth) * RoundUp(columns, kWidth) * RoundUp(length, kDigitLine);
  return padded <= 2 * rows * columns * length;
}

absl::StatusOr<bool> RunDigitProduct(EvalContext& context, const DigitProduct& product,
                                     ExactElementFn exact) {
  return DigitProductRun(context, product, exact).Run();
}

}  // namespace assay::native
