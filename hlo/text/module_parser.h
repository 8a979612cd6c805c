// The parser of computations and instructions: one object for one text. Its parts are in parser.cc (modules
// and computations), instruction_parser.cc (instructions and operands) and async_sugar.cc.
#ifndef ASSAY_HLO_TEXT_MODULE_PARSER_H_
#define ASSAY_HLO_TEXT_MODULE_PARSER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_map.h"
#include "hlo/module.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/name_table.h"
#include "hlo/text/token_reader.h"

namespace assay {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : in_(text) {}
  absl::StatusOr<Module> Parse();
  std::vector<Warning> TakeWarnings() { return in_.TakeWarnings(); }

 private:
  // A computation that is being read. Its names are bound in instruction_names_; a scope inside another one
  // puts back what it bound anew.
  struct Scope {
    Scope(int32_t serial_number, bool is_nested) : serial(serial_number), nested(is_nested) {}
    int32_t serial;
    bool nested;
    Computation computation;
    std::vector<int32_t> names;  // of the instructions
    std::vector<std::pair<int32_t, NameTable::Binding>> shadowed;
    std::vector<std::pair<int64_t, int32_t>> parameters;  // number, index
    std::vector<int32_t> anonymous = std::vector<int32_t>(kNumOpcodes);
    HashMap<int32_t, Opcode> async_ops;  // by index: the op that an async op wraps
    bool unknown_operands_are_parameters = false;
    int32_t num_unnamed_parameters = 0;
  };

  // "negate-start": an opcode that stands for an async one around it.
  struct OpcodeName {
    Opcode opcode = Opcode::kTuple;
    std::optional<Opcode> wrapped;
  };

  // What an instruction collects while it is read.
  struct Draft {
    Instruction instruction;
    OpcodeName opcode;
    std::shared_ptr<InstructionExtras> extras;  // null: none
    uint32_t common_seen = 0;                   // a bit for each CommonAttr
  };

  // parser.cc
  absl::Status ParseModule();
  absl::Status ParseHeaderless();
  absl::Status ParseSingle();
  absl::Status ParseComputations();
  absl::Status ParseComputation();
  absl::Status ParseSignature(std::shared_ptr<const Shape>* result);
  absl::Status ParseInstructionList(Scope& scope);
  absl::Status FinishParameters(Scope& scope);
  void NameComputation(size_t i);
  absl::StatusOr<ComputationId> FinishComputation(Scope& scope, std::string_view name);
  absl::Status ParseComputationRef(ComputationId* id);
  absl::Status ParseExecutionThread(std::string* thread);

  // instruction_parser.cc
  absl::Status ParseInstruction(Scope& scope, bool* is_root);
  absl::Status ParseRhs(Scope& scope, std::string_view name, SourcePosition position);
  absl::Status ParseOpcode(OpcodeName* opcode);
  absl::Status ParseBody(Scope& scope, Draft& draft);
  absl::Status ParseConstant(Draft& draft);
  absl::Status ParseParameter(Draft& draft);
  absl::Status ParseOperands(Scope& scope, Draft& draft);
  absl::Status ParseOperand(Scope& scope, int32_t* index);
  absl::Status ParseNestedInstruction(Scope& scope, std::shared_ptr<const Shape> shape, int32_t* index);
  absl::Status AddUnknownOperand(Scope& scope, std::string_view name, SourcePosition position,
                                 std::shared_ptr<const Shape> shape, int32_t* index);
  absl::Status ParseElementSuffixes(Scope& scope, int32_t* index);
  absl::Status ParseAttributes(Scope& scope, Draft& draft);
  absl::Status ParseAttribute(Scope& scope, Draft& draft);
  absl::Status ParseControlPredecessors(Scope& scope, Draft& draft);
  absl::Status AddInstruction(Scope& scope, std::string_view name, Instruction&& instruction, int32_t* index);
  Scope NewScope(bool nested) { return Scope(++num_scopes_, nested); }
  // The instruction of that name in the scope, or -1.
  int32_t FindInstruction(const Scope& scope, std::string_view name);
  std::string_view AnonymousName(Scope& scope, Opcode opcode);

  // async_sugar.cc
  static std::optional<OpcodeName> AsyncOpcode(std::string_view text);
  absl::Status WrapAsyncStart(const Scope& scope, Draft& draft);
  absl::Status NoteAsyncOp(Scope& scope, const Draft& draft, int32_t index);

  TokenReader in_;
  SharedPool<InstructionExtras> extras_;
  Module module_;
  bool has_entry_ = false;
  HashMap<absl::string_view, ComputationId> computations_;
  NameTable computation_names_, instruction_names_;
  // The names of each computation of the module, as the text has them.
  struct WantedNames {
    int32_t computation = 0;
    std::vector<int32_t> instructions;
  };
  std::vector<WantedNames> wanted_names_;
  int32_t num_scopes_ = 0;
};

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_MODULE_PARSER_H_
