// The loops: columns packed for as many batches as fit in memory, then blocks of rows that each task packs
// for itself, tiles of results that fit in the cache, and behind each tile the elements that it left open.
#include "engines/native/contraction/bf16_product.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/sums/enclosed_sum.h"
#include "engines/native/sums/tiers.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/exact_sum.h"

namespace assay::native {
namespace {

constexpr int kRows = kBf16TileRows, kColumns = kBf16TileColumns;
constexpr int64_t kBf16BlockRows = 96, kBf16BlockColumns = 256;
constexpr int64_t kBf16Depth = 128;           // pairs: two panels in the L1 cache
constexpr int64_t kRowPairs = 1 << 16;        // of a block of rows, in the L2 cache
constexpr int64_t kPackedPairs = 1 << 23;     // of columns packed at once
constexpr int64_t kWorkOfTask = 1 << 19;      // products
constexpr int64_t kElementsOfTask = 1 << 15;  // packed elements
constexpr int64_t kFewestBf16Products = 1 << 18;
// An open element costs as much as so many others in doubles.
constexpr int64_t kBf16OpenShare = 8, kFewBf16Open = 1024;

// Each thread keeps these for its next block.
struct Bf16Buffers {
  alignas(64) int32_t sums[(kBf16BlockRows + kRows) * kBf16BlockColumns];
  std::vector<float> elements;      // of one panel
  std::vector<uint32_t> rows, row;  // packed rows, and one of them
  std::vector<double> left, right;  // of one sum
};
Bf16Buffers& ThreadBf16Buffers() {
  static thread_local std::unique_ptr<Bf16Buffers> buffers(new Bf16Buffers);
  return *buffers;
}
template <class T>
T* Sized(std::vector<T>& buffer, int64_t size) {
  if (std::ssize(buffer) < size) buffer.resize(static_cast<size_t>(size));
  return buffer.data();
}

class Bf16ProductRun {
 public:
  Bf16ProductRun(EvalContext& context, const Bf16Kernels& kernels, const RowSource<float>& lhs,
                 const RowSource<float>& rhs, int64_t length, const ResultLayout& result)
      : context_(context),
        kernels_(kernels),
        lhs_(lhs),
        rhs_(rhs),
        length_(length),
        pairs_(CeilDiv(length, int64_t{32}) * 16),
        result_(result),
        batches_(std::ssize(result.batch_at)),
        rows_(std::ssize(result.row_at)),
        columns_(std::ssize(result.column_at)),
        panels_(CeilDiv(columns_, int64_t{kColumns})),
        row_block_(std::clamp(kRowPairs / pairs_ / kRows * kRows, int64_t{kRows}, kBf16BlockRows)),
        slack_(static_cast<float>(CeilDiv(pairs_, kBf16Chunk)) / 2 + 1) {}

  absl::StatusOr<bool> Run() {
    for (int64_t j = 1; j < columns_; ++j) {
      if (result_.column_at[j] - result_.column_at[j - 1] != 1) return false;
    }
    const int64_t of_batch = panels_ * PanelPairs();
    const int64_t most = std::clamp<int64_t>(kPackedPairs / of_batch, 1, batches_);
    ASSAY_ASSIGN_OR_RETURN(Literal scratch, ReserveScratch(context_, 2 * most * of_batch, sizeof(uint32_t)));
    packed_ = reinterpret_cast<uint32_t*>(scratch.MutableBytes().data());
    by_rows_ = packed_ + most * of_batch;
    scales_.resize(most * panels_);
    for (int64_t b = 0; b < batches_ && !gives_up_; b += most) {
      const int64_t count = std::min(most, batches_ - b);
      PackColumns(b, count);
      if (!gives_up_) MultiplyBlocks(b, count);
      ASSAY_RETURN_IF_ERROR(context_.Charge(0));
    }
    if (gives_up_) return false;
    const int64_t results = batches_ * rows_ * columns_;
    ASSAY_RETURN_IF_ERROR(context_.Charge(results * length_));
    CountTiers({results, open_, exact_});
    return true;
  }

 private:
  int64_t PanelPairs() const { return kColumns * pairs_; }

  void PackColumns(int64_t first_batch, int64_t batches) {
    const int64_t grain = kElementsOfTask / (length_ * kColumns) + 1;
    context_.parallel().For(batches * panels_, grain, [&](int64_t begin, int64_t end) {
      float* const elements = Sized(ThreadBf16Buffers().elements, length_ * kColumns);
      for (int64_t p = begin; p < end && !GivesUp(); ++p) {
        const int64_t first = p % panels_ * kColumns;
        rhs_.Pack(first_batch + p / panels_, first, std::min<int64_t>(kColumns, columns_ - first), kColumns,
                  elements);
        uint32_t* const packed = packed_ + p * PanelPairs();
        if (!kernels_.pack(length_, kColumns, elements, packed, &scales_[p])) gives_up_ = true;
        kernels_.transpose(pairs_, packed, by_rows_ + p * PanelPairs(), pairs_);
      }
    });
  }

