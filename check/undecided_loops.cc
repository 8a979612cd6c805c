#include "check/undecided_loops.h"

#include <map>
#include <set>
#include <utility>
namespace assay {
namespace {

void AddLoops(const Module& module, const Instruction& instruction, std::set<int32_t>& seen, LoopSet& loops) {
  if (instruction.opcode == Opcode::kWhile) loops.insert(&instruction);
  for (const ComputationId id : CalledComputations(instruction)) {
    if (!seen.insert(id.value).second) continue;
    for (const Instruction& inner : module.computation(id).instructions) AddLoops(module, inner, seen, loops);
  }
}

// An instruction and a leaf of it.
using Place = std::pair<int32_t, int64_t>;

int64_t NumLeaves(const Computation& computation, int32_t instruction) {
  return std::ssize(LeafShapes(*computation.instructions[static_cast<size_t>(instruction)].shape));
}

// What a place is made of: of tuples the leaf that it is, of others all leaves of all operands.
std::vector<Place> SourcesOf(const Computation& computation, const Place& place) {
  const Instruction& instruction = computation.instructions[static_cast<size_t>(place.first)];
  std::vector<Place> sources;
  int64_t first = 0;
  if (instruction.opcode == Opcode::kGetTupleElement) {
    const int32_t tuple = instruction.operands[0];
    const Shape& shape = *computation.instructions[static_cast<size_t>(tuple)].shape;
    for (int64_t k = 0; k < instruction.attributes.Int(Attr::kIndex); ++k)
      first += std::ssize(LeafShapes(shape.element(k)));
    return {{tuple, first + place.second}};
  }
  for (const int32_t k : instruction.operands) {
    for (int64_t leaf = 0; leaf < NumLeaves(computation, k); ++leaf, ++first) {
      if (instruction.opcode != Opcode::kTuple || first == place.second) sources.emplace_back(k, leaf);
    }
  }
  return sources;
}

}  // namespace

LoopSet LoopsIn(const Module& module, int32_t instruction) {
  LoopSet loops;
  std::set<int32_t> seen;
  AddLoops(module, module.entry_computation().instructions[static_cast<size_t>(instruction)], seen, loops);
  return loops;
}

std::vector<int32_t> LoopsBehind(const Module& module, std::span<const int64_t> leaves) {
  const Computation& entry = module.entry_computation();
  std::vector<Place> open;
  for (const int64_t leaf : leaves) open.emplace_back(entry.root, leaf);
  std::set<Place> seen(open.begin(), open.end());
  std::map<int32_t, bool> has_loops;
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    const auto [it, is_new] = has_loops.try_emplace(place.first, false);
    if (is_new) it->second = !LoopsIn(module, place.first).empty();
    for (const Place& source : SourcesOf(entry, place)) {
      if (seen.insert(source).second) open.push_back(source);
    }
  }
  std::vector<int32_t> found;
  for (const auto& [instruction, has] : has_loops) {
    if (has) found.push_back(instruction);
  }
  return found;
}

}  // namespace assay
