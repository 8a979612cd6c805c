// Writes the instructions that move values at random within what a backend may do. They are elementwise, on
// integers and on floats that are rounded correctly, so that engines fuse them with what makes the value, and
// every engine has the same bits.
#ifndef ASSAY_CHECK_ESTIMATE_MOVER_H_
#define ASSAY_CHECK_ESTIMATE_MOVER_H_

#include <cstdint>
#include <map>

#include "evaluator/bound.h"
#include "shape/element_type.h"

namespace assay {

// The u32 that samples of this seed are drawn from. Its lowest two bits are the seed's: by them samples flush
// subnormal numbers, or cut operands.
uint32_t KeyOfSeed(uint64_t seed);

// Each value is moved by s in [-1, 1], a hash of the element's bits, its row-major position, the key and the
// number of the move.
class Mover {
 public:
  // Samples of odd keys flush subnormal numbers of the types `flushes`.
  Mover(BoundContext& context, const TypeSet& flushes) : c_(context), flushes_(flushes) {}
  void SetKey(Node key) { key_ = key; }

  // v + (r + u |v|) s, u being half an ulp: the addition rounds to nearest, so a radius of less than half an
  // ulp counts. What is infinite or NaN, or has such a radius, stays; so does what would leave the type, or
  // with `in_unit` [-1, 1], and values whose radius is that of underflow alone. The radius is of RadiusType.
  Node Moved(Node value, Node radius, int64_t number, bool in_unit = false);
  // The same by up to `unit` |v|; where bit 1 of the key is set, towards zero, as operands are cut.
  Node Cut(Node value, double unit, int64_t number);
  // a + b, a - b or a b of floats, rounded up or down, the nearer number more often: what is exact stays so.
  Node RoundedEitherWay(Opcode op, Node a, Node b, int64_t number);

 private:
  struct Split {
    Node high, low;
  };
  struct Exact {
    Node value, error;  // the rounded result, and the real one less this
  };
  Node Bits(Node value);
  Node Bitcast(Node value, ElementType type);
  Node Xor(Node a, Node b) { return c_.Write(Opcode::kXor, {a, b}); }
  Node ShiftedRight(Node a, int places);
  Node Positions(Node like, uint32_t step);
  Node Hash(Node wide, int64_t number);
  Node Signed(Node hash, Node wide);
  Node MovedBy(Node wide, Node radius, Node draw, ElementType type, bool in_unit);
  Node Flushed(Node wide, Node magnitude, ElementType type);
  Split SplitOf(Node value);
  Exact Rounded(Opcode op, Node a, Node b, ElementType type);
  Node KeyBit(uint32_t bit);

  BoundContext& c_;
  const TypeSet flushes_;
  Node key_;
  // Scalars: below which numbers of a type are flushed, and whether operands are cut towards zero.
  std::map<ElementType, Node> flush_limits_;
  Node cuts_inwards_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_MOVER_H_
