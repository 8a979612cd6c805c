#include "engines/native/contraction/integer_product.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.h"
#include "base/parallel.h"
#include "engines/native/sums/charge_part.h"
#include "evaluator/runtime_sizes.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int64_t kPackedBytes = 32 << 20;  // of one operand
constexpr int64_t kIntegerTileRows = 96, kIntegerTileColumns = 256;
constexpr int64_t kIntegerWorkBetweenCharges = 1 << 30;  // products
constexpr int64_t kIntegerWorkOfPart = 1 << 19;          // products worth a task
constexpr int64_t kBytesOfPart = 1 << 22;                // the same, of bytes
constexpr int64_t kIntegerElementsOfPart = 1 << 15;      // packed elements worth a task

constexpr int64_t kStreamBytes = 1 << 18;  // packed rows of one task

// Each thread keeps these rows for its next tile.
std::byte* ThreadRows() {
  struct alignas(64) Rows {
    std::byte bytes[kStreamBytes];
  };
  static thread_local std::unique_ptr<Rows> rows(new Rows);
  return rows->bytes;
}

class IntegerProductRun {
 public:
  IntegerProductRun(EvalContext& context, const IntegerKernel& kernel, const IntegerProduct& product)
      : context_(context),
        kernel_(kernel),
        p_(product),
        packed_length_(PackedLength(kernel, product.length)),
        work_of_part_(kernel.element_bytes == 1 ? kBytesOfPart : kIntegerWorkOfPart),
        lhs_{*product.lhs, kernel.tile_rows, product.rhs_offset != 0},
        rhs_{*product.rhs, kernel.tile_columns, product.lhs_offset != 0},
        rows_(StepsOf(product.row_at)),
        columns_(StepsOf(product.column_at)) {}

