#include "evaluator/native/integer_product.h"

#include <algorithm>
#include <cstring>

#include "evaluator/parallel.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr int64_t kPackedBytes = 32 << 20;  // of one operand
constexpr int64_t kTileRows = 96, kTileColumns = 256;
constexpr int64_t kWorkBetweenCharges = 1 << 30;  // products
constexpr int64_t kWorkOfPart = 1 << 19;          // products worth a task
constexpr int64_t kElementsOfPart = 1 << 15;      // packed elements worth a task

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The low bits of n elements of `width` rows, in the kernel's packed form.
void Narrow(const IntegerKernel& kernel, const int64_t* elements, int64_t n, int width, std::byte* packed) {
  if (kernel.element_bytes == 8) {
    std::memcpy(packed, elements, static_cast<size_t>(n * width) * sizeof(int64_t));
  } else if (kernel.element_bytes == 4) {
    auto* const dst = reinterpret_cast<int32_t*>(packed);
    for (int64_t i = 0; i < n * width; ++i) dst[i] = static_cast<int32_t>(elements[i]);
  } else {
    auto* dst = reinterpret_cast<uint32_t*>(packed);
    for (int64_t k = 0; k < n; k += 2, elements += 2 * width) {
      const int64_t* const next = k + 1 < n ? elements + width : nullptr;
      for (int r = 0; r < width; ++r) {
        const auto low = static_cast<uint16_t>(elements[r]);
        const auto high = static_cast<uint16_t>(next != nullptr ? next[r] : 0);
        *dst++ = low | static_cast<uint32_t>(high) << 16;
      }
    }
  }
}

class Runner {
 public:
  Runner(EvalContext& context, const IntegerKernel& kernel, const IntegerProduct& product)
      : context_(context),
        kernel_(kernel),
        p_(product),
        packed_length_(kernel.pairs ? CeilDiv(product.length, 2) * 2 : product.length),
        lhs_{*product.lhs, kernel.tile_rows},
        rhs_{*product.rhs, kernel.tile_columns} {
    column_stride_ = p_.columns > 1 ? p_.column_at[1] - p_.column_at[0] : 1;
    for (int64_t j = 1; regular_columns_ && j < p_.columns; ++j)
      regular_columns_ = p_.column_at[j] - p_.column_at[j - 1] == column_stride_;
  }

