// Reducers whose grouping no result can show, on integer keys: max and min of
// floats are those of integers in the order of the values, with -0 below +0 and NaN beyond everything.
#ifndef ASSAY_EVALUATOR_PATTERNS_ASSOCIATIVE_H_
#define ASSAY_EVALUATOR_PATTERNS_ASSOCIATIVE_H_

#include <cstddef>
#include <cstdint>

#include "hlo/module.h"
#include "shape/element_type.h"

namespace assay {

// True if the computation is f(a, b) = a op b of its two parameters where op is associative and commutative
// in every bit: integer or pred add and multiply, and, or, xor, and max and min of anything real. Then any
// grouping gives the left fold's result.
bool IsAssociative(const Module& module, ComputationId id);

enum class KeyOp : uint8_t { kAdd, kMultiply, kAnd, kOr, kXor, kMaximum, kMinimum };

inline int64_t Apply(KeyOp op, int64_t a, int64_t b) {
  switch (op) {
    case KeyOp::kAdd:
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case KeyOp::kMultiply:
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case KeyOp::kAnd:
      return a & b;
    case KeyOp::kOr:
      return a | b;
    case KeyOp::kXor:
      return a ^ b;
    case KeyOp::kMaximum:
      return a > b ? a : b;
    case KeyOp::kMinimum:
      return a < b ? a : b;
  }
  return 0;
}
// Apply(op, x, IdentityOf(op)) = x.
int64_t IdentityOf(KeyOp op);

// The reducer's op on the keys of `type`; the reducer is associative.
KeyOp KeyOpOf(const Module& module, ComputationId reducer, ElementType type);

// Elements at src, stride_bytes apart, as keys, and back. A NaN becomes the canonical one.
void LoadKeys(KeyOp op, ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n,
              int64_t* keys);
void StoreKeys(KeyOp op, ElementType type, const int64_t* keys, int64_t n, std::byte* dst,
               int64_t stride_bytes);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_PATTERNS_ASSOCIATIVE_H_
