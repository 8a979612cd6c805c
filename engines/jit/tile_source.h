// Elements of a fusion that are read elsewhere than at their own position: broadcast, slice, transpose and
// iota, a tile at a time.
// Positions count from the first element of the result.
#ifndef ASSAY_ENGINES_JIT_TILE_SOURCE_H_
#define ASSAY_ENGINES_JIT_TILE_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "hlo/module.h"
#include "shape/shape.h"

namespace assay::jit {

class TileSource {
 public:
  static TileSource Broadcast(const Instruction& broadcast, const Shape& operand);
  static TileSource Slice(const Instruction& slice, const Shape& operand);
  static TileSource Transpose(const Instruction& transpose, const Shape& operand);
  static TileSource Iota(const Instruction& iota);

  // Elements [begin, begin + n) of the result in row-major order, to dst. `operand` is the start of the
  // operand's elements (nothing for iota).
  void Fill(const std::byte* operand, int64_t begin, int64_t n, std::byte* dst) const;
  // The length of the runs of one value that the result consists of; 1 where there are none.
  int64_t run() const { return !counts_ && dimensions_.back().stride == 0 ? dimensions_.back().size : 1; }
  // `copies` copies of element `begin`.
  void FillRun(const std::byte* operand, int64_t begin, int64_t copies, std::byte* dst) const;
  // Where these elements lie in the operand one behind the other: the first one's address, else null.
  const std::byte* Find(const std::byte* operand, int64_t begin, int64_t n) const;

 private:
  struct Dimension {
    int64_t size;
    int64_t stride;  // in elements of the operand; of iota: what the index counts, 0 or 1
  };
  // One more dimension within those there are; strides in elements of the operand.
  void AddDimension(int64_t size, int64_t stride);
  template <typename Run>
  void ForRuns(int64_t begin, int64_t n, Run run) const;

  ElementType type_ = ElementType::kPred;
  bool counts_ = false;
  int64_t first_ = 0;                             // element of the operand
  absl::InlinedVector<Dimension, 4> dimensions_;  // outermost first; neighbours that walk on are one
};

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_TILE_SOURCE_H_
