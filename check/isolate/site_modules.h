// Programs made of parts of a program: those that show its intermediate values,
// and those that run its instructions alone.
#ifndef ASSAY_CHECK_ISOLATE_SITE_MODULES_H_
#define ASSAY_CHECK_ISOLATE_SITE_MODULES_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/computation_writer.h"
#include "check/isolate/value_sources.h"
#include "hlo/module.h"
#include "run/program.h"

namespace assay {

// What is written from one module: computations, copied where they are called,
// and an entry computation of arrays.
class SiteModule {
 public:
  SiteModule(const Module& from, std::string_view what);

  // All of a computation on arrays of its own, one for each leaf of its parameters; every array that its
  // instructions give becomes an output, in ValueSources::own's order.
  void AddValues(ComputationId id, const ValueSources& sources);
  // A loop on arrays of its own, one for each leaf of its state. Outputs: the number of iterations, and each
  // array that the body's instructions give, of the first iterations one behind the other ([slots] before its
  // sizes); where there are more iterations than slots the last slot holds one of those.
  void AddLoop(const Instruction& loop, const ValueSources& body_sources, int64_t slots);
  // A loop as AddAlone has it; one more output, the last, is the number of its iterations.
  void AddCountedLoop(int64_t set, ComputationId id, const ValueSources& sources, int32_t instruction);
  // One instruction on arrays of its own, constants as they are. Operands that are one value of one `set` are
  // one array.
  void AddAlone(int64_t set, ComputationId id, const ValueSources& sources, int32_t instruction);

  // Of parameters that AddAlone made: the set and the value.
  const std::vector<std::pair<int64_t, ValueId>>& parameters() const { return parameters_; }
  int64_t num_outputs() const { return static_cast<int64_t>(outputs_.size()); }
  // The program, verified.
  absl::StatusOr<Program> Finish() &&;

  // More are not put into one program.
  static constexpr int64_t kMaxInstructions = 1 << 20;

 private:
  ComputationId Copied(ComputationId id);
  Instruction Copy(const Instruction& instruction);
  Node NewParameter(const Shape& shape);
  // The instructions of a computation on these arrays, one for each leaf of the parameters.
  std::vector<Node> Inline(ComputationWriter& writer, const Computation& computation,
                           const std::vector<Node>& arguments);
  static Node Assemble(ComputationWriter& writer, const Shape& shape, const std::vector<Node>& leaves,
                       size_t& next);
  static Node LeafOf(ComputationWriter& writer, const Computation& computation,
                     const std::vector<Node>& nodes, ValueId value);
  std::vector<Node> OperandLeaves(int64_t set, ComputationId id, const ValueSources& sources,
                                  int32_t operand);
  Node Operand(int64_t set, ComputationId id, const ValueSources& sources, int32_t operand);
  // The loop on a state of these leaves: its result, the number of iterations, and the arrays that AddLoop
  // stacks.
  std::vector<Node> WriteLoop(const Instruction& loop, std::vector<Node> state,
                              const std::vector<ValueId>& shown, int64_t slots);
  Node Constant(ComputationWriter& writer, ElementType type, int64_t value);
  Node Zeros(ComputationWriter& writer, const Shape& shape);
  Node AddedOne(ComputationWriter& writer, Node counter);
  // Writes an iteration's array to its slot.
  Node Stored(ComputationWriter& writer, Node stack, Node value, Node slot);

  const Module& from_;
  Module module_;
  int64_t left_ = kMaxInstructions;
  ComputationWriter writer_;
  std::vector<Node> outputs_;
  int64_t next_parameter_ = 0;
  std::vector<std::pair<int64_t, ValueId>> parameters_;
  std::map<std::pair<int64_t, ValueId>, Node> given_;
  std::map<std::pair<int32_t, int32_t>, Node> constants_;
  std::map<int32_t, ComputationId> copied_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_SITE_MODULES_H_
