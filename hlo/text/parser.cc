// Modules and computations of HLO text (docs/spec/hlo-text.md section 3).
//
// Decision: headerless-with-signature. A text without header whose first computation has a signature,
// "%f (a: f32[]) -> f32[] {", is read as headerless, though the reference refuses it.
#include "hlo/text/parser.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "hlo/text/module_header.h"
#include "hlo/text/module_parser.h"

namespace assay {

absl::StatusOr<Module> ParseHloText(std::string_view text, std::vector<Warning>* warnings) {
  ModuleParser parser(text);
  absl::StatusOr<Module> module = parser.Parse();
  if (warnings != nullptr) *warnings = parser.TakeWarnings();
  return module;
}

absl::StatusOr<Module> ModuleParser::Parse() {
  const bool named = in_.AtName();
  const TokenKind second = named ? in_.Ahead() : TokenKind::kEof;
  if (in_.AtWord(TokenKind::kKeyword, "HloModule")) {
    ASSAY_RETURN_IF_ERROR(ParseModule());
  } else if (in_.AtWord(TokenKind::kKeyword, "ENTRY") || second == TokenKind::kLeftBrace ||
             (second == TokenKind::kLeftParen && !in_.AtShape())) {
    ASSAY_RETURN_IF_ERROR(ParseHeaderless());
  } else {
    ASSAY_RETURN_IF_ERROR(ParseSingle());
  }
  return std::move(module_);
}

absl::Status ModuleParser::ParseModule() {
  ASSAY_RETURN_IF_ERROR(ReadModuleHeader(in_, &module_));
  return ParseComputations();
}

absl::Status ModuleParser::ParseHeaderless() {
  ASSAY_RETURN_IF_ERROR(ParseComputations());
  module_.name = fmt::format("module_{}", module_.entry_computation().name);
  return absl::OkStatus();
}

// One instruction; operands that are not known become parameters.
//
// Decision: single-nested-operand. The reference makes the opcode of a nested operand a parameter too.
absl::Status ModuleParser::ParseSingle() {
  Scope scope = NewScope(/*nested=*/false);
  scope.unknown_operands_are_parameters = true;
  scope.computation.position = in_.position();
  if (in_.AtShape()) {
    ASSAY_RETURN_IF_ERROR(ParseRhs(scope, "_", in_.position()));
  } else {
    if (!in_.AtName() && !in_.AtWord(TokenKind::kKeyword, "ROOT")) {
      return in_.Unexpected("'HloModule', 'ENTRY', a computation or an instruction");
    }
    bool is_root = false;
    ASSAY_RETURN_IF_ERROR(ParseInstruction(scope, &is_root));
  }
  if (!in_.At(TokenKind::kEof)) return in_.Unexpected("the end of the text after a single instruction");
  scope.computation.root = static_cast<int32_t>(scope.computation.instructions.size()) - 1;
  ASSAY_ASSIGN_OR_RETURN(module_.entry, FinishComputation(scope, "_"));
  // The entry, which is the last, chooses its names first.
  const size_t last = module_.computations.size() - 1;
  NameComputation(last);
  for (size_t i = 0; i < last; ++i) NameComputation(i);
  module_.name = "_";
  module_.is_scheduled = true;
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseComputations() {
  do {
    ASSAY_RETURN_IF_ERROR(ParseComputation());
  } while (!in_.At(TokenKind::kEof));
  for (size_t i = 0; i < module_.computations.size(); ++i) NameComputation(i);
  // Without ENTRY the last computation is the entry.
  if (!has_entry_) module_.entry = ComputationId{static_cast<int32_t>(module_.computations.size()) - 1};
  return absl::OkStatus();
}

// ['ENTRY'] name [ '(' list(name shape) ')' '->' shape ] '{' instructions '}' [ ',' execution_thread="..." ]
absl::Status ModuleParser::ParseComputation() {
  const SourcePosition start = in_.position();
  const bool is_entry = in_.EatKeyword("ENTRY");
  if (is_entry && has_entry_)
    return InvalidProgram(start, "module: found a second ENTRY computation, want one");
  Scope scope = NewScope(/*nested=*/false);
  scope.computation.position = in_.position();
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "a computation's name"));
  if (computations_.contains(AbslView(name))) {
    return InvalidProgram(scope.computation.position, fmt::format("computation '{}' is defined twice", name));
  }
  std::shared_ptr<const Shape> result;
  const SourcePosition signature = in_.position();
  if (in_.At(TokenKind::kLeftParen)) ASSAY_RETURN_IF_ERROR(ParseSignature(&result));
  ASSAY_RETURN_IF_ERROR(ParseInstructionList(scope));
  const Instruction& root = scope.computation.root_instruction();
  if (result != nullptr && root.shape != nullptr && !Shape::Compatible(*result, *root.shape)) {
    return InvalidProgram(signature, fmt::format("computation '{}': result shape is {}, but the root has {}",
                                                 name, result->ToString(), root.shape->ToString()));
  }
  ASSAY_RETURN_IF_ERROR(ParseExecutionThread(&scope.computation.execution_thread));
  ASSAY_ASSIGN_OR_RETURN(const ComputationId id, FinishComputation(scope, name));
  computations_.emplace(AbslView(name), id);
  if (is_entry) {
    has_entry_ = true;
    module_.entry = id;
  }
  return absl::OkStatus();
}

