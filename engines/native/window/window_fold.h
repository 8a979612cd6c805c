// Folds the tiles of a reduce-window by generated code (window_grid.h).
#ifndef ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_FOLD_H_
#define ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_FOLD_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "engines/codegen/scalar_code.h"
#include "engines/native/window/window_grid.h"
#include "evaluator/eval_context.h"

namespace assay::native {

struct WindowOperand {
  const std::byte* input;
  const std::byte* init;  // one element
  std::byte* result;
  int64_t input_bytes, result_bytes;  // of an element
};

// One thread's. The code's parameters are the running values and then the new ones.
class TileFolder {
 public:
  TileFolder(const codegen::ScalarCode& code, std::span<const WindowOperand> operands);

  // Result r of the grid goes to element r - base of the operands' results,
  // which hold the running values on the way.
  void Run(const WindowGrid& grid, int64_t tile, int64_t base = 0);

 private:
  void Fold(WindowBlock block);
  bool Pack(WindowBlock& block);
  void Steps(codegen::ScalarCode::Frame& frame, const WindowBlock& block, int64_t width, int64_t elements);
  void Steps(codegen::ScalarCode::Frame& frame, int64_t times, int64_t from, int64_t from_step, int64_t to,
             int64_t to_step);

  const std::span<const WindowOperand> operands_;
  const int64_t lanes_;
  codegen::ScalarCode::Frame single_, vectors_;
  int64_t base_ = 0;
  std::vector<std::vector<uint64_t>> packed_;  // by operand: the elements of a block side by side
  std::vector<const std::byte*> inputs_;       // by operand: where `from` counts from
};

// Runs fold(begin, end) for all tiles, in parts, and charges `work` for them in all.
absl::Status ForEachTile(EvalContext& context, const WindowGrid& grid, absl::int128 work,
                         absl::FunctionRef<void(int64_t begin, int64_t end)> fold);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WINDOW_WINDOW_FOLD_H_
