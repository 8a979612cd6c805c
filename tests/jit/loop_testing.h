// Random segments and hostile elements for tests of generated loops, and what the op table makes of them.
#ifndef ASSAY_TESTS_JIT_LOOP_TESTING_H_
#define ASSAY_TESTS_JIT_LOOP_TESTING_H_

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"
#include "jit/isa.h"
#include "jit/loop.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::testing {

inline constexpr ElementType kKnownTypes[] = {
    ElementType::kPred, ElementType::kS8,  ElementType::kS16, ElementType::kS32, ElementType::kS64,
    ElementType::kU8,   ElementType::kU16, ElementType::kU32, ElementType::kU64, ElementType::kF16,
    ElementType::kBF16, ElementType::kF32, ElementType::kF64};

inline std::vector<Isa> MachineTargets() {
  std::vector<Isa> targets;
  if (MachineIsa() >= Isa::kAvx2) targets.push_back(Isa::kAvx2);
  if (MachineIsa() >= Isa::kAvx512) targets.push_back(Isa::kAvx512);
  return targets;
}

using Random = std::mt19937_64;

// Bits of an element: now and then any, often one where something changes.
inline uint64_t HostileBits(ElementType type, Random& random) {
  const int bits = Bits(type);
  const uint64_t any = random() >> (64 - bits), top = uint64_t{1} << (bits - 1);
  if (type == ElementType::kPred) return random() & 1;
  if (!IsFloat(type)) {
    switch (random() % 6) {
      case 0:
        return any;
      case 1:
        return top - (random() % 3);
      case 2:
        return (top + random() % 3) & (top | (top - 1));
      case 3:
        return (0 - random() % 4) & (top | (top - 1));
      default:
        return random() % (2 * static_cast<uint64_t>(bits));  // shift amounts
    }
  }
  const FloatFormat& format = *Info(type).format;
  const double values[] = {0,
                           0.5,
                           1,
                           1.5,
                           2.5,
                           3,
                           100,
                           127.5,
                           128,
                           255.5,
                           256,
                           32767.5,
                           65535,
                           2147483647.0,
                           0x1p31,
                           0x1p32,
                           0x1p63,
                           0x1p64,
                           0x1.fffffep30,
                           8388607.5,
                           format.max_finite,
                           format.min_subnormal,
                           std::ldexp(1.0, format.min_exponent),
                           0x1.fffffffffffffp-2};
  const uint64_t sign = random() % 2 * top;
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  switch (random() % 6) {
    case 0:
      return any;
    case 1:  // infinities and NaNs of all kinds
      return sign | infinity | (random() % 2 * (random() & ((uint64_t{1} << format.mantissa_bits) - 1)));
    case 2:
      return sign | (random() % 3 << (random() % format.mantissa_bits));  // zeros and subnormals
    case 3: {  // near one another, so that sums cancel and round
      const double value = 1 + static_cast<double>(random() % 4096) / 2048;
      return sign | EncodeFloat(RoundToFormat(value, format), format);
    }
    default: {
      const double value = RoundToFormat(values[random() % std::size(values)], format);
      return sign | EncodeFloat(value, format);
    }
  }
}

inline std::vector<std::byte> HostileElements(ElementType type, int64_t n, Random& random) {
  std::vector<std::byte> elements(static_cast<size_t>(n * Bytes(type)));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = HostileBits(type, random);
    std::memcpy(elements.data() + i * Bytes(type), &bits, Bytes(type));
  }
  return elements;
}

inline std::string_view DirectionName(int64_t order) {
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  return kNames[order];
}

// By the op table's strip function, from stored elements to stored elements.
inline std::vector<std::byte> ByOpTable(const jit::Node& node, std::span<const ElementType> types,
                                        std::span<const std::vector<std::byte>* const> operands, int64_t n) {
  Instruction instruction;
  instruction.opcode = node.opcode;
  if (node.opcode == Opcode::kCompare) {
    instruction.attributes.Set(Attr::kDirection, Word{std::string(DirectionName(node.a))});
    if (node.flag) instruction.attributes.Set(Attr::kType, Word{"TOTALORDER"});
  }
  // copy has no strip function; real of a real type is a move.
  const Opcode opcode = node.opcode == Opcode::kCopy ? Opcode::kReal : node.opcode;
  std::vector<std::byte> result(static_cast<size_t>(n * Bytes(node.type)));
  if (opcode == Opcode::kReal) return *operands[0];
  const StripKernel kernel = DefinitionOf(opcode).strip(instruction, types, node.type);
  for (int64_t begin = 0; begin < n; begin += kStrip) {
    const int64_t count = std::min(kStrip, n - begin);
    alignas(64) std::byte buffers[4][kStripBytes];
    const void* in[3] = {};
    for (size_t k = 0; k < types.size(); ++k) {
      LoadStrip(types[k], operands[k]->data() + begin * Bytes(types[k]), Bytes(types[k]), count, buffers[k]);
      in[k] = buffers[k];
    }
    kernel.fn(kernel.params, count, in, buffers[3]);
    StoreStrip(node.type, buffers[3], count, result.data() + begin * Bytes(node.type), Bytes(node.type));
  }
  return result;
}

inline std::vector<ElementType> OperandTypes(const jit::Segment& segment, const jit::Node& node) {
  std::vector<ElementType> types;
  for (int k = 0; k < node.num_operands(); ++k) types.push_back(segment.nodes[node.operands[k]].type);
  return types;
}

// The stored streams of a segment, one after the other. `inputs` are by stream.
inline std::vector<std::vector<std::byte>> Wanted(const jit::Segment& segment,
                                                  const std::vector<std::vector<std::byte>>& inputs,
                                                  int64_t n) {
  std::vector<std::vector<std::byte>> values;
  for (const jit::Node& node : segment.nodes) {
    if (node.opcode == Opcode::kParameter) {
      const jit::Stream& stream = segment.streams[node.a];
      std::vector<std::byte> value = inputs[node.a];
      if (stream.repeated) {
        const int bytes = Bytes(stream.type);
        value.resize(static_cast<size_t>(n * bytes));
        for (int64_t i = 0; i < n; ++i) std::memcpy(value.data() + i * bytes, inputs[node.a].data(), bytes);
      }
      values.push_back(std::move(value));
      continue;
    }
    std::vector<const std::vector<std::byte>*> operands;
    for (int k = 0; k < node.num_operands(); ++k) operands.push_back(&values[node.operands[k]]);
    values.push_back(ByOpTable(node, OperandTypes(segment, node), operands, n));
  }
  std::vector<std::vector<std::byte>> wanted;
  for (const jit::Store& store : segment.stores) wanted.push_back(values[store.node]);
  return wanted;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_JIT_LOOP_TESTING_H_
