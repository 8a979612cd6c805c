// Finds instructions that can run as one step: connected elementwise ones, with what they read that is an
// index away (broadcast, iota, slice, a transpose of whole rows) or where it is (reshape, bitcast, copy).
//
// A fusion has one value that is needed outside, its root's. All members have as many elements, at the same
// row-major positions. A broadcast, iota, slice or transpose is computed again in every fusion that reads it,
// so that it need not be stored; every other member is read by its fusion alone.
// Members run where the root stands:
//   - what they read must live until then, so the number of large operands is limited;
//   - no other instruction may use one of those operands on the way, since it could overwrite the operand.
#ifndef ASSAY_PLAN_FUSION_H_
#define ASSAY_PLAN_FUSION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engines/engine.h"

namespace assay {

struct Fusion {
  std::vector<int32_t> members;  // as in FusionView
  std::vector<int32_t> operands;
};

// What an instruction does that only moves elements, or makes them of their indices.
enum class Movement : uint8_t {
  kNone,            // none of these, nor what a fusion reads through
  kKeepsPositions,  // its elements are those of its operand, at the same row-major positions
  // Other fusions may have it too: what it reads is smaller than what it gives, or it is a slice that is not
  // much smaller than what it is taken from, or a transpose that leaves rows of some length whole.
  kRecomputed,
};
Movement MovementOf(const Computation& computation, const Instruction& instruction);
inline bool IsRecomputed(const Computation& computation, const Instruction& instruction) {
  return MovementOf(computation, instruction) == Movement::kRecomputed;
}
inline bool KeepsPositions(const Computation& computation, const Instruction& instruction) {
  return MovementOf(computation, instruction) == Movement::kKeepsPositions;
}

// Groups those of the instructions `order`, which run in this order, that the engine can fuse
// (Engine::CanFuse); also single ones. The roots are elementwise. Those that are `apart` (empty: none) join
// only a root that is; those that are `taken` are others' members.
std::vector<Fusion> FindFusions(const Module& module, const Computation& computation,
                                std::span<const int32_t> order, const Engine& engine,
                                const std::vector<bool>& apart = {}, const std::vector<bool>& taken = {});

}  // namespace assay

#endif  // ASSAY_PLAN_FUSION_H_
