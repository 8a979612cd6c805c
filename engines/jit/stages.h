// A fusion as stages that run one after the other on each tile of its elements: generated loops, strip
// functions for ops that loops don't have, and sources that gather what is not read at its own position. What
// one stage gives another lies in tile buffers, which stay in the cache.
#ifndef ASSAY_ENGINES_JIT_STAGES_H_
#define ASSAY_ENGINES_JIT_STAGES_H_

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/hash_map.h"
#include "engines/engine.h"
#include "engines/jit/tile_source.h"
#include "evaluator/elementwise.h"
#include "jit/loop.h"

namespace assay::jit {

// Where a stage finds or leaves elements.
struct Slot {
  enum class Kind : uint8_t {
    kOperand,   // of the fusion, at its own positions
    kRepeated,  // an operand of one element
    kConstant,  // the same of Stages::constants: the plan has its value
    kBuffer,    // of the tile
    kRun,       // a buffer with one element for the whole tile, which is cut where it changes
    kResult,
  };
  Kind kind = Kind::kBuffer;
  ElementType type = ElementType::kPred;
  int index = 0;  // of the operand, constant or buffer
};

struct LoopStage {
  jit::Loop loop;
  std::vector<int> slots;  // by stream
  // The same with a result that goes past the caches, where the fusion streams it and this loop makes it.
  std::optional<jit::Loop> streaming = std::nullopt;
};
// It is in the compute kinds of operands and result; `stored`, if any,
// is taken instead and has elements as stored.
struct StripStage {
  StripKernel kernel;
  ElementwiseFn stored = nullptr;
  ElementwiseFn streaming = nullptr;  // as in LoopStage
  std::vector<int> operands;
  int result = 0;
};
struct SourceStage {
  TileSource source;
  int operand = -1;  // of the fusion; none for iota
  int result = 0;
};

struct Stages {
  std::vector<Slot> slots;
  std::vector<std::shared_ptr<const Literal>> constants;
  int num_buffers = 0;
  std::vector<int64_t> runs;  // lengths of the runs of kRun slots, each once
  std::vector<std::variant<SourceStage, LoopStage, StripStage>> stages;
  std::vector<bool> reads_in_place;  // by operand: read at its own positions alone
  // The result is so large that it is not in a cache any more when somebody reads it: the stage that makes it
  // is there for streamed stores too.
  bool streams = false;
  int64_t work = 0;                                           // members that are charged for every element
  HashMap<const Instruction*, Approximation> approximations;  // members that have not the reference's bits
};

// An approximation of an elementwise instruction that loops have no form of, or none:
// from an engine above this one.
struct StoredApproximation {
  ElementwiseFn stored = nullptr;
  ElementwiseFn streamed = nullptr;  // the same past the caches, to memory that is 64-byte aligned
  const Accuracy* accuracy = nullptr;
};
using FindApproximation = StoredApproximation (*)(const Computation& computation,
                                                  const Instruction& instruction, Isa isa);

// Why an instruction can't be a member by its op and types, or nothing.
std::string WhyNoPart(const StepView& step);
bool CanBePart(const StepView& step);

// `approximate`: null where every member has the reference's bits.
absl::StatusOr<Stages> MakeStages(const FusionView& fusion, Isa isa, FindApproximation approximate = nullptr);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_STAGES_H_
