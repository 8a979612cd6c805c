#include "evaluator/patterns/associative.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

bool IsOrder(KeyOp op) { return op == KeyOp::kMaximum || op == KeyOp::kMinimum; }

// Patterns of doubles as integers in the order of the values; its own inverse.
int64_t InOrder(int64_t pattern) { return pattern ^ ((pattern >> 63) & kMost); }

int64_t FlippedTop(int64_t key) {
  return static_cast<int64_t>(static_cast<uint64_t>(key) ^ (uint64_t{1} << 63));
}

}  // namespace

bool IsAssociative(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  if (computation.parameters.size() != 2) return false;
  const Instruction& root = computation.root_instruction();
  if (root.operands.size() != 2) return false;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool of_parameters =
      (root.operands[0] == a && root.operands[1] == b) || (root.operands[0] == b && root.operands[1] == a);
  if (!of_parameters || root.shape == nullptr || !root.shape->IsScalar()) return false;
  const ElementType type = root.shape->element_type();
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return IsIntegral(type) || type == ElementType::kPred;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return !IsComplex(type);
    default:
      return false;
  }
}

int64_t IdentityOf(KeyOp op) {
  switch (op) {
    case KeyOp::kMultiply:
      return 1;
    case KeyOp::kAnd:
      return -1;
    case KeyOp::kMaximum:
      return kLeast;
    case KeyOp::kMinimum:
      return kMost;
    default:
      return 0;
  }
}

KeyOp KeyOpOf(const Module& module, ComputationId reducer, ElementType type) {
  const bool pred = type == ElementType::kPred;
  switch (module.computation(reducer).root_instruction().opcode) {
    case Opcode::kAdd:
      return pred ? KeyOp::kOr : KeyOp::kAdd;
    case Opcode::kMultiply:
      return pred ? KeyOp::kAnd : KeyOp::kMultiply;
    case Opcode::kAnd:
      return KeyOp::kAnd;
    case Opcode::kOr:
      return KeyOp::kOr;
    case Opcode::kXor:
      return KeyOp::kXor;
    case Opcode::kMaximum:
      return KeyOp::kMaximum;
    default:
      return KeyOp::kMinimum;
  }
}

void LoadKeys(KeyOp op, ElementType type, const std::byte* src, int64_t stride_bytes, int64_t n,
              int64_t* keys) {
  LoadStrip(type == ElementType::kPred ? ElementType::kU8 : type, src, stride_bytes, n, keys);
  if (IsFloat(type)) {
    const int64_t nan = op == KeyOp::kMaximum ? kMost : kLeast;
    constexpr int64_t kInfinity = 0x7ff0000000000000;
    for (int64_t i = 0; i < n; ++i) keys[i] = (keys[i] & kMost) > kInfinity ? nan : InOrder(keys[i]);
  } else if (type == ElementType::kU64 && IsOrder(op)) {
    for (int64_t i = 0; i < n; ++i) keys[i] = FlippedTop(keys[i]);
  }
}

void StoreKeys(KeyOp op, ElementType type, const int64_t* keys, int64_t n, std::byte* dst,
               int64_t stride_bytes) {
  const ElementType stored = type == ElementType::kPred ? ElementType::kU8 : type;
  int64_t strip[kStrip];
  for (int64_t done = 0; done < n; done += kStrip) {
    const int64_t count = std::min(kStrip, n - done);
    std::copy_n(keys + done, count, strip);
    if (IsFloat(type)) {
      for (int64_t i = 0; i < count; ++i) {
        const double value = std::bit_cast<double>(InOrder(strip[i]));
        strip[i] = std::bit_cast<int64_t>(std::isnan(value) ? CanonicalNaN(*Info(type).format) : value);
      }
    } else if (type == ElementType::kU64 && IsOrder(op)) {
      for (int64_t i = 0; i < count; ++i) strip[i] = FlippedTop(strip[i]);
    }
    StoreStrip(stored, strip, count, dst + done * stride_bytes, stride_bytes);
  }
}

}  // namespace assay