  void MultiplyBlocks(int64_t first_batch, int64_t batches) {
    const int64_t blocks = CeilDiv(rows_, row_block_), work = row_block_ * columns_ * length_;
    context_.parallel().For(batches * blocks, kWorkOfTask / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end && !GivesUp(); ++t)
        MultiplyRows(first_batch, t / blocks, t % blocks * row_block_);
    });
  }

  // Rows [first, first + count) of a batch, packed.
  struct RowBlock {
    int64_t first_batch, batch, first, count;
    const uint32_t* packed;
    Bf16Scales scales[kBf16BlockRows / kRows] = {};
  };

  void MultiplyRows(int64_t first_batch, int64_t batch, int64_t first) {
    Bf16Buffers& buffers = ThreadBf16Buffers();
    RowBlock block{first_batch, batch, first, std::min(row_block_, rows_ - first),
                   Sized(buffers.rows, row_block_ * pairs_)};
    float* const elements = Sized(buffers.elements, length_ * kColumns);
    for (int64_t r = 0; r < block.count; r += kRows) {
      lhs_.Pack(first_batch + batch, first + r, std::min<int64_t>(kRows, block.count - r), kRows, elements);
      if (!kernels_.pack(length_, kRows, elements, buffers.rows.data() + r * pairs_,
                         &block.scales[r / kRows])) {
        gives_up_ = true;
        return;
      }
    }
    for (int64_t column = 0; column < columns_ && !GivesUp(); column += kBf16BlockColumns) {
      context_.parallel().Poll();
      const int64_t columns = std::min(kBf16BlockColumns, columns_ - column);
      AddProducts(block, column, columns, buffers.sums);
      int64_t open = 0;
      for (int64_t r = 0; r < block.count; ++r)
        open += StoreRow(block, r, column, columns, buffers.sums + r * kBf16BlockColumns);
      done_.fetch_add(block.count * columns, std::memory_order_relaxed);
      open_.fetch_add(open, std::memory_order_relaxed);
      if (open_ > kFewBf16Open + done_ / kBf16OpenShare) gives_up_ = true;
    }
  }

  // sums[r * kBf16BlockColumns + j]: the integers.
  void AddProducts(const RowBlock& block, int64_t column, int64_t columns, int32_t* sums) const {
    const uint32_t* const b = packed_ + (block.batch * panels_ + column / kColumns) * PanelPairs();
    for (int64_t k = 0; k < pairs_; k += kBf16Depth) {
      const int64_t depth = std::min(kBf16Depth, pairs_ - k);
      for (int64_t j = 0; j < columns; j += kColumns) {
        for (int64_t r = 0; r < block.count; r += kRows)
          kernels_.tile(depth, block.packed + r * pairs_ + k * kRows, b + j * pairs_ + k * kColumns, k == 0,
                        sums + r * kBf16BlockColumns + j, kBf16BlockColumns);
      }
    }
  }

  // Returns how many elements were open.
  int64_t StoreRow(const RowBlock& block, int64_t r, int64_t column, int64_t columns, const int32_t* sums) {
    const Bf16Scales& scales = block.scales[r / kRows];
    const Bf16Row row{scales.weighted[r % kRows], scales.exponent[r % kRows], slack_};
    alignas(64) uint16_t out[kBf16BlockColumns];
    uint32_t open[kBf16BlockColumns / 16];
    const Bf16Scales* const of_columns = &scales_[block.batch * panels_ + column / kColumns];
    uint32_t any = 0;
    for (int64_t j = 0; j < columns; j += 16) {
      const Bf16Scales& panel = of_columns[j / kColumns];
      const int64_t at = j % kColumns, rest = columns - j;
      open[j / 16] = kernels_.round(sums + j, row, panel.weighted + at, panel.exponent + at, out + j) &
                     (rest < 16 ? (1u << rest) - 1 : 0xffff);
      any |= open[j / 16];
    }
    const int64_t count = any != 0 ? Repair(block, r, column, columns, open, out) : 0;
    std::byte* const dst = result_.data + 2 * (result_.batch_at[block.first_batch + block.batch] +
                                               result_.row_at[block.first + r] + result_.column_at[column]);
    std::memcpy(dst, out, static_cast<size_t>(columns) * sizeof(uint16_t));
    return count;
  }

  int64_t Repair(const RowBlock& block, int64_t r, int64_t column, int64_t columns, const uint32_t* open,
                 uint16_t* out) {
    uint32_t* const row = Sized(ThreadBf16Buffers().row, pairs_);
    const uint32_t* const panel = block.packed + r / kRows * kRows * pairs_ + r % kRows;
    for (int64_t k = 0; k < pairs_; ++k) row[k] = panel[k * kRows];
    int64_t count = 0;
    for (int64_t j = 0; j < columns; j += 16) {
      for (uint32_t some = open[j / 16]; some != 0; some &= some - 1, ++count) {
        const int64_t at = j + std::countr_zero(some);
        const int64_t slot = block.batch * panels_ * kColumns + column + at;
        out[at] = Exact({row, &block.scales[r / kRows], r % kRows},
                        {by_rows_ + slot * pairs_, &scales_[slot / kColumns], slot % kColumns});
      }
    }
    return count;
  }