  absl::Status Run() {
    const bool streams = Streams();
    const int64_t most_rows = streams ? p_.rows : BlockOf(p_.rows, lhs_.width);
    const int64_t most_columns = BlockOf(p_.columns, rhs_.width);
    int64_t most_batches = 1;
    if (most_rows >= p_.rows && most_columns >= p_.columns) {
      const int64_t packed = std::max(streams ? 0 : most_rows, most_columns) * RowBytes();
      const int64_t work = most_rows * most_columns * (packed_length_ + 1);
      most_batches = std::clamp<int64_t>(std::min(kPackedBytes / packed, kIntegerWorkBetweenCharges / work),
                                         1, p_.batches);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal lhs,
                           ReserveScratch(context_, streams ? 0 : most_batches * most_rows, RowBytes()));
    ASSAY_ASSIGN_OR_RETURN(Literal rhs, ReserveScratch(context_, most_batches * most_columns, RowBytes()));
    lhs_.packed = lhs.MutableBytes().data();
    rhs_.packed = rhs.MutableBytes().data();
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
  struct Side {
    const IntegerPanels& source;
    const int width;
    const bool wants_sums;  // of rows: the other operand has an offset
    std::byte* packed = nullptr;
    int64_t first = 0, count = 0, panels = 0;
    std::vector<uint32_t> sums;  // [batch][panel][slot], times the other operand's offset
  };
  // Whether neighbours are equally far apart, and how far.
  struct Steps {
    bool regular = true;
    int64_t step = 1;
  };
  static Steps StepsOf(const std::vector<int64_t>& at) {
    Steps steps;
    if (at.size() > 1) steps.step = at[1] - at[0];
    for (size_t j = 1; steps.regular && j < at.size(); ++j) steps.regular = at[j] - at[j - 1] == steps.step;
    return steps;
  }

  int64_t RowBytes() const { return std::max<int64_t>(packed_length_, 1) * kernel_.element_bytes; }
  int64_t BlockOf(int64_t rows, int width) const {
    const int64_t fitting = std::max<int64_t>(kPackedBytes / RowBytes() / width, 1) * width;
    return std::min(fitting, CeilDiv(std::max<int64_t>(rows, 1), width) * width);
  }

  // Where there are many rows, each task packs those of its tile for itself, so that they stay in its cache.
  // It does not where right panels would come from the L3 cache for each tile anew.
  bool Streams() const {
    constexpr int64_t kTilesOfThread = 4;
    if (kernel_.keeps_left && p_.columns > TileColumns()) return false;
    const int64_t tiles = p_.rows / kIntegerTileRows * p_.batches;
    return kIntegerTileRows * RowBytes() <= kStreamBytes &&
           tiles >= kTilesOfThread * context_.parallel().jobs();
  }

  static void Reserve(Side& side, int64_t batches, int64_t first, int64_t count) {
    side.first = first;
    side.count = count;
    side.panels = CeilDiv(count, side.width);
    if (side.wants_sums) side.sums.resize(side.panels * batches * side.width);
  }

  void Pack(Side& side, int64_t first_batch, int64_t batches, int64_t first, int64_t count) {
    Reserve(side, batches, first, count);
    const int64_t grain = kIntegerElementsOfPart / (p_.length * side.width + 1) + 1;
    context_.parallel().For(side.panels * batches, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) PackPanel(side, first_batch, panel);
    });
  }

  void PackPanel(Side& side, int64_t first_batch, int64_t panel) const {
    const int64_t at = panel % side.panels * side.width;
    std::byte* const packed = side.packed + panel * side.width * RowBytes();
    side.source.Pack(first_batch + panel / side.panels, side.first + at,
                     std::min<int64_t>(side.width, side.count - at), packed);
    if (!side.wants_sums) return;
    const bool right = &side.source == p_.rhs;
    uint32_t* const sums = side.sums.data() + panel * side.width;
    kernel_.sums(packed_length_, packed, side.width, right, sums);
    const auto offset = static_cast<uint32_t>(right ? p_.lhs_offset : p_.rhs_offset);
    for (int r = 0; r < side.width; ++r) sums[r] *= offset;
  }

  absl::Status MultiplyStream(int64_t first_batch, int64_t batches) {
    const int64_t tile_columns = TileSize(TileColumns(), rhs_), down = CeilDiv(p_.rows, kIntegerTileRows);
    const int64_t work = kIntegerTileRows * rhs_.count * std::max<int64_t>(p_.length, 1);
    const int64_t most = std::max<int64_t>(kIntegerWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < batches * down; done += most) {
      const int64_t part = std::min(most, batches * down - done);
      context_.parallel().For(part, work_of_part_ / work + 1, [&](int64_t begin, int64_t end) {
        Side rows{lhs_.source, lhs_.width, lhs_.wants_sums};
        rows.packed = ThreadRows();
        if (kernel_.begin != nullptr) kernel_.begin();
        for (int64_t t = done + begin; t < done + end; ++t) {
          const int64_t batch = t / down, first = t % down * kIntegerTileRows;
          Reserve(rows, 1, first, std::min(kIntegerTileRows, p_.rows - first));
          for (int64_t panel = 0; panel < rows.panels; ++panel) PackPanel(rows, first_batch + batch, panel);
          for (int64_t column = 0; column < rhs_.count; column += tile_columns)
            MultiplyTile(rows, 0, first_batch, batch, 0, column, kIntegerTileRows, tile_columns);
        }
        if (kernel_.end != nullptr) kernel_.end();
      });
      ASSAY_RETURN_IF_ERROR(
          ChargePart(context_, batches * p_.rows * rhs_.count, p_.length, done, part, batches * down));
    }
    return absl::OkStatus();
  }

  absl::Status MultiplyBlocks(int64_t first_batch, int64_t batches) {
    const int64_t tile_rows = TileSize(kIntegerTileRows, lhs_), tile_columns = TileSize(TileColumns(), rhs_);
    const int64_t down = CeilDiv(lhs_.count, tile_rows), across = CeilDiv(rhs_.count, tile_columns);
    const int64_t tiles = batches * down * across;
    const int64_t work = tile_rows * tile_columns * std::max<int64_t>(p_.length, 1);
    const int64_t most = std::max<int64_t>(kIntegerWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < tiles; done += most) {
      const int64_t part = std::min(most, tiles - done);
      context_.parallel().For(part, work_of_part_ / work + 1, [&](int64_t begin, int64_t end) {
        if (kernel_.begin != nullptr) kernel_.begin();
        for (int64_t t = done + begin; t < done + end; ++t) {
          const int64_t tile = t % (down * across);
          const int64_t batch = t / (down * across);
          // Right panels that fit in the L2 cache stay there while rows go by.
          const int64_t row = kernel_.keeps_left ? tile % down : tile / across,
                        column = kernel_.keeps_left ? tile / down : tile % across;
          MultiplyTile(lhs_, batch, first_batch, batch, row * tile_rows, column * tile_columns, tile_rows,
                       tile_columns);
        }
        if (kernel_.end != nullptr) kernel_.end();
      });
      ASSAY_RETURN_IF_ERROR(
          ChargePart(context_, batches * lhs_.count * rhs_.count, p_.length, done, part, tiles));
    }
    return absl::OkStatus();
  }

  // Right panels that stream past a left one should come from the L2 cache.
  int64_t TileColumns() const {
    constexpr int64_t kBytes = 1 << 20;
    return kernel_.keeps_left ? std::max(kIntegerTileColumns, kBytes / RowBytes()) : kIntegerTileColumns;
  }
  int64_t TileSize(int64_t most, const Side& side) const {
    return std::max<int64_t>(std::min(most / side.width, CeilDiv(side.panels, 2)), 1) * side.width;
  }

  // Multiplies a tile of batch `batch` of the right block and `lhs_batch` of the left one.
  void MultiplyTile(const Side& lhs, int64_t lhs_batch, int64_t first_batch, int64_t batch, int64_t row,
                    int64_t column, int64_t tile_rows, int64_t tile_columns) const {
    const int64_t rows = std::min(row + tile_rows, lhs.count),
                  columns = std::min(column + tile_columns, rhs_.count);
    const int64_t row_slot = lhs_batch * lhs.panels * lhs.width,
                  column_slot = batch * rhs_.panels * rhs_.width;
    const auto multiply = [&](int64_t i, int64_t j) {
      MultiplyPanels({lhs, first_batch + batch, i, std::min<int64_t>(lhs.width, rows - i), j,
                      std::min<int64_t>(rhs_.width, columns - j), row_slot + i, column_slot + j});
    };
    if (kernel_.keeps_left) {
      for (int64_t i = row; i < rows; i += lhs.width) {
        for (int64_t j = column; j < columns; j += rhs_.width) multiply(i, j);
      }
      return;
    }
    for (int64_t j = column; j < columns; j += rhs_.width) {
      for (int64_t i = row; i < rows; i += lhs.width) multiply(i, j);
    }
  }

  // Results of one panel times one panel.
  struct Block {
    const Side& lhs;
    int64_t batch, row, rows, column, columns;
    int64_t row_slot, column_slot;
  };
  void MultiplyPanels(const Block& block) const {
    const std::byte* const a = block.lhs.packed + block.row_slot * RowBytes();
    const std::byte* const b = rhs_.packed + block.column_slot * RowBytes();
    const bool in_place = kernel_.sum_bytes == Bytes(p_.type) && IsIntegral(p_.type) && !p_.has_offsets() &&
                          columns_.regular && columns_.step == 1 && rows_.regular &&
                          block.rows == lhs_.width && block.columns == rhs_.width;
    FetchResults(block);
    if (in_place) {
      kernel_.tile(packed_length_, a, b, ResultAt(block, 0), rows_.step);
      return;
    }
    alignas(64) std::byte sums[kMaxPanelWidth * kMaxPanelWidth * 8];
    kernel_.tile(packed_length_, a, b, sums, rhs_.width);
    if (p_.has_offsets() && Bytes(p_.type) == 4 && columns_.regular && columns_.step == 1)
      return StoreWithOffsets(block, reinterpret_cast<const uint32_t*>(sums));
    for (int64_t r = 0; r < block.rows; ++r) {
      uint64_t wide[kMaxPanelWidth];
      Widen(sums + r * rhs_.width * kernel_.sum_bytes, block.columns, wide);
      if (p_.has_offsets()) AddOffsets(block, r, wide);
      StoreRow(wide, block, r);
    }
  }

  // The results' lines arrive while the products are added up.
  void FetchResults(const Block& block) const {
    if (!columns_.regular || columns_.step != 1) return;
    for (int64_t r = 0; r < block.rows; ++r) {
      const std::byte* const row = ResultAt(block, r);
      for (int64_t at = 0; at < block.columns * Bytes(p_.type); at += 64) __builtin_prefetch(row + at, 1);
    }
  }

  std::byte* ResultAt(const Block& block, int64_t r) const {
    return p_.result + (p_.batch_at[block.batch] + p_.row_at[block.lhs.first + block.row + r] +
                        p_.column_at[rhs_.first + block.column]) *
                           Bytes(p_.type);
  }

  void Widen(const std::byte* sums, int64_t n, uint64_t* wide) const {
    if (kernel_.sum_bytes == 8) {
      std::memcpy(wide, sums, n * sizeof(uint64_t));
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      uint32_t sum;
      std::memcpy(&sum, sums + 4 * j, sizeof(sum));
      wide[j] = sum;
    }
  }

  // sum (a + p) (b + q) = sum a b + p sum b + q sum a + n p q, modulo 2^32 as the sums are:
  // pred asks whether it is 0.
  uint32_t RowOffset(const Block& block, int64_t r) const {
    const auto p = static_cast<uint32_t>(p_.lhs_offset), q = static_cast<uint32_t>(p_.rhs_offset);
    const uint32_t all = static_cast<uint32_t>(p_.length) * p * q;
    return q != 0 ? all + block.lhs.sums[block.row_slot + r] : all;
  }
  // Of the block's columns; null where they are 0.
  const uint32_t* ColumnOffsets(const Block& block) const {
    return p_.lhs_offset != 0 ? rhs_.sums.data() + block.column_slot : nullptr;
  }

  void AddOffsets(const Block& block, int64_t r, uint64_t* sums) const {
    const uint32_t row = RowOffset(block, r);
    const uint32_t* const of_columns = ColumnOffsets(block);
    for (int64_t j = 0; j < block.columns; ++j)
      sums[j] = static_cast<uint32_t>(sums[j] + row + (of_columns != nullptr ? of_columns[j] : 0));
  }

  // Results of 32 bits that are neighbours in a row.
  void StoreWithOffsets(const Block& block, const uint32_t* sums) const {
    static constexpr uint32_t kZeros[kMaxPanelWidth] = {};
    const uint32_t* const some = ColumnOffsets(block);
    const uint32_t* const of_columns = some != nullptr ? some : kZeros;
    const auto load = [](const uint32_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    for (int64_t r = 0; r < block.rows; ++r, sums += rhs_.width) {
      const uint32_t row = RowOffset(block, r);
      const __m128i rows = _mm_set1_epi32(static_cast<int>(row));
      std::byte* const dst = ResultAt(block, r);
      int64_t j = 0;
      for (; j + 4 <= block.columns; j += 4) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + 4 * j),
                         _mm_add_epi32(_mm_add_epi32(load(sums + j), load(of_columns + j)), rows));
      }
      for (; j < block.columns; ++j) {
        const uint32_t sum = sums[j] + of_columns[j] + row;
        std::memcpy(dst + 4 * j, &sum, sizeof(sum));
      }
    }
  }

  void StoreRow(const uint64_t* sums, const Block& block, int64_t r) const {
    const int64_t bytes = Bytes(p_.type);
    std::byte* const dst = ResultAt(block, r);
    if (columns_.regular && p_.type != ElementType::kPred)
      return StoreStrip(p_.type, sums, block.columns, dst, columns_.step * bytes);
    const int64_t* const at = p_.column_at.data() + rhs_.first + block.column;
    for (int64_t j = 0; j < block.columns; ++j) {
      std::byte* const element = dst + (at[j] - at[0]) * bytes;
      if (p_.type == ElementType::kPred) {
        *element = static_cast<std::byte>(sums[j] != 0);
      } else {
        StoreStrip(p_.type, &sums[j], 1, element, bytes);
      }
    }
  }

  EvalContext& context_;
  const IntegerKernel& kernel_;
  const IntegerProduct& p_;
  const int64_t packed_length_, work_of_part_;
  Side lhs_, rhs_;
  const Steps rows_, columns_;
};

}  // namespace

const IntegerKernel& IntegerKernelFor(Isa isa, ElementType lhs, ElementType rhs, ElementType result) {
  const IntegerKernels& kernels = IntegerKernelsOf(isa);
  if (Bits(result) > 32) return kernels.from64;
  if (Bits(lhs) > 8 || Bits(rhs) > 8) return kernels.from32;
  if (isa == Isa::kAvx512 && HasByteTiles()) return ByteTiles(IsSignedIntegral(lhs), IsSignedIntegral(rhs));
  return kernels.from8.tile != nullptr ? kernels.from8 : kernels.from16;
}

absl::Status RunIntegerProduct(EvalContext& context, const IntegerKernel& kernel,
                               const IntegerProduct& product) {
  if (product.batches == 0 || product.rows == 0 || product.columns == 0) return absl::OkStatus();
  return IntegerProductRun(context, kernel, product).Run();
}

}  // namespace assay::native
