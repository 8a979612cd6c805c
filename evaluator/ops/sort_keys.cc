#include "evaluator/ops/sort_keys.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "literal/element_io.h"

namespace assay {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Unsigned order of the keys = total order of the doubles. Loading keeps NaN signs and payloads.
uint64_t RealKey(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits & kSignBit ? ~bits : bits | kSignBit;
}

template <typename KeyOf>
void FillKeys(const void* strip, int64_t n, int64_t first, bool descending, const KeyOf& key_of,
              std::span<SortKey> keys) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = key_of(strip, i);
    keys[first + i] = {descending ? ~key : key, static_cast<int32_t>(first + i)};
  }
}

}  // namespace

void TotalOrderKeys(ElementType type, const std::byte* src, int64_t stride_bytes, bool descending,
                    std::span<SortKey> keys) {
  alignas(64) std::byte strip[kStripBytes];
  const int64_t length = static_cast<int64_t>(keys.size());
  for (int64_t first = 0; first < length; first += kStrip) {
    const int64_t n = std::min(kStrip, length - first);
    LoadStrip(type, src + first * stride_bytes, stride_bytes, n, strip);
    switch (KindOf(type)) {
      case ComputeKind::kBool:
        FillKeys(
            strip, n, first, descending,
            [](const void* s, int64_t i) -> uint64_t { return static_cast<const uint8_t*>(s)[i]; }, keys);
        break;
      case ComputeKind::kInt64:
      case ComputeKind::kUint64: {
        const uint64_t flip = IsSignedIntegral(type) ? kSignBit : 0;
        FillKeys(
            strip, n, first, descending,
            [flip](const void* s, int64_t i) { return static_cast<const uint64_t*>(s)[i] ^ flip; }, keys);
        break;
      }
      default:
        FillKeys(
            strip, n, first, descending,
            [](const void* s, int64_t i) { return RealKey(static_cast<const double*>(s)[i]); }, keys);
    }
  }
}

std::optional<PlainComparator> RecognisePlainComparator(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (root.opcode != Opcode::kCompare || root.operands.size() != 2) return std::nullopt;
  const Instruction& a = computation.instructions[root.operands[0]];
  const Instruction& b = computation.instructions[root.operands[1]];
  if (a.opcode != Opcode::kParameter || b.opcode != Opcode::kParameter) return std::nullopt;
  if (a.parameter_number / 2 != b.parameter_number / 2 || a.parameter_number == b.parameter_number) {
    return std::nullopt;
  }
  const std::string_view direction = root.attributes.Text(Attr::kDirection);
  if (direction != "LT" && direction != "GT") return std::nullopt;
  const ElementType type = a.shape->element_type();
  if (IsComplex(type)) return std::nullopt;
  PlainComparator plain;
  plain.operand = a.parameter_number / 2;
  plain.descending = (direction == "GT") != (a.parameter_number > b.parameter_number);
  plain.total_order = !IsFloat(type) || root.attributes.Text(Attr::kType) == "TOTALORDER";
  return plain;
}

bool SortByKeys(const Literal& operand, const PlainComparator& comparator, std::span<const int64_t> starts,
                int64_t length, int64_t stride, std::span<int32_t> order) {
  const ElementType type = operand.shape().element_type();
  const int64_t bytes = Bytes(type);
  // As numbers, both zeros are equal; a NaN is before and after nothing.
  const uint64_t negative_zero = RealKey(-0.0), positive_zero = RealKey(0.0);
  const uint64_t low = RealKey(-INFINITY), high = RealKey(INFINITY);
  std::vector<SortKey> keys(length);
  for (size_t line = 0; line < starts.size(); ++line) {
    TotalOrderKeys(type, operand.data() + starts[line] * bytes, stride * bytes, false, keys);
    for (SortKey& k : keys) {
      if (!comparator.total_order) {
        if (k.key < low || k.key > high) return false;
        if (k.key == negative_zero) k.key = positive_zero;
      }
      if (comparator.descending) k.key = ~k.key;
    }
    std::sort(keys.begin(), keys.end());
    int32_t* out = order.data() + line * length;
    for (int64_t j = 0; j < length; ++j) out[j] = keys[j].position;
  }
  return true;
}

}  // namespace assay