  struct Row {
    const uint32_t* pairs;
    const Bf16Scales* scales;
    int64_t at;
    int exponent() const { return static_cast<int>(scales->exponent[at]); }
    float norm() const { return scales->norm[at]; }
    float smallest() const { return scales->smallest[at]; }
  };

  uint16_t Exact(const Row& a, const Row& b) {
    const FloatFormat& format = *Info(ElementType::kBF16).format;
    const int exponent = a.exponent() + b.exponent();
    const double magnitudes = double{a.norm()} * b.norm();
    const double rounding = static_cast<double>(pairs_ / 16 + 16) * 0x1p-53 * magnitudes;
    const auto rounded = [&](double sum, double bound) {
      return RoundEnclosed(std::ldexp(sum, exponent), 0, std::ldexp(bound, exponent), format);
    };
    const double pair_sum = kernels_.pair_dot(pairs_, a.pairs, b.pairs);
    if (const auto value = rounded(pair_sum, magnitudes * 0x1p-23 + rounding)) return BitsOf(*value);
    // Products of scaled elements are multiples of 2^-14 times that of the smallest ones, rounded down to
    // powers of two, and their magnitudes add up to less than 2^30: where that is 2^53 of these units no sum
    // rounds.
    const double sum = kernels_.dot(pairs_, a.pairs, b.pairs);
    const bool is_exact = std::ilogb(a.smallest()) + std::ilogb(b.smallest()) - 14 + 53 >= 30;
    if (is_exact && sum == 0) return 0;
    if (const auto value = rounded(sum, is_exact ? 0 : rounding)) return BitsOf(*value);
    exact_.fetch_add(1, std::memory_order_relaxed);
    return BitsOf(ByAccumulator(a, b, format));
  }

  double ByAccumulator(const Row& a, const Row& b, const FloatFormat& format) const {
    Bf16Buffers& buffers = ThreadBf16Buffers();
    const auto widen = [&](const Row& row, int exponent, std::vector<double>& buffer) {
      double* const doubles = Sized(buffer, 2 * pairs_);
      const double scale = std::ldexp(1.0, exponent);
      for (int64_t k = 0; k < pairs_; ++k) {
        doubles[2 * k] = scale * std::bit_cast<float>(row.pairs[k] << 16);
        doubles[2 * k + 1] = scale * std::bit_cast<float>(row.pairs[k] & 0xffff0000);
      }
      return doubles;
    };
    const double* const left = widen(a, a.exponent(), buffers.left);
    const double* const right = widen(b, b.exponent(), buffers.right);
    ExactSum sum;
    sum.Add(0.0);
    sum.AddProducts(left, 1, right, 1, 2 * pairs_);
    return sum.Round(format);
  }

  static uint16_t BitsOf(double x) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16);
  }

  bool GivesUp() const { return gives_up_.load(std::memory_order_relaxed); }

  EvalContext& context_;
  const Bf16Kernels& kernels_;
  const RowSource<float>&lhs_, &rhs_;
  const int64_t length_, pairs_;  // of a row, with zeros
  const ResultLayout& result_;
  const int64_t batches_, rows_, columns_, panels_, row_block_;
  const float slack_;
  uint32_t* packed_ = nullptr;      // [batch][panel][pair][column]
  uint32_t* by_rows_ = nullptr;     // [batch][panel][column][pair]
  std::vector<Bf16Scales> scales_;  // [batch][panel]
  // Once it is set the whole result is computed by other means, so its time does not show in a bit.
  std::atomic<bool> gives_up_ = false;
  std::atomic<int64_t> open_ = 0, done_ = 0, exact_ = 0;
};

}  // namespace

const Bf16Kernels* Bf16ProductKernels(ElementType lhs, ElementType rhs, ElementType result, Isa isa) {
  const auto is_bf16 = [](ElementType type) { return type == ElementType::kBF16; };
  return is_bf16(lhs) && is_bf16(rhs) && is_bf16(result) ? Bf16KernelsOf(isa) : nullptr;
}

bool IsWorthBf16Product(int64_t batches, int64_t rows, int64_t columns, int64_t length) {
  if (length > kLongestBf16Row || batches * rows * columns * length < kFewestBf16Products) return false;
  const auto up = [](int64_t a, int64_t unit) { return CeilDiv(a, unit) * unit; };
  return up(rows, kRows) * up(columns, kColumns) * up(length, 32) <= 2 * rows * columns * length;
}

absl::StatusOr<bool> RunBf16Product(EvalContext& context, const Bf16Kernels& kernels,
                                    const RowSource<float>& lhs, const RowSource<float>& rhs, int64_t length,
                                    const ResultLayout& result) {
  return Bf16ProductRun(context, kernels, lhs, rhs, length, result).Run();
}

}  // namespace assay::native