  absl::Status Run() {
    const int64_t most_rows = BlockOf(p_.rows, lhs_.width), most_columns = BlockOf(p_.columns, rhs_.width);
    int64_t most_batches = 1;
    if (most_rows >= p_.rows && most_columns >= p_.columns) {
      const int64_t packed = std::max(most_rows, most_columns) * RowBytes();
      const int64_t work = most_rows * most_columns * (packed_length_ + 1);
      most_batches =
          std::clamp<int64_t>(std::min(kPackedBytes / packed, kWorkBetweenCharges / work), 1, p_.batches);
    }
    ASSAY_ASSIGN_OR_RETURN(Literal lhs, ReserveScratch(context_, most_batches * most_rows, RowBytes()));
    ASSAY_ASSIGN_OR_RETURN(Literal rhs, ReserveScratch(context_, most_batches * most_columns, RowBytes()));
    lhs_.packed = lhs.MutableBytes().data();
    rhs_.packed = rhs.MutableBytes().data();
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
  struct Side {
    const RowSource<int64_t>& source;
    const int width;
    std::byte* packed = nullptr;
    int64_t first = 0, count = 0, panels = 0;
  };

  int64_t RowBytes() const { return std::max<int64_t>(packed_length_, 1) * kernel_.element_bytes; }
  int64_t BlockOf(int64_t rows, int width) const {
    const int64_t fitting = std::max<int64_t>(kPackedBytes / RowBytes() / width, 1) * width;
    return std::min(fitting, CeilDiv(std::max<int64_t>(rows, 1), width) * width);
  }

  void Pack(Side& side, int64_t first_batch, int64_t batches, int64_t first, int64_t count) {
    side.first = first;
    side.count = count;
    side.panels = CeilDiv(count, side.width);
    const int64_t grain = kElementsOfPart / (p_.length * side.width + 1) + 1;
    context_.parallel().For(side.panels * batches, grain, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> elements(p_.length * side.width);
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t at = panel % side.panels * side.width;
        side.source.Pack(first_batch + panel / side.panels, first + at,
                         std::min<int64_t>(side.width, count - at), side.width, elements.data());
        Narrow(kernel_, elements.data(), p_.length, side.width,
               side.packed + panel * side.width * RowBytes());
      }
    });
  }

  absl::Status MultiplyBlocks(int64_t first_batch, int64_t batches) {
    const int64_t tile_rows = TileSize(kTileRows, lhs_), tile_columns = TileSize(kTileColumns, rhs_);
    const int64_t down = CeilDiv(lhs_.count, tile_rows), across = CeilDiv(rhs_.count, tile_columns);
    const int64_t tiles = batches * down * across;
    const int64_t work = tile_rows * tile_columns * std::max<int64_t>(p_.length, 1);
    const int64_t most = std::max<int64_t>(kWorkBetweenCharges / work, 1);
    for (int64_t done = 0; done < tiles; done += most) {
      const int64_t part = std::min(most, tiles - done);
      context_.parallel().For(part, kWorkOfPart / work + 1, [&](int64_t begin, int64_t end) {
        for (int64_t t = done + begin; t < done + end; ++t) {
          const int64_t tile = t % (down * across);
          MultiplyTile(first_batch, t / (down * across), tile / across * tile_rows,
                       tile % across * tile_columns, tile_rows, tile_columns);
        }
      });
      ASSAY_RETURN_IF_ERROR(context_.Charge(part * work));
    }
    return absl::OkStatus();
  }

  int64_t TileSize(int64_t most, const Side& side) const {
    return std::max<int64_t>(std::min(most / side.width, CeilDiv(side.panels, 2)), 1) * side.width;
  }

  void MultiplyTile(int64_t first_batch, int64_t batch, int64_t row, int64_t column, int64_t tile_rows,
                    int64_t tile_columns) const {
    const int64_t rows = std::min(row + tile_rows, lhs_.count),
                  columns = std::min(column + tile_columns, rhs_.count);
    const std::byte* const a = lhs_.packed + batch * lhs_.panels * lhs_.width * RowBytes();
    const std::byte* const b = rhs_.packed + batch * rhs_.panels * rhs_.width * RowBytes();
    alignas(64) std::byte sums[kMaxPanelWidth * kMaxPanelWidth * 8];
    for (int64_t j = column; j < columns; j += rhs_.width) {
      for (int64_t i = row; i < rows; i += lhs_.width) {
        kernel_.tile(packed_length_, a + i * RowBytes(), b + j * RowBytes(), sums);
        StoreTile(first_batch + batch, i, std::min<int64_t>(lhs_.width, rows - i), j,
                  std::min<int64_t>(rhs_.width, columns - j), sums);
      }
    }
  }

  void StoreTile(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns,
                 const std::byte* sums) const {
    const int64_t bytes = Bytes(p_.type);
    uint64_t wide[kMaxPanelWidth];
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* const src = sums + r * rhs_.width * kernel_.sum_bytes;
      std::byte* const dst = p_.result + (p_.batch_at[batch] + p_.row_at[lhs_.first + row + r]) * bytes;
      const int64_t* const at = p_.column_at.data() + rhs_.first + column;
      if (kernel_.sum_bytes == bytes && regular_columns_ && column_stride_ == 1 && IsIntegral(p_.type)) {
        std::memcpy(dst + at[0] * bytes, src, static_cast<size_t>(columns * bytes));
        continue;
      }
      for (int64_t j = 0; j < columns; ++j) {
        if (kernel_.sum_bytes == 4) {
          uint32_t sum;
          std::memcpy(&sum, src + 4 * j, sizeof(sum));
          wide[j] = sum;
        } else {
          std::memcpy(&wide[j], src + 8 * j, sizeof(uint64_t));
        }
        if (p_.type == ElementType::kPred) {
          dst[at[j]] = static_cast<std::byte>(wide[j] != 0);
        } else {
          StoreStrip(p_.type, &wide[j], 1, dst + at[j] * bytes, bytes);
        }
      }
    }
  }

  EvalContext& context_;
  const IntegerKernel& kernel_;
  const IntegerProduct& p_;
  const int64_t packed_length_;
  Side lhs_, rhs_;
  bool regular_columns_ = true;
  int64_t column_stride_ = 1;
};

}  // namespace

const IntegerKernel& IntegerKernelFor(const IntegerKernels& kernels, ElementType lhs, ElementType rhs,
                                      ElementType result) {
  if (Bits(result) > 32) return kernels.from64;
  return Bits(lhs) <= 8 && Bits(rhs) <= 8 ? kernels.from16 : kernels.from32;
}

absl::Status RunIntegerProduct(EvalContext& context, const IntegerKernel& kernel,
                               const IntegerProduct& product) {
  if (product.batches == 0 || product.rows == 0 || product.columns == 0) return absl::OkStatus();
  return Runner(context, kernel, product).Run();
}

}  // namespace assay::native
