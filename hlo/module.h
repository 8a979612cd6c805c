// The program: modules of computations of instructions. Plain data, indices not pointers.
//
// A Module may be nonsense: only Verify (evaluator/verify.h) says that it is not. What holds of every Module,
// however made: operand indices are < the instruction's own index (text forbids forward references), and
// called computations have smaller indices than their callers.
#ifndef ASSAY_HLO_MODULE_H_
#define ASSAY_HLO_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/error.h"
#include "hlo/attribute.h"
#include "hlo/opcode.h"
#include "hlo/shared_pool.h"
#include "literal/literal.h"
#include "shape/shape.h"

namespace assay {

// metadata={...}
struct OpMetadata {
  SharedText op_type, op_name, source_file, deduplicated_name, scheduling_name, metadata_payload;
  int64_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0, stack_frame_id = 0;
  Ints profile_type;
};

// A value that is either a string or a verbatim JSON dictionary.
struct StringOrJson {
  std::string text;
  bool is_json = false;
};
using FrontendAttributes = std::vector<std::pair<std::string, StringOrJson>>;  // sorted by key, bytewise

// Attributes that every instruction may carry and that change no value (docs/spec/operations-control.md, last
// section), but for backend_config, which custom calls read.
struct InstructionExtras {
  InstructionExtras() {}  // not defaulted: as Instruction's
  OpMetadata metadata;
  FrontendAttributes frontend_attributes;
  std::string sharding, statistics, origin;  // canonical text with braces; empty: absent
  StringOrJson backend_config;
  std::vector<bool> parameter_replication;
  // The shape that the program declares where Verify made dimensions of Instruction::shape dynamic;
  // null: that shape.
  std::shared_ptr<const Shape> declared_shape;
};

struct Instruction {
  // It is not defaulted: else Instruction() clears all of it beforehand, with a slow string instruction.
  Instruction() {}
  explicit Instruction(Opcode what) : opcode(what) {}
  Opcode opcode = Opcode::kTuple;
  SourcePosition position;
  std::string name;                          // without '%'
  std::shared_ptr<const Shape> shape;        // null: left out in the text, filled in by Verify
  absl::InlinedVector<int32_t, 4> operands;  // indices in the computation
  AttributeMap attributes;
  std::vector<int32_t> control_predecessors;
  LiteralPtr literal;                               // constant: the value; null there: elided ("{...}")
  int64_t parameter_number = 0;                     // parameter
  std::shared_ptr<const InstructionExtras> extras;  // null: none
};

// What printing and exporting show of an instruction: what the program declared.
inline const std::shared_ptr<const Shape>& PrintedShape(const Instruction& instruction) {
  return instruction.extras != nullptr && instruction.extras->declared_shape != nullptr
             ? instruction.extras->declared_shape
             : instruction.shape;
}

struct Computation {
  std::string name;
  std::vector<Instruction> instructions;  // operands before users
  int32_t root = -1;
  std::string execution_thread;  // empty: main
  SourcePosition position;
  // Set where calls were inlined (plan/inline_calls.h): every instruction is needed,
  // and so much more counts (in 1/4096 steps).
  std::optional<int64_t> inlined_steps;

  // Instruction index of each parameter, by number; Verify checks that numbers are 0..n-1.
  absl::InlinedVector<int32_t, 4> parameters;
  const Instruction& root_instruction() const { return instructions[root]; }
};

struct InputOutputAlias {
  Ints output_index;
  int64_t parameter_number = 0;
  Ints parameter_index;
  bool must_alias = false;
};

struct BufferDonor {
  int64_t parameter_number = 0;
  Ints parameter_index;
};

// The four stack frame tables, printed back as they were; ids are 1-based positions.
struct FrameTables {
  std::vector<std::string> file_names, function_names;
  struct Location {
    int64_t file_name_id = 0, function_name_id = 0, line = 0, end_line = 0, column = 0, end_column = 0;
  };
  struct Frame {
    int64_t file_location_id = 0, parent_frame_id = 0;
  };
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool empty() const {
    return frames.empty() && locations.empty() && file_names.empty() && function_names.empty();
  }
};

class CustomOps;  // custom_ops.h

struct Module {
  std::string name;
  std::vector<Computation> computations;  // callees before callers
  ComputationId entry;
  bool is_scheduled = false;
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  std::vector<InputOutputAlias> input_output_alias;
  std::vector<BufferDonor> buffer_donor;
  bool alias_passthrough_params = false;
  std::optional<ProgramShape> entry_computation_layout;
  FrontendAttributes frontend_attributes;
  std::vector<bool> allow_spmd_sharding_propagation_to_parameters;  // empty: absent
  std::vector<bool> allow_spmd_sharding_propagation_to_output;
  std::string origin_recovery_table, debug_attributes;  // raw text; empty: absent
  FrameTables frame_tables;
  // What custom calls may mean besides the targets that everybody knows; null: nothing.
  // It is no part of what is printed.
  std::shared_ptr<const CustomOps> custom_ops;

  const Computation& computation(ComputationId id) const { return computations[id.value]; }
  const Computation& entry_computation() const { return computations[entry.value]; }
};

// The text of a frontend attribute of the instruction; null where there is none.
const std::string* FrontendAttribute(const Instruction& instruction, std::string_view key);

// Computations that an instruction calls, in the order in which they are printed.
std::vector<ComputationId> CalledComputations(const Instruction& instruction);

}  // namespace assay

#endif  // ASSAY_HLO_MODULE_H_
