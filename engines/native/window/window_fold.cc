#include "engines/native/window/window_fold.h"

#include <algorithm>
#include <cstring>

#include "engines/native/walk/move.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

constexpr int64_t kFoldsOfPart = 1 << 14;   // worth a task
constexpr int64_t kFoldsOfRound = 1 << 23;  // between two charges

template <class T>
void PackOf(const WindowBlock& block, const std::byte* input, std::byte* packed) {
  const std::byte* from = input + block.from * static_cast<int64_t>(sizeof(T));
  const int64_t step = block.from_step * static_cast<int64_t>(sizeof(T)),
                run = block.width * static_cast<int64_t>(sizeof(T));
  if (block.width == 1) {
    for (int64_t i = 0; i < block.count; ++i, from += step, packed += sizeof(T))
      std::memcpy(packed, from, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < block.count; ++i, from += step, packed += run)
    std::memcpy(packed, from, static_cast<size_t>(run));
}

}  // namespace

TileFolder::TileFolder(const ScalarCode& code, std::span<const WindowOperand> operands)
    : operands_(operands),
      lanes_(code.lanes()),
      single_(code, /*vectors=*/false),
      vectors_(code, /*vectors=*/true),
      packed_(operands.size()) {
  for (const WindowOperand& operand : operands) inputs_.push_back(operand.input);
}

void TileFolder::Run(const WindowGrid& grid, int64_t tile, int64_t base) {
  base_ = base;
  const WindowBlock results = grid.Results(tile);
  for (const WindowOperand& operand : operands_) {
    FillElements(static_cast<int>(operand.result_bytes), operand.init,
                 operand.result + (results.to - base) * operand.result_bytes, results.count * results.width);
  }
  grid.ForEachBlock(tile, [this](const WindowBlock& block) { Fold(block); });
}

void TileFolder::Fold(WindowBlock block) {
  const bool packed = block.to_step == block.width && block.from_step != block.width && Pack(block);
  if (block.from_step == block.width && block.to_step == block.width) {
    block.width *= block.count;
    block.count = 1;
  }
  const int64_t vectors = block.width / lanes_, rest = block.width % lanes_;
  Steps(vectors_, block, vectors, lanes_);
  block.from += vectors * lanes_, block.to += vectors * lanes_;
  Steps(single_, block, rest, 1);
  for (size_t k = 0; packed && k < operands_.size(); ++k) inputs_[k] = operands_[k].input;
}

// Brings the elements of many narrow rows together, which then are one row.
bool TileFolder::Pack(WindowBlock& block) {
  if (block.width >= lanes_ || block.width * block.count < 2 * lanes_) return false;
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (vectors_.InputAddress(operands_.size() + k) == nullptr) continue;  // not read
    packed_[k].resize(static_cast<size_t>(block.width * block.count));
    auto* const to = reinterpret_cast<std::byte*>(packed_[k].data());
    switch (operands_[k].input_bytes) {
      case 1:
        PackOf<uint8_t>(block, operands_[k].input, to);
        break;
      case 2:
        PackOf<uint16_t>(block, operands_[k].input, to);
        break;
      case 4:
        PackOf<uint32_t>(block, operands_[k].input, to);
        break;
      case 8:
        PackOf<uint64_t>(block, operands_[k].input, to);
        break;
      default:
        ASSAY_CHECK(false);  // c128, which no code reads
    }
    inputs_[k] = to;
  }
  block.from = 0;
  block.from_step = block.width;
  return true;
}

// Every `count` of the block for each of `width` pieces of so many elements side by side;
// the longer loop is the code's.
void TileFolder::Steps(ScalarCode::Frame& frame, const WindowBlock& block, int64_t width, int64_t elements) {
  if (block.count >= width) {
    for (int64_t f = 0; f < width; ++f) {
      Steps(frame, block.count, block.from + f * elements, block.from_step, block.to + f * elements,
            block.to_step);
    }
  } else {
    for (int64_t i = 0; i < block.count; ++i) {
      Steps(frame, width, block.from + i * block.from_step, elements, block.to + i * block.to_step, elements);
    }
  }
}

void TileFolder::Steps(ScalarCode::Frame& frame, int64_t times, int64_t from, int64_t from_step, int64_t to,
                       int64_t to_step) {
  for (size_t k = 0; k < operands_.size(); ++k) {
    const WindowOperand& operand = operands_[k];
    std::byte* const result = operand.result + (to - base_) * operand.result_bytes;
    frame.SetInput(k, result);
    frame.SetInputStride(k, to_step * operand.result_bytes);
    frame.SetOutput(k, result);
    frame.SetOutputStride(k, to_step * operand.result_bytes);
    frame.SetInput(operands_.size() + k, inputs_[k] + from * operand.input_bytes);
    frame.SetInputStride(operands_.size() + k, from_step * operand.input_bytes);
  }
  frame.Run(times);
}

absl::Status ForEachTile(EvalContext& context, const WindowGrid& grid, absl::int128 work,
                         absl::FunctionRef<void(int64_t begin, int64_t end)> fold) {
  const int64_t tiles = grid.tiles(), each = static_cast<int64_t>(grid.folds() / tiles) + 1;
  const int64_t most = kFoldsOfRound / each + 1, grain = kFoldsOfPart / each + 1;
  for (int64_t done = 0; done < tiles; done += most) {
    const int64_t some = std::min(most, tiles - done);
    context.parallel().For(some, grain, [&](int64_t begin, int64_t end) { fold(done + begin, done + end); });
    ASSAY_RETURN_IF_ERROR(
        context.Charge(static_cast<int64_t>(work * (done + some) / tiles - work * done / tiles)));
  }
  return absl::OkStatus();
}

}  // namespace assay::native