// The parameters are read and forgotten: the parameter instructions say it all.
absl::Status ModuleParser::ParseSignature(std::shared_ptr<const Shape>* result) {
  const auto read_item = [&]() -> absl::Status {
    std::string_view name;
    std::shared_ptr<const Shape> shape;
    ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "a parameter's name"));
    in_.Eat(TokenKind::kColon);  // after "%name"; "name:" is one token
    return in_.ReadShape(&shape);
  };
  ASSAY_RETURN_IF_ERROR(in_.ReadList(TokenKind::kLeftParen, TokenKind::kRightParen, read_item));
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kArrow));
  return in_.ReadShape(result);
}

absl::Status ModuleParser::ParseExecutionThread(std::string* thread) {
  if (!in_.Eat(TokenKind::kComma)) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(in_.ExpectAttrName("execution_thread"));
  ASSAY_RETURN_IF_ERROR(in_.ReadString(thread));
  if (*thread == "main") thread->clear();
  return absl::OkStatus();
}

absl::Status ModuleParser::ParseInstructionList(Scope& scope) {
  ASSAY_RETURN_IF_ERROR(in_.Expect(TokenKind::kLeftBrace));
  if (in_.At(TokenKind::kRightBrace)) return in_.Unexpected("at least one instruction");
  do {
    bool is_root = false;
    const SourcePosition position = in_.position();
    ASSAY_RETURN_IF_ERROR(ParseInstruction(scope, &is_root));
    if (!is_root) continue;
    if (scope.computation.root >= 0) {
      const SourcePosition first = scope.computation.root_instruction().position;
      return InvalidProgram(position,
                            fmt::format("found a second ROOT, the first is at line {}", first.line));
    }
    scope.computation.root = static_cast<int32_t>(scope.computation.instructions.size()) - 1;
  } while (!in_.At(TokenKind::kRightBrace));
  if (scope.computation.root < 0) {
    scope.computation.root = static_cast<int32_t>(scope.computation.instructions.size()) - 1;
  }
  return in_.Expect(TokenKind::kRightBrace);
}

// Parameter numbers are 0..n-1, in any order.
absl::Status ModuleParser::FinishParameters(Scope& scope) {
  Computation& computation = scope.computation;
  std::sort(scope.parameters.begin(), scope.parameters.end());
  for (size_t i = 0; i < scope.parameters.size(); ++i) {
    const auto [number, index] = scope.parameters[i];
    if (number != static_cast<int64_t>(i)) {
      return InvalidProgram(
          computation.instructions[index].position,
          fmt::format("Parameter-C1: parameter {}: parameter number is {}, want {} (each of 0 to {} once)",
                      instruction_names_.text(scope.names[index]), number, i, scope.parameters.size() - 1));
    }
    computation.parameters.push_back(index);
  }
  return absl::OkStatus();
}

// Gives a computation and its instructions names that are unique in the module.
void ModuleParser::NameComputation(size_t i) {
  Computation& computation = module_.computations[i];
  const WantedNames& wanted = wanted_names_[i];
  computation.name = computation_names_.Unique(wanted.computation);
  for (size_t k = 0; k < wanted.instructions.size(); ++k) {
    computation.instructions[k].name = instruction_names_.Unique(wanted.instructions[k]);
  }
}

// Puts the computation into the module; names follow when all computations are known.
absl::StatusOr<ComputationId> ModuleParser::FinishComputation(Scope& scope, std::string_view name) {
  ASSAY_RETURN_IF_ERROR(FinishParameters(scope));
  Computation& computation = scope.computation;
  for (auto shadowed = scope.shadowed.rbegin(); shadowed != scope.shadowed.rend(); ++shadowed) {
    instruction_names_.binding(shadowed->first) = shadowed->second;
  }
  const ComputationId id{static_cast<int32_t>(module_.computations.size())};
  module_.computations.push_back(std::move(computation));
  wanted_names_.push_back({computation_names_.Intern(name), std::move(scope.names)});
  return id;
}

// A computation's name, or an inline body.
absl::Status ModuleParser::ParseComputationRef(ComputationId* id) {
  if (in_.At(TokenKind::kLeftBrace)) {
    const TokenReader::Nesting nesting(in_);
    ASSAY_RETURN_IF_ERROR(nesting.status());
    Scope scope = NewScope(/*nested=*/true);
    scope.computation.position = in_.position();
    ASSAY_RETURN_IF_ERROR(ParseInstructionList(scope));
    ASSAY_ASSIGN_OR_RETURN(*id, FinishComputation(scope, "_"));
    return absl::OkStatus();
  }
  const SourcePosition position = in_.position();
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(in_.ReadName(&name, "a computation's name or '{'"));
  const auto known = computations_.find(AbslView(name));
  if (known == computations_.end()) {
    return InvalidProgram(
        position, fmt::format("computation '{}' is not defined above, so it can't be called here (Call-C3)",
                              name.substr(0, 200)));
  }
  *id = known->second;
  return absl::OkStatus();
}

}  // namespace assay
